//! What can be wrong with a transcript, and where?

use crate::cassette::Place;
use std::fmt;
use thiserror::Error;

/// Something wrong in a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportError {
    /// Where it is; `None` when it concerns the whole file.
    pub place: Option<Place>,
    /// What it is.
    pub fault: ImportFault,
}

impl ImportError {
    /// Whether the file is a transcript of some kind, though not a good one.
    pub(crate) fn is_of_a_known_format(&self) -> bool {
        !matches!(self.fault, ImportFault::Unknown { .. })
    }
}

impl fmt::Display for ImportError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Place { line, column }) = self.place {
            write!(out, "line {line}, column {column}: ")?;
        }
        write!(out, "{}", self.fault)
    }
}

impl std::error::Error for ImportError {}

/// What is wrong, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ImportFault {
    /// Nothing but white space.
    #[error("the file is empty; export the transcript again")]
    Empty,
    /// A byte that is not UTF-8.
    #[error("this byte is not UTF-8; save the transcript as UTF-8")]
    NotUtf8,
    /// The text ends before its JSON does.
    #[error("the text ends in the middle of this JSON; export the transcript again")]
    CutOff,
    /// Not JSON.
    #[error("this is not JSON ({reason}); a transcript is one JSON document, or one on each line")]
    NotJson {
        /// What the parser says.
        reason: String,
    },
    /// JSON that a trace cannot hold.
    #[error("{reason}; shorten or correct the value")]
    Unsafe {
        /// What is wrong with it.
        reason: String,
    },
    /// No importer knows it.
    #[error(
        "{looks_like} is no transcript that mcptest knows; the formats are {}, and `mcptest import --format` reads as one of them",
        formats()
    )]
    Unknown {
        /// What stands there.
        looks_like: String,
    },
    /// Its values are of different formats.
    #[error(
        "this could be {}; say which with `mcptest import --format`, or split the file", formats.join(" or ")
    )]
    Ambiguous {
        /// The keys of the formats.
        formats: Vec<&'static str>,
    },
    /// It is not what its format says.
    #[error("read as {format}: {message}{}", instead(*looks_like))]
    Misfit {
        /// The format it was read as.
        format: &'static str,
        /// What does not fit.
        message: String,
        /// The format that it seems to be, when it was read as another.
        looks_like: Option<&'static str>,
    },
    /// There is nothing to judge in it.
    #[error(
        "read as {format}: there is no conversation in it ({expected}){}", instead(*looks_like)
    )]
    NoConversation {
        /// The format it was read as.
        format: &'static str,
        /// What such a file has in it.
        expected: &'static str,
        /// The format that it seems to be, when it was read as another.
        looks_like: Option<&'static str>,
    },
}

/// The formats by their keys, for a sentence.
fn formats() -> String {
    super::keys().collect::<Vec<_>>().join(", ")
}

/// What the file looks like, when that is not the format it was read as.
fn instead(looks_like: Option<&str>) -> String {
    looks_like.map(|key| format!("; it looks like {key}")).unwrap_or_default()
}
