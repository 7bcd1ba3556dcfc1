//! `trajectory:` did the agent make the calls it should?

mod comparison;
mod explain;
mod mismatch;
mod near_miss;
mod propose;
mod recorded;
mod reference;
mod shape;
mod success;
mod table;
#[cfg(test)]
mod tests;
pub mod trace_validation;
mod verdict;
mod wording;

use super::accept::{Proposal, ProposedPlace};
use super::facts::AgentFacts;
use super::gate::{Gate, GateKind};
use super::scores::RunScores;
use super::success::Success;
use super::target::{Target, targets};
use crate::baseline::TestBaseline;
use crate::problem::{Problem, Span};
use crate::suite::read::Block;
use crate::trace::{Run, is_tool};
use comparison::Comparison;
use recorded::RecordedCall;
use reference::{MatchMode, Reference};
use success::take_others;
use verdict::TraceVerdict;

use std::collections::BTreeSet;

targets! {
    PASSED = Target::flag("trajectory.passed", "1 when the calls are as the mode asks");
    MISMATCH_COUNT = Target::count("trajectory.mismatch_count", "how many calls are not as the mode asks");
    PASS_RATE = Target::pass_rate("trajectory.pass_rate");
}

/// The block as written, ready to be compared.
pub(crate) struct TrajectoryBlock {
    reference: Reference,
    /// The tools whose calls are looked at; all when left out.
    among: Option<Vec<(String, Span)>>,
    /// What a call must have come to in order to count; left out, every call counts.
    successful: Option<Success>,
}

pub(super) const KIND: GateKind = GateKind {
    key: "trajectory",
    summary: "Did the agent make the calls it should?",
    targets: TARGETS,
    doc: include_str!("doc.md"),
    example: include_str!("example.yml"),
    floors: &[(PASSED, 1.0)],
    read: |block| Box::new(TrajectoryBlock::read(block)),
    traits: &[],
};

impl Gate for TrajectoryBlock {
    fn score_run(&self, run: &Run<'_>) -> RunScores {
        let (calls, unsuccessful) = self.calls_of(run);
        let has_calls = !calls.is_empty();
        let comparison = Comparison::new(&self.reference, calls);
        let verdict = TraceVerdict::of(&comparison);
        let count = verdict.mismatch_count();
        let mut scores = RunScores::default();
        scores.flag(&PASSED, count == 0).whole(&MISMATCH_COUNT, count);
        if self.reference.accepts_anything() {
            scores.not_exercised("no calls are expected, so any run is accepted");
        } else if !has_calls && !self.forbids_calls() {
            let to = if self.among.is_some() { " to the tools of `among`" } else { "" };
            let made = if self.successful.is_some() { "no successful calls" } else { "no calls" };
            scores.not_exercised(format!("the run made {made}{to}"));
        }
        explain::explain(&comparison, &verdict, &mut scores);
        if let Some(said) = unsuccessful.filter(|_| count > 0) {
            scores.find_beside_table(said);
        }
        scores
    }

    fn propose(&self, runs: &[Run<'_>], _captured: &dyn Fn() -> TestBaseline) -> Option<Proposal> {
        let recorded: Vec<Vec<RecordedCall<'_>>> = runs.iter().map(|run| self.calls_of(run).0).collect();
        Some(Proposal {
            place: ProposedPlace::List(self.reference.span),
            change: propose::items(&self.reference, &recorded),
        })
    }

    fn lint(&self, agent: &AgentFacts<'_>) -> Vec<Problem> {
        if !self.reference.accepts_anything() {
            let names: BTreeSet<&str> = self.reference.calls.iter().map(|call| call.name.as_str()).collect();
            let left_out =
                names.iter().filter(|name| !name.is_empty()).filter_map(|name| self.left_out(name, agent));
            let unknown = names.iter().filter_map(|name| agent.unknown_tool(name, agent.key_span));
            let among = agent.unknown_tools(self.among.as_deref().unwrap_or_default());
            return left_out.chain(unknown).chain(among).collect();
        }
        let message = "this trajectory has no expected calls, so it accepts any run";
        let help = "name the expected calls, or write `mode: subset` to allow no calls at all";
        vec![Problem::warning(message).at(agent.key_span).help(help)]
    }
}

impl TrajectoryBlock {
    fn read(block: &mut Block<'_>) -> Self {
        let reference = Reference::read(block);
        let doc =
            "The tools whose calls are looked at; calls to others are free. Left out, all are looked at";
        let among = block.optional("among", doc, |field| {
            field.list(|item| {
                let tool = item.tool()?;
                Some((tool, item.span()))
            })
        });
        let successful = block.optional("successful", success::DOC, Success::read);
        Self { reference, among, successful }
    }

    /// The calls of a run that are looked at, and what is said of those that came to nothing.
    fn calls_of<'r>(&self, run: &'r Run<'_>) -> (Vec<RecordedCall<'r>>, Option<String>) {
        let calls = run.trace.tool_calls.iter().enumerate().map(RecordedCall::from);
        let mut calls: Vec<RecordedCall<'_>> = calls.filter(|call| self.counts(call)).collect();
        let unsuccessful =
            self.successful.as_ref().and_then(|success| take_others(success, run.trace, &mut calls));
        (calls, unsuccessful)
    }

    fn counts(&self, call: &RecordedCall<'_>) -> bool {
        self.among.as_ref().is_none_or(|among| among.iter().any(|(name, _)| call.tool.is(name)))
    }

    /// An expected call that `among` does not look at: it would always be missing.
    fn left_out(&self, name: &str, agent: &AgentFacts<'_>) -> Option<Problem> {
        let is_it = |(among, _): &(String, Span)| is_tool(name, among, None) || is_tool(among, name, None);
        if self.among.as_ref().is_none_or(|among| among.iter().any(is_it)) {
            return None;
        }
        let problem = Problem::error(format!("`{name}` is expected, and `among` does not look at it"));
        Some(problem.at(agent.key_span).help(format!("add `{name}` to `among`")))
    }

    /// Whether making no calls is what the block asks for.
    fn forbids_calls(&self) -> bool {
        self.reference.calls.is_empty() && self.reference.mode == MatchMode::Subset
    }
}
