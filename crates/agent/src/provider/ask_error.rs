//! Why is there no message?

use std::time::Duration;
use thiserror::Error;

/// A question that got no message for an answer. It never contains the key.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct AskError {
    /// The kind of failure.
    pub kind: AskErrorKind,
    /// The status of the last answer, if any.
    pub status: Option<u16>,
    /// The problem and the fix, in a sentence.
    pub message: String,
    /// The number of tries.
    pub tries: u32,
    /// True if the provider refused the schema of a tool.
    pub is_of_schema: bool,
}

impl AskError {
    /// An error of the first try, without a status.
    pub(super) fn new(kind: AskErrorKind, message: String) -> Self {
        Self {
            kind,
            status: None,
            message,
            tries: 1,
            is_of_schema: false,
        }
    }

    /// Returns true if the failure belongs to the conversation instead of the provider's
    /// infrastructure: an impossible or declined request.
    pub fn is_of_conversation(&self) -> bool {
        match self.kind {
            AskErrorKind::Refused => true,
            AskErrorKind::Rejected => matches!(self.status, Some(400 | 413 | 422)),
            AskErrorKind::Unavailable | AskErrorKind::Hung | AskErrorKind::Malformed => false,
        }
    }

    /// Returns true if the only try was still open at the end of the run's time.
    pub(crate) fn is_late(&self) -> bool {
        self.kind == AskErrorKind::Hung && self.tries <= 1
    }

    /// Appends to a message that may be a complete sentence of the provider.
    pub(super) fn go_on(&mut self, more: &str) {
        let said = self.message.trim_end_matches('.').len();
        self.message.truncate(said);
        self.message.push_str(more);
    }
}

/// The kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskErrorKind {
    /// The provider rejected the request and would do so again.
    Rejected,
    /// The provider was unreachable or asked to wait, too often.
    Unavailable,
    /// The time limit passed without an answer.
    Hung,
    /// The answer is not a message.
    Malformed,
    /// The prompt was blocked before it reached the model.
    Refused,
}

/// A length of time as a suite has it: `30s`, `1.5s`, `250ms`.
pub(super) fn span(time: Duration) -> String {
    let millis = (time.as_secs_f64() * 1000.0).round() as u64;
    match millis {
        0..1000 => format!("{millis}ms"),
        _ if millis.is_multiple_of(1000) => format!("{}s", millis / 1000),
        _ => format!("{:.1}s", millis as f64 / 1000.0),
    }
}
