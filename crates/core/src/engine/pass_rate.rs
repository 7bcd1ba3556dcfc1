//! Which runs does a gate fail on their own, and in which share of them must it hold?

use super::assertion::Assertion;
use super::block::GateBlock;
use super::gate::{Gate, GateKind, GateTrait, RunFailsBy};
use super::scores::Scores;
use super::target::{Better, Fold, Target};
use crate::matcher::Matcher;
use crate::problem::Span;
use crate::report::Number;
use crate::suite::Agent;
use crate::suite::read::Block;
use crate::trace::Run;

impl GateKind {
    /// The target for the share of passed runs, if the gate scores run by run.
    pub(crate) fn pass_rate(&self) -> Option<&'static Target> {
        self.targets.iter().find(|target| target.is_pass_rate)
    }

    /// Returns true if the gate can fail a run by its recorded behavior.
    pub(crate) fn decides_a_run(&self) -> bool {
        self.run_fails_by != RunFailsBy::Nothing && !self.is(GateTrait::AsksJudges)
    }

    /// Returns true if an assertion on this target also applies to a single run.
    pub(crate) fn asks_of_each_run(&self, target: &Target) -> bool {
        match self.run_fails_by {
            RunFailsBy::Nothing | RunFailsBy::Rule => false,
            RunFailsBy::Assertions => target.fold != Fold::Pooled,
            // Nobody asks one run for the good that all of them are to do together.
            RunFailsBy::AssertionsOverIt => {
                target.fold != Fold::Sum || target.better() == Better::Low
            }
        }
    }

    /// Reads `min_pass_rate:` in the block of such a gate.
    pub(crate) fn read_min_pass_rate(&self, block: &mut Block<'_>) -> Option<Assertion<Target>> {
        let target = *self.pass_rate()?;
        let doc = "The minimum share of runs, from 0 to 1, that must meet the requirements on each run [default: all runs]";
        block.optional("min_pass_rate", doc, |field| {
            let least = Assertion::new(target, Matcher::at_least(field.number(0.0..=1.0)?));
            Some(Assertion {
                span: field.span(),
                ..least
            })
        })
    }
}

impl GateBlock {
    /// The assertions on the numbers over all runs. `min_pass_rate:` adds that enough runs pass.
    pub(crate) fn asserted(&self) -> impl Iterator<Item = &Assertion<Target>> {
        let is_asserted = |assertion: &&Assertion<Target>| {
            self.min_pass_rate.is_none() || !is_of_a_run(assertion)
        };
        self.expect
            .iter()
            .filter(is_asserted)
            .chain(&self.min_pass_rate)
    }

    /// Returns true if the block can fail a run by its recorded behavior.
    pub(crate) fn decides_a_run(&self) -> bool {
        self.kind.decides_a_run()
    }

    /// Returns true if the run meets the block's assertions on each run. `None` if the gate does not score run by
    /// run, or if judges decide it.
    pub(crate) fn passes_run(&self, run: &Run<'_>) -> Option<bool> {
        let fails = || {
            let run = std::slice::from_ref(run);
            let scores = self.gate.score(run);
            !self.failed_runs(&*self.gate, run, &scores).is_empty()
        };
        self.decides_a_run().then(|| !fails())
    }

    /// The numbers of the runs that the gate fails, independent of other runs.
    pub(crate) fn failed_runs(
        &self,
        gate: &dyn Gate,
        runs: &[Run<'_>],
        scores: &Scores,
    ) -> Vec<usize> {
        match self.kind.run_fails_by {
            RunFailsBy::Nothing => Vec::new(),
            RunFailsBy::Rule => scores.failed_runs.clone(),
            RunFailsBy::Assertions | RunFailsBy::AssertionsOverIt => {
                self.runs_that_miss_assertions(gate, runs, scores)
            }
        }
    }

    fn runs_that_miss_assertions(
        &self,
        gate: &dyn Gate,
        runs: &[Run<'_>],
        scores: &Scores,
    ) -> Vec<usize> {
        // What a gate asks by itself are bounds on the worst run: where that run keeps them, all do.
        let is_bound = |assertion: &Assertion<Target>| assertion.span == Span::default();
        let hold = self.holds(scores);
        if hold && (runs.len() == 1 || self.expect.iter().all(is_bound)) {
            return Vec::new();
        }
        let alone = |at: usize| match scores.by_run.get(at) {
            _ if runs.len() == 1 => hold,
            Some(scored) => self.holds(&gate.fold(&runs[at..=at], vec![scored.clone()])),
            None => self.holds(&gate.score(&runs[at..=at])),
        };
        (0..runs.len())
            .filter(|&at| !alone(at))
            .map(|at| runs[at].number)
            .collect()
    }

    /// Returns the runs that the gate fails. Sets the share of passing runs if the gate has a target for it.
    pub(crate) fn set_pass_rate(
        &self,
        gate: &dyn Gate,
        runs: &[Run<'_>],
        scores: &mut Scores,
    ) -> Vec<usize> {
        if runs.is_empty() {
            return Vec::new();
        }
        let failed = self.failed_runs(gate, runs, scores);
        if let Some(target) = self.kind.pass_rate() {
            let rate = (runs.len() - failed.len()) as f64 / runs.len() as f64;
            scores.set(target, Some(Number::Float(rate)));
        }
        failed
    }

    fn holds(&self, scores: &Scores) -> bool {
        let holds =
            |assertion: &Assertion<Target>| assertion.holds(scores.value(assertion.target.name));
        let mut asked = self
            .expect
            .iter()
            .filter(|assertion| self.kind.asks_of_each_run(&assertion.target))
            .chain(&self.of_each_run);
        !scores.is_refuted && asked.all(holds)
    }
}

pub(crate) fn is_of_a_run(assertion: &Assertion<Target>) -> bool {
    assertion.target.fold != Fold::Pooled
}

/// The gates that fail a run by its observed evidence.
pub(crate) fn failed_by(agent: &Agent, run: &Run<'_>) -> Vec<&'static str> {
    let gates = agent
        .gates
        .iter()
        .filter(|gate| gate.passes_run(run) == Some(false));
    gates.map(GateBlock::key).collect()
}
