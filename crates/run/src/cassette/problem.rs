//! What can be wrong with a cassette, and where?

use mcptest_core::trace::Header;
use std::fmt;
use thiserror::Error;

/// Something wrong in a cassette's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where it is; `None` when it concerns the whole file.
    pub place: Option<Place>,
    /// What it is.
    pub fault: Fault,
}

/// A place in a file, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column in characters.
    pub column: usize,
}

impl Place {
    /// The place of the byte at `offset`; past the end it is the end.
    pub(crate) fn at(bytes: &[u8], offset: usize) -> Self {
        let before = &bytes[..offset.min(bytes.len())];
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        let line = before.split(|byte| *byte == b'\n').count();
        let column = before[line_start..].iter().filter(|byte| !is_continuation(**byte)).count() + 1;
        Self { line, column }
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

impl Problem {
    /// Whether a merge left two versions of the file, of which nobody knows the right one.
    pub(super) fn is_conflict(&self) -> bool {
        self.fault == Fault::Conflict
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Place { line, column }) = self.place {
            write!(out, "line {line}, column {column}: ")?;
        }
        write!(out, "{}", self.fault)
    }
}

impl std::error::Error for Problem {}

impl Fault {
    /// Whether a newer mcptest wrote the file.
    pub fn is_newer(&self) -> bool {
        matches!(self, Self::NewerVersion { .. } | Self::NewerToolTest { .. })
    }

    /// Whether its words say to record the file again.
    pub fn asks_to_record(&self) -> bool {
        match self {
            Self::Empty
            | Self::NotUtf8 { .. }
            | Self::CutOff
            | Self::NotJson { .. }
            | Self::Conflict
            | Self::TooDeep { .. }
            | Self::NotAToolTest { .. }
            | Self::NotOneOutcome { .. }
            | Self::BadOutcome { .. }
            | Self::UnknownVersion { .. }
            | Self::BadHeader { .. }
            | Self::BadTrace { .. }
            | Self::BadStop { .. } => true,
            Self::NotAnObject { .. }
            | Self::NotANumber { .. }
            | Self::NumberTooLarge
            | Self::LoneSurrogate { .. }
            | Self::Scattered
            | Self::WrongFormat { .. }
            | Self::NewerVersion { .. }
            | Self::NewerToolTest { .. }
            | Self::SecondHeader
            | Self::NotATrace
            | Self::BadRunNumber { .. }
            | Self::DuplicateRun { .. } => false,
        }
    }
}

/// What is wrong, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Fault {
    /// Nothing but white space.
    #[error("the file is empty; record it again with --record")]
    Empty,
    /// A byte that is not UTF-8.
    #[error("byte {offset} of the file is not UTF-8; save it as UTF-8, or record it again with --record")]
    NotUtf8 {
        /// How many bytes stand before it.
        offset: usize,
    },
    /// The text ends before its JSON does.
    #[error("the recording was cut off in the middle of this line; record it again with --record")]
    CutOff,
    /// JSON, but not an object.
    #[error(
        "{found} stands here; a cassette is one JSON object per line, or a single trace as one JSON object"
    )]
    NotAnObject {
        /// What stands there instead.
        found: &'static str,
    },
    /// Not JSON.
    #[error("this is not JSON ({reason}); restore the line, or record the cassette again with --record")]
    NotJson {
        /// What the parser says.
        reason: String,
    },
    /// A marker of a merge that nobody finished.
    #[error("a merge left a conflict here; keep the lines of one side, or record again with --record")]
    Conflict,
    /// `NaN` or an infinity.
    #[error("`{word}` is not a JSON number; write null, or leave the field out")]
    NotANumber {
        /// The word as written.
        word: &'static str,
    },
    /// A number that no double holds.
    #[error("this number is too large to compare; write it as a string, or make it smaller")]
    NumberTooLarge,
    /// Half of a surrogate pair.
    #[error("`{escape}` is half of a surrogate pair and no character; write \\ufffd in its place")]
    LoneSurrogate {
        /// The escape as written.
        escape: String,
    },
    /// Brackets in brackets in brackets.
    #[error("this is nested more than {limit} levels deep; shorten the value, or record again with --record")]
    TooDeep {
        /// The deepest nesting that is read.
        limit: usize,
    },
    /// Several documents that are not on lines of their own.
    #[error("a second JSON document begins here; put each run on one line of its own (`jq -c .` does that)")]
    Scattered,
    /// A header of something else.
    #[error("the format is {found}, not {:?}; is this another program's file?", Header::FORMAT)]
    WrongFormat {
        /// The format as written.
        found: String,
    },
    /// A header from the future.
    #[error(
        "this cassette has version {version}, and this mcptest reads up to version {}; update mcptest",
        Header::VERSION
    )]
    NewerVersion {
        /// The version as written.
        version: u64,
    },
    /// A file that is no recorded tool test.
    #[error(
        "the format is {found}, not \"mcptest-tool-test\"; move the file away, or record again with --record"
    )]
    NotAToolTest {
        /// The format as written.
        found: String,
    },
    /// A recorded tool test from the future.
    #[error(
        "this recording has version {version}, and this mcptest reads up to version {newest}; update mcptest"
    )]
    NewerToolTest {
        /// The version as written.
        version: u64,
        /// The newest that is read.
        newest: u64,
    },
    /// A recorded tool test without what its call gave, or with too much.
    #[error("{found}; a tool test is recorded as a header and one line, so record it again with --record")]
    NotOneOutcome {
        /// What is there instead.
        found: &'static str,
    },
    /// The second line of a recorded tool test has something that no mcptest writes.
    #[error("what came of the call cannot be read ({key}{reason}); record it again with --record")]
    BadOutcome {
        /// The key that is at fault, as "`key`: "; empty when one is missing.
        key: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A header with a version that never was.
    #[error("the header's version is {found}, which is no version of the format; record again with --record")]
    UnknownVersion {
        /// The version as written.
        found: String,
    },
    /// A header that lacks something or has it in another type.
    #[error("the header cannot be read ({reason}); record the cassette again with --record")]
    BadHeader {
        /// What is wrong with it.
        reason: String,
    },
    /// A header after the first line.
    #[error("a second header begins here; keep each cassette in a file of its own")]
    SecondHeader,
    /// JSON that records no run.
    #[error(
        "this is not a recorded run: it has neither `tool_calls` nor `conversation`; name a cassette or a trace"
    )]
    NotATrace,
    /// A trace with a field of another type.
    #[error("this cannot be read as a run ({reason}); correct it, or record again with --record")]
    BadTrace {
        /// What is wrong with it.
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
    /// The mark of an early stop is not one.
    #[error("this mark of an early stop cannot be read ({reason}); record again with --record")]
    BadStop {
        /// What is wrong with it.
        reason: String,
    },
}
