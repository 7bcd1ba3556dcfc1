//! Which runs does a gate show as evidence?

use super::block::GateBlock;
use super::target::Target;
use crate::report::{Evidence, GateReport};
use crate::suite::Variant;
use crate::trace::Run;
use serde_json::Value;

/// The maximum number of listed runs of a gate.
const MOST_RUNS: usize = 50;
/// The maximum number of listed calls of a run.
pub(crate) const MOST_CALLS: usize = 500;

/// The runs of a gate and their results.
pub struct Shown<'s, 'r> {
    /// All runs that were judged.
    pub all: &'s [Run<'r>],
    /// The listed runs, failed runs first.
    pub listed: Vec<&'s Run<'r>>,
    /// The ordinary runs, if the runs above were made only for the gate.
    pub ordinary: &'s [Run<'r>],
    report: &'s GateReport,
}

impl Shown<'_, '_> {
    /// The number of runs that are not listed.
    pub fn left_out(&self) -> usize {
        self.all.len() - self.listed.len()
    }

    /// The gate's number.
    pub fn target(&self, target: &Target) -> Option<f64> {
        self.report
            .targets
            .get(target.name)
            .copied()
            .flatten()
            .map(|number| number.as_f64())
    }

    /// The targets of expectations with one of these matchers, each with the matcher's number.
    pub fn asked(&self, matchers: [&'static str; 2]) -> impl Iterator<Item = (&str, f64)> {
        let number =
            move |matcher: &Value| matchers.iter().find_map(|key| matcher.get(key)?.as_f64());
        self.report
            .expectations
            .iter()
            .filter_map(move |one| Some((&*one.target, number(&one.matcher)?)))
    }
}

impl GateBlock {
    /// The evidence for the numbers of these runs. `ordinary` has the ordinary runs if these were recorded only for
    /// the gate.
    pub(crate) fn evidence(
        &self,
        variant: Option<Variant>,
        ordinary: &[Run<'_>],
        runs: &[Run<'_>],
        report: &GateReport,
    ) -> Option<Box<Evidence>> {
        let is_bad =
            |run: &&Run<'_>| !run.passed || report.failed_runs.binary_search(&run.number).is_ok();
        let (mut listed, good): (Vec<_>, Vec<_>) = runs.iter().partition(is_bad);
        listed.extend(good);
        listed.truncate(MOST_RUNS);
        let shown = Shown {
            all: runs,
            listed,
            ordinary,
            report,
        };
        let evidence = if runs.is_empty() {
            None
        } else {
            self.gate_for(variant).evidence(&shown)
        };
        evidence.map(Box::new)
    }
}
