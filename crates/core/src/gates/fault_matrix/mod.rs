//! `fault_matrix:` does the agent still reach its goal when any one call fails?

mod score;
#[cfg(test)]
mod tests;

use crate::engine::combination::Combination;
use crate::engine::facts::AgentFacts;
use crate::engine::gate::{Documentation, Gate, GateKind, GateTrait, RunFailsBy};
use crate::engine::recording::{SideRun, SideWords};
use crate::engine::scores::Scores;
use crate::engine::shown::Shown;
use crate::engine::target::Target;
use crate::fault::FaultKind;
use crate::problem::{Problem, Span};
use crate::report::Evidence;
use crate::suite::Agent;
use crate::suite::read::{Block, Field};
use crate::trace::Run;

const COMBINATIONS: Target = Target::count(
    "fault_matrix.combinations",
    "combinations of a kind of fault and a call",
)
.pooled()
.wanted();
const REACHED: Target = Target::count(
    "fault_matrix.reached",
    "combinations whose call was made and failed",
)
.pooled()
.wanted();
const SURVIVED: Target = Target::count(
    "fault_matrix.survived",
    "reached combinations that the agent survived",
)
.pooled()
.wanted();
const SURVIVAL_RATE: Target = Target::percent(
    "fault_matrix.survival_rate",
    "survived / reached combinations, in percent",
)
.pooled();

const TARGETS: &[Target] = &[COMBINATIONS, REACHED, SURVIVED, SURVIVAL_RATE];

/// One kind for each way in which a call can fail.
const KINDS: [FaultKind; 6] = [
    FaultKind::Hang,
    FaultKind::Error { code: -32603 },
    FaultKind::RateLimit { per_second: 0 },
    FaultKind::Malformed,
    FaultKind::Disconnect,
    FaultKind::LostResponse,
];

/// The number of calls to hit if the block sets none.
const MOST_CALLS: usize = 10;

/// The block as written.
pub(crate) struct FaultMatrix {
    kinds: Vec<FaultKind>,
    calls: Option<usize>,
    /// True if the agent's `expect:` applies to each run.
    has_expectations: bool,
}

pub(super) const KIND: GateKind = GateKind::new(
    "fault_matrix",
    Documentation {
        summary: "Which calls can fail, and how, without the agent failing its task?",
        doc: include_str!("doc.md"),
        example: include_str!("example.yml"),
    },
    TARGETS,
    RunFailsBy::Nothing,
    |block| Box::new(FaultMatrix::read(block)),
)
.with_traits(&[
    GateTrait::TakesTrue,
    GateTrait::HasSideRuns(SideWords {
        all: "the fault matrix",
        one: "fault",
        file: "faults",
    }),
]);

impl FaultMatrix {
    fn read(block: &mut Block<'_>) -> Self {
        let kinds = block.optional(
            "kinds",
            "The kinds of fault; one of each that fails a call",
            read_kinds,
        );
        let doc = "The number of calls to try, from the first [default: the calls of the first run, at most 10]";
        let calls = block
            .optional("calls", doc, |field| field.whole(1..=100))
            .map(|calls| calls as usize);
        let has_expectations = block.sibling("expect", |_| Some(())).is_some();
        Self {
            kinds: kinds.unwrap_or_else(|| KINDS.to_vec()),
            calls,
            has_expectations,
        }
    }
}

impl Gate for FaultMatrix {
    fn score(&self, runs: &[Run<'_>]) -> Scores {
        score::score(self, runs)
    }

    fn evidence(&self, shown: &Shown<'_, '_>) -> Option<Evidence> {
        Some(score::evidence(self, shown.all))
    }

    fn side_runs(&self, _agent: &Agent, ordinary: &[Run<'_>]) -> Vec<SideRun> {
        let made = ordinary.first().map_or(0, |run| run.trace.tool_calls.len());
        let calls = self.calls.unwrap_or_else(|| made.min(MOST_CALLS));
        let of_kind = |&kind| {
            (0..calls).map(move |call_index| SideRun::Fault(Combination { kind, call_index }))
        };
        self.kinds.iter().flat_map(of_kind).collect()
    }

    fn lint(&self, agent: &AgentFacts<'_>) -> Vec<Problem> {
        if self.has_expectations || agent.expectations > 0 {
            return Vec::new();
        }
        let problem = Problem::warning(
            "without `expect:`, a run survives a fault when a later call succeeds",
        );
        let help = "state in the agent's `expect:` what must hold even when a call fails";
        vec![problem.at(agent.key_span).help(help)]
    }
}

fn read_kinds(field: &mut Field<'_>) -> Option<Vec<FaultKind>> {
    let mut seen: Vec<(FaultKind, Span)> = Vec::new();
    let empty =
        Problem::error("`kinds` is empty").help("omit it for one of each kind that fails a call");
    field.list_of_some(empty, |item| {
        let kind = FaultKind::read_injectable(item)?;
        if kind == FaultKind::None {
            item.report(Problem::error("`none` is not a fault"));
            return None;
        }
        if let Some((_, first)) = seen.iter().find(|(other, _)| *other == kind) {
            item.report(
                Problem::error(format!("`{kind}` is listed twice")).also(*first, "first here"),
            );
            return None;
        }
        seen.push((kind, item.span()));
        Some(kind)
    })
}
