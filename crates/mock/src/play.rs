//! Work that takes time: notifications, questions to the client and delays on the way to an answer.

use super::catalog::Catalog;
use super::deliver::DeferredChanges;
use super::incoming::Capabilities;
use super::render;
use super::server::Server;
use super::session::Session;
use super::stream::Outlet;
use super::tape_index::RecordedRequest;
use crate::manifest::{
    self, AskRequest, Asks, Declared, Inputs, LogLevel, Manifest, Notice, NoticeKind, ServerChange,
    State, ToolReply,
};
use mcptest_mcp::era::Era;
use mcptest_mcp::jsonrpc::{self, Id, RpcError, RpcResult, code};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

/// What is known of the client for one request.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) capabilities: Capabilities,
    /// The least level of log messages that it wants; `None` when it wants none.
    pub(super) level: Option<LogLevel>,
    /// Its progress token as JSON text.
    pub(super) progress_token: Option<String>,
}

/// The message that answers a request, and what is told after it.
#[derive(Debug)]
pub(super) struct MockAnswer {
    pub(super) text: String,
    pub(super) deferred: Option<DeferredChanges>,
}

/// One request on its way to an answer.
#[derive(Debug)]
pub(super) struct Play {
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

impl Play {
    /// The answer, when nothing comes before it.
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
            deferred: DeferredChanges::of(&self.server, self.job.changes()),
        })
    }

    /// Does the work, and gives the message that answers the request.
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
            NoticeKind::Log(level, params) => self
                .client
                .level
                .is_some_and(|least| level >= least)
                .then(|| jsonrpc::notification("notifications/message", Some(&params))),
            // A modern client hears of changes only where it listens to them.
            NoticeKind::Other(message) => (self.era == Era::Legacy).then_some(message),
        }
    }

    /// Asks round by round, on the stream of the request itself.
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
            .ok_or_else(|| failed("there is no session"))?;
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

/// One piece of work.
#[derive(Debug)]
pub(super) enum Job {
    Tool {
        mock: Arc<Mock>,
        name: String,
        arguments: Value,
    },
    Prompt {
        mock: Arc<Mock>,
        name: String,
        arguments: Value,
    },
    Resource {
        mock: Arc<Mock>,
        uri: String,
    },
    Recorded(Arc<RecordedRequest>),
}

/// A manifest and its memory.
#[derive(Debug)]
pub(super) struct Mock {
    pub(super) manifest: Manifest,
    pub(super) state: State,
    /// Who answers calls of tools in place of the manifest.
    pub(super) answerer: Option<Answerer>,
}

/// Gives the result of a call of a tool, by its name and arguments.
pub(super) type Answerer = fn(&str, &Value) -> Value;

impl Job {
    /// What to ask the client now; empty when the answer can be given.
    pub(super) fn requests(&self, inputs: &Inputs, declared: Declared<'_>) -> Asks {
        match self {
            Self::Tool {
                mock,
                name,
                arguments,
            } => mock
                .manifest
                .tool(name)?
                .requests(arguments, inputs, declared),
            Self::Prompt {
                mock,
                name,
                arguments,
            } => mock
                .manifest
                .prompt(name)?
                .requests(arguments, inputs, declared),
            Self::Resource { mock, uri } => mock.manifest.resource(uri)?.requests(inputs, declared),
            Self::Recorded(recorded) => Ok(recorded.requests(inputs, declared)),
        }
    }

    /// Whether even the first questions carry a `requestState`.
    pub(super) fn always_has_state(&self) -> bool {
        let ask = match self {
            Self::Tool { mock, name, .. } => mock.manifest.tool(name).map(|tool| &tool.ask),
            Self::Prompt { mock, name, .. } => mock.manifest.prompt(name).map(|prompt| &prompt.ask),
            Self::Resource { mock, uri } => {
                mock.manifest.resource(uri).map(|found| &found.resource.ask)
            }
            Self::Recorded(_) => return true,
        };
        ask.is_ok_and(|ask| ask.request_state)
    }

    /// What is said on the way.
    pub(super) fn notices(&self) -> RpcResult<Vec<Notice>> {
        match self {
            Self::Tool {
                mock,
                name,
                arguments,
            } => mock.manifest.tool(name)?.notices(arguments),
            Self::Prompt { .. } | Self::Resource { .. } => Ok(Vec::new()),
            Self::Recorded(recorded) => Ok(recorded.notices.clone()),
        }
    }

    /// How long the answer waits.
    pub(super) fn delay(&self) -> Duration {
        self.called()
            .map(|(tool, _)| Duration::from_millis(tool.delay_ms))
            .unwrap_or_default()
    }

    /// Whether the stream is closed first, and when the client should come back.
    pub(super) fn reconnect_ms(&self) -> Option<u64> {
        self.called()?.0.reconnect_ms
    }

    /// The tool that is called, and its arguments.
    fn called(&self) -> Option<(&manifest::Tool, &Value)> {
        let Self::Tool {
            mock,
            name,
            arguments,
        } = self
        else {
            return None;
        };
        Some((mock.manifest.tool(name).ok()?, arguments))
    }

    /// The answer: a result as JSON text.
    pub(super) fn answer(&self, inputs: &Inputs) -> RpcResult<ToolReply<'_>> {
        match self {
            Self::Tool {
                mock,
                name,
                arguments,
            } => match mock.answerer {
                Some(answer) => Ok(Cow::<str>::Owned(answer(name, arguments).to_string()).into()),
                None => mock
                    .manifest
                    .tool(name)?
                    .reply(arguments, &mock.state, inputs),
            },
            Self::Prompt {
                mock,
                name,
                arguments,
            } => mock
                .manifest
                .prompt(name)?
                .answer(arguments, inputs)
                .map(ToolReply::from),
            Self::Resource { mock, uri } => mock
                .manifest
                .resource(uri)?
                .answer(inputs)
                .map(ToolReply::from),
            Self::Recorded(recorded) => recorded.answer().map(ToolReply::from),
        }
    }

    /// What has changed when it is done.
    pub(super) fn changes(&self) -> Vec<ServerChange> {
        let changes = self
            .called()
            .and_then(|(tool, arguments)| tool.changes(arguments).ok());
        changes.unwrap_or_default()
    }

    /// What was asked for, so that a state fits no other call.
    pub(super) fn fingerprint(&self) -> String {
        let hash = |kind: &str, name: &str, arguments: &Value| {
            format!(
                "{kind} {name} {:032x}",
                mcptest_core::json::hash_value(arguments)
            )
        };
        match self {
            Self::Tool {
                name, arguments, ..
            } => hash("tool", name, arguments),
            Self::Prompt {
                name, arguments, ..
            } => hash("prompt", name, arguments),
            Self::Resource { uri, .. } => hash("resource", uri, &Value::Null),
            Self::Recorded(recorded) => recorded.fingerprint.clone(),
        }
    }
}
