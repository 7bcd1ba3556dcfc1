//! How do good and bad runs differ, for each gate and target?

use super::{FEWEST_FOR_A_FLOOR, FEWEST_TO_COMPARE};
use mcptest_core::gates::Better;
use mcptest_replay::LeftOut;
use mcptest_stats::{CONFIDENCE, six_decimals, wilson};
use serde::Serialize;
use serde_json::Value;

/// The version of [`Calibration`] as JSON.
pub(super) const SCHEMA_VERSION: u32 = 1;

/// The verdicts of gates on runs with labels.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Calibration {
    /// The version of this format.
    pub schema_version: u32,
    /// The source of the labels: `expect`, `traces`, both, or their file.
    pub labels: String,
    /// The numbers of runs.
    pub counts: Counts,
    /// The limits of the numbers, such as too few runs.
    pub notes: Vec<String>,
    /// The gates that were measured.
    pub gates: Vec<GateCalibration>,
    /// The gates that were not.
    pub unmeasured: Vec<Unmeasured>,
    /// Rows and runs that could not be read or judged.
    pub left_out: Vec<LeftOut>,
}

/// The numbers of runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Rows with a labelled run.
    pub rows: usize,
    /// The number of good runs.
    pub good: usize,
    /// The number of bad runs.
    pub bad: usize,
    /// Runs without a label.
    pub unlabelled: usize,
}

/// A gate that was not measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unmeasured {
    /// The block's key.
    pub gate: String,
    /// Why.
    pub reason: String,
}

/// One gate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GateCalibration {
    /// The block's key.
    pub gate: String,
    /// True if a suite has the block. Otherwise an empty block was measured.
    pub is_written: bool,
    /// The unit that is counted.
    pub unit: JudgedUnit,
    /// Its verdicts on good runs or rows.
    pub good: Verdicts,
    /// Its verdicts on bad runs or rows.
    pub bad: Verdicts,
    /// Its numbers.
    pub targets: Vec<TargetCalibration>,
}

/// The unit that a gate judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum JudgedUnit {
    /// Each run by itself.
    Run,
    /// The runs of a row together. A row is good if all its runs are.
    Row,
}

/// The number of failures of a gate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Verdicts {
    /// The total number.
    pub of: usize,
    /// The number of failures. Absent if the gate asserts nothing about single runs.
    pub failed: Option<usize>,
    /// The lower end of the 95% Wilson interval of that share.
    pub lower: Option<f64>,
    /// The upper end.
    pub upper: Option<f64>,
    /// The number without anything to measure.
    pub not_exercised: usize,
}

/// One number of a gate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TargetCalibration {
    /// Its name, as `expect:` has it.
    pub target: String,
    /// Which values are better.
    pub better: Better,
    /// The number of good runs, or rows, in which it was measured.
    pub good: usize,
    /// The number of bad runs, or rows, in which it was measured.
    pub bad: usize,
    /// The separation of good and bad. Absent if too few of them have a value.
    pub separated: Option<Separated>,
    /// The floor that the good runs support.
    pub floor: Option<Floor>,
}

/// The separation of good and bad by a target.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Separated {
    /// The share of pairs of a good and a bad run in which the good one has the better value; a tie is half.
    pub auc: f64,
    /// The lower end of its 95% interval.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
    /// The matcher that separates them best, if any does.
    pub best: Option<Value>,
    /// The number of good ones that it keeps.
    pub kept: usize,
    /// The number of bad ones that it fails.
    pub caught: usize,
}

impl Separated {
    /// Returns true if the number is better than a coin flip.
    pub fn tells_apart(&self) -> bool {
        self.lower > 0.5
    }
}

/// A floor that all good runs meet.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Floor {
    /// The matcher.
    pub matcher: Value,
    /// The number of good runs, or rows, that meet it.
    pub good: usize,
    /// The number of bad ones that fail it.
    pub caught: usize,
    /// The number of bad ones.
    pub bad: usize,
}

impl Calibration {
    /// Returns true if there is a floor to paste into a suite.
    pub fn has_floors(&self) -> bool {
        self.gates
            .iter()
            .flat_map(|gate| &gate.targets)
            .any(|target| target.floor.is_some())
    }
}

impl Counts {
    /// The statements that need more runs.
    pub(super) fn too_few(self) -> Vec<String> {
        let runs = |count: usize, which: &str| match count {
            0 => format!("no {which} runs"),
            1 => format!("1 {which} run"),
            _ => format!("{count} {which} runs"),
        };
        let mut notes = Vec::new();
        for (count, which) in [(self.good, "good"), (self.bad, "bad")] {
            if count == 0 {
                notes.push(format!("{}: nothing can be told apart", runs(count, which)));
            } else if count < FEWEST_TO_COMPARE {
                let count = runs(count, which);
                notes.push(format!(
                    "{count}: too few for an AUC, which needs {FEWEST_TO_COMPARE}"
                ));
            }
        }
        if self.good < FEWEST_FOR_A_FLOOR {
            let good = runs(self.good, "good");
            notes.push(format!(
                "{good}: a floor needs {FEWEST_FOR_A_FLOOR} or more"
            ));
        }
        notes
    }
}

impl Verdicts {
    pub(super) fn count(verdicts: impl Iterator<Item = (Option<bool>, bool)>) -> Self {
        let verdicts: Vec<(Option<bool>, bool)> = verdicts.collect();
        let of = verdicts.len();
        let failed: Option<Vec<bool>> = verdicts
            .iter()
            .map(|(passed, _)| passed.map(|passed| !passed))
            .collect();
        let failed = failed.map(|failed| failed.iter().filter(|failed| **failed).count());
        let interval = failed.and_then(|failed| wilson(failed as u64, of as u64, CONFIDENCE).ok());
        Self {
            of,
            failed,
            lower: interval.map(|interval| six_decimals(interval.lower)),
            upper: interval.map(|interval| six_decimals(interval.upper)),
            not_exercised: verdicts
                .iter()
                .filter(|(_, is_vacuous)| *is_vacuous)
                .count(),
        }
    }
}
