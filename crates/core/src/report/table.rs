//! How do expected calls go together with recorded ones?

use super::AssertionDiff;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The expected calls beside the recorded ones of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallTable {
    /// The run, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<usize>,
    /// How the expected calls are meant, in the suite's word.
    pub mode: String,
    /// How many calls are not as expected, in words.
    pub summary: String,
    /// The calls in order.
    pub rows: Vec<CallRow>,
    /// What the rows do not show.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// How many further rows are not as expected.
    #[serde(default)]
    pub left_out: usize,
}

/// An expected call beside a recorded one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallRow {
    /// How the two go together.
    pub how: Pairing,
    /// What was expected here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<CallShown>,
    /// What was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<CallShown>,
    /// Where the arguments of a changed call differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diff: Vec<AssertionDiff>,
    /// How many calls in a row match, where they stand for themselves only by their number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
}

/// How an expected and a recorded call go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pairing {
    /// The call is as expected.
    Matched,
    /// Another tool, or other arguments.
    Changed,
    /// The expected call was not made.
    Missing,
    /// The recorded call was not expected.
    Extra,
    /// The call was made, but not in this place.
    Swapped,
}

/// One call of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallShown {
    /// Its number, from 1.
    pub number: usize,
    /// The tool, as written or recorded.
    pub tool: String,
    /// What is asked of its arguments, or what they are; of a changed call those that differ, by their paths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
}
