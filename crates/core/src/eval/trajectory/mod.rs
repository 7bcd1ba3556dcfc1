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

use super::gate::{AgentFacts, Gate, GateKind};
use super::scores::RunScores;
use super::target::Target;
use crate::problem::Problem;
use crate::suite::read::Block;
use crate::trace::Run;
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

pub(super) const KIND: GateKind = GateKind {
    key: "trajectory",
    summary: "Did the agent make the calls it should?",
    targets: &[PASSED, MISMATCH_COUNT, Target::pass_rate("trajectory.pass_rate")],
    doc: include_str!("doc.md"),
    example: include_str!("example.yml"),
    floors: &[(PASSED, 1.0)],
    read: |block| Box::new(TrajectoryBlock::read(block)),
    traits: &[],
};

impl Gate for TrajectoryBlock {
    fn score_run(&self, run: &Run<'_>) -> RunScores {
        let calls = run.trace.tool_calls.as_slice();
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
    fn read(block: &mut Block<'_>) -> Self {
        Self { reference: Reference::read(block) }
    }

    /// Whether making no calls is what the block asks for.
    fn forbids_calls(&self) -> bool {
        self.reference.calls.is_empty() && self.reference.mode == MatchMode::Subset
    }
}
