//! Which gates and targets tell good runs from bad ones, and which floors do the good runs support?

mod floor;
mod model;
mod samples;
#[cfg(test)]
mod tests;

pub use crate::engine::Better;
pub use model::{
    Calibration, Counts, Floor, GateCalibration, LeftOut, Separated, TargetCalibration, Unit,
    Unmeasured, Verdicts,
};

use crate::engine::{GateBlock, Gates};
use crate::problem::Problem;
use crate::row::AgentRow;
use crate::suite::{Host, load};
use crate::trace::Run;
use samples::Samples;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;

/// An AUC is computed from this many good and as many bad runs, or more.
pub const FEWEST_TO_COMPARE: usize = 5;

/// A floor is drawn from this many good runs, or more.
pub const FEWEST_FOR_A_FLOOR: usize = 10;

/// Collects what gates say of labelled runs, row by row.
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
    /// Whether it went right.
    pub is_good: bool,
}

impl<'d> Calibrator<'d> {
    /// Nothing is collected so far; these gates are measured where a suite has none of their kind.
    pub fn new(defaults: &'d Defaults) -> Self {
        let (counts, gates) = (Counts::default(), BTreeMap::new());
        let unmeasured = defaults
            .unmeasured
            .iter()
            .map(|(key, why)| (*key, why.clone()))
            .collect();
        Self {
            defaults,
            counts,
            gates,
            unmeasured,
        }
    }

    /// Adds the labelled runs of one row: all that gates say of it, or nothing where one of them panics.
    pub fn add(&mut self, of: AgentRow<'_>, runs: &[LabelledRun<'_>]) {
        let mut measured: Vec<(&'static str, Samples)> = Vec::new();
        let mut unmeasured: Vec<(&'static str, &str)> = Vec::new();
        let own = of.agent.gates.iter().map(|gate| (gate, true));
        let is_missing =
            |gate: &&GateBlock| of.agent.gates.iter().all(|own| own.key() != gate.key());
        let others = self
            .defaults
            .gates
            .iter()
            .filter(is_missing)
            .map(|gate| (gate, false));
        for (gate, is_written) in own.chain(others) {
            match gate.why_not_calibrated() {
                Some(why) => unmeasured.push((gate.key(), why)),
                None => measured.push((
                    gate.key(),
                    Samples::measure(gate, is_written, of.variant, runs),
                )),
            }
        }
        self.counts.rows += 1;
        self.counts.good += runs.iter().filter(|run| run.is_good).count();
        self.counts.bad += runs.iter().filter(|run| !run.is_good).count();
        for (gate, why) in unmeasured {
            self.unmeasured.insert(gate, why.to_owned());
        }
        for (gate, samples) in measured {
            match self.gates.entry(gate) {
                Entry::Occupied(mut known) => known.get_mut().append(samples),
                Entry::Vacant(place) => drop(place.insert(samples)),
            }
        }
    }

    /// What they come to.
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
        let unmeasured = self.defaults.kinds.iter().filter_map(|kind| {
            let reason = self.unmeasured.remove(kind.key)?;
            Some(Unmeasured {
                gate: kind.key.to_owned(),
                reason,
            })
        });
        let unmeasured = unmeasured.collect();
        let notes = self.counts.too_few();
        let (schema_version, counts) = (model::SCHEMA_VERSION, self.counts);
        Calibration {
            schema_version,
            labels,
            counts,
            notes,
            gates,
            unmeasured,
            left_out,
        }
    }
}

/// The gates that judge any run with an empty block.
#[derive(Debug, Default)]
pub struct Defaults {
    /// Every gate that may be measured.
    kinds: Gates,
    gates: Vec<GateBlock>,
    unmeasured: Vec<(&'static str, String)>,
}

impl Defaults {
    /// Reads an empty block of every gate. One that is refused, or judges nothing, has to be told what to look for.
    pub fn new(kinds: Gates) -> Self {
        let mut defaults = Self {
            kinds,
            ..Self::default()
        };
        for kind in kinds {
            match gates_of(kinds, &format!("    {}: {{}}", kind.key), 2) {
                Ok((gates, problems)) if problems.is_empty() => defaults.gates.extend(gates),
                _ => {
                    let why = "the suite has no such block, and an empty one judges nothing";
                    defaults.unmeasured.push((kind.key, why.to_owned()));
                }
            }
        }
        defaults
    }
}

/// The gates of an agent with these blocks, each of one of these kinds, and so many runs, with what there is to say of them; the problems alone
/// when they are refused.
pub fn gates_of(
    kinds: Gates,
    blocks: &str,
    runs: usize,
) -> Result<(Vec<GateBlock>, Vec<Problem>), Vec<Problem>> {
    let text = format!(
        "agents:\n  - name: measured\n    model: m\n    prompt: p\n    runs: {runs}\n{blocks}\n"
    );
    let read = |_: &Path| Ok(text.clone().into_bytes());
    let loaded = load(
        Path::new("calibrate.yml"),
        &Host {
            gates: kinds,
            ..Host::new(&read, &|_| None)
        },
    );
    match loaded.suite {
        Some(mut suite) => Ok((suite.agents.remove(0).gates, loaded.problems)),
        None => Err(loaded.problems),
    }
}
