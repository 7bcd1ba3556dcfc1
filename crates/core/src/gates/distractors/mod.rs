//! `distractors:` does the agent still choose correctly among tools it has no use for?

mod catalogue;
mod naming;
mod near_duplicate;
mod reachable;

pub use catalogue::distractors_from_catalogue;
pub use near_duplicate::near_duplicates;

use crate::engine::gate::{Documentation, Gate, GateKind, RunFailsBy};
use crate::engine::outlook::Outlook;
use crate::engine::recording::Recording;
use crate::engine::scores::{RunScores, Scores};
use crate::engine::shown::Shown;
use crate::engine::target::Target;
use crate::hashed::HashSet;
use crate::problem::Problem;
use crate::report::evidence::ChoicePoint;
use crate::report::{Evidence, Finding, Number};
use crate::suite::Variant;
use crate::suite::read::{Block, Field};
use crate::trace::{Call, CatalogueTool, Run, Tool};
use crate::words::{any_of, count};
use mcptest_stats::{CONFIDENCE, certified_lower, percent_of, wilson};
use std::collections::BTreeSet;

const ACCURACY: Target = Target::percent(
    "distractors.accuracy",
    "runs that chose correctly among the runs that chose",
)
.pooled()
.reaching(reachable::accuracies);
const CERTIFIED_LOWER: Target = Target::ratio(
    "distractors.certified_lower",
    "the accuracy that these runs prove with 95% confidence",
)
.pooled()
.rising(reachable::floor)
.advising(reachable::runs_for_floor);
const CERTIFIED_LOWER_PCT: Target = Target::percent(
    "distractors.certified_lower_pct",
    "`certified_lower` in whole percent",
)
.pooled()
.rising(reachable::floor_percent)
.advising(reachable::runs_for_floor_percent);
const CHOSE_CORRECT: Target = Target::count(
    "distractors.chose_correct",
    "runs that called a correct tool and no distractor",
)
.summed()
.wanted()
.rising(|chosen, _| chosen as f64);
const CHOSE_DISTRACTOR: Target = Target::count(
    "distractors.chose_distractor",
    "runs that called a distractor",
)
.summed()
.rising(|chosen, _| chosen as f64);
const CHOSE_NEITHER: Target = Target::count(
    "distractors.chose_neither",
    "runs that called neither a correct tool nor a distractor",
)
.summed()
.rising(|chosen, _| chosen as f64);

const TARGETS: &[Target] = &[
    ACCURACY,
    CERTIFIED_LOWER,
    CERTIFIED_LOWER_PCT,
    CHOSE_CORRECT,
    CHOSE_DISTRACTOR,
    CHOSE_NEITHER,
];

const MOST_FINDINGS: usize = 20;
const MOST_DISTRACTORS: u64 = 1000;

/// The block as written.
#[derive(Clone)]
pub(crate) struct Distractors {
    count: usize,
    /// The counts that each have a separate row, in ascending order.
    sweep: Vec<usize>,
    source: DistractorSource,
    correct: Vec<String>,
    complexity: Option<&'static str>,
}

/// The source of the distractors.
#[derive(Debug, Clone, PartialEq, Eq)]
enum DistractorSource {
    Catalogue,
    /// Near duplicates of this tool; of the first correct one by default.
    NearDuplicate(Option<String>),
}

pub(super) const KIND: GateKind = GateKind::new(
    "distractors",
    Documentation {
        summary: "Does the agent still choose correctly among tools it has no use for?",
        doc: include_str!("doc.md"),
        example: include_str!("example.yml"),
    },
    TARGETS,
    RunFailsBy::Rule,
    |block| Box::new(Distractors::read(block)),
)
.with_floors(&[(ACCURACY, 100.0)]);

impl Gate for Distractors {
    fn expect_beside(&self, has_expect: bool) -> Vec<(Target, f64)> {
        if has_expect {
            Vec::new()
        } else {
            vec![(CHOSE_NEITHER, 0.0)]
        }
    }

    fn score_run(&self, run: &Run<'_>) -> RunScores {
        let calls = &run.trace.tool_calls;
        let taken = distractor_calls(calls, run.catalogue().unwrap_or_default());
        let reached = calls
            .iter()
            .any(|call| self.correct.iter().any(|tool| call.is_to(tool)));
        let mut scores = RunScores::default();
        if !reached || !taken.is_empty() {
            scores.fail();
        }
        scores
            .whole(&CHOSE_CORRECT, usize::from(reached && taken.is_empty()))
            .whole(&CHOSE_DISTRACTOR, usize::from(!taken.is_empty()))
            .whole(&CHOSE_NEITHER, usize::from(!reached && taken.is_empty()));
        find_distractors(calls, &taken, &mut scores);
        if !reached {
            let about = if taken.is_empty() {
                CHOSE_NEITHER
            } else {
                CHOSE_CORRECT
            };
            scores.find_about(&[about], format!("no call to {}", any_of(&self.correct)));
        }
        if taken.is_empty() && self.count == 0 {
            scores.not_exercised("the row without distractors, to compare the others with");
        } else if taken.is_empty() && injected(run) == 0 {
            scores.not_exercised("the recording has no injected distractors");
        }
        scores
    }

    fn fold(&self, runs: &[Run<'_>], scored: Vec<RunScores>) -> Scores {
        let mut scores = Scores::from_runs(runs, scored);
        set_accuracy(runs, &mut scores);
        let neither = whole(&scores, &CHOSE_NEITHER).unwrap_or_default();
        if neither > 0 {
            let of = runs.len();
            let why =
                format!("{neither} of {of} runs called neither a correct tool nor a distractor");
            scores.nothing_counts(&ACCURACY, why);
        }
        let other_counts = self.other_counts(runs);
        if let (None, Some(other)) = (&scores.not_exercised, &other_counts) {
            scores.not_exercised = Some(other.message.clone());
        }
        scores.findings.extend(other_counts);
        scores.summary = self.summary(&scores);
        scores
    }

    fn evidence(&self, shown: &Shown<'_, '_>) -> Option<Evidence> {
        let count = |target: &Target| shown.target(target).map(|count| count as usize);
        let (correct, distracted) = (count(&CHOSE_CORRECT)?, count(&CHOSE_DISTRACTOR)?);
        let chosen = correct + distracted;
        let interval = wilson(correct as u64, shown.all.len() as u64, CONFIDENCE).ok()?;
        let point = ChoicePoint {
            count: self.count,
            correct,
            runs: shown.all.len(),
            accuracy: (chosen > 0).then(|| correct as f64 / chosen as f64),
            low: interval.lower,
            high: interval.upper,
        };
        let floor = shown.target(&CERTIFIED_LOWER);
        let asked_floor = shown
            .asked(["gte", "gt"])
            .find_map(|(target, least)| match target {
                name if name == CERTIFIED_LOWER.name => Some(least),
                name if name == CERTIFIED_LOWER_PCT.name => Some(least / 100.0),
                _ => None,
            });
        Some(Evidence::Distractors {
            points: vec![point],
            floor,
            asked_floor,
        })
    }

    fn outlook(&self, target: &Target, scores: &Scores, runs: &[Run<'_>], of: usize) -> Outlook {
        let (Some(correct), Some(distracted)) = (
            whole(scores, &CHOSE_CORRECT),
            whole(scores, &CHOSE_DISTRACTOR),
        ) else {
            return Outlook::Open;
        };
        let good = match target.name {
            name if name == ACCURACY.name => {
                return Outlook::OneOf(accuracies(correct, distracted, of - runs.len()));
            }
            name if name == CHOSE_DISTRACTOR.name => distracted,
            name if name == CHOSE_NEITHER.name => runs.len() - correct - distracted,
            _ => correct,
        };
        Outlook::from_good_runs(target, good, runs.len(), of)
    }

    fn recording(&self) -> Recording<'_> {
        let row = |&count: &usize| {
            let gate: Box<dyn Gate> = Box::new(Self {
                count,
                sweep: Vec::new(),
                ..self.clone()
            });
            (Variant::Distractors(count), gate)
        };
        Recording {
            variants: self.sweep.iter().map(row).collect(),
            injected_tools: Some(Box::new(|offered| self.injected_tools(offered))),
            ..Recording::default()
        }
    }
}

fn find_distractors(calls: &[Call<'_>], taken: &[usize], scores: &mut RunScores) {
    const ABOUT: [Target; 4] = [
        CHOSE_DISTRACTOR,
        ACCURACY,
        CERTIFIED_LOWER,
        CERTIFIED_LOWER_PCT,
    ];
    for &at in taken.iter().take(MOST_FINDINGS) {
        let message = format!("call {} `{}` is a distractor", at + 1, calls[at].name);
        scores.find_about(&ABOUT, message);
    }
}

/// Sets the accuracy of all runs, and the lower bound that they certify.
fn set_accuracy(runs: &[Run<'_>], scores: &mut Scores) {
    let (correct, distracted) = (
        whole(scores, &CHOSE_CORRECT),
        whole(scores, &CHOSE_DISTRACTOR),
    );
    let accuracy = correct
        .zip(distracted)
        .map(|(correct, distracted)| accuracy(correct, distracted));
    let lower = correct
        .and_then(|correct| certified_lower(correct as u64, runs.len() as u64, CONFIDENCE).ok());
    scores
        .set(
            &ACCURACY,
            accuracy.map(|percent| Number::Int(percent as i64)),
        )
        .set(
            &CERTIFIED_LOWER,
            lower.map(|lower| Number::Float(to_six_decimals(lower))),
        )
        .set(
            &CERTIFIED_LOWER_PCT,
            lower.map(|lower| Number::Int(percent_of(lower).into())),
        );
}

/// The value of a target that counts runs.
fn whole(scores: &Scores, target: &Target) -> Option<usize> {
    scores
        .value(target.name)
        .map(|count| count.as_f64() as usize)
}

impl Distractors {
    fn injected_tools(&self, offered: &[CatalogueTool]) -> Vec<CatalogueTool> {
        let names: Vec<&str> = offered.iter().map(|tool| tool.name.as_str()).collect();
        let DistractorSource::NearDuplicate(of) = &self.source else {
            return distractors_from_catalogue(self.count, &names);
        };
        let Some(of) = of.as_ref().or(self.correct.first()) else {
            return Vec::new();
        };
        let original = offered
            .iter()
            .find(|tool| Tool::from(*tool).is(of))
            .cloned();
        let original = original.unwrap_or_else(|| CatalogueTool {
            name: of.clone(),
            ..CatalogueTool::default()
        });
        let candidates = near_duplicates(&original, self.count + offered.len());
        let new = candidates
            .into_iter()
            .filter(|tool| !names.contains(&tool.name.as_str()));
        new.take(self.count).collect()
    }

    fn summary(&self, scores: &Scores) -> Option<String> {
        let value = |target: &Target| scores.value(target.name);
        let (correct, distracted) = (value(&CHOSE_CORRECT)?, value(&CHOSE_DISTRACTOR)?);
        let (accuracy, lower, neither) = (
            value(&ACCURACY)?,
            value(&CERTIFIED_LOWER)?,
            value(&CHOSE_NEITHER)?,
        );
        let source = match self.source {
            DistractorSource::Catalogue => "from the catalogue",
            DistractorSource::NearDuplicate(_) => "near duplicates",
        };
        let complexity = self
            .complexity
            .map(|complexity| format!(", {complexity}"))
            .unwrap_or_default();
        Some(format!(
            "accuracy {accuracy}% ({correct} correct, {distracted} distracted, {neither} neither), \
             certified {lower}, {} {source}{complexity}",
            self.count
        ))
    }

    fn read(block: &mut Block<'_>) -> Self {
        let (count, sweep) = read_counts(block);
        let doc = "Their source [default: the bundled catalogue]";
        let source = block.optional("source", doc, read_source);
        let source = source.unwrap_or(DistractorSource::Catalogue);
        let most = sweep.last().copied().max(count);
        if source == DistractorSource::Catalogue
            && most.is_some_and(|most| most > catalogue::size())
        {
            let problem = Problem::error(format!(
                "the bundled catalogue has {} tools",
                catalogue::size()
            ));
            let problem =
                problem.help("lower the count, or write `source: {from: near_duplicate}`");
            let key = if most == count { "count" } else { "sweep" };
            block.report_at(key, problem);
        }
        let doc = "The tools that are right; a run that calls one of them and no distractor chose correctly";
        let none = Problem::error("without a correct tool no run can choose correctly");
        let correct = block.required("correct", doc, |f| f.list_of_some(none, |item| item.tool()));
        let complexity = block.optional(
            "complexity",
            "The order in which the task needs its tools: in turn or at once",
            |field| {
                field.choice(
                    "a complexity",
                    &[("serial", "serial"), ("parallel", "parallel")],
                )
            },
        );
        Self {
            count: count.or(sweep.last().copied()).unwrap_or(1),
            sweep,
            source,
            correct: correct.unwrap_or_default(),
            complexity,
        }
    }

    /// Reports recordings with fewer or more distractors than the block requires.
    fn other_counts(&self, runs: &[Run<'_>]) -> Option<Finding> {
        let other = runs
            .iter()
            .map(injected)
            .find(|&found| found > 0 && found != self.count)?;
        let other = count(other, "distractor");
        let message = format!(
            "the recording has {other}, but `count` is {}: record it again",
            self.count
        );
        Some(Finding::new(None, message))
    }
}

/// The accuracy in whole percent; 0 if no run chose.
fn accuracy(correct: usize, distracted: usize) -> usize {
    (100 * correct)
        .checked_div(correct + distracted)
        .unwrap_or(0)
}

/// Every possible accuracy after the remaining runs. Each of them chooses correctly, chooses a distractor, or does
/// neither.
fn accuracies(correct: usize, distracted: usize, remaining: usize) -> Vec<f64> {
    let of_correct =
        |more: usize| (0..=remaining - more).map(move |also| (correct + more, distracted + also));
    let possible: BTreeSet<usize> = (0..=remaining)
        .flat_map(of_correct)
        .map(|(correct, distracted)| accuracy(correct, distracted))
        .collect();
    possible.into_iter().map(|percent| percent as f64).collect()
}

/// The calls that are recorded as distractor calls, and the calls that can only be to a distractor
/// of the catalogue.
fn distractor_calls(calls: &[Call<'_>], catalogue: &[CatalogueTool]) -> Vec<usize> {
    let marked: HashSet<&str> = catalogue
        .iter()
        .filter(|tool| tool.distractor)
        .map(|tool| tool.name.as_str())
        .collect();
    let means_marked = |call: &Call<'_>| {
        let server = call.server.as_deref();
        let is_meant = |tool: &&CatalogueTool| {
            tool.name == call.name
                && (server.is_none() || tool.server.is_none() || server == tool.server.as_deref())
        };
        let mut meant = catalogue.iter().filter(is_meant).peekable();
        meant.peek().is_some() && meant.all(|tool| tool.distractor)
    };
    let is_distractor = |call: &Call<'_>| {
        call.distractor || (marked.contains(call.name.as_ref()) && means_marked(call))
    };
    (0..calls.len())
        .filter(|&at| is_distractor(&calls[at]))
        .collect()
}

fn injected(run: &Run<'_>) -> usize {
    run.catalogue()
        .unwrap_or_default()
        .iter()
        .filter(|tool| tool.distractor)
        .count()
}

/// Floored, since a certified value must not promise more than was proved.
fn to_six_decimals(lower: f64) -> f64 {
    (lower * 1e6 + 1e-6).floor() / 1e6
}

/// Reads `count:`, or with `sweep:` all recorded counts, in ascending order.
fn read_counts(block: &mut Block<'_>) -> (Option<usize>, Vec<usize>) {
    let doc = "The number of distractors among the tools; `sweep` records this count as well";
    let count = block
        .optional("count", doc, |field| field.whole(1..=MOST_DISTRACTORS))
        .map(|count| count as usize);
    let doc = "Record and judge the agent once for each of these counts, each in a separate row";
    let sweep = block.optional("sweep", doc, |field| {
        let empty = Problem::error("`sweep` is empty").help("as `sweep: [0, 4, 16]`");
        field.list_of_some(empty, |item| {
            item.whole(0..=MOST_DISTRACTORS).map(|count| count as usize)
        })
    });
    if !block.has("sweep") {
        block.need(
            "count",
            "The number of distractors among the tools, or `sweep: [0, 4, 16]`",
        );
    }
    let Some(sweep) = sweep else {
        return (count, Vec::new());
    };
    (
        count,
        sweep
            .into_iter()
            .chain(count)
            .collect::<BTreeSet<usize>>()
            .into_iter()
            .collect(),
    )
}

fn read_source(field: &mut Field<'_>) -> Option<DistractorSource> {
    field.try_block(|block| {
        let from = block.required("from", "`catalog` or `near_duplicate`", |field| {
            field.choice("a source", &[("catalog", false), ("near_duplicate", true)])
        });
        let of = block.optional(
            "of",
            "The tool to copy [default: the first correct one]",
            |f| f.tool(),
        );
        if from == Some(false) && of.is_some() {
            let problem = Problem::error(
                "`of` applies only to near duplicates; the catalogue copies nothing",
            );
            block.report_at("of", problem);
        }
        Some(if from? {
            DistractorSource::NearDuplicate(of)
        } else {
            DistractorSource::Catalogue
        })
    })
}

#[cfg(test)]
mod tests;
