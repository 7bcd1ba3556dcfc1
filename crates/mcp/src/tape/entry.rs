//! What is on a line of a tape?

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The first line of a tape.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Header {
    /// Always `mcptest-tape`.
    pub format: String,
    /// The version of the format.
    pub version: u64,
    /// The server.
    pub server: TapeServer,
}

/// The address of the recorded server.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct TapeServer {
    /// Its name in a suite, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The words of its command, on stdio.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Its address, on HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// The sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// The client, to the server.
    Client,
    /// The server, to the client.
    Server,
}

/// One line after the first.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Entry {
    /// Microseconds since the recording began.
    pub at_us: u64,
    /// The HTTP session or connection it belongs to, counted from 1; absent on stdio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<u64>,
    /// The HTTP exchange (one request and all of its answer), counted from 1; absent on stdio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<u64>,
    /// The sender. Absent for events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Direction>,
    /// A JSON message, verbatim except for redaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Box<RawValue>>,
    /// Text that is not JSON, or the beginning of a text that is too long to keep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its number of bytes, if only its beginning is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Something that happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<Event>,
}

impl Entry {
    /// An empty entry.
    pub fn at(at_us: u64) -> Self {
        Self {
            at_us,
            ..Self::default()
        }
    }
}

/// The events besides messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Event {
    /// An HTTP request without a message: it opens a stream or ends a session.
    HttpRequest {
        /// Its method.
        method: String,
        /// Its path, with its query.
        path: String,
    },
    /// An HTTP answer that is not a plain 200.
    HttpStatus {
        /// The status.
        status: u16,
    },
    /// A line of the server's standard error.
    Stderr {
        /// The line.
        line: String,
    },
    /// The server's process ended.
    Exit {
        /// The system's description of it.
        status: String,
    },
    /// One side closed its end.
    Closed {
        /// The side.
        by: Direction,
    },
    /// A fault that the proxy injected instead of the server's answer or before it.
    Fault {
        /// The value of `--fault`.
        fault: String,
    },
    /// The recording ended before either side closed.
    Stopped {
        /// Why.
        reason: String,
    },
}
