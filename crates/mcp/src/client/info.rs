//! Who is the server, and what does it say it can do?

use crate::era::Era;
use mcptest_core::trace::{CatalogueTool, RecordedServer, ToolSchema};
use serde_json::value::{RawValue, to_raw_value};
use std::collections::BTreeMap;

/// A server's description of itself.
#[derive(Debug, Clone)]
pub struct ServerInfo {
    /// Its own name; empty if it sent none.
    pub name: String,
    /// Its own version; empty if it sent none.
    pub version: String,
    /// The protocol revision that is spoken.
    pub protocol_version: String,
    /// The protocol of that revision.
    pub era: Era,
    /// Its capabilities, verbatim.
    pub capabilities: Box<RawValue>,
    /// The server's instructions for its use.
    pub instructions: Option<String>,
    /// The whole answer to the handshake.
    pub raw: Box<RawValue>,
}

impl ServerInfo {
    /// The protocol that this server uses, in the form of a recording.
    pub fn to_recorded(&self, name: &str) -> RecordedServer {
        RecordedServer {
            name: name.to_owned(),
            era: self.era.as_str().to_owned(),
            protocol_version: self.protocol_version.clone(),
        }
    }
}

/// A tool in the server's list.
#[derive(Debug, Clone)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    pub input_schema: Box<RawValue>,
    /// The JSON Schema of its structured results.
    pub output_schema: Option<Box<RawValue>>,
    /// The whole tool, verbatim.
    pub raw: Box<RawValue>,
}

impl Tool {
    /// The tool of the server of this name, as a recording keeps it.
    pub fn into_catalogue(self, server: &str) -> CatalogueTool {
        CatalogueTool {
            name: self.name,
            server: Some(server.to_owned()),
            description: self.description,
            input_schema: ToolSchema::read(&self.input_schema),
            ..CatalogueTool::default()
        }
    }
}

/// All tools of a server.
#[derive(Debug, Clone, Default)]
pub struct Tools {
    /// The usable tools, in the server's order.
    pub tools: Vec<Tool>,
    /// Problems of other tools, or of the list.
    pub complaints: Vec<super::Observed>,
}

/// A call and its result.
#[derive(Debug)]
pub struct Called {
    /// The verbatim result, even with `isError: true`.
    pub outcome: Result<Box<RawValue>, super::CallFailure>,
    /// From sending to the answer.
    pub duration: std::time::Duration,
    /// Progress and log messages during the call, in order.
    pub notifications: Vec<Note>,
}

impl Called {
    /// The progress that the server reported, in order, without our own token.
    pub fn progress(&self) -> Vec<Box<RawValue>> {
        self.sent("notifications/progress")
    }

    /// The log messages during the call, in order and verbatim.
    pub fn log(&self) -> Vec<Box<RawValue>> {
        self.sent("notifications/message")
    }

    fn sent(&self, method: &str) -> Vec<Box<RawValue>> {
        let notes = self
            .notifications
            .iter()
            .filter(|note| note.method == method);
        let without_token = |params: &RawValue| {
            let mut members: BTreeMap<String, &RawValue> =
                serde_json::from_str(params.get()).ok()?;
            members.remove("progressToken");
            to_raw_value(&members).ok()
        };
        notes
            .filter_map(|note| without_token(note.params.as_deref()?))
            .collect()
    }
}

/// The end of a connection, and everything observed on it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Closing {
    /// Everything that [`observed`](super::Client::observed) returns, including observations during
    /// the ending.
    pub observed: Vec<super::Observed>,
    /// The end of its process.
    pub process: mcptest_process::Closing,
}

/// A notification.
#[derive(Debug, Clone)]
pub struct Note {
    /// Its method.
    pub method: String,
    /// Its parameters, verbatim.
    pub params: Option<Box<RawValue>>,
}
