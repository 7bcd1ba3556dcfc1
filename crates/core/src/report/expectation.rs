//! What was asserted, what was there, and where do the two differ?

use crate::grade::Grade;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// One assertion and what it saw.
///
/// ```
/// use mcptest_core::Expectation;
///
/// let text = r#"{"target": "golden_path.coverage", "matcher": {"gte": 1}, "passed": false, "actual": 0.5}"#;
/// let expectation: Expectation = serde_json::from_str(text)?;
/// assert!(!expectation.passed);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Expectation {
    /// The path or gate target.
    pub target: String,
    /// The matcher as written in the suite.
    pub matcher: Arc<Value>,
    /// True if it held.
    pub passed: bool,
    /// The value of the target. Absent without a value.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub actual: Option<Value>,
    /// The differences.
    #[serde(default)]
    pub diff: Vec<AssertionDiff>,
    /// The suite's own words for this failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Why it failed, in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The judges' answers, if the matcher asks judges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grade: Option<Box<Grade>>,
    /// The line of the suite that it is written on, if it failed; absent for a default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite_line: Option<usize>,
}

/// Reads a present field as a value, even `null`.
fn present<'de, D: serde::Deserializer<'de>>(source: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(source).map(Some)
}

/// One difference, at a JSON Pointer into the value that was looked at.
///
/// ```
/// use mcptest_core::AssertionDiff;
///
/// let diff: AssertionDiff = serde_json::from_str(r#"{"pointer": "/city", "expected": "Oslo", "actual": "Rome"}"#)?;
/// assert_eq!(diff.pointer, "/city");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AssertionDiff {
    /// The place, as a JSON Pointer.
    pub pointer: String,
    /// The expected value.
    pub expected: Value,
    /// The actual value.
    pub actual: Value,
    /// The side without a value, if any: its `null` is not a value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absent: Option<Side>,
}

/// A side of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The expected side.
    Expected,
    /// The actual side.
    Actual,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_null_that_was_seen_is_not_read_back_as_nothing() {
        let text = r#"{"target":"x","matcher":{"exact":1},"passed":false,"actual":null,"diff":[]}"#;
        let seen: Expectation = serde_json::from_str(text).unwrap();
        assert_eq!(seen.actual, Some(Value::Null));
        assert_eq!(serde_json::to_string(&seen).unwrap(), text);
    }
}
