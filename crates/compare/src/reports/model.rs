//! The result of comparing two reports: the one model that its reporters render.

use mcptest_core::gates::Better;
use mcptest_core::report::leaderboard::{Leaderboard, RateChange, Verdict};
use mcptest_core::report::{Number, Status};
use mcptest_core::suite::Variant;
use serde::Serialize;

/// Two reports compared test by test, or several with the first.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Compared {
    /// Two reports.
    Two(Box<ReportDiff>),
    /// More than two sides.
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
    /// The first side.
    pub a: ComparedSide,
    /// The second side.
    pub b: ComparedSide,
    /// Worse if all tests together or any single test is worse; otherwise better by the same rule.
    pub verdict: Verdict,
    /// The verdict on all tests together.
    #[serde(skip)]
    pub together: Verdict,
    /// The verdict in one or two sentences.
    pub sentence: String,
    /// The change over all comparable tests; absent without any.
    #[serde(flatten)]
    pub change: Option<RateChange>,
    /// `p`, adjusted for all sides that are compared with the first; absent if there is only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_holm: Option<f64>,
    /// The smallest drop from the first side's pass rate that these runs show four times in five;
    /// absent if even a drop to 0 is missed more often.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smallest_drop: Option<f64>,
    /// The number of further runs of each test, on each side, that would show a difference as large
    /// as this one, or without a difference a drop to 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_runs: Option<u64>,
    /// The tests that both have, in the order of the first.
    pub tests: Vec<TestChange>,
    /// Tests that only the first has.
    pub only_a: Vec<String>,
    /// Tests that only the second has.
    pub only_b: Vec<String>,
    /// The models of both sides, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaderboard: Option<Leaderboard>,
}

/// Several reports compared with the first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Several {
    /// The version of this format.
    pub schema_version: u32,
    /// The first side.
    pub first: ComparedSide,
    /// Worse if any side is worse; otherwise better if any is; otherwise no evidence of change.
    pub verdict: Verdict,
    /// Each other side compared with the first.
    pub sides: Vec<ReportDiff>,
    /// All sides, if tests of the first have runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaderboard: Option<Leaderboard>,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ComparedSide {
    /// Its name on the command line.
    pub name: String,
    /// The number of its tests.
    pub tests: usize,
    /// The number of its judged runs.
    pub runs: u64,
}

/// One test side by side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TestChange {
    /// The suite's file in the first report.
    pub suite: String,
    /// The agent's name.
    pub name: String,
    /// The model, if the test names one.
    pub model: Option<String>,
    /// The variant, if the test has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<Variant>,
    /// The row's name.
    #[serde(skip)]
    pub row: String,
    /// Its status in the first report.
    pub status_a: Status,
    /// Its status in the second report.
    pub status_b: Status,
    /// Its runs in the first report.
    pub runs_a: u64,
    /// Its passed runs in the second report.
    pub runs_b: u64,
    /// Its passed runs in the first report.
    pub passed_a: u64,
    /// Its runs in the second report.
    pub passed_b: u64,
    /// The runs of the first that ended in an error; they count as not passed.
    #[serde(skip_serializing_if = "is_zero")]
    pub broken_a: u64,
    /// Its runs in the second report that ended in an error.
    #[serde(skip_serializing_if = "is_zero")]
    pub broken_b: u64,
    /// The change of its pass rate; absent if it could not be compared.
    #[serde(flatten)]
    pub change: Option<RateChange>,
    /// `p`, adjusted for all tests that could have shown a change; absent if this test could not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_holm: Option<f64>,
    /// The verdict on its change; absent if it could not be compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// True if it passed in the first report and fails in the second, with the same expectations.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_regressed: bool,
    /// Why it could not be compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_compared: Option<String>,
    /// Its gates that measured something in the first report and nothing in the second.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub no_longer_exercised: Vec<String>,
    /// The numbers of its gates and scorers.
    pub targets: Vec<TargetChange>,
    /// Tools that only one of the two reports called.
    pub calls: Vec<ToolChange>,
    /// Where the typical runs of the two diverge.
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
    /// Which values are better, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub better: Option<Better>,
    /// The two-sided mid-p of the permutation test, if each run has a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
}

/// A tool that only one side called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolChange {
    /// The tool.
    pub tool: String,
    /// The number of runs of the first report that called it.
    pub runs_a: usize,
    /// The number of runs of the second report that called it.
    pub runs_b: usize,
}

/// The first call at which the typical runs of two sides differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FirstDifference {
    /// The call, from 1.
    pub call: usize,
    /// The first report's tool at this place; absent if the run has ended.
    pub a: Option<String>,
    /// The second report's tool at this place.
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
    /// The number of runs that ended in an error on either side.
    pub fn broken_runs(&self) -> u64 {
        self.tests
            .iter()
            .map(|test| test.broken_a + test.broken_b)
            .sum()
    }

    /// The number of tests that passed in the first report and fail in the second, with the same
    /// expectations.
    pub fn regressed(&self) -> usize {
        self.tests.iter().filter(|test| test.has_regressed).count()
    }

    /// The number of tests that could not be compared.
    pub fn not_compared(&self) -> usize {
        self.tests
            .iter()
            .filter(|test| test.not_compared.is_some())
            .count()
    }

    /// The number of tests with this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.tests
            .iter()
            .filter(|test| test.verdict == Some(verdict))
            .count()
    }
}
