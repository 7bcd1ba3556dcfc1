//! What goes wrong on purpose with a request and with its answer?

mod injector;
mod reply;

pub use injector::Injector;
pub use mcptest_core::fault::{FaultKind, FaultScope, ScopedFault};
pub use reply::ReplyFault;

use crate::jsonrpc::RpcError;
use std::time::Duration;

/// The action for one request and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Action {
    /// The action for the request.
    pub request: RequestFault,
    /// The delay of the answer.
    pub delay: Option<Duration>,
    /// The delay after the request at which the answer is sent despite a cancellation.
    pub despite_cancel: Option<Duration>,
    /// True if standard error is flooded before the answer.
    pub floods_stderr: bool,
    /// The action for the answer.
    pub reply: ReplyFault,
    /// The faults that applied, in their written form; empty without any.
    pub faults: Vec<FaultKind>,
}

/// The action for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RequestFault {
    /// It reaches the server.
    #[default]
    Serve,
    /// It is dropped and never answered.
    Ignore,
    /// It is dropped, and so are all later requests in the fault's scope.
    Wedge,
    /// The connection is closed instead of an answer.
    Disconnect,
    /// It gets a JSON-RPC error with this code.
    Refuse {
        /// The code.
        code: i64,
    },
    /// There were too many requests: HTTP 429 with `Retry-After`, a JSON-RPC error on stdio.
    Limit {
        /// The number of seconds until a retry; at least 1.
        retry_after_s: u64,
    },
}

impl Action {
    /// True if no fault applies.
    pub fn is_healthy(&self) -> bool {
        self.faults.is_empty()
    }
}

/// The JSON-RPC error code for "too many requests".
pub const TOO_MANY_REQUESTS: i64 = -32029;

/// A server's message for this code. Nothing reveals that the error was injected.
fn words_of(code: i64) -> &'static str {
    match code {
        -32700 => "Parse error",
        -32600 => "Invalid Request",
        -32601 => "Method not found",
        -32602 => "Invalid params",
        -32603 => "Internal error",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        409 => "Conflict",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Server error",
    }
}

/// The sentence of an injected JSON-RPC error.
pub fn refusal(fault: RequestFault) -> Option<RpcError> {
    match fault {
        RequestFault::Refuse { code } => Some(RpcError::new(code, words_of(code))),
        RequestFault::Limit { retry_after_s } => {
            let message = format!("too many requests: try again in {retry_after_s} s");
            let data = serde_json::json!({ "retryAfterMs": retry_after_s * 1000 });
            Some(RpcError::new(TOO_MANY_REQUESTS, message).with_data(&data))
        }
        _ => None,
    }
}

/// Lines that flood standard error: 4 MiB, far more than a pipe holds.
pub fn flood() -> impl Iterator<Item = &'static str> {
    const LINE: &str = "flood-stderr: this line repeats until every unread pipe is full\n";
    std::iter::repeat_n(LINE, (4 << 20) / LINE.len())
}
