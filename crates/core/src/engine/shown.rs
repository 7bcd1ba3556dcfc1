//! Which runs does a gate show, where what is behind its numbers is asked for?

use crate::engine::block::GateBlock;
use crate::engine::target::Target;
use crate::report::{Evidence, GateReport};
use crate::suite::Variant;
use crate::trace::Run;
use serde_json::Value;

/// How many runs of a gate are listed.
const MOST_RUNS: usize = 50;
/// How many calls of a run are listed.
pub(crate) const MOST_CALLS: usize = 500;

/// The runs of a gate, and what they came to.
pub struct Shown<'s, 'r> {
    /// All runs that were judged.
    pub all: &'s [Run<'r>],
    /// Those that are listed: the failed ones first.
    pub listed: Vec<&'s Run<'r>>,
    /// The ordinary runs, where those above were made for the gate alone.
    pub ordinary: &'s [Run<'r>],
    report: &'s GateReport,
}

impl Shown<'_, '_> {
    /// How many runs are not listed.
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

    /// What the expectations ask of targets by one of these matchers, each with its number.
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
    /// What is behind the numbers that these runs came to; the ordinary ones are given where these were made for the gate
    /// alone.
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
            self.of(variant).evidence(&shown)
        };
        evidence.map(Box::new)
    }
}
