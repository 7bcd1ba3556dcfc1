//! Why did a test not pass, in sentences?

use serde::{Deserialize, Serialize};

/// One thing that keeps a test from passing, in the words of the terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Cause {
    /// The gate's key, `expect` for the checks of runs, or the kind of the error: `recording-missing`.
    pub key: String,
    /// The problem, in one sentence.
    pub message: String,
    /// The runs that it is about, from 1; empty if it concerns all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<usize>,
    /// The path or the gate's number that does not hold, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// More about it: the suite's own words, the reason, and where values differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
    /// The line of the suite that asks for what did not hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite_line: Option<usize>,
}

impl Cause {
    /// A cause without details that concerns all runs.
    pub fn new(key: &str, message: String) -> Self {
        Self {
            key: key.to_owned(),
            message,
            ..Self::default()
        }
    }
}
