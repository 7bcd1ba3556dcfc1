//! What did a model do in every test, in short, and what does another model do differently?

mod capture;
mod diff;
#[cfg(test)]
mod tests;

pub use crate::comparison::number::NumberShift;
pub use crate::comparison::support::{MissingRuns, Support};
pub use capture::capture;
pub(crate) use capture::{of_question, walk};
pub use diff::{
    BaselineDiff, BaselineSide, Difference, DifferenceClass, DifferenceCounts, TestDiff, compare,
    compare_test,
};

use crate::comparison::{ComparedRow, RowIdentity};
use mcptest_core::json::document::{Placed, Source, TextFault, Words};
use mcptest_core::report::Number;
use mcptest_stats::Tally;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The `format` of every baseline.
pub const FORMAT: &str = "mcptest-baseline";
/// The version of the format that is read and written.
pub const VERSION: u32 = 1;

/// The behaviour of one model in every captured test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// Always [`FORMAT`].
    pub format: String,
    /// Always [`VERSION`].
    pub version: u32,
    /// The model; none for programs and traces that name none.
    pub model: Option<String>,
    /// The tests, in the order of the suites.
    pub tests: Vec<TestBaseline>,
}

/// The behaviour of the runs of one test.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestBaseline {
    /// The name of the suite's file.
    pub suite: String,
    /// The name of the row, without its model.
    pub name: String,
    /// A digest of the question.
    pub question: String,
    /// A digest of the expectations for each run.
    pub expect: String,
    /// The score of each gate over all runs.
    pub gates: BTreeMap<String, GateBaseline>,
    /// The runs.
    pub runs: Vec<RunBaseline>,
}

impl ComparedRow for TestBaseline {
    fn identity(&self) -> RowIdentity<'_> {
        RowIdentity {
            suite: &self.suite,
            name: &self.name,
            // A baseline is of one model, and the name of a row contains its variant.
            model: None,
            variant: None,
        }
    }

    fn in_words(&self) -> String {
        format!("{} · {}", self.suite, self.name)
    }

    fn tally(&self) -> Tally {
        Tally {
            passed: self.runs.iter().filter(|run| run.passed).count() as u64,
            runs: self.runs.len() as u64,
        }
    }

    fn why_not_compared(&self, later: &Self) -> Option<String> {
        if self.question != later.question {
            let why = "the agent's prompts, servers or parameters differ; capture both sides from the same suite";
            return Some(why.to_owned());
        }
        let is_without = self.runs.is_empty() || later.runs.is_empty();
        is_without.then(|| "one side has no run that can be judged".to_owned())
    }
}

/// The score of a gate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateBaseline {
    /// A digest of its block in the suite.
    pub block: String,
    /// True if it passed.
    pub passed: bool,
    /// Its numbers over all runs.
    pub numbers: BTreeMap<String, Option<Number>>,
}

/// The behaviour of one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunBaseline {
    /// Its number.
    pub run: usize,
    /// True if its `expect:` holds.
    pub passed: bool,
    /// Why it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// The calls in order.
    pub calls: Vec<CallBaseline>,
    /// The closing message.
    pub response: ResponseBaseline,
    /// The numbers of each gate that can be scored on this run alone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub numbers: BTreeMap<String, BTreeMap<String, Option<Number>>>,
}

/// One call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallBaseline {
    /// The tool as `server.tool`, or bare if the server is unknown.
    pub tool: String,
    /// The turn it was made in, counted from 0 over the turns that made calls.
    pub turn: usize,
    /// The arguments with sorted keys; a string if they were not JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
}

/// The closing message without its words.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResponseBaseline {
    /// Its length class.
    pub length: Length,
    /// A digest of its text without surrounding white space.
    pub text: String,
    /// The type at each path, if it is JSON: `.items[].sku` is a `string`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<BTreeMap<String, String>>,
}

/// The length class of a string.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Length {
    /// Only white space.
    #[default]
    Empty,
    /// Less than 200 characters.
    Short,
    /// Less than 2,000 characters.
    Medium,
    /// More.
    Long,
}

/// Why a baseline cannot be read, and where.
pub type BaselineReadError = Placed<BaselineReadFault>;

const WORDS: Words = Words {
    shape: "a baseline is one JSON object, as `mcptest model-baseline capture` writes it",
    again: "capture it again with `mcptest model-baseline capture`",
};

/// The defect of a baseline.
#[derive(Debug, thiserror::Error)]
pub enum BaselineReadFault {
    /// A format of a different version.
    #[error("the baseline has version {0}, and this mcptest compares version {VERSION}; {again} from the same recordings, with the same mcptest on both sides", again = WORDS.again)]
    OtherVersion(String),
    /// A problem of the text.
    #[error("{}", .0.said(&WORDS))]
    Text(TextFault),
    /// The right version, but a field is missing or of the wrong type.
    #[error("the baseline is broken ({0}); {again}", again = WORDS.again)]
    Broken(String),
}

impl From<TextFault> for BaselineReadFault {
    fn from(fault: TextFault) -> Self {
        match fault {
            TextFault::Newer { version, .. } => Self::OtherVersion(version.to_string()),
            TextFault::UnknownVersion { found } => Self::OtherVersion(found),
            fault => Self::Text(fault),
        }
    }
}

impl Baseline {
    /// Reads the bytes of a file.
    pub fn read(bytes: &[u8]) -> Result<Self, BaselineReadError> {
        Source::new(bytes).whole((FORMAT, u64::from(VERSION)), BaselineReadFault::Broken)
    }

    /// The text of its file: equal runs give equal text.
    pub fn to_text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Returns true if a file begins like a baseline.
    pub fn is_one(head: &[u8]) -> bool {
        String::from_utf8_lossy(&head[..head.len().min(200)]).contains(FORMAT)
    }

    /// The test of this suite and name, or of this name alone if no other suite has it.
    pub fn test(&self, suite: &str, name: &str) -> Option<&TestBaseline> {
        let named = || self.tests.iter().filter(|test| test.name == name);
        let only = || named().next().filter(|_| named().count() == 1);
        named().find(|test| test.suite == suite).or_else(only)
    }
}
