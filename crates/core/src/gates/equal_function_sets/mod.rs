//! `equal_function_sets:` did the agent call the right tools, if the tools of a class are
//! interchangeable?

pub use crate::classes::{Class, Selection, score_selection};

use crate::classes::{Reach, explain_selection, read_classes};
use crate::engine::gate::{Documentation, Gate, GateKind, RunFailsBy};
use crate::engine::outlook::Outlook;
use crate::engine::scores::{RunScores, Scores};
use crate::engine::target::Target;
use crate::report::Number;
use crate::suite::read::Block;
use crate::trace::Run;

const PRECISION: Target = Target::percent(
    "tool_selection.precision",
    "reached classes among reached classes and calls in no class",
)
.pooled();
const RECALL: Target =
    Target::percent("tool_selection.recall", "reached classes among all classes").pooled();
const F1: Target = Target::percent(
    "tool_selection.f1",
    "the harmonic mean of precision and recall",
)
.pooled();
const TRUE_POSITIVES: Target = Target::count(
    "tool_selection.true_positives",
    "classes that a call reached",
)
.summed()
.wanted();
const FALSE_POSITIVES: Target =
    Target::count("tool_selection.false_positives", "calls in no class").summed();
const FALSE_NEGATIVES: Target = Target::count(
    "tool_selection.false_negatives",
    "classes that no call reached",
)
.summed();

const TARGETS: &[Target] = &[
    PRECISION,
    RECALL,
    F1,
    TRUE_POSITIVES,
    FALSE_POSITIVES,
    FALSE_NEGATIVES,
];

/// The block as written.
pub(crate) struct EqualFunctionSets {
    classes: Vec<Class>,
}

pub(super) const KIND: GateKind = GateKind::new(
    "equal_function_sets",
    Documentation {
        summary: "Were the right tools called, where any tool of a class will do?",
        doc: include_str!("doc.md"),
        example: include_str!("example.yml"),
    },
    TARGETS,
    RunFailsBy::AssertionsOverIt,
    |block| Box::new(EqualFunctionSets::read(block)),
)
.with_floors(&[(F1, 100.0)]);

impl Gate for EqualFunctionSets {
    fn score_run(&self, run: &Run<'_>) -> RunScores {
        let calls = run.trace.tool_calls.as_slice();
        let reach = Reach::from_calls(calls, &self.classes);
        let Selection {
            true_positives,
            false_positives,
            false_negatives,
        } = reach.selection();
        let mut scores = RunScores::default();
        scores
            .whole(&TRUE_POSITIVES, true_positives)
            .whole(&FALSE_POSITIVES, false_positives)
            .whole(&FALSE_NEGATIVES, false_negatives);
        if calls.is_empty() {
            scores.not_exercised("the run made no calls");
        }
        let about: (&[Target], &[Target]) = (
            &[FALSE_NEGATIVES, RECALL, F1],
            &[FALSE_POSITIVES, PRECISION, F1],
        );
        explain_selection(&reach, calls, &self.classes, about, &mut scores);
        scores
    }

    fn fold(&self, runs: &[Run<'_>], scored: Vec<RunScores>) -> Scores {
        let mut scores = Scores::from_runs(runs, scored);
        let pooled = pooled(&scores);
        let percent = |of: fn(&Selection) -> u32| Some(Number::Int(of(&pooled?).into()));
        scores
            .set(&PRECISION, percent(Selection::precision_percent))
            .set(&RECALL, percent(Selection::recall_percent))
            .set(&F1, percent(Selection::f1_percent));
        scores
    }

    /// At best, every remaining run reaches every class and makes no needless call.
    fn outlook(&self, target: &Target, scores: &Scores, runs: &[Run<'_>], of: usize) -> Outlook {
        let mut best = pooled(scores).unwrap_or_default();
        best.true_positives += (of - runs.len()) * self.classes.len();
        match target.name {
            name if name == PRECISION.name => Outlook::AtMost(best.precision_percent().into()),
            name if name == RECALL.name => Outlook::AtMost(best.recall_percent().into()),
            name if name == F1.name => Outlook::AtMost(best.f1_percent().into()),
            _ => Outlook::folded(target, scores),
        }
    }
}

/// The counts over all runs, if they are known.
fn pooled(scores: &Scores) -> Option<Selection> {
    let count = |target: &Target| {
        scores
            .value(target.name)
            .map(|count| count.as_f64() as usize)
    };
    Some(Selection {
        true_positives: count(&TRUE_POSITIVES)?,
        false_positives: count(&FALSE_POSITIVES)?,
        false_negatives: count(&FALSE_NEGATIVES)?,
    })
}

impl EqualFunctionSets {
    fn read(block: &mut Block<'_>) -> Self {
        let doc = "The capabilities the task needs, each with the tools of which any one will do";
        Self {
            classes: block
                .required("classes", doc, read_classes)
                .unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests;
