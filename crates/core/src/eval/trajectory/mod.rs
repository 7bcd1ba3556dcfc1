//! `trajectory:` did the agent make the calls it should?

mod comparison;
mod explain;
mod mismatch;
mod near_miss;
mod recorded;
mod reference;
mod shape;
#[cfg(test)]
mod tests;
pub mod trace_validation;
mod verdict;
mod wording;

use super::assertion::Assertion;
use super::outlook::Outlook;
use super::scores::{RunScores, Scores};
use super::target::Target;
use super::{Gate, gate::AgentFacts};
use crate::matcher::Matcher;
use crate::problem::Problem;
use crate::suite::read::Block;
use crate::trace::{Call, Run};
use comparison::Comparison;
use recorded::RecordedCall;
use reference::{MatchMode, Reference};
use verdict::Verdict;

use std::collections::BTreeSet;

const PASSED: Target = Target::flag("trajectory.passed", "1 when the calls are as the mode asks");
const MISMATCH_COUNT: Target =
    Target::count("trajectory.mismatch_count", "how many calls are not as the mode asks");

/// The block as written, ready to be compared.
pub(crate) struct TrajectoryBlock {
    reference: Reference,
}

impl Gate for TrajectoryBlock {
    const KEY: &'static str = "trajectory";
    const SUMMARY: &'static str = "Did the agent make the calls it should?";
    const TARGETS: &'static [Target] = &[PASSED, MISMATCH_COUNT];
    const DOC: &'static str = include_str!("doc.md");
    const EXAMPLE: &'static str = include_str!("example.yml");

    fn read(block: &mut Block<'_>) -> Self {
        Self { reference: Reference::read(block) }
    }

    fn default_expect(&self) -> Vec<Assertion<Target>> {
        vec![Assertion::of(PASSED, Matcher::at_least(1.0))]
    }

    fn score(&self, runs: &[Run<'_>]) -> Scores {
        Scores::fold(Self::TARGETS, runs, |run| self.score_run(&run.trace.tool_calls))
    }

    fn outlook(&self, target: &Target, scores: &Scores, _runs: &[Run<'_>], _of: usize) -> Outlook {
        Outlook::folded(target, scores)
    }

    fn lint(&self, agent: &AgentFacts<'_>) -> Vec<Problem> {
        if !self.reference.accepts_anything() {
            let names: BTreeSet<&str> = self.reference.calls.iter().map(|call| call.name.as_str()).collect();
            return names.into_iter().filter_map(|name| agent.unknown_tool(name, agent.key_span)).collect();
        }
        let message = "this trajectory has no expected calls, so it accepts any run";
        let help = "name the expected calls, or write `mode: subset` to allow no calls at all";
        vec![Problem::warning(message).at(agent.key_span).help(help)]
    }
}

impl TrajectoryBlock {
    fn score_run(&self, calls: &[Call<'_>]) -> RunScores {
        let comparison = Comparison::new(&self.reference, calls.iter().map(RecordedCall::from).collect());
        let verdict = Verdict::of(&comparison);
        let count = verdict.mismatch_count();
        let mut scores = RunScores::default();
        scores.flag(&PASSED, count == 0).whole(&MISMATCH_COUNT, count);
        if self.reference.accepts_anything() {
            scores.not_exercised("no calls are expected, so any run is accepted");
        } else if calls.is_empty() && !self.forbids_calls() {
            scores.not_exercised("the run made no calls");
        }
        explain::explain(&comparison, &verdict, &mut scores);
        scores
    }

    /// Whether making no calls is what the block asks for.
    fn forbids_calls(&self) -> bool {
        self.reference.calls.is_empty() && self.reference.mode == MatchMode::Subset
    }
}
