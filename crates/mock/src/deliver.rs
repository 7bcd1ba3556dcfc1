//! Faults on the way out: when does an answer leave, and as what?

use super::deferred::DeferredChanges;
use super::engine::MockOutcome;
use super::outlet::Outlet;
use super::pending_request::MockAnswer;
use super::server::Server;
use mcptest_mcp::fault::Action;

/// The answer to a request.
#[derive(Debug)]
pub(super) struct Delivery {
    /// In order; empty if the answer is lost.
    pub(super) texts: Vec<String>,
    /// Changes to announce once it is sent.
    pub(super) deferred: Option<DeferredChanges>,
}

/// Sends the answer to a request. `None` if it was cancelled.
pub(super) async fn deliver(
    server: &Server,
    outcome: MockOutcome,
    action: Option<&Action>,
    outlet: &Outlet,
    cancel: impl Future<Output = ()>,
) -> Option<Delivery> {
    let healthy = Action::default();
    let action = action.unwrap_or(&healthy);
    let answer = answer_in_time(outcome, action, outlet, cancel).await?;
    if action.floods_stderr {
        let server = server.clone();
        let _stopped = tokio::task::spawn_blocking(move || server.flood_stderr()).await;
    }
    Some(Delivery {
        texts: action.reply.texts(answer.text),
        deferred: answer.deferred,
    })
}

/// The answer at the time that the action sets. `None` if it was cancelled before.
async fn answer_in_time(
    outcome: MockOutcome,
    action: &Action,
    outlet: &Outlet,
    cancel: impl Future<Output = ()>,
) -> Option<MockAnswer> {
    let work = async {
        match outcome {
            MockOutcome::Answer { answer, .. } => answer,
            MockOutcome::PendingRequest(pending) => pending.run(outlet).await,
            MockOutcome::Listen { .. } | MockOutcome::Unserved => std::future::pending().await,
        }
    };
    if let Some(delay) = action.despite_cancel {
        let until = tokio::time::sleep(delay.saturating_add(action.delay.unwrap_or_default()));
        return Some(tokio::join!(work, until).0);
    }
    let late = async {
        let answer = work.await;
        if let Some(delay) = action.delay {
            tokio::time::sleep(delay).await;
        }
        answer
    };
    tokio::select! {
        () = cancel => None,
        answer = late => Some(answer),
    }
}
