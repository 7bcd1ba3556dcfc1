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

use crate::engine::accept::{Proposal, ProposedPlace};
use crate::engine::facts::AgentFacts;
use crate::engine::gate::{Documentation, Gate, GateKind, GateTrait, RunFailsBy};
use crate::engine::scores::RunScores;
use crate::engine::success::Success;
use crate::engine::target::Target;
use crate::problem::{Problem, Span, is_slip};
use crate::row::AgentRow;
use crate::suite::read::Block;
use crate::trace::{Call, Run, is_tool};
pub(crate) use shape::ArgumentShape;

use comparison::Comparison;
use recorded::RecordedCall;
use reference::Reference;
use success::leave_out_unsuccessful;
use verdict::TraceVerdict;

use std::collections::BTreeSet;

const PASSED: Target = Target::flag("trajectory.passed", "1 when the calls meet the mode");
const MISMATCH_COUNT: Target = Target::count(
    "trajectory.mismatch_count",
    "number of calls that do not meet the mode",
);
const PASS_RATE: Target = Target::pass_rate("trajectory.pass_rate");

const TARGETS: &[Target] = &[PASSED, MISMATCH_COUNT, PASS_RATE];

/// The block as written, ready to be compared.
pub(crate) struct TrajectoryBlock {
    reference: Reference,
    /// The tools whose calls the gate compares. `None` means all tools.
    among: Option<Vec<(String, Span)>>,
    /// The condition for a call to count. `None` means that every call counts.
    successful: Option<Success>,
}

pub(super) const KIND: GateKind = GateKind::new(
    "trajectory",
    Documentation {
        summary: "Did the agent make the calls it should?",
        doc: include_str!("doc.md"),
        example: include_str!("example.yml"),
    },
    TARGETS,
    RunFailsBy::Assertions,
    |block| Box::new(TrajectoryBlock::read(block)),
)
.with_floors(&[(PASSED, 1.0)])
.with_traits(&[GateTrait::CountsSuccess]);

impl Gate for TrajectoryBlock {
    fn score_run(&self, run: &Run<'_>) -> RunScores {
        let (calls, unsuccessful) = self.calls_of(run);
        let has_left_out = unsuccessful.is_some();
        let has_calls = !calls.is_empty();
        let comparison = Comparison::new(&self.reference, calls);
        let verdict = TraceVerdict::new(&comparison);
        let count = verdict.mismatch_count();
        let mut scores = RunScores::default();
        scores
            .flag(&PASSED, count == 0)
            .whole(&MISMATCH_COUNT, count);
        if self.reference.accepts_anything() {
            scores.not_exercised("no calls are expected, so any run is accepted");
        } else if !has_calls && (has_left_out || !self.reference.forbids_calls()) {
            let to = if self.among.is_some() {
                " to the tools of `among`"
            } else {
                ""
            };
            let made = if self.successful.is_some() {
                "no successful calls"
            } else {
                "no calls"
            };
            scores.not_exercised(format!("the run made {made}{to}"));
        } else if let Some(slip) = self.slip_in_among(run) {
            scores.not_exercised(slip);
        }
        explain::explain(&comparison, &verdict, &mut scores);
        if let Some(said) = unsuccessful.filter(|_| count > 0) {
            scores.find_beside_table(said);
        }
        scores
    }

    fn propose(&self, runs: &[Run<'_>], _row: AgentRow<'_>) -> Option<Proposal> {
        let recorded: Vec<Vec<RecordedCall<'_>>> =
            runs.iter().map(|run| self.calls_of(run).0).collect();
        Some(Proposal {
            place: ProposedPlace::List(self.reference.span),
            change: propose::items(&self.reference, &recorded),
        })
    }

    fn lint(&self, agent: &AgentFacts<'_>) -> Vec<Problem> {
        if !self.reference.accepts_anything() {
            let names: BTreeSet<&str> = self
                .reference
                .calls
                .iter()
                .map(|call| call.name.as_str())
                .collect();
            let left_out = names
                .iter()
                .filter(|name| !name.is_empty())
                .filter_map(|name| self.left_out(name, agent));
            let unknown = names
                .iter()
                .filter_map(|name| agent.unknown_tool(name, agent.key_span));
            let among = agent.unknown_tools(self.among.as_deref().unwrap_or_default());
            return left_out.chain(unknown).chain(among).collect();
        }
        let message = "this trajectory has no expected calls, so it accepts any run";
        let help = "name the expected calls, or write `mode: set` to allow no calls at all";
        vec![Problem::warning(message).at(agent.key_span).help(help)]
    }
}

impl TrajectoryBlock {
    fn read(block: &mut Block<'_>) -> Self {
        let reference = Reference::read(block);
        let doc = "The tools whose calls are compared; calls to other tools are free [default: all tools]";
        let among = block.optional("among", doc, |field| {
            field.list(|item| {
                let tool = item.tool()?;
                Some((tool, item.span()))
            })
        });
        let doc = "`true` ignores calls that failed, got no result, or whose result reports an error in its text; a \
                   matcher, such as `not: { contains: refused }`, also ignores calls whose result's text does not \
                   match [default: the agent's `successful:`, otherwise every call counts]";
        let successful = Success::read(block, doc);
        Self {
            reference,
            among,
            successful,
        }
    }

    /// The calls of a run that the gate compares, and a remark about the unsuccessful calls.
    fn calls_of<'r>(&self, run: &'r Run<'_>) -> (Vec<RecordedCall<'r>>, Option<String>) {
        let calls = run
            .trace
            .tool_calls
            .iter()
            .enumerate()
            .map(RecordedCall::from);
        let mut calls: Vec<RecordedCall<'_>> = calls.filter(|call| self.counts(call)).collect();
        let unsuccessful = self
            .successful
            .as_ref()
            .and_then(|success| leave_out_unsuccessful(success, run.trace, &mut calls));
        (calls, unsuccessful)
    }

    fn counts(&self, call: &RecordedCall<'_>) -> bool {
        self.among
            .as_ref()
            .is_none_or(|among| among.iter().any(|(name, _)| call.tool.is(name)))
    }

    /// A call to a tool whose name is almost a name in `among`. Without a catalogue, no other check detects such a
    /// slip.
    fn slip_in_among(&self, run: &Run<'_>) -> Option<String> {
        let among = self.among.as_ref().filter(|_| run.catalogue().is_none())?;
        let calls = &run.trace.tool_calls;
        let is_called = |name: &str| calls.iter().any(|call| call.is_to(name));
        among.iter().find_map(|(name, _)| {
            if is_called(name) {
                return None;
            }
            let is_meant = |call: &Call<'_>| {
                is_slip(name, &call.name) && !among.iter().any(|(other, _)| call.is_to(other))
            };
            let at = calls.iter().position(is_meant)?;
            Some(format!(
                "no call is to `{name}` of `among`, but call {} is to `{}`; did you mean this \
                tool?",
                at + 1,
                calls[at].name
            ))
        })
    }

    /// An expected call that `among` does not look at: it would always be missing.
    fn left_out(&self, name: &str, agent: &AgentFacts<'_>) -> Option<Problem> {
        let is_it =
            |(among, _): &(String, Span)| is_tool(name, among, None) || is_tool(among, name, None);
        if self
            .among
            .as_ref()
            .is_none_or(|among| among.iter().any(is_it))
        {
            return None;
        }
        let problem = Problem::error(format!("`{name}` is expected, but `among` excludes it"));
        Some(
            problem
                .at(agent.key_span)
                .help(format!("add `{name}` to `among`")),
        )
    }
}
