//! What can be wrong with a cassette, and where?

use mcptest_core::json::document::{Placed, TextFault, Words};
use thiserror::Error;

/// Something wrong in a cassette's text.
pub type Problem = Placed<Fault>;

const WORDS: Words = Words {
    shape: "a cassette is one JSON object per line, or a single trace as one JSON object",
    again: "record it again with `--record`",
};

impl Fault {
    /// Returns true if a newer mcptest wrote the file.
    pub fn is_newer(&self) -> bool {
        matches!(self, Self::Text(TextFault::Newer { .. }))
    }

    /// Returns true if the recording was edited.
    pub fn is_edit(&self) -> bool {
        matches!(self, Self::EditedRun { .. })
    }

    /// Returns true if a merge left two versions of the file, so that the right version is unknown.
    pub(super) fn is_conflict(&self) -> bool {
        matches!(self, Self::Text(TextFault::Conflict))
    }

    /// Returns true if its message advises recording again.
    pub fn asks_to_record(&self) -> bool {
        match self {
            Self::Text(fault) => fault.asks_again(),
            Self::NotOneOutcome { .. }
            | Self::BadOutcome { .. }
            | Self::BadHeader { .. }
            | Self::BadTrace { .. }
            | Self::EditedRun { .. }
            | Self::BadStop { .. } => true,
            Self::SecondHeader
            | Self::NotATrace
            | Self::BadRunNumber { .. }
            | Self::DuplicateRun { .. } => false,
        }
    }
}

/// A problem, with its fix.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Fault {
    /// A problem of the text.
    #[error("{}", .0.said(&WORDS))]
    Text(TextFault),
    /// A recorded tool test without an outcome, or with several.
    #[error(
        "{found}; a tool test is recorded as a header and one line, so record it again with \
        `--record`"
    )]
    NotOneOutcome {
        /// The actual value.
        found: &'static str,
    },
    /// The second line of a recorded tool test has something that no mcptest writes.
    #[error("cannot read the result of the call ({key}{reason}); record it again with `--record`")]
    BadOutcome {
        /// The wrong key, as "`key`: "; empty if one is missing.
        key: String,
        /// The problem.
        reason: String,
    },
    /// A header that lacks something or has it in another type.
    #[error("cannot read the header ({reason}); record the cassette again with `--record`")]
    BadHeader {
        /// The problem.
        reason: String,
    },
    /// A header after the first line.
    #[error("this is a second header; keep each cassette in a separate file")]
    SecondHeader,
    /// JSON that records no run.
    #[error(
        "this is not a recorded run: it has neither `tool_calls` nor `conversation`; name a cassette or a trace"
    )]
    NotATrace,
    /// A trace with a field of a wrong type.
    #[error("this is not a valid run ({reason}); correct it, or record again with `--record`")]
    BadTrace {
        /// The problem.
        reason: String,
    },
    /// `run` is not a number from 1.
    #[error("`run` is {found}; runs are numbered 1, 2, 3")]
    BadRunNumber {
        /// The number as written.
        found: String,
    },
    /// A run number used before.
    #[error("run {run} is recorded a second time here; delete one of the two lines")]
    DuplicateRun {
        /// The number.
        run: usize,
    },
    /// A run that does not match its seal.
    #[error(
        "run {run} was edited after it was recorded; record it again with `--record`, or remove \
        `fingerprint` from the header to judge the file as an unpinned trace"
    )]
    EditedRun {
        /// The number.
        run: usize,
    },
    /// The mark of an early stop is invalid.
    #[error("cannot read this mark of an early stop ({reason}); record again with `--record`")]
    BadStop {
        /// The problem.
        reason: String,
    },
}

impl From<TextFault> for Fault {
    fn from(fault: TextFault) -> Self {
        Self::Text(fault)
    }
}
