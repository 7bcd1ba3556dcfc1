//! What would a gate have to say, or to compare with, for what the runs did to be right?

use crate::problem::Span;
use serde_json::Value;

/// What a gate offers to change, so that it accepts the runs of a row.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// What would be changed. Several rows can share it.
    pub place: ProposedPlace,
    /// The change; `None` where the runs are right as it is, and the reason where there is none to offer.
    pub change: Result<Option<ProposedChange>, String>,
}

/// What a proposal would change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProposedPlace {
    /// A list in a suite.
    List(Span),
    /// A file, relative to the suite.
    File(String),
    /// A test in a baseline of a model, which is a file relative to the suite.
    Test(String, String),
}

/// What would stand there.
#[derive(Debug, Clone)]
pub enum ProposedChange {
    /// A list of these items.
    Items(Vec<ProposedItem>),
    /// This value in the file, written by the gate that knows the format of the file.
    InFile(Value, WriteInFile),
}

/// Gives the text of a file with a value in it, by the text as it is now; the error is a sentence.
pub type WriteInFile = fn(now: &str, value: &Value) -> Result<String, String>;

/// Rows that share a file agree when they want the same value in it.
impl PartialEq for ProposedChange {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Items(one), Self::Items(two)) => one == two,
            (Self::InFile(one, _), Self::InFile(two, _)) => one == two,
            _ => false,
        }
    }
}

/// One item of a proposed list.
#[derive(Debug, Clone, PartialEq)]
pub enum ProposedItem {
    /// The item with this index as it is written.
    Kept(usize),
    /// Another one.
    New(Value),
}
