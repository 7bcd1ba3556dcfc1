//! Which events on the wire are worth reporting although no request failed?

use crate::jsonrpc::{Malformed, RpcError};
use thiserror::Error;

/// An observation besides the answers.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Observed {
    /// A string that is not a message.
    #[error("it sent {text:?}, which is not a message: {why}")]
    Garbage {
        /// Its beginning.
        text: String,
        /// Why it is not a message.
        why: Malformed,
    },
    /// A line that is not UTF-8.
    #[error("it sent a line that is not UTF-8: {text:?}")]
    NotUtf8 {
        /// Its beginning, with the invalid bytes replaced.
        text: String,
    },
    /// A line past the size limit.
    #[error(
        "it sent a line of {bytes} bytes, over the limit of {limit} (`max_message_bytes`), that \
        begins {start:?}"
    )]
    TooLong {
        /// Its length.
        bytes: usize,
        /// The limit.
        limit: usize,
        /// Its beginning.
        start: String,
    },
    /// The output ended in the middle of a line.
    #[error("its output ended in the middle of the line {line:?}")]
    CutLine {
        /// The line.
        line: String,
    },
    /// An answer whose id belongs to no request.
    #[error("it answered id {id}, but no request has this id")]
    UnknownId {
        /// The id.
        id: String,
    },
    /// A second answer to a request that was answered.
    #[error("it answered id {id} twice")]
    DuplicateReply {
        /// The id.
        id: String,
    },
    /// An answer to a request that was given up.
    #[error("it answered {method} (id {id}) after the request was cancelled")]
    LateReply {
        /// The id.
        id: String,
        /// The request's method.
        method: String,
    },
    /// An error without an id.
    #[error("it sent an error without an id: {error}")]
    ErrorWithoutId {
        /// The error.
        error: RpcError,
    },
    /// A request from the server, with its answer.
    #[error("it sent the request {method}{} and received {answer}, {}", spaced(params), how(*is_scripted))]
    ServerRequest {
        /// The server's request.
        method: String,
        /// Its parameters, as JSON text.
        params: String,
        /// The answer, as JSON text.
        answer: String,
        /// True if a script had the answer.
        is_scripted: bool,
    },
    /// A notification that belongs to no call.
    #[error("it sent {method}{}", spaced(params))]
    Notification {
        /// Its method.
        method: String,
        /// Its parameters, as JSON text.
        params: String,
    },
    /// A tool that cannot be used, or breaks a rule.
    #[error("tool {tool}: {why}")]
    BadTool {
        /// Its name, or its place in the list.
        tool: String,
        /// The broken rule.
        flaw: ToolFlaw,
        /// The problem.
        why: String,
    },
    /// The server did not use the modern protocol, so the legacy protocol was tried.
    #[error("the legacy protocol was used because {why}")]
    FellBack {
        /// Why.
        why: String,
    },
    /// The server asked to retry later, and the request was repeated.
    #[error("it answered HTTP {status}; mcptest asked again after {after_ms} ms")]
    Retried {
        /// The HTTP status.
        status: u16,
        /// The time waited, in milliseconds.
        after_ms: u64,
    },
    /// The session had ended, so a new one began.
    #[error("its session had ended, so mcptest began a new one")]
    SessionRenewed,
    /// An event stream was cut off and continued after its last event.
    #[error("its event stream was cut off; mcptest continued it after event {after:?}")]
    StreamResumed {
        /// The event after which the stream continued.
        after: String,
    },
    /// Something about the connection that did not end a request.
    #[error("{0}")]
    Connection(String),
    /// A result that is invalid for its method.
    #[error("the answer to {asked} {why}")]
    BadResult {
        /// The request, as `tools/call get_weather`.
        asked: String,
        /// The problem.
        why: String,
    },
    /// The process did not end by itself, or left children.
    #[error("{0}")]
    Ending(&'static str),
    /// The end of what the process wrote to its standard error.
    #[error("it wrote to stderr: {0}")]
    Stderr(String),
    /// The number of dropped observations.
    #[error("{0} more observations were dropped")]
    More(usize),
}

/// The rule that a tool breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolFlaw {
    /// Another tool has its name.
    Twice,
    /// The type of its input is not `object`.
    InputType,
    /// Any other defect that makes it unusable.
    Unusable,
}

impl Observed {
    /// True for harmless observations, which any server may cause.
    pub fn is_usual(&self) -> bool {
        matches!(
            self,
            Self::Stderr(_) | Self::Notification { .. } | Self::FellBack { .. }
        )
    }

    /// True for output that is not a message: worth quoting if no answer arrived.
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

/// Parameters with a leading space. Empty without parameters.
fn spaced(params: &str) -> String {
    if params.is_empty() || params == "null" {
        String::new()
    } else {
        format!(" {params}")
    }
}

fn how(is_scripted: bool) -> &'static str {
    if is_scripted {
        "as scripted"
    } else {
        "because nothing is scripted for it"
    }
}
