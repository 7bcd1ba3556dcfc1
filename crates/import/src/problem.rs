//! What can be wrong with a transcript, and where?

use crate::archive::ArchiveFault;
use mcptest_core::json::document::{Placed, TextFault, Words};
use thiserror::Error;

/// Something wrong in a transcript.
pub type ImportError = Placed<ImportFault>;

const WORDS: Words = Words {
    shape: "a transcript is one JSON document, or one on each line",
    again: "export the transcript again",
};

/// A problem, with its fix.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ImportFault {
    /// A problem of the text.
    #[error("{}", .0.said(&WORDS))]
    Text(TextFault),
    /// A problem of an archive.
    #[error(transparent)]
    Archive(#[from] ArchiveFault),
    /// No importer recognises the contents.
    #[error(
        "{found} is not a known transcript format; the formats are {}, and `mcptest import \
        --format` selects one",
        formats()
    )]
    Unknown {
        /// The contents in words.
        found: String,
    },
    /// Its values are of different formats.
    #[error(
        "this could be {}; choose one with `mcptest import --format`, or split the file", formats.join(" or ")
    )]
    Ambiguous {
        /// The keys of the formats.
        formats: Vec<&'static str>,
    },
    /// The file violates its format, or has no run to judge.
    #[error("read as {format}: {message}{}", instead(*looks_like))]
    Misfit {
        /// The format used for reading.
        format: &'static str,
        /// The violation.
        message: String,
        /// The format that it seems to be, if it was read as another.
        looks_like: Option<&'static str>,
    },
}

impl ImportFault {
    /// Returns true if the file is a transcript of a known format, even a bad one.
    pub fn is_of_a_known_format(&self) -> bool {
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
    crate::keys().collect::<Vec<_>>().join(", ")
}

/// The apparent format of the file, if it differs from the one it was read as.
fn instead(looks_like: Option<&str>) -> String {
    looks_like
        .map(|key| format!("; it looks like {key}"))
        .unwrap_or_default()
}
