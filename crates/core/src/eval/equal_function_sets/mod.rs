//! `equal_function_sets:` did the agent call the right tools, where any tool of a class will do?

mod classes;
mod selection;

pub use classes::Class;
pub use selection::{Selection, score_selection};

pub(crate) use classes::read_placed_classes_or_siblings;
pub(crate) use selection::Reach;

use super::assertion::{Assertion, plural};
use super::gate::{AgentFacts, Gate};
use super::outlook::Outlook;
use super::scores::{RunScores, Scores};
use super::target::{Fold, Target};
use crate::matcher::Matcher;
use crate::problem::{Problem, Span};
use crate::report::Number;
use crate::suite::read::Block;
use crate::trace::{Call, Run};
use classes::read_placed_classes;

const PRECISION: Target = Target::percent(
    "tool_selection.precision",
    "reached classes among reached classes and calls in no class",
)
.folded(Fold::Pooled);
const RECALL: Target =
    Target::percent("tool_selection.recall", "reached classes among all classes").folded(Fold::Pooled);
const F1: Target =
    Target::percent("tool_selection.f1", "the harmonic mean of precision and recall").folded(Fold::Pooled);
const TRUE_POSITIVES: Target =
    Target::count("tool_selection.true_positives", "classes that a call reached").folded(Fold::Sum);
const FALSE_POSITIVES: Target =
    Target::count("tool_selection.false_positives", "calls in no class").folded(Fold::Sum);
const FALSE_NEGATIVES: Target =
    Target::count("tool_selection.false_negatives", "classes that no call reached").folded(Fold::Sum);

const MOST_FINDINGS: usize = 20;
const MOST_MEMBERS: usize = 5;

/// The block as written, and where each member stands.
pub(crate) struct EqualFunctionSets {
    classes: Vec<Class>,
    places: Vec<(String, Span)>,
}

impl Gate for EqualFunctionSets {
    const KEY: &'static str = "equal_function_sets";
    const SUMMARY: &'static str = "Were the right tools called, where any tool of a class will do?";
    const TARGETS: &'static [Target] =
        &[PRECISION, RECALL, F1, TRUE_POSITIVES, FALSE_POSITIVES, FALSE_NEGATIVES];
    const DOC: &'static str = include_str!("doc.md");
    const EXAMPLE: &'static str = include_str!("example.yml");

    fn read(block: &mut Block<'_>) -> Self {
        let mut places = Vec::new();
        let doc = "The capabilities the task needs, each with the tools of which any one will do";
        let classes = block.required("classes", doc, |field| read_placed_classes(field, &mut places));
        Self { classes: classes.unwrap_or_default(), places }
    }

    fn default_expect(&self) -> Vec<Assertion<Target>> {
        vec![Assertion::of(F1, Matcher::at_least(100.0))]
    }

    fn score(&self, runs: &[Run<'_>]) -> Scores {
        let targets = [TRUE_POSITIVES, FALSE_POSITIVES, FALSE_NEGATIVES];
        let mut scores = Scores::fold(&targets, runs, |run| self.score_run(&run.trace.tool_calls));
        let count = |target: &Target| scores.value(target.name).map(|count| count.as_f64() as usize);
        let pooled = count(&TRUE_POSITIVES).zip(count(&FALSE_POSITIVES)).zip(count(&FALSE_NEGATIVES)).map(
            |((true_positives, false_positives), false_negatives)| Selection {
                true_positives,
                false_positives,
                false_negatives,
            },
        );
        let percent =
            |of: fn(&Selection) -> u32| pooled.as_ref().map(|pooled| Number::Int(of(pooled).into()));
        scores
            .set(&PRECISION, percent(Selection::precision_percent))
            .set(&RECALL, percent(Selection::recall_percent))
            .set(&F1, percent(Selection::f1_percent));
        scores
    }

    /// At best every remaining run reaches every class and strays nowhere.
    fn outlook(&self, target: &Target, scores: &Scores, runs: &[Run<'_>], of: usize) -> Outlook {
        let count = |target: &Target| scores.value(target.name).map_or(0, |count| count.as_f64() as usize);
        let best = Selection {
            true_positives: count(&TRUE_POSITIVES) + (of - runs.len()) * self.classes.len(),
            false_positives: count(&FALSE_POSITIVES),
            false_negatives: count(&FALSE_NEGATIVES),
        };
        match target.name {
            name if name == PRECISION.name => Outlook::AtMost(best.precision_percent().into()),
            name if name == RECALL.name => Outlook::AtMost(best.recall_percent().into()),
            name if name == F1.name => Outlook::AtMost(best.f1_percent().into()),
            _ => Outlook::folded(target, scores),
        }
    }

    fn lint(&self, agent: &AgentFacts<'_>) -> Vec<Problem> {
        self.places.iter().filter_map(|(member, span)| agent.unknown_tool(member, *span)).collect()
    }
}

impl EqualFunctionSets {
    fn score_run(&self, calls: &[Call<'_>]) -> RunScores {
        let reach = Reach::of_calls(calls, &self.classes);
        let Selection { true_positives, false_positives, false_negatives } = reach.selection();
        let mut scores = RunScores::default();
        scores
            .whole(&TRUE_POSITIVES, true_positives)
            .whole(&FALSE_POSITIVES, false_positives)
            .whole(&FALSE_NEGATIVES, false_negatives);
        if calls.is_empty() {
            scores.not_exercised("the run made no calls");
        }
        explain_selection(&reach, calls, &self.classes, &mut scores);
        scores
    }
}

/// Says which classes were missed and which calls belong to none.
pub(crate) fn explain_selection(
    reach: &Reach,
    calls: &[Call<'_>],
    classes: &[Class],
    scores: &mut RunScores,
) {
    for &class in reach.unreached.iter().take(MOST_FINDINGS) {
        scores.find(why_unreached(&classes[class], calls), Vec::new());
    }
    for &call in reach.strays.iter().take(MOST_FINDINGS) {
        scores.find(format!("call {} `{}` is in no class", call + 1, calls[call].name), Vec::new());
    }
    let more = reach.strays.len().saturating_sub(MOST_FINDINGS);
    if more > 0 {
        let are = if more == 1 { "is" } else { "are" };
        scores.find(format!("{more} more call{} {are} in no class", plural(more)), Vec::new());
    }
}

fn why_unreached(class: &Class, calls: &[Call<'_>]) -> String {
    let called = |member: &&String| calls.iter().any(|call| call.is_to(member));
    let taken: Vec<&String> = class.members.iter().filter(called).collect();
    let name = &class.name;
    if taken.is_empty() {
        format!("class `{name}` was not reached: no call to {}", listed(&class.members))
    } else {
        format!("class `{name}` was not reached: every call of {} counts for another class", listed(&taken))
    }
}

/// `` `a` or `b` ``, cut where the list is long.
pub(crate) fn listed<S: AsRef<str>>(members: &[S]) -> String {
    let shown: Vec<String> =
        members.iter().take(MOST_MEMBERS).map(|member| format!("`{}`", member.as_ref())).collect();
    let more = members.len() - shown.len();
    match (shown.as_slice(), more) {
        ([one], _) => one.clone(),
        ([first @ .., last], 0) => format!("{} or {last}", first.join(", ")),
        _ => format!("{} or {more} others", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests;
