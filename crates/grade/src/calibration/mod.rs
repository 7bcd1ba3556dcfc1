//! Which gates and targets separate good runs from bad ones, and which floors do the good runs
//! support?

mod defaults;
mod floor;
mod model;
mod samples;
#[cfg(test)]
mod tests;

pub use defaults::{Defaults, gates_of};
pub use model::{
    Calibration, Counts, Floor, GateCalibration, JudgedUnit, Separated, TargetCalibration,
    Unmeasured, Verdicts,
};

use mcptest_core::gates::GateBlock;
use mcptest_core::row::AgentRow;
use mcptest_core::trace::Run;
use mcptest_replay::LeftOut;
use samples::Samples;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// An AUC is computed from this many good and as many bad runs, or more.
pub const FEWEST_TO_COMPARE: usize = 5;

/// A floor is drawn from this many good runs, or more.
pub const FEWEST_FOR_A_FLOOR: usize = 10;

/// Collects the verdicts of gates on labelled runs, row by row.
pub struct Calibrator<'d> {
    defaults: &'d Defaults,
    counts: Counts,
    gates: BTreeMap<&'static str, Samples>,
    unmeasured: BTreeMap<&'static str, String>,
}

/// A run with its label.
#[derive(Debug, Clone, Copy)]
pub struct LabelledRun<'r> {
    /// The run.
    pub run: Run<'r>,
    /// True if the run was right.
    pub is_good: bool,
}

impl<'d> Calibrator<'d> {
    /// Starts without samples. These gates are measured if a suite has none of their kind.
    pub fn new(defaults: &'d Defaults) -> Self {
        Self {
            defaults,
            counts: Counts::default(),
            gates: BTreeMap::new(),
            unmeasured: defaults.unmeasured.clone(),
        }
    }

    /// Adds the labelled runs of one row: the verdicts of all gates, or none if a gate panics.
    pub fn add(&mut self, of: AgentRow<'_>, runs: &[LabelledRun<'_>]) {
        let own = &of.agent.gates;
        let defaults = self.defaults.gates.iter();
        let missing = defaults.filter(|gate| own.iter().all(|own| own.key() != gate.key()));
        let mut measured: Vec<(&'static str, Samples)> = Vec::new();
        let mut unmeasured: Vec<(&'static str, String)> = Vec::new();
        let mut measure = |gate: &GateBlock, is_written: bool| {
            if let Some(why) = gate.why_not_calibrated() {
                unmeasured.push((gate.key(), why.to_owned()));
            } else {
                let samples = Samples::measure(gate, is_written, of.variant, runs);
                measured.push((gate.key(), samples));
            }
        };
        for gate in own {
            measure(gate, true);
        }
        for gate in missing {
            measure(gate, false);
        }
        // All gates have judged by now: nothing is counted of a row whose gates panic.
        self.counts.rows += 1;
        self.counts.good += runs.iter().filter(|run| run.is_good).count();
        self.counts.bad += runs.iter().filter(|run| !run.is_good).count();
        self.unmeasured.extend(unmeasured);
        for (gate, samples) in measured {
            match self.gates.entry(gate) {
                Entry::Occupied(mut known) => known.get_mut().append(samples),
                Entry::Vacant(place) => drop(place.insert(samples)),
            }
        }
    }

    /// The result.
    pub fn finish(
        mut self,
        labels: String,
        left_out: Vec<LeftOut>,
        unlabelled: usize,
    ) -> Calibration {
        self.counts.unlabelled = unlabelled;
        let mut gates = Vec::new();
        for kind in self.defaults.kinds {
            let Some(samples) = self.gates.remove(kind.key) else {
                continue;
            };
            if let Some(why) = samples.why_unmeasured() {
                self.unmeasured.insert(kind.key, why);
            } else {
                self.unmeasured.remove(kind.key);
                gates.push(samples.calibrate());
            }
        }
        let unmeasured = self
            .defaults
            .kinds
            .iter()
            .filter_map(|kind| {
                Some(Unmeasured {
                    gate: kind.key.to_owned(),
                    reason: self.unmeasured.remove(kind.key)?,
                })
            })
            .collect();
        Calibration {
            schema_version: model::SCHEMA_VERSION,
            labels,
            notes: self.counts.too_few(),
            counts: self.counts,
            gates,
            unmeasured,
            left_out,
        }
    }
}
