//! `orchestration:` how well were the tools found, fed and used, over all calls of all runs?

mod axes;
mod catalogue;
#[cfg(test)]
mod tests;

use crate::classes::{Class, Discovery, read_classes_or_siblings};
use crate::engine::gate::{Documentation, Gate, GateKind, RunFailsBy};
use crate::engine::scores::Scores;
use crate::engine::scores::vacuous_runs;
use crate::engine::target::Target;
use crate::report::Number;
use crate::suite::read::Block;
use crate::trace::Run;
use axes::Axes;

const DISCOVERY: Target = Discovery::TARGET;
const PARAMETERIZATION: Target = Target::percent(
    "orchestration.parameterization",
    "percent of the calls whose arguments fit the schema of their tool",
)
.pooled();
const SYNTAX: Target = Target::percent(
    "orchestration.syntax",
    "percent of the calls to a known tool with object arguments that the protocol accepted",
)
.pooled();
const ERROR_RECOVERY: Target = Target::percent(
    "orchestration.error_recovery",
    "percent of the failed calls after which the same tool or class succeeded",
)
.pooled();
const EFFICIENCY: Target = Target::percent(
    "orchestration.efficiency",
    "percent of the calls that repeat no call of their run",
)
.pooled();

const TARGETS: &[Target] = &[
    DISCOVERY,
    PARAMETERIZATION,
    SYNTAX,
    ERROR_RECOVERY,
    EFFICIENCY,
];

/// The block as written.
pub(crate) struct OrchestrationBlock {
    classes: Vec<Class>,
}

pub(super) const KIND: GateKind = GateKind::new(
    "orchestration",
    Documentation {
        summary: "How well were the tools found, fed and used?",
        doc: include_str!("doc.md"),
        example: include_str!("example.yml"),
    },
    TARGETS,
    RunFailsBy::Nothing,
    |block| Box::new(OrchestrationBlock::read(block)),
);

impl OrchestrationBlock {
    fn read(block: &mut Block<'_>) -> Self {
        Self {
            classes: read_classes_or_siblings(block).unwrap_or_default(),
        }
    }
}

impl Gate for OrchestrationBlock {
    fn score(&self, runs: &[Run<'_>]) -> Scores {
        let axes = Axes::over(&self.classes, runs);
        let mut scores = Scores {
            findings: axes.findings,
            ..Scores::default()
        };
        if runs.is_empty() {
            return scores;
        }
        scores.not_exercised = vacuous_runs(runs, runs.iter().map(Run::why_idle));
        let measured = [
            (DISCOVERY, axes.discovery, "no classes are declared"),
            (
                PARAMETERIZATION,
                axes.parameterization,
                "no call has a tool whose input schema is recorded",
            ),
            (SYNTAX, axes.syntax, "no run made a call"),
            (ERROR_RECOVERY, axes.error_recovery, "no call failed"),
            (EFFICIENCY, axes.efficiency, "no run made a call"),
        ];
        for (target, share, why_vacuous) in measured {
            scores.set(&target, Some(Number::Int(share.percent() as i64)));
            if share.all == 0 {
                scores.nothing_counts(&target, why_vacuous);
            }
        }
        if runs.iter().any(|run| run.catalogue().is_none()) {
            scores.nothing_counts(&SYNTAX, "a recording has no catalogue, so no tool is known");
        }
        scores
    }
}
