//! What can be wrong with a transcript, and where?

use mcptest_core::json::document::{Placed, TextFault, Words};
use thiserror::Error;

/// Something wrong in a transcript.
pub type ImportError = Placed<ImportFault>;

const WORDS: Words = Words {
    shape: "a transcript is one JSON document, or one on each line",
    again: "export the transcript again",
};

/// What is wrong, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ImportFault {
    /// The text itself.
    #[error("{}", .0.said(&WORDS))]
    Text(TextFault),
    /// No importer knows it.
    #[error(
        "{looks_like} is not a transcript that mcptest knows; the formats are {}, and `mcptest import --format` reads it as one of them",
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

impl ImportFault {
    /// Whether the file is a transcript of some kind, though not a good one.
    pub(crate) fn is_of_a_known_format(&self) -> bool {
        !matches!(self, Self::Unknown { .. })
    }
}

impl From<TextFault> for ImportFault {
    fn from(fault: TextFault) -> Self {
        Self::Text(fault)
    }
}

/// The formats by their keys, for a sentence.
fn formats() -> String {
    super::keys().collect::<Vec<_>>().join(", ")
}

/// What the file looks like, when that is not the format it was read as.
fn instead(looks_like: Option<&str>) -> String {
    looks_like.map(|key| format!("; it looks like {key}")).unwrap_or_default()
}
