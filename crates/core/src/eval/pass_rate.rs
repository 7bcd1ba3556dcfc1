//! In how many runs does a gate hold that scores them one by one?

use super::assertion::Assertion;
use super::block::GateBlock;
use super::gate::{Gate, GateKind, GateTrait};
use super::scores::{RunScores, Scores};
use super::target::{Fold, Target};
use crate::matcher::Matcher;
use crate::problem::Span;
use crate::report::Number;
use crate::suite::Agent;
use crate::suite::read::Block;
use crate::trace::Run;

impl GateKind {
    /// The target of the share of runs that pass, where the gate scores run by run.
    pub(super) fn pass_rate(&self) -> Option<&'static Target> {
        self.targets.iter().find(|target| target.is_pass_rate)
    }

    /// Whether the gate can fail a run by what is observed of it.
    pub(super) fn decides_a_run(&self) -> bool {
        self.pass_rate().is_some() && !self.is(GateTrait::AsksJudges)
    }

    /// `min_pass_rate:` in the block of such a gate.
    pub(super) fn read_min_pass_rate(&self, block: &mut Block<'_>) -> Option<Assertion<Target>> {
        let target = *self.pass_rate()?;
        let doc = "The least share of runs, from 0 to 1, that must meet what is asked of each; left out, all of them";
        block.optional("min_pass_rate", doc, |field| {
            let least = Assertion::of(target, Matcher::at_least(field.number(0.0..=1.0)?));
            Some(Assertion {
                span: field.span(),
                ..least
            })
        })
    }
}

impl GateBlock {
    /// What is asked of the numbers over all runs: with `min_pass_rate:` that enough of them pass.
    pub(super) fn asserted(&self) -> impl Iterator<Item = &Assertion<Target>> {
        let is_asserted = |assertion: &&Assertion<Target>| {
            self.min_pass_rate.is_none() || !is_of_a_run(assertion)
        };
        self.expect
            .iter()
            .filter(is_asserted)
            .chain(&self.min_pass_rate)
    }

    /// Whether the block can fail a run by what is observed of it.
    pub(crate) fn decides_a_run(&self) -> bool {
        self.kind.decides_a_run()
    }

    /// Whether one run meets what the block asks of each; `None` where the gate does not score run by run, or judges do.
    pub(crate) fn passes_run(&self, run: &Run<'_>) -> Option<bool> {
        self.decides_a_run()
            .then(|| self.holds(&self.gate.score(std::slice::from_ref(run))))
    }

    /// The numbers of the runs that do not meet what the block asks of each.
    pub(super) fn failed_runs(
        &self,
        gate: &dyn Gate,
        runs: &[Run<'_>],
        scores: &Scores,
    ) -> Vec<usize> {
        let numbers = |runs: &[Run<'_>]| runs.iter().map(|run| run.number).collect();
        // What a gate asks by itself are bounds on the worst run: where that run keeps them, all do.
        let is_bound = |assertion: &Assertion<Target>| assertion.span == Span::default();
        if runs.len() == 1 || (self.holds(scores) && self.expect.iter().all(is_bound)) {
            return if self.holds(scores) {
                Vec::new()
            } else {
                numbers(runs)
            };
        }
        let is_failed = |(run, scored): &(&Run<'_>, &RunScores)| {
            !self.holds(&gate.fold(std::slice::from_ref(*run), vec![(*scored).clone()]))
        };
        runs.iter()
            .zip(&scores.by_run)
            .filter(is_failed)
            .map(|(run, _)| run.number)
            .collect()
    }

    /// Sets the share of runs that pass, where the gate scores run by run and there are any. Names those that do not.
    pub(super) fn set_pass_rate(
        &self,
        gate: &dyn Gate,
        runs: &[Run<'_>],
        scores: &mut Scores,
    ) -> Vec<usize> {
        let Some(target) = self.kind.pass_rate().filter(|_| !runs.is_empty()) else {
            return Vec::new();
        };
        let failed = self.failed_runs(gate, runs, scores);
        let rate = (runs.len() - failed.len()) as f64 / runs.len() as f64;
        scores.set(target, Some(Number::Float(rate)));
        failed
    }

    fn holds(&self, scores: &Scores) -> bool {
        let holds =
            |assertion: &Assertion<Target>| assertion.holds(scores.value(assertion.target.name));
        let mut asked = self
            .expect
            .iter()
            .filter(|assertion| is_of_a_run(assertion))
            .chain(&self.of_each_run);
        !scores.is_refuted && asked.all(holds)
    }
}

pub(super) fn is_of_a_run(assertion: &Assertion<Target>) -> bool {
    assertion.target.fold != Fold::Pooled
}

/// The gates that fail a run by itself, where another gate counts the runs that pass.
pub(crate) fn failed_by(agent: &Agent, run: &Run<'_>) -> Vec<&'static str> {
    let is_counted = agent
        .gates
        .iter()
        .any(|gate| gate.is(GateTrait::DecidesRuns));
    let gates = agent
        .gates
        .iter()
        .filter(|gate| is_counted && gate.passes_run(run) == Some(false));
    gates.map(GateBlock::key).collect()
}
