//! `ablate:` what is each tool worth to the agent?

mod score;
#[cfg(test)]
mod tests;

use crate::engine::assertion::Assertion;
use crate::engine::facts::AgentFacts;
use crate::engine::gate::{Documentation, Gate, GateKind, GateTrait, RunFailsBy};
use crate::engine::recording::{SideRun, SideWords};
use crate::engine::scores::Scores;
use crate::engine::shown::Shown;
use crate::engine::target::{Target, Unit};
use crate::problem::{Problem, Span};
use crate::report::Evidence;
use crate::report::evidence::AblationRow;
use crate::suite::Agent;
use crate::suite::read::{Block, Field};
use crate::target::{Path, Roots};
use crate::trace::Run;

const SETS: Target = Target::count("ablation.sets", "sets of tools that were removed").pooled();
const MAX_DROP: Target = Target::percent(
    "ablation.max_drop",
    "the largest drop of success, in points",
)
.pooled()
.unwanted();
const MIN_DROP: Target = Target::percent(
    "ablation.min_drop",
    "the smallest drop of success, in points",
)
.pooled();
const NEEDED: Target = Target::count(
    "ablation.needed_tools",
    "sets whose removal certainly lowers success",
)
.pooled()
.wanted();
const USELESS: Target = Target::count(
    "ablation.useless_tools",
    "sets whose removal does not lower success",
)
.pooled();
const EXTRA_CALLS: Target = Target::amount(
    "ablation.extra_calls",
    "the largest increase in calls per run without a set",
)
.pooled();
const EXTRA_TOKENS: Target = Target::amount(
    "ablation.extra_tokens",
    "the largest increase in tokens per run without a set",
)
.pooled()
.in_unit(Unit::Tokens);
const EXTRA_COST: Target = Target::amount(
    "ablation.extra_cost",
    "the largest increase in dollars per run without a set",
)
.pooled()
.in_unit(Unit::Usd);

const TARGETS: &[Target] = &[
    SETS,
    MAX_DROP,
    MIN_DROP,
    NEEDED,
    USELESS,
    EXTRA_CALLS,
    EXTRA_TOKENS,
    EXTRA_COST,
];

const NO_TASK: &str = "without an observable `expect:`, every run succeeds, whatever is removed";

/// The block as written.
pub(crate) struct Ablate {
    /// The sets of tools; each tool in turn if no set is written.
    sets: Option<Vec<Vec<String>>>,
    /// The number of runs without each set. By default the agent's own number of runs.
    runs: Option<usize>,
    /// True if a run can fail: the agent's `expect:` has an assertion on recorded behavior.
    has_task: bool,
}

pub(super) const KIND: GateKind = GateKind::new(
    "ablate",
    Documentation {
        summary: "What is each tool worth to the agent?",
        doc: include_str!("doc.md"),
        example: include_str!("example.yml"),
    },
    TARGETS,
    RunFailsBy::Nothing,
    |block| Box::new(Ablate::read(block)),
)
.with_traits(&[
    GateTrait::ComparesRuns,
    GateTrait::TakesTrue,
    GateTrait::TakesList("sets"),
    GateTrait::HasSideRuns(SideWords {
        all: "the ablation",
        one: "ablated run",
        file: "ablated",
    }),
]);

impl Ablate {
    fn read(block: &mut Block<'_>) -> Self {
        let doc = "The tools to remove, one or several at a time [default: each tool in turn]";
        let sets = block.optional("sets", doc, read_sets);
        let doc = "The number of runs without each set [default: the agent's runs]";
        let runs = block
            .optional("runs", doc, |field| field.whole(1..=100_000))
            .map(|runs| runs as usize);
        let expect = block.sibling("expect", |field| {
            Assertion::<Path>::read_list(field, Roots::Trace)
        });
        let has_task = expect.is_some_and(|expect| expect.iter().any(Assertion::is_observable));
        Self {
            sets,
            runs,
            has_task,
        }
    }

    /// The sets of a recording with this catalogue.
    fn sets(&self, runs: &[Run<'_>]) -> Vec<Vec<String>> {
        if let Some(sets) = &self.sets {
            return sets.clone();
        }
        let catalogue = runs.first().and_then(Run::catalogue).unwrap_or_default();
        catalogue
            .iter()
            .filter(|tool| !tool.distractor)
            .map(|tool| vec![tool.full_name()])
            .collect()
    }
}

impl Gate for Ablate {
    fn score(&self, runs: &[Run<'_>]) -> Scores {
        score::score(&self.sets(runs), &[], runs)
    }

    fn score_side(&self, ordinary: &[Run<'_>], side: &[Run<'_>]) -> Scores {
        let mut scores = score::score(&self.sets(ordinary), ordinary, side);
        if !self.has_task && scores.not_exercised.is_none() {
            scores.not_exercised = Some(NO_TASK.to_owned());
        }
        scores
    }

    fn evidence(&self, shown: &Shown<'_, '_>) -> Option<Evidence> {
        let worths = score::compare(&self.sets(shown.ordinary), shown.ordinary, shown.all);
        let rows: Vec<AblationRow> = worths.into_iter().map(|worth| worth.row).collect();
        (!rows.is_empty()).then_some(Evidence::Ablate { rows })
    }

    /// The value of the tools is the result, even if no expectation asserts it.
    fn line(&self, _row_name: &str, scores: &Scores) -> Option<String> {
        scores
            .summary
            .as_ref()
            .map(|summary| format!("    ablate: {summary}"))
    }

    fn side_runs(&self, agent: &Agent, ordinary: &[Run<'_>]) -> Vec<SideRun> {
        let count = self.runs.unwrap_or(agent.runs);
        let of_set = |set: Vec<String>| {
            (1..=count).map(move |number| SideRun::Without {
                tools: set.clone(),
                number,
            })
        };
        self.sets(ordinary).into_iter().flat_map(of_set).collect()
    }

    fn lint(&self, agent: &AgentFacts<'_>) -> Vec<Problem> {
        let mut problems = agent.unknown_tools(agent.named);
        if !self.has_task {
            let problem = Problem::warning(NO_TASK);
            let help = "describe the outcome of the task in the agent's `expect:`, whichever tools reach it";
            problems.push(problem.at(agent.key_span).help(help));
        }
        problems
    }
}

fn read_sets(field: &mut Field<'_>) -> Option<Vec<Vec<String>>> {
    let mut seen: Vec<(Vec<String>, Span)> = Vec::new();
    let empty = Problem::error("the list of sets is empty")
        .help("write `ablate: true` for each tool in turn");
    field.list_of_some(empty, |item| {
        let mut set = item.shapes("a tool or a list of tools", |shapes| {
            shapes.text(|field| field.tool().map(|tool| vec![tool]));
            shapes.list(|field| field.list(|item| item.tool()));
        })?;
        set.sort();
        set.dedup();
        if set.is_empty() {
            item.report(Problem::error("a set without tools removes nothing"));
            return None;
        }
        if let Some((_, first)) = seen.iter().find(|(other, _)| *other == set) {
            item.report(Problem::error("the same set is listed twice").also(*first, "first here"));
            return None;
        }
        seen.push((set.clone(), item.span()));
        Some(set)
    })
}
