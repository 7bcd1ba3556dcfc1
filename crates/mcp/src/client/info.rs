//! Who is the server, and what does it say it can do?

use crate::era::Era;
use mcptest_core::trace::{CatalogueTool, RecordedServer, ToolSchema};
use serde_json::value::{RawValue, to_raw_value};
use std::collections::BTreeMap;

/// What a server told about itself.
#[derive(Debug, Clone)]
pub struct ServerInfo {
    /// Its own name; empty when it did not say.
    pub name: String,
    /// Its own version; empty when it did not say.
    pub version: String,
    /// The protocol revision that is spoken.
    pub protocol_version: String,
    /// The era of that revision.
    pub era: Era,
    /// Its capabilities, as it wrote them.
    pub capabilities: Box<RawValue>,
    /// How it wants to be used.
    pub instructions: Option<String>,
    /// The whole answer to the handshake.
    pub raw: Box<RawValue>,
}

impl ServerInfo {
    /// How the server of this name is spoken to, as a recording keeps it.
    pub fn to_recorded(&self, name: &str) -> RecordedServer {
        RecordedServer {
            name: name.to_owned(),
            era: self.era.as_str().to_owned(),
            protocol_version: self.protocol_version.clone(),
        }
    }
}

/// A tool, as the server lists it.
#[derive(Debug, Clone)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: Option<String>,
    /// What it does.
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    pub input_schema: Box<RawValue>,
    /// The JSON Schema of its structured results.
    pub output_schema: Option<Box<RawValue>>,
    /// Everything, as it was written.
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
    /// Those that can be used, in the server's order.
    pub tools: Vec<Tool>,
    /// What is wrong with others, or with the list.
    pub complaints: Vec<super::Observed>,
}

/// A call and its result.
#[derive(Debug)]
pub struct Called {
    /// The result as it was written, also when it says `isError: true`.
    pub outcome: Result<Box<RawValue>, super::CallFailure>,
    /// From sending to the answer.
    pub duration: std::time::Duration,
    /// Progress and log messages that came meanwhile, in order.
    pub notifications: Vec<Note>,
}

impl Called {
    /// The progress that the server reported, in order, without our own token.
    pub fn progress(&self) -> Vec<Box<RawValue>> {
        self.sent("notifications/progress")
    }

    /// What it logged meanwhile, in order, as it wrote it.
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

/// How a connection ended, and all that was seen on it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Closing {
    /// Everything that [`observed`](super::Client::observed) gives, with what came during the ending.
    pub observed: Vec<super::Observed>,
    /// How its process ended.
    pub process: mcptest_process::Closing,
}

/// A notification.
#[derive(Debug, Clone)]
pub struct Note {
    /// Its method.
    pub method: String,
    /// Its parameters, as they were written.
    pub params: Option<Box<RawValue>>,
}
