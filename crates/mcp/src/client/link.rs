//! How are requests sent, independent of the transport?

use super::conversation::{Conversation, RequestOutcome, Unanswered};
use super::http::{EndTasks, Http};
use super::params::Params;
use super::stdio::Stdio;
use super::{CallFailure, Closing, Failure, Misbehaviour, Note, Observed, WireError};
use crate::era::Era;
use crate::jsonrpc::{self, Id};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout_at};

/// A connection that carries messages.
pub(super) enum Link {
    Stdio(Stdio),
    /// With a guard that ends its background work, for the connection's owner.
    Http(Arc<Http>, Option<EndTasks>),
}

/// One request before it has an id.
pub(super) struct Asking<'a> {
    pub(super) method: &'a str,
    /// In messages, as `tools/call get_weather`.
    pub(super) asked: &'a str,
    pub(super) params: &'a Params,
    /// Additional headers, on HTTP.
    pub(super) headers: &'a [(String, String)],
    pub(super) deadline: Deadline,
}

/// A deadline, and its length from the start.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline {
    pub(super) at: Instant,
    pub(super) after: std::time::Duration,
}

impl Deadline {
    pub(super) fn after(after: std::time::Duration) -> Self {
        let now = Instant::now();
        let far = std::time::Duration::from_secs(60 * 60 * 24 * 365);
        Self {
            at: now.checked_add(after).unwrap_or_else(|| now + far),
            after,
        }
    }
}

/// The result of a request, and its notifications.
pub(super) struct Asked {
    pub(super) outcome: Result<Box<RawValue>, CallFailure>,
    pub(super) notes: Vec<Note>,
}

impl Link {
    pub(super) fn conversation(&self) -> &Conversation {
        match self {
            Self::Stdio(stdio) => &stdio.conversation,
            Self::Http(http, _) => &http.conversation,
        }
    }

    /// The capabilities that the client declares.
    pub(super) fn capabilities(&self) -> &Value {
        &self.conversation().capabilities
    }

    pub(super) async fn ask(&self, asking: Asking<'_>) -> Asked {
        let outcome = match self.conversation().open(asking.asked) {
            Ok(opened) => self.ask_opened(&asking, opened).await,
            Err(why) => RequestOutcome::bad(why),
        };
        let failure = match outcome.reply {
            Ok(result) => {
                return Asked {
                    outcome: Ok(result),
                    notes: outcome.notes,
                };
            }
            Err(Unanswered::Rpc(error)) => CallFailure::Rpc(error),
            Err(Unanswered::Bad(why)) => {
                CallFailure::Wire(self.error(asking.asked, why, outcome.instead))
            }
        };
        Asked {
            outcome: Err(failure),
            notes: outcome.notes,
        }
    }

    async fn ask_opened(
        &self,
        asking: &Asking<'_>,
        opened: super::conversation::Opened,
    ) -> RequestOutcome {
        let id = opened.id;
        let line = jsonrpc::request(
            &Id::Number(id),
            asking.method,
            asking.params.text(id).as_deref(),
        );
        let (number, exchange) = match self {
            Self::Stdio(stdio) => (stdio.send(line), None),
            Self::Http(http, _) => (0, Some(http.send(id, line, asking))),
        };
        let guard = GivingUp {
            link: self,
            id,
            exchange,
            is_of_handshake: ["initialize", "server/discover"].contains(&asking.method),
            is_done: false,
        };
        if let Ok(Ok(outcome)) = timeout_at(asking.deadline.at, opened.reply).await {
            guard.done();
            return outcome;
        }
        let unread = matches!(self, Self::Stdio(stdio) if !stdio.was_read(number));
        let why = Misbehaviour::NoAnswer {
            after: asking.deadline.after,
            unread,
        };
        self.conversation()
            .give_up(id, why.clone())
            .unwrap_or_else(|| RequestOutcome::bad(why))
    }

    fn is_modern_http(&self) -> bool {
        matches!(self, Self::Http(http, _) if http.era() == Era::Modern)
    }

    fn cancel(&self, id: i64) {
        let params = json!({ "requestId": id, "reason": "the timeout has passed" });
        self.notify("notifications/cancelled", Some(&params.to_string()));
    }

    pub(super) fn notify(&self, method: &str, params: Option<&str>) {
        let line = jsonrpc::notification(method, params);
        match self {
            Self::Stdio(stdio) => {
                stdio.send(line);
            }
            Self::Http(http, _) => http.post_and_forget(line, Some(method)),
        }
    }

    /// Sends a notification before anything that follows.
    pub(super) async fn notify_first(&self, method: &str) {
        match self {
            Self::Stdio(_) => self.notify(method, None),
            Self::Http(http, _) => {
                http.deliver(&jsonrpc::notification(method, None), Some(method))
                    .await;
            }
        }
    }

    pub(super) fn error(
        &self,
        asked: &str,
        misbehaviour: Misbehaviour,
        instead: Vec<String>,
    ) -> WireError {
        let (stderr, exit, missed_variables) = match self {
            Self::Stdio(stdio) => (stdio.last_words(), stdio.exit(), stdio.missed_variables()),
            Self::Http(..) => (String::new(), None, Vec::new()),
        };
        let (server, method) = (self.conversation().server.clone(), asked.to_owned());
        Failure {
            server,
            method,
            misbehaviour,
            instead,
            stderr,
            exit,
            missed_variables,
        }
        .into()
    }

    pub(super) fn stderr(&self) -> String {
        match self {
            Self::Stdio(stdio) => stdio.stderr(),
            Self::Http(..) => String::new(),
        }
    }

    /// The version that both sides agreed on.
    pub(super) fn set_version(&self, version: &str) {
        if let Self::Http(http, _) = self {
            http.session.lock().version = Some(version.to_owned());
        }
    }

    pub(super) fn set_era(&self, era: Era) {
        if let Self::Http(http, _) = self {
            http.session.lock().era = era;
        }
    }

    /// True while the server is seen not to have read all that it was sent.
    pub(super) fn holds_unread_input(&self) -> bool {
        matches!(self, Self::Stdio(stdio) if stdio.holds_unread_input())
    }

    /// The handshake is done: the session begins.
    pub(super) fn begin_session(&mut self) {
        if let Self::Stdio(stdio) = self {
            stdio.stop_watching_input();
        }
        self.conversation().set_ready();
    }

    /// Ends a connection that was only tried.
    pub(super) async fn discard(self) {
        match self {
            Self::Stdio(stdio) => stdio.discard().await,
            Self::Http(_, end_tasks) => drop(end_tasks),
        }
    }

    /// All observations so far, and the end of the standard error.
    pub(super) fn observed(&self) -> Vec<Observed> {
        let mut observed = self.conversation().observed();
        let tail = self.stderr();
        if !tail.is_empty() {
            observed.push(Observed::Stderr(tail));
        }
        observed
    }

    pub(super) async fn close(mut self) -> Closing {
        let process = match &mut self {
            Self::Stdio(stdio) => stdio.close().await,
            Self::Http(http, end_tasks) => {
                http.close().await;
                drop(end_tasks.take());
                mcptest_process::Closing::default()
            }
        };
        let mut observed = self.observed();
        let mut note = |what| observed.push(Observed::Ending(what));
        if process.killed {
            note("it did not end when its input ended or on SIGTERM, so mcptest killed it");
        } else if process.left_processes {
            note("it left processes behind; mcptest ended them");
        }
        Closing { observed, process }
    }
}

/// Cancels a request whose caller is gone or has waited long enough.
struct GivingUp<'a> {
    link: &'a Link,
    id: i64,
    exchange: Option<AbortHandle>,
    /// The handshake does not need every answer.
    is_of_handshake: bool,
    is_done: bool,
}

impl GivingUp<'_> {
    fn done(mut self) {
        self.is_done = true;
    }
}

impl Drop for GivingUp<'_> {
    fn drop(&mut self) {
        if !self.is_done {
            let why = Misbehaviour::NoAnswer {
                after: std::time::Duration::ZERO,
                unread: false,
            };
            self.link.conversation().give_up(self.id, why);
            match &self.exchange {
                Some(exchange) if self.link.is_modern_http() => exchange.abort(),
                _ if self.is_of_handshake => {}
                _ => self.link.cancel(self.id),
            }
        }
    }
}
