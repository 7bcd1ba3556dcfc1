//! Which change to the suite would make the recorded runs pass?

use crate::problem::Span;
use serde_json::Value;

/// A change that a gate offers, so that it accepts the runs of a row.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// The place of the change. Several rows can share it.
    pub place: ProposedPlace,
    /// The change. `None` if the runs already pass unchanged. An error is the reason why the gate offers no change.
    pub change: Result<Option<ProposedChange>, String>,
}

/// The place that a proposal would change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProposedPlace {
    /// A list in a suite.
    List(Span),
    /// A file, relative to the suite.
    File(String),
    /// A test in a model's baseline, which is a file relative to the suite.
    Test {
        /// The file.
        file: String,
        /// The name of the test.
        test: String,
    },
}

/// The new content of that place.
#[derive(Debug, Clone)]
pub enum ProposedChange {
    /// A list of these items.
    Items(Vec<ProposedItem>),
    /// This value in the file, written by the gate that knows the format of the file.
    InFile {
        /// The value.
        value: Value,
        /// Writes it.
        write: WriteInFile,
    },
}

/// Returns the text of a file with a value in it, from the file's current text. The error is a sentence.
pub type WriteInFile = fn(now: &str, value: &Value) -> Result<String, String>;

/// Changes of a shared file agree if they write the same value.
impl PartialEq for ProposedChange {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Items(one), Self::Items(two)) => one == two,
            (Self::InFile { value: one, .. }, Self::InFile { value: two, .. }) => one == two,
            _ => false,
        }
    }
}

/// One item of a proposed list.
#[derive(Debug, Clone, PartialEq)]
pub enum ProposedItem {
    /// The existing item with this index.
    Kept(usize),
    /// A new item.
    New(Value),
}
