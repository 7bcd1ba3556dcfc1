//! How do expected calls go together with recorded ones?

use super::AssertionDiff;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The expected and the recorded calls of one run, side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallTable {
    /// The run, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<usize>,
    /// The mode of the comparison, in the suite's word.
    pub mode: String,
    /// The number of differing calls, in words.
    pub summary: String,
    /// The calls in order.
    pub rows: Vec<CallRow>,
    /// Facts that the rows do not show.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The number of omitted differing rows.
    #[serde(default)]
    pub left_out: usize,
}

/// An expected and a recorded call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallRow {
    /// The pairing of the two.
    pub how: Pairing,
    /// The expected call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<CallShown>,
    /// The recorded call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<CallShown>,
    /// The differing arguments of a changed call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diff: Vec<AssertionDiff>,
    /// The number of consecutive matching calls that are shown only by their number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
}

/// The pairing of an expected and a recorded call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pairing {
    /// The call is as expected.
    Matched,
    /// A different tool or different arguments.
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
    /// The requirements on its arguments, or their values. For a changed call, the differing ones by path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
}
