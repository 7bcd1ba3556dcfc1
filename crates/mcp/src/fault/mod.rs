//! What goes wrong on purpose with a request and with its answer?

mod injector;

pub use injector::Injector;
pub use mcptest_core::fault::{FaultKind, FaultScope, ScopedFault};

use crate::jsonrpc::{self, Id, RpcError};
use std::time::Duration;

/// What to do with one request and with the answer to it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Action {
    /// What to do with the request.
    pub request: RequestFault,
    /// How long the answer is held back.
    pub delay: Option<Duration>,
    /// A cancel does not stop the answer: it comes, this long after the request.
    pub despite_cancel: Option<Duration>,
    /// Whether standard error is flooded before the answer.
    pub floods_stderr: bool,
    /// What becomes of the answer.
    pub reply: ReplyFault,
    /// The faults that struck, as they are written; empty when all is well.
    pub faults: Vec<FaultKind>,
}

/// What to do with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RequestFault {
    /// It reaches the server.
    #[default]
    Serve,
    /// It goes nowhere and is never answered.
    Ignore,
    /// It goes nowhere, and so do all after it that the fault is meant for.
    Wedge,
    /// The connection is closed in place of an answer.
    Disconnect,
    /// It gets a JSON-RPC error with this code.
    Refuse {
        /// The code.
        code: i64,
    },
    /// There were too many: HTTP 429 with `Retry-After`, a JSON-RPC error on stdio.
    Limit {
        /// In how many seconds to try again; at least 1.
        retry_after_s: u64,
    },
}

impl Action {
    /// True when nothing goes wrong.
    pub fn is_healthy(&self) -> bool {
        self.faults.is_empty()
    }
}

/// The code of the JSON-RPC error that says "too many requests".
pub const TOO_MANY_REQUESTS: i64 = -32029;

/// What a server says of an error of this code: nothing tells that it was injected.
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

/// The lines with which standard error is flooded: 4 MiB, far more than a pipe holds.
pub fn flood() -> impl Iterator<Item = &'static str> {
    const LINE: &str = "flood-stderr: this line is written again and again, until any pipe that nobody reads is full\n";
    std::iter::repeat_n(LINE, (4 << 20) / LINE.len())
}

/// What becomes of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReplyFault {
    /// It is sent.
    #[default]
    Whole,
    /// It is never sent.
    Lost,
    /// It is sent as broken JSON.
    Malformed,
    /// It is sent with the id of no request.
    WrongId,
    /// It is sent twice.
    Twice,
}

impl ReplyFault {
    /// The texts to send in place of an answer.
    pub fn texts(self, answer: String) -> Vec<String> {
        match self {
            Self::Whole => vec![answer],
            Self::Lost => Vec::new(),
            Self::Malformed => vec![broken(&answer)],
            Self::WrongId => vec![with_wrong_id(&answer)],
            Self::Twice => vec![answer.clone(), answer],
        }
    }
}

/// The answer without its second half: what a buffer that was cut off looks like.
fn broken(answer: &str) -> String {
    let mut end = answer.len() / 2;
    while !answer.is_char_boundary(end) {
        end -= 1;
    }
    answer[..end].to_owned()
}

fn with_wrong_id(answer: &str) -> String {
    jsonrpc::with_id(answer, |id| match id {
        Some(Id::Number(number)) => number.wrapping_add(1_000_003).to_string(),
        Some(Id::Text(text)) => jsonrpc::text(&format!("{text}-wrong")),
        None => "1000003".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::{Body, parse};

    const ANSWER: &str = r#"{"jsonrpc":"2.0","id":7,"result":{"id":7,"text":"ü"}}"#;

    #[test]
    fn a_wrong_id_changes_the_messages_own_id_and_nothing_else() {
        let texts = ReplyFault::WrongId.texts(ANSWER.to_owned());
        let Body::Result { id, result } = parse(&texts[0]).unwrap().body else {
            panic!("{texts:?}")
        };
        assert_eq!(id, Id::Number(1_000_010));
        assert_eq!(result.get(), r#"{"id":7,"text":"ü"}"#);
        let named =
            ReplyFault::WrongId.texts(r#"{"result":1,"jsonrpc":"2.0","id":"a\"b"}"#.to_owned());
        assert_eq!(named, [r#"{"result":1,"jsonrpc":"2.0","id":"a\"b-wrong"}"#]);
    }

    #[test]
    fn a_malformed_answer_is_not_json_wherever_it_is_cut() {
        for length in 0..8 {
            let answer = format!(
                r#"{{"jsonrpc":"2.0","id":7,"result":"{}"}}"#,
                "ü".repeat(length)
            );
            let texts = ReplyFault::Malformed.texts(answer);
            assert!(parse(&texts[0]).is_err(), "{texts:?}");
        }
    }

    #[test]
    fn an_answer_comes_once_twice_or_never() {
        let count = |reply: ReplyFault| reply.texts(ANSWER.to_owned()).len();
        assert_eq!(
            (
                count(ReplyFault::Whole),
                count(ReplyFault::Twice),
                count(ReplyFault::Lost)
            ),
            (1, 2, 0)
        );
    }
}
