//! Which evidence do pictures need for the numbers of a gate? It is computed next to the number, in
//! the gate's folder.

mod runs;
mod totals;

pub use runs::{
    AxesRun, CallNamed, ClaimShown, ClaimVerdict, DataEdge, Encounter, NarrativeRun, OrderEdge,
    PathCall, PathRun, RecoveryRun, TokensOfRun, WorldRun,
};
pub use totals::{
    AblationRow, CellStatus, ChoicePoint, CurvePoint, Dimension, EdgeShown, FaultCell, Handoff,
    LimitShown, SelectedTool, ToolFinding,
};

use super::AssertionDiff;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The evidence for the numbers of one gate. The kind is the gate's key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Evidence {
    /// The calls, and the earlier calls that they build on.
    TrajectoryAxes {
        /// The runs, failed ones first.
        runs: Vec<AxesRun>,
        /// The number of omitted runs.
        #[serde(default)]
        left_out: usize,
    },
    /// The calls and the steps of the path that they walk.
    GoldenPath {
        /// The tools of the path.
        path: Vec<String>,
        /// The runs, failed ones first.
        runs: Vec<PathRun>,
        /// The number of omitted runs.
        #[serde(default)]
        left_out: usize,
    },
    /// The similarity of each pair of runs.
    Stability {
        /// The runs that are compared here.
        runs: Vec<usize>,
        /// Row i has the similarity of run i to each earlier run, from 0 to 1.
        similarity: Vec<Vec<Option<f64>>>,
        /// The mean over all pairs, including pairs of omitted runs.
        mean: f64,
        /// The dimensions that were measured.
        dimensions: Vec<Dimension>,
        /// The number of omitted runs.
        #[serde(default)]
        left_out: usize,
    },
    /// The probability that a number of runs in a row pass.
    Reliability {
        /// The number of judged runs.
        runs: usize,
        /// The number of passed runs.
        passed: usize,
        /// A point for each number of runs, 50 at most.
        curve: Vec<CurvePoint>,
        /// The decay curve in whole percent: `(c_k/k)^k` over the first k runs, for each k.
        #[serde(default)]
        decay_curve: Vec<u32>,
    },
    /// The rate of correct choices.
    Distractors {
        /// This row's number of distractors; other rows of a sweep have others.
        points: Vec<ChoicePoint>,
        /// The accuracy that these runs prove with 95% confidence.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        floor: Option<f64>,
        /// The accuracy that the suite requires.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        asked_floor: Option<f64>,
    },
    /// The outcome of each failure.
    Recovery {
        /// The runs, failed ones first.
        runs: Vec<RecoveryRun>,
        /// The number of omitted runs.
        #[serde(default)]
        left_out: usize,
    },
    /// The claims, and the calls that support them.
    Narrative {
        /// The runs, failed ones first.
        runs: Vec<NarrativeRun>,
        /// The number of omitted runs.
        #[serde(default)]
        left_out: usize,
    },
    /// The callers with their tools, and the hand-offs.
    ToolEdges {
        /// The calls by their tools.
        edges: Vec<EdgeShown>,
        /// The hand-offs.
        handoffs: Vec<Handoff>,
    },
    /// The outcome of each fault.
    FaultMatrix {
        /// The tools, in the order of their calls.
        tools: Vec<String>,
        /// The kinds of fault.
        faults: Vec<String>,
        /// Each combination that was tried.
        cells: Vec<FaultCell>,
    },
    /// The cost of the runs.
    TokenEfficiency {
        /// The runs, failed ones first.
        runs: Vec<TokensOfRun>,
        /// The requirements.
        limits: Vec<LimitShown>,
        /// The number of omitted runs.
        #[serde(default)]
        left_out: usize,
    },
    /// The chosen tools.
    ToolSelection {
        /// The tools, expected ones first.
        tools: Vec<SelectedTool>,
    },
    /// The value of each set of tools.
    Ablate {
        /// The sets, in the order of the suite.
        rows: Vec<AblationRow>,
    },
    /// The final states of the runs.
    Scenario {
        /// The runs, failed ones first.
        runs: Vec<WorldRun>,
        /// The number of omitted runs.
        #[serde(default)]
        left_out: usize,
    },
    /// The findings for the tools.
    ToolQuality {
        /// The findings, in the order of the tools.
        tools: Vec<ToolFinding>,
    },
    /// Evidence of a kind that a later version writes.
    #[serde(other)]
    Other,
}

impl Evidence {
    /// Every difference between values in it.
    pub fn differences_mut(&mut self) -> impl Iterator<Item = &mut AssertionDiff> {
        let runs = if let Self::Scenario { runs, .. } = self {
            &mut runs[..]
        } else {
            &mut []
        };
        runs.iter_mut().flat_map(|run| &mut run.differences)
    }

    /// Every value of foreign make in it.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        let runs = if let Self::Scenario { runs, .. } = self {
            &mut runs[..]
        } else {
            &mut []
        };
        runs.iter_mut().flat_map(|run| {
            let diffs = run
                .differences
                .iter_mut()
                .flat_map(|diff| [&mut diff.expected, &mut diff.actual]);
            [&mut run.before, &mut run.after]
                .into_iter()
                .chain(&mut run.expected)
                .chain(diffs)
        })
    }

    /// Iterates over the values.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        let runs = if let Self::Scenario { runs, .. } = self {
            &runs[..]
        } else {
            &[]
        };
        runs.iter().flat_map(|run| {
            let diffs = run
                .differences
                .iter()
                .flat_map(|diff| [&diff.expected, &diff.actual]);
            [&run.before, &run.after]
                .into_iter()
                .chain(&run.expected)
                .chain(diffs)
        })
    }
}
