//! What does a request need from the manifest or the tape, and what is the result?

use super::recorded::RecordedRequest;
use crate::manifest::{
    Asks, Declared, Inputs, Manifest, Notice, ServerChange, State, Tool, ToolReply,
};
use mcptest_mcp::jsonrpc::RpcResult;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

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
    /// The function that answers calls of tools instead of the manifest.
    pub(super) answerer: Option<Answerer>,
}

/// Gives the result of a call of a tool, by its name and arguments.
pub(super) type Answerer = fn(&str, &Value) -> Value;

impl Job {
    /// The next requests to the client. Empty if the answer is ready.
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

    /// Returns true if even the first requests carry a `requestState`.
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

    /// The notifications before the answer.
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

    /// The delay of the answer.
    pub(super) fn delay(&self) -> Duration {
        self.called()
            .map(|(tool, _)| Duration::from_millis(tool.delay_ms))
            .unwrap_or_default()
    }

    /// The delay for reconnecting, if the stream is closed first.
    pub(super) fn reconnect_ms(&self) -> Option<u64> {
        self.called()?.0.reconnect_ms
    }

    /// The called tool, and its arguments.
    fn called(&self) -> Option<(&Tool, &Value)> {
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

    /// The changes after the call.
    pub(super) fn changes(&self) -> Vec<ServerChange> {
        let changes = self
            .called()
            .and_then(|(tool, arguments)| tool.changes(arguments).ok());
        changes.unwrap_or_default()
    }

    /// The identity of the call, so that a state belongs to only one call.
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
