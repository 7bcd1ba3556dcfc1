//! Work that was asked for: what it says, asks and changes on the way to its answer.

use super::audience::Change;
use super::catalog::Catalog;
use super::recorded::Recorded;
use crate::jsonrpc::{self, RpcError};
use crate::manifest::{self, AskKind, Effect, Inputs, ListKind, Manifest, NoticeKind, Reply, Request, State};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

/// Something said on the way.
#[derive(Debug, Clone)]
pub(super) struct Beat {
    pub(super) delay: Duration,
    pub(super) kind: BeatKind,
}

/// What is said.
#[derive(Debug, Clone)]
pub(super) enum BeatKind {
    /// Progress, for a call with a token: the members of its params, without the token, as JSON text.
    Progress(String),
    /// A log message: its severity, and its params as JSON text.
    Log(u8, String),
    /// A message as it is.
    Other(String),
}

/// One piece of work.
#[derive(Debug)]
pub(super) enum Job {
    Tool { catalog: Arc<Catalog>, name: String, arguments: Value },
    Prompt { catalog: Arc<Catalog>, name: String, arguments: Value },
    Resource { catalog: Arc<Catalog>, uri: String },
    Recorded(Arc<Recorded>),
}

/// The manifest and the memory behind a catalog that has them.
pub(super) struct Mock<'c> {
    pub(super) manifest: &'c Manifest,
    pub(super) state: &'c State,
}

impl Job {
    /// What to ask the client now; empty when the answer can be given.
    pub(super) fn requests(
        &self,
        inputs: &Inputs,
        declared: &dyn Fn(AskKind) -> bool,
    ) -> Result<Vec<Request>, RpcError> {
        let requests = match self {
            Self::Tool { catalog, name, arguments } => catalog
                .mock()?
                .manifest
                .tool(name)
                .and_then(|tool| tool.requests(arguments, inputs, declared)),
            Self::Prompt { catalog, name, arguments } => catalog
                .mock()?
                .manifest
                .prompt(name)
                .and_then(|prompt| prompt.requests(arguments, inputs, declared)),
            Self::Resource { catalog, uri } => {
                catalog.mock()?.manifest.resource(uri).and_then(|found| found.requests(inputs, declared))
            }
            Self::Recorded(recorded) => Ok(recorded.requests(inputs, declared)),
        };
        requests.map_err(from_manifest)
    }

    /// Whether even the first questions carry a `requestState`.
    pub(super) fn always_has_state(&self) -> bool {
        match self {
            Self::Tool { catalog, name, .. } => {
                catalog.manifest().and_then(|m| m.tool(name).ok()).is_some_and(|t| t.ask.request_state)
            }
            Self::Prompt { catalog, name, .. } => {
                catalog.manifest().and_then(|m| m.prompt(name).ok()).is_some_and(|p| p.ask.request_state)
            }
            Self::Resource { catalog, uri } => catalog
                .manifest()
                .and_then(|m| m.resource(uri).ok())
                .is_some_and(|found| found.resource.ask.request_state),
            Self::Recorded(_) => true,
        }
    }

    /// What is said on the way.
    pub(super) fn beats(&self) -> Result<Vec<Beat>, RpcError> {
        match self {
            Self::Tool { catalog, name, arguments } => {
                let tool = catalog.mock()?.manifest.tool(name).map_err(from_manifest)?;
                let notices = tool.notices(arguments).map_err(from_manifest)?;
                Ok(notices.into_iter().map(Beat::of).collect())
            }
            Self::Prompt { .. } | Self::Resource { .. } => Ok(Vec::new()),
            Self::Recorded(recorded) => Ok(recorded.beats.clone()),
        }
    }

    /// How long the answer waits.
    pub(super) fn delay(&self) -> Duration {
        self.of_tool(|tool| Duration::from_millis(tool.delay_ms)).unwrap_or_default()
    }

    /// Whether the stream is closed first, and when the client should come back.
    pub(super) fn reconnect_ms(&self) -> Option<u64> {
        self.of_tool(|tool| tool.reconnect_ms).flatten()
    }

    fn of_tool<T>(&self, read: impl FnOnce(&manifest::Tool) -> T) -> Option<T> {
        let Self::Tool { catalog, name, .. } = self else { return None };
        catalog.manifest()?.tool(name).ok().map(read)
    }

    /// The answer: a result as JSON text.
    pub(super) fn answer(&self, inputs: &Inputs) -> Result<Reply<'_>, RpcError> {
        let answer = match self {
            Self::Tool { catalog, name, arguments } => {
                if let Some(answer) = catalog.answerer {
                    return Ok(Cow::<str>::Owned(answer(name, arguments).to_string()).into());
                }
                let Mock { manifest, state } = catalog.mock()?;
                let tool = manifest.tool(name).map_err(from_manifest)?;
                return tool.reply(arguments, state, inputs).map_err(from_manifest);
            }
            Self::Prompt { catalog, name, arguments } => {
                catalog.mock()?.manifest.prompt(name).and_then(|prompt| prompt.answer(arguments, inputs))
            }
            Self::Resource { catalog, uri } => {
                catalog.mock()?.manifest.resource(uri).and_then(|found| found.answer(inputs))
            }
            Self::Recorded(recorded) => return recorded.answer().map(Reply::from),
        };
        answer.map(Reply::from).map_err(from_manifest)
    }

    /// What has changed when it is done.
    pub(super) fn changes(&self) -> Vec<Change> {
        let Self::Tool { catalog, name, arguments } = self else { return Vec::new() };
        let effects = catalog
            .manifest()
            .and_then(|manifest| manifest.tool(name).ok())
            .and_then(|tool| tool.effects(arguments).ok());
        effects.into_iter().flatten().map(Change::of).collect()
    }

    /// What was asked for, so that a state fits no other call.
    pub(super) fn fingerprint(&self) -> String {
        let hash = |kind: &str, name: &str, arguments: &Value| {
            format!("{kind} {name} {:032x}", mcptest_core::json::hash_value(arguments))
        };
        match self {
            Self::Tool { name, arguments, .. } => hash("tool", name, arguments),
            Self::Prompt { name, arguments, .. } => hash("prompt", name, arguments),
            Self::Resource { uri, .. } => hash("resource", uri, &Value::Null),
            Self::Recorded(recorded) => recorded.fingerprint.clone(),
        }
    }
}

impl Change {
    fn of(effect: Effect) -> Self {
        match effect {
            Effect::ListChanged(ListKind::Tools) => Self::Tools,
            Effect::ListChanged(ListKind::Prompts) => Self::Prompts,
            Effect::ListChanged(ListKind::Resources) => Self::Resources,
            Effect::Updated(uri) => Self::Updated(uri),
        }
    }
}

impl Beat {
    fn of(notice: manifest::Notice) -> Self {
        let kind = match notice.kind {
            NoticeKind::Progress { progress, total, message } => {
                let mut members = format!(r#""progress":{progress}"#);
                if let Some(total) = total {
                    members.push_str(&format!(r#","total":{total}"#));
                }
                if let Some(message) = message {
                    members.push_str(&format!(r#","message":{}"#, jsonrpc::text(&message)));
                }
                BeatKind::Progress(members)
            }
            NoticeKind::Log { level, params } => BeatKind::Log(level as u8, params),
        };
        Self { delay: Duration::from_millis(notice.delay_ms), kind }
    }
}

/// An error of the manifest as one of the wire.
pub(super) fn from_manifest(error: manifest::RpcError) -> RpcError {
    let data = error.data.and_then(|data| serde_json::value::RawValue::from_string(data).ok());
    RpcError { code: error.code, message: error.message, data }
}
