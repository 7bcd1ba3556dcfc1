//! Work that takes time: notifications, questions to the client and delays before an answer.

use super::catalog::Catalog;
use super::deferred::DeferredChanges;
use super::job::Job;
use super::outlet::Outlet;
use super::params::Capabilities;
use super::render;
use super::server::Server;
use super::session::Session;
use crate::manifest::{AskRequest, Asks, Inputs, LogLevel, NoticeKind};
use mcptest_mcp::era::Era;
use mcptest_mcp::jsonrpc::{self, Id, RpcError, RpcResult, code};
use std::sync::Arc;
use std::time::Duration;

/// The facts about the client for one request.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) capabilities: Capabilities,
    /// The lowest level of log messages that it wants; `None` if it wants none.
    pub(super) level: Option<LogLevel>,
    /// Its progress token as JSON text.
    pub(super) progress_token: Option<String>,
}

/// The message that answers a request, and the announcements after it.
#[derive(Debug)]
pub(super) struct MockAnswer {
    pub(super) text: String,
    pub(super) deferred: Option<DeferredChanges>,
}

/// One request in progress.
#[derive(Debug)]
pub(super) struct PendingRequest {
    pub(super) server: Server,
    pub(super) catalog: Arc<Catalog>,
    pub(super) job: Job,
    pub(super) era: Era,
    pub(super) id: Id,
    pub(super) method: String,
    pub(super) client: Client,
    pub(super) inputs: Inputs,
    pub(super) session: Option<Arc<Session>>,
}

impl PendingRequest {
    /// The answer, if no message comes before it.
    pub(super) fn instant(&self) -> Option<RpcResult<MockAnswer>> {
        let has_more = self.job.reconnect_ms().is_some()
            || self.job.delay() > Duration::ZERO
            || self.job.notices().is_ok_and(|notices| !notices.is_empty());
        if has_more {
            return None;
        }
        if self.era == Era::Legacy {
            match self.open_questions() {
                Ok(asks) if asks.is_empty() => {}
                Ok(_) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
        Some(self.answer())
    }

    fn open_questions(&self) -> Asks {
        self.job
            .requests(&self.inputs, &|kind| self.client.capabilities.has(kind))
    }

    fn answer(&self) -> RpcResult<MockAnswer> {
        let result = self.job.answer(&self.inputs)?;
        let text = if result.is_raw {
            jsonrpc::result(&self.id, &result.text)
        } else {
            self.catalog
                .dressing
                .result(self.era, &self.id, &self.method, &result.text)
        };
        Ok(MockAnswer {
            text,
            deferred: DeferredChanges::new(&self.server, self.job.changes()),
        })
    }

    /// Does the work, and returns the message that answers the request.
    pub(super) async fn run(mut self, outlet: &Outlet) -> MockAnswer {
        match self.perform(outlet).await {
            Ok(answer) => answer,
            Err(error) => MockAnswer {
                text: render::error(Some(&self.id), &error),
                deferred: None,
            },
        }
    }

    async fn perform(&mut self, outlet: &Outlet) -> RpcResult<MockAnswer> {
        if let (Some(retry_ms), Outlet::Stream(stream)) = (self.job.reconnect_ms(), outlet) {
            stream.prime(Some(retry_ms));
            stream.detach();
        }
        for notice in self.job.notices()? {
            pause(Duration::from_millis(notice.delay_ms)).await;
            if let Some(message) = self.message(notice.kind) {
                outlet.send(message).await;
            }
        }
        if self.era == Era::Legacy {
            self.ask_client(outlet).await?;
        }
        pause(self.job.delay()).await;
        self.answer()
    }

    fn message(&self, kind: NoticeKind) -> Option<String> {
        match kind {
            NoticeKind::Progress(params) => {
                let token = self.client.progress_token.as_ref()?;
                let params = format!(r#"{{"progressToken":{token},{}"#, &params[1..]);
                Some(jsonrpc::notification(
                    "notifications/progress",
                    Some(&params),
                ))
            }
            NoticeKind::Log { level, params } => self
                .client
                .level
                .is_some_and(|least| level >= least)
                .then(|| jsonrpc::notification("notifications/message", Some(&params))),
            // A modern client hears of changes only where it listens to them.
            NoticeKind::Other(message) => (self.era == Era::Legacy).then_some(message),
        }
    }

    /// Asks the client, round by round, on the stream of the request itself.
    async fn ask_client(&mut self, outlet: &Outlet) -> RpcResult {
        loop {
            let asks = self.open_questions()?;
            if asks.is_empty() {
                return Ok(());
            }
            for ask in asks {
                let answer = self.ask(&ask, outlet).await?;
                self.inputs.insert(ask.name, answer);
            }
        }
    }

    async fn ask(&self, ask: &AskRequest, outlet: &Outlet) -> RpcResult<serde_json::Value> {
        let method = ask.kind.method();
        let failed = |why: &str| RpcError::new(code::INTERNAL_ERROR, format!("{method}: {why}"));
        let session = self
            .session
            .as_ref()
            .ok_or_else(|| failed("no session has begun"))?;
        let (id, answer) = session.ask();
        let params = jsonrpc::one_line(&ask.params);
        outlet
            .send(jsonrpc::request(&Id::Text(id), method, Some(&params)))
            .await;
        let answer = answer.await.map_err(|_| failed("the client is gone"))?;
        let answer = answer.map_err(|error| failed(&format!("the client refused: {error}")))?;
        ask.kind.check(&answer)?;
        Ok(answer)
    }
}

async fn pause(delay: Duration) {
    if delay > Duration::ZERO {
        tokio::time::sleep(delay).await;
    }
}
