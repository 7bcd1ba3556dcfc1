//! What happened on the wire that a careful reader wants to know, though no request failed by it?

use crate::jsonrpc::{Malformed, RpcError};
use std::fmt;

/// Something that was seen besides the answers.
#[derive(Debug, Clone, PartialEq)]
pub enum Observed {
    /// A text that is not a message.
    Garbage {
        /// How it began.
        text: String,
        /// Why it is none.
        why: Malformed,
    },
    /// A line that is not UTF-8.
    NotUtf8 {
        /// How it began, with the bad bytes replaced.
        text: String,
    },
    /// A line past the size limit.
    TooLong {
        /// How long it was.
        bytes: usize,
        /// The limit.
        limit: usize,
        /// How it began.
        start: String,
    },
    /// The output ended in the middle of a line.
    CutLine {
        /// The last piece.
        text: String,
    },
    /// An answer whose id belongs to no request.
    UnknownId {
        /// The id.
        id: String,
    },
    /// A second answer to a request that was answered.
    DuplicateReply {
        /// The id.
        id: String,
    },
    /// An answer to a request that had been given up.
    LateReply {
        /// The id.
        id: String,
        /// What was asked.
        method: String,
    },
    /// An error that says no id.
    ErrorWithoutId {
        /// The error.
        error: RpcError,
    },
    /// A request from the server, and what it was answered.
    ServerRequest {
        /// What it asked.
        method: String,
        /// Its parameters, as JSON text.
        params: String,
        /// The answer, as JSON text.
        answer: String,
        /// True when a script had the answer.
        is_scripted: bool,
    },
    /// A notification that belongs to no call.
    Notification {
        /// Its method.
        method: String,
        /// Its parameters, as JSON text.
        params: String,
    },
    /// A tool that cannot be used, or breaks a rule.
    BadTool {
        /// Its name, or its place in the list.
        tool: String,
        /// What is wrong with it.
        why: String,
    },
    /// The server did not speak the modern era, and the older one was tried.
    FellBack {
        /// Why.
        reason: String,
    },
    /// The server asked to come back later, and got the request again.
    Retried {
        /// The HTTP status.
        status: u16,
        /// How long it was waited, in milliseconds.
        after_ms: u64,
    },
    /// The session had ended, and a new one was begun.
    SessionRenewed,
    /// An event stream was cut off and continued after its last event.
    StreamResumed {
        /// The last event that had come.
        after: String,
    },
    /// Something about the connection that did not end a request.
    Connection {
        /// What.
        what: String,
    },
    /// A result that is not what the method must answer.
    BadResult {
        /// What was asked, as `tools/call get_weather`.
        asked: String,
        /// What is wrong with it.
        why: String,
    },
    /// The process did not end by itself, or not alone.
    Ending {
        /// What had to be done.
        what: &'static str,
    },
    /// The end of what the process wrote to its standard error.
    Stderr {
        /// The last lines.
        tail: String,
    },
    /// More was seen than is kept.
    More {
        /// How many are not here.
        count: usize,
    },
}

impl Observed {
    /// True for what every server may do.
    pub fn is_usual(&self) -> bool {
        matches!(self, Self::Stderr { .. } | Self::Notification { .. } | Self::FellBack { .. })
    }

    /// True for what the server sent in the place of a message: worth quoting when an answer never came.
    pub fn is_in_place_of_an_answer(&self) -> bool {
        matches!(
            self,
            Self::Garbage { .. }
                | Self::NotUtf8 { .. }
                | Self::TooLong { .. }
                | Self::CutLine { .. }
                | Self::UnknownId { .. }
                | Self::ErrorWithoutId { .. }
        )
    }
}

impl fmt::Display for Observed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Garbage { text, why } => write!(f, "it sent {text:?}, which is not a message: {why}"),
            Self::NotUtf8 { text } => write!(f, "it sent a line that is not UTF-8: {text:?}"),
            Self::TooLong { bytes, limit, start } => write!(
                f,
                "it sent a line of {bytes} bytes, past the limit of {limit} (`max_message_bytes`), which begins {start:?}"
            ),
            Self::CutLine { text } => write!(f, "its output ended in the middle of the line {text:?}"),
            Self::UnknownId { id } => write!(f, "it answered id {id}, which was not asked"),
            Self::DuplicateReply { id } => write!(f, "it answered id {id} twice"),
            Self::LateReply { id, method } => {
                write!(f, "it answered {method} (id {id}) after the request had been cancelled")
            }
            Self::ErrorWithoutId { error } => write!(f, "it sent an error without an id: {error}"),
            Self::ServerRequest { method, params, answer, is_scripted } => {
                let how = if *is_scripted { "as scripted" } else { "as nothing is scripted for it" };
                let params = spaced(params);
                write!(f, "it asked {method}{params}, and was answered {answer}, {how}")
            }
            Self::Notification { method, params } => write!(f, "it sent {method}{}", spaced(params)),
            Self::BadTool { tool, why } => write!(f, "tool {tool}: {why}"),
            Self::FellBack { reason } => write!(f, "spoken to in the older era, because {reason}"),
            Self::Retried { status, after_ms } => {
                write!(f, "it answered HTTP {status}, and was asked again after {after_ms} ms")
            }
            Self::SessionRenewed => f.write_str("its session had ended, and a new one was begun"),
            Self::StreamResumed { after } => {
                write!(f, "its event stream was cut off, and was continued after event {after:?}")
            }
            Self::Connection { what } => f.write_str(what),
            Self::BadResult { asked, why } => write!(f, "the answer to {asked} {why}"),
            Self::Ending { what } => f.write_str(what),
            Self::Stderr { tail } => write!(f, "it wrote to stderr: {tail}"),
            Self::More { count } => write!(f, "{count} more things were seen than are kept"),
        }
    }
}

/// Parameters after their method; nothing when there are none.
fn spaced(params: &str) -> String {
    if params.is_empty() || params == "null" { String::new() } else { format!(" {params}") }
}
