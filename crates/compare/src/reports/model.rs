//! What came out of comparing two reports: the one model that its reporters render.

use mcptest_core::gates::Better;
use mcptest_core::report::leaderboard::{Leaderboard, RateChange, Verdict};
use mcptest_core::report::{Number, Status};
use mcptest_core::suite::Variant;
use serde::Serialize;

/// What is compared: two reports test by test, or several with the first.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Compared {
    /// Two reports.
    Two(Box<ReportDiff>),
    /// More than two.
    Several(Several),
}

impl Compared {
    /// Each side but the first, compared with the first.
    pub fn sides(&self) -> &[ReportDiff] {
        match self {
            Self::Two(two) => std::slice::from_ref(two),
            Self::Several(several) => &several.sides,
        }
    }
}

/// Two reports side by side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReportDiff {
    /// The version of this format.
    pub schema_version: u32,
    /// What is compared with.
    pub a: ComparedSide,
    /// What is compared.
    pub b: ComparedSide,
    /// Worse where all tests together are, or any one of them; else better in the same way.
    pub verdict: Verdict,
    /// The same of all tests together.
    #[serde(skip)]
    pub together: Verdict,
    /// The same in a sentence or two.
    pub sentence: String,
    /// The change over all tests that could be compared; absent where there is none.
    #[serde(flatten)]
    pub change: Option<RateChange>,
    /// `p`, adjusted for all sides that are compared with the first; absent where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_holm: Option<f64>,
    /// The smallest drop from the pass rate of the first that so many runs show four times in five; absent where even a
    /// fall to 0 is missed more often.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smallest_drop: Option<f64>,
    /// How many more runs of each test, on each side, would show a difference as large as this one; where there is none,
    /// a fall to 0 that is not shown now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_runs: Option<u64>,
    /// The tests that both have, in the order of the first.
    pub tests: Vec<TestChange>,
    /// Tests that only the first has.
    pub only_a: Vec<String>,
    /// Tests that only the second has.
    pub only_b: Vec<String>,
    /// The models of both, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaderboard: Option<Leaderboard>,
}

/// Several reports beside the first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Several {
    /// The version of this format.
    pub schema_version: u32,
    /// What is compared with.
    pub first: ComparedSide,
    /// Worse where any side is; else better, else no evidence of change, in the same way.
    pub verdict: Verdict,
    /// Each other side compared with the first.
    pub sides: Vec<ReportDiff>,
    /// All sides, where tests of the first have runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaderboard: Option<Leaderboard>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ComparedSide {
    /// What it is called on the command line.
    pub name: String,
    /// How many tests it has.
    pub tests: usize,
    /// How many runs of them were judged.
    pub runs: u64,
}

/// One test side by side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TestChange {
    /// The suite's file, as the first has it.
    pub suite: String,
    /// The agent's name.
    pub name: String,
    /// The model, when it names one.
    pub model: Option<String>,
    /// The variant, when it has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<Variant>,
    /// The name of its row.
    #[serde(skip)]
    pub row: String,
    /// How it ended in the first.
    pub status_a: Status,
    /// How it ended in the second.
    pub status_b: Status,
    /// How many runs it has in the first.
    pub runs_a: u64,
    /// How many in the second.
    pub runs_b: u64,
    /// How many of them passed in the first.
    pub passed_a: u64,
    /// How many in the second.
    pub passed_b: u64,
    /// How many runs of the first ended in an error; they count as not passed.
    #[serde(skip_serializing_if = "is_zero")]
    pub broken_a: u64,
    /// How many of the second.
    #[serde(skip_serializing_if = "is_zero")]
    pub broken_b: u64,
    /// How its pass rate changed; absent where it could not be compared.
    #[serde(flatten)]
    pub change: Option<RateChange>,
    /// `p`, adjusted for all tests that could have shown a change; absent where this one could not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_holm: Option<f64>,
    /// What its runs say; absent where it could not be compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Whether it passed in the first and fails in the second, held to the same.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_regressed: bool,
    /// Why it could not be compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_compared: Option<String>,
    /// The numbers of its gates and scorers.
    pub targets: Vec<TargetChange>,
    /// The tools that only one of the two called.
    pub calls: Vec<ToolChange>,
    /// Where the typical runs of the two part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_difference: Option<FirstDifference>,
}

/// A number on both sides.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TargetChange {
    /// The gate's key; absent for a number that a scorer gave each run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<String>,
    /// The target.
    pub target: String,
    /// The first's; of a scorer the mean over its runs.
    pub a: Option<Number>,
    /// The second's.
    pub b: Option<Number>,
    /// Which values are good, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub better: Option<Better>,
    /// The two-sided mid-p of the permutation test, where each run has a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
}

/// A tool that only one side called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolChange {
    /// The tool.
    pub tool: String,
    /// In how many runs of the first it was called.
    pub runs_a: usize,
    /// In how many of the second.
    pub runs_b: usize,
}

/// The first call in which the typical runs of two sides differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FirstDifference {
    /// The call, from 1.
    pub call: usize,
    /// The tool that the first calls there; absent where it has ended.
    pub a: Option<String>,
    /// The tool that the second calls there.
    pub b: Option<String>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl ReportDiff {
    /// How many runs ended in an error on either side.
    pub fn broken_runs(&self) -> u64 {
        self.tests
            .iter()
            .map(|test| test.broken_a + test.broken_b)
            .sum()
    }

    /// How many tests passed in the first and fail in the second, held to the same.
    pub fn regressed(&self) -> usize {
        self.tests.iter().filter(|test| test.has_regressed).count()
    }

    /// How many tests could not be compared.
    pub fn not_compared(&self) -> usize {
        self.tests
            .iter()
            .filter(|test| test.not_compared.is_some())
            .count()
    }

    /// How many tests have this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.tests
            .iter()
            .filter(|test| test.verdict == Some(verdict))
            .count()
    }
}
