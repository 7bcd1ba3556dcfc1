//! What must be known of a gate in order to measure it on labelled runs?

use super::gate::{GateBlock, GateKind, Trait};
use crate::problem::{Level, Problem};

impl GateBlock {
    /// Its entry in the registry.
    pub fn kind(&self) -> &'static GateKind {
        self.kind
    }

    /// Whether it compares the runs of a row, so that one run by itself says nothing.
    pub fn compares_runs(&self) -> bool {
        self.kind.traits.contains(&Trait::ComparesRuns)
    }

    /// Why labels of runs say nothing about the gate.
    pub(crate) fn why_not_calibrated(&self) -> Option<&'static str> {
        if self.decides_runs() {
            Some("it counts the runs that pass, which is what the labels say")
        } else if self.compares_with_baseline() {
            Some("it compares the runs with those of a baseline")
        } else if self.judges_side_runs() {
            Some("it judges runs of its own, which have no labels")
        } else {
            None
        }
    }

    /// Whether one run by itself can meet what is asserted, or fail to.
    pub(crate) fn judges_one_run(&self) -> bool {
        let is_refused = |problem: Problem| problem.level == Level::Error;
        self.can_fail() && !self.asserted().any(|assertion| assertion.lint(1).is_some_and(is_refused))
    }
}
