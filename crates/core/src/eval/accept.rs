//! What would a gate have to say, or to compare with, for what the runs did to be right?

use crate::baseline::TestBaseline;
use crate::problem::Span;
use crate::surface::pin::Pins;
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
#[derive(Debug, Clone, PartialEq)]
pub enum ProposedChange {
    /// A list of these items.
    Items(Vec<ProposedItem>),
    /// These tools.
    Pins(Pins),
    /// What the runs come to in a baseline.
    Test(Box<TestBaseline>),
}

/// One item of a proposed list.
#[derive(Debug, Clone, PartialEq)]
pub enum ProposedItem {
    /// The item with this index as it is written.
    Kept(usize),
    /// Another one.
    New(Value),
}
