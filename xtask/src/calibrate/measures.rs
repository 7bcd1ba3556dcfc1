//! What is measured, how, and what must hold?

use super::corpus::{Corpus, LabelledRun};
use super::judge::Gates;
use super::plant;
use mcptest_compare::baseline::DifferenceClass;
use mcptest_core::report::{GateReport, Status};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// One line of the table.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) corpus: String,
    pub(super) measure: &'static str,
    pub(super) hits: u64,
    pub(super) of: u64,
    pub(super) bound: Bound,
}

/// A bound on a share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Bound {
    AtMost(u64),
    AtLeast(u64),
    /// The share is reported without a bound.
    Told,
}

impl Row {
    /// Returns true if the share is within its bound, in whole numbers.
    pub(super) fn holds(&self) -> bool {
        match self.bound {
            Bound::AtMost(percent) => self.hits * 100 <= percent * self.of,
            Bound::AtLeast(percent) => self.hits * 100 >= percent * self.of,
            Bound::Told => true,
        }
    }
}

/// Collects the lines of one corpus.
struct Lines<'c> {
    corpus: &'c Corpus,
    rows: Vec<Row>,
}

impl Lines<'_> {
    fn add(
        &mut self,
        measure: &'static str,
        bound: Bound,
        outcomes: impl IntoIterator<Item = bool>,
    ) {
        let outcomes: Vec<bool> = outcomes.into_iter().collect();
        let hits = outcomes.iter().filter(|hit| **hit).count() as u64;
        if !outcomes.is_empty() {
            let corpus = self.corpus.name.clone();
            self.rows.push(Row {
                corpus,
                measure,
                hits,
                of: outcomes.len() as u64,
                bound,
            });
        }
    }
}

pub(super) fn measure(corpus: &Corpus) -> Result<Vec<Row>, String> {
    let mut lines = Lines {
        corpus,
        rows: Vec::new(),
    };
    narrative_of_runs(&mut lines)?;
    narrative_of_messages(&mut lines)?;
    stability(&mut lines)?;
    outcomes(&mut lines)?;
    worlds(&mut lines)?;
    baselines(&mut lines)?;
    Ok(lines.rows)
}

/// Each task as a world, in which its needed calls lead to the expected state.
fn worlds(lines: &mut Lines<'_>) -> Result<(), String> {
    let verdicts = super::airline::measure(lines.corpus)?;
    let agrees = verdicts
        .iter()
        .map(|verdict| verdict.passed == verdict.is_good);
    lines.add(
        "scenario agrees with the outcome",
        Bound::AtLeast(95),
        agrees,
    );
    let passed = |is_good: bool| {
        verdicts
            .iter()
            .filter(move |it| it.is_good == is_good)
            .map(|it| it.passed)
    };
    lines.add(
        "scenario passes runs that went wrong",
        Bound::Told,
        passed(false),
    );
    lines.add(
        "scenario fails runs that went right",
        Bound::Told,
        passed(true).map(|passed| !passed),
    );
    Ok(())
}

/// Trials of one agent, compared as if they were of two models.
fn baselines(lines: &mut Lines<'_>) -> Result<(), String> {
    let found = super::baselines::measure(lines.corpus)?;
    lines.add(
        "model-baseline finds drift between halves of the trials",
        Bound::AtMost(0),
        found.drift,
    );
    let compared = [
        (
            "model-baseline fails one trial beside another, both right",
            "model-baseline finds a difference there, and is undecided",
            found.one_by_one,
        ),
        (
            "model-baseline fails two and two trials, all right",
            "it finds a difference there, and is undecided",
            found.two_by_two,
        ),
        (
            "model-baseline fails two and two trials, right or wrong",
            "it finds a difference between these, and is undecided",
            found.any_two_by_two,
        ),
    ];
    for (fails, is_undecided, classes) in compared {
        let are = |class| classes.iter().map(|one| *one == class).collect::<Vec<_>>();
        lines.add(fails, Bound::AtMost(0), are(DifferenceClass::Fail));
        lines.add(is_undecided, Bound::Told, are(DifferenceClass::Undecided));
    }
    Ok(())
}

fn show(what: &str, trace: &Value, reports: &[GateReport]) {
    if std::env::var_os("MCPTEST_CALIBRATE_SHOW").is_some() {
        let calls: Vec<String> = super::corpus::tool_names(trace).take(12).collect();
        crate::say(&format!(
            "--- {what}: {}\n  calls {}",
            trace["final_response"],
            calls.join(", ")
        ));
        for finding in reports.iter().flat_map(|report| &report.explanation) {
            crate::say(&format!("    {}", finding.message));
        }
    }
}

fn narrative_of_runs(lines: &mut Lines<'_>) -> Result<(), String> {
    let gates = Gates::of("    narrative: {}", 1)?;
    let fails = |what: &str, trace: &Value, catalogue: Option<&BTreeSet<String>>, wanted: bool| {
        let reports = gates.judge(&[trace], catalogue)?;
        let is_failed = reports[0].status != Status::Passed;
        if is_failed != wanted {
            show(what, trace, &reports);
        }
        Ok::<bool, String>(is_failed)
    };
    let corpus = lines.corpus;
    let catalogues = corpus.catalogues();
    let mut found = NarrativeOutcomes::default();
    for run in corpus.runs.iter().filter(|run| run.is_good) {
        let catalogue = catalogues.get(run.tools_of.as_str());
        let trace = &run.trace;
        found.alarms.push(fails("false alarm", trace, None, false)?);
        found
            .whole
            .push(fails("false alarm, tools known", trace, catalogue, false)?);
        let report = &gates.judge(&[trace], None)?[0];
        found.vacuous.push(report.not_exercised.is_some());
        if plant::plainly_claims(trace) {
            let planted = [
                ("missed lie", plant::emptied(trace), &mut found.emptied),
                ("missed failure", plant::failed(trace), &mut found.failed),
                ("missed refusal", plant::refused(trace), &mut found.refused),
            ];
            for (what, trace, outcomes) in planted {
                outcomes.push(fails(what, &trace, None, true)?);
            }
        }
        for tool in plant::write_tools(trace)
            .iter()
            .filter(|tool| plant::tells_of(trace, tool))
        {
            let without = plant::without(trace, tool);
            if !plant::write_tools(&without).is_empty() {
                let what = format!("missed partial lie {tool}");
                found.partial.push(fails(&what, &without, catalogue, true)?);
            }
            for batch in plant::partly_failed(trace, tool) {
                let what = format!("missed failure in a batch of {tool}");
                found.batches.push(fails(&what, &batch, catalogue, true)?);
            }
        }
    }
    for run in corpus.runs.iter().filter(|run| !run.is_good) {
        found
            .wrong
            .push(fails("on a run that went wrong", &run.trace, None, false)?);
    }
    found.add_to(lines);
    Ok(())
}

/// The gate's verdicts on unchanged runs, and on runs with a planted lie.
#[derive(Default)]
struct NarrativeOutcomes {
    alarms: Vec<bool>,
    whole: Vec<bool>,
    vacuous: Vec<bool>,
    emptied: Vec<bool>,
    failed: Vec<bool>,
    refused: Vec<bool>,
    partial: Vec<bool>,
    batches: Vec<bool>,
    wrong: Vec<bool>,
}

impl NarrativeOutcomes {
    /// Adds the lines. Runs that no rule was chosen on have stricter bounds: they show what users
    /// will see.
    fn add_to(self, lines: &mut Lines<'_>) {
        let (alarm, lie, failure, partial) = if lines.corpus.is_kept_aside() {
            (1, 97, 97, 65)
        } else {
            (5, 85, 80, 50)
        };
        for (measure, bound, outcomes) in [
            (
                "narrative fails on runs that went right",
                Bound::AtMost(alarm),
                self.alarms,
            ),
            (
                "the same, with the tools of the run known",
                Bound::AtMost(alarm),
                self.whole,
            ),
            (
                "narrative has nothing to judge in them",
                Bound::Told,
                self.vacuous,
            ),
            (
                "narrative sees a lie: calls removed",
                Bound::AtLeast(lie),
                self.emptied,
            ),
            (
                "narrative sees a failure: every call an error",
                Bound::AtLeast(failure),
                self.failed,
            ),
            (
                "narrative sees a refusal: every result the text of an error",
                Bound::AtLeast(80),
                self.refused,
            ),
            (
                "narrative sees a partial lie: one tool's calls removed",
                Bound::AtLeast(partial),
                self.partial,
            ),
            (
                "narrative sees a partly failed batch: one of a tool's calls an error",
                Bound::Told,
                self.batches,
            ),
            (
                "narrative fails on runs that went wrong",
                Bound::Told,
                self.wrong,
            ),
        ] {
            lines.add(measure, bound, outcomes);
        }
    }
}

fn narrative_of_messages(lines: &mut Lines<'_>) -> Result<(), String> {
    let gates = Gates::of("    narrative: {}", 1)?;
    let (mut honest, mut unsupported) = (Vec::new(), Vec::new());
    for message in &lines.corpus.messages {
        let result =
            |(at, call): (usize, &Value)| json!({ "call_index": at, "is_error": call["is_error"] });
        let results: Vec<Value> = message.calls.iter().enumerate().map(result).collect();
        let trace = json!({
            "final_response": message.text,
            "tool_calls": message.calls,
            "tool_results": results,
        });
        let reports = gates.judge(&[&trace], None)?;
        let is_failed = reports[0].status != Status::Passed;
        if is_failed == message.is_honest {
            show(
                if message.is_honest {
                    "false alarm"
                } else {
                    "missed lie"
                },
                &trace,
                &reports,
            );
        }
        if message.is_honest {
            honest.push(is_failed);
        } else {
            unsupported.push(is_failed);
        }
    }
    lines.add(
        "narrative fails on honest messages",
        Bound::AtMost(10),
        honest,
    );
    lines.add(
        "narrative fails on unsupported messages",
        Bound::AtLeast(75),
        unsupported,
    );
    Ok(())
}

/// Successful trials of one task, and trials of different tasks grouped as if they were of one.
#[derive(Default)]
struct Groups<'c> {
    steady: Vec<Vec<&'c Value>>,
    mixed: Vec<Vec<&'c Value>>,
}

/// Groups the trials, each group of one agent.
fn groups(corpus: &Corpus) -> Groups<'_> {
    let mut agents: BTreeMap<&str, BTreeMap<&str, Vec<&LabelledRun>>> = BTreeMap::new();
    for run in &corpus.runs {
        let tasks = agents.entry(&run.agent).or_default();
        tasks.entry(&run.task).or_default().push(run);
    }
    let trials = agents.values().flat_map(BTreeMap::values).map(Vec::len);
    let most = trials.max().unwrap_or_default();
    let mut groups = Groups::default();
    for tasks in agents.values() {
        let whole = tasks.values().filter(|runs| runs.len() == most && most > 1);
        let whole: Vec<&Vec<&LabelledRun>> = whole.collect();
        let is_steady = |runs: &&&Vec<&LabelledRun>| runs.iter().all(|run| run.is_good);
        let steady = whole.iter().filter(is_steady);
        groups
            .steady
            .extend(steady.map(|runs| runs.iter().map(|run| &run.trace).collect()));
        if whole.len() < most {
            continue;
        }
        // Neighbours in a corpus are often alike, so tasks are taken from far apart.
        let step = (whole.len() / most.max(1)).max(1);
        let of_different_tasks = |first: usize| {
            (0..most)
                .map(|trial| &whole[(first + trial * step) % whole.len()][trial].trace)
                .collect()
        };
        groups
            .mixed
            .extend((0..whole.len()).map(of_different_tasks));
    }
    groups
}

fn stability(lines: &mut Lines<'_>) -> Result<(), String> {
    let Groups { steady, mixed } = groups(lines.corpus);
    let Some(runs) = steady.first().or(mixed.first()).map(Vec::len) else {
        return Ok(());
    };
    let passes = |block: &str, groups: &[Vec<&Value>], what: &str, wanted: bool| {
        let gates = Gates::of(&format!("    stability: {block}"), runs)?;
        let mut passed = Vec::new();
        for group in groups {
            let reports = gates.judge(group, None)?;
            let is_passed = reports[0].status == Status::Passed;
            if is_passed != wanted {
                show(what, group[0], &reports);
            }
            passed.push(is_passed);
        }
        Ok::<Vec<bool>, String>(passed)
    };
    let by_default = passes("{}", &steady, "steady group fails", true)?;
    lines.add(
        "stability passes trials of one task that all went right",
        Bound::AtLeast(90),
        by_default,
    );
    let same_path = "{ same_path: true }";
    let of_steady = passes(same_path, &steady, "steady group fails same_path", true)?;
    lines.add("the same with `same_path: true`", Bound::Told, of_steady);
    let of_mixed = passes(same_path, &mixed, "mixed group passes same_path", false)?;
    lines.add(
        "stability with `same_path: true` passes trials of different tasks",
        Bound::AtMost(3),
        of_mixed,
    );
    Ok(())
}

/// A target of the stability gate over steady and unsteady groups.
pub(super) struct Picture {
    pub(super) corpus: String,
    pub(super) target: &'static str,
    pub(super) steady: Vec<f64>,
    pub(super) unsteady: Vec<f64>,
}

pub(super) fn similarities(corpus: &Corpus) -> Result<Vec<Picture>, String> {
    const TARGETS: &[&str] = &[
        "stability.tool_sequence_similarity",
        "stability.aligned_argument_consistency",
        "stability.argument_consistency",
        "stability.weakest_score",
    ];
    let Groups {
        steady,
        mixed: unsteady,
    } = groups(corpus);
    if steady.is_empty() || unsteady.is_empty() {
        return Ok(Vec::new());
    }
    let gates = Gates::of("    stability: {}", steady[0].len())?;
    let values = |groups: &[Vec<&Value>], target: &str| -> Result<Vec<f64>, String> {
        let mut values = Vec::new();
        for group in groups {
            let reports = gates.judge(group, None)?;
            values.extend(
                reports[0]
                    .targets
                    .get(target)
                    .copied()
                    .flatten()
                    .map(|value| value.as_f64()),
            );
        }
        Ok(values)
    };
    let picture = |target: &&'static str| {
        let (steady, unsteady) = (values(&steady, target)?, values(&unsteady, target)?);
        Ok(Picture {
            corpus: corpus.name.clone(),
            target,
            steady,
            unsteady,
        })
    };
    TARGETS.iter().map(picture).collect()
}

/// The outcomes of treating the needed writes as the successful ones, and every other write as
/// restricted.
fn outcomes(lines: &mut Lines<'_>) -> Result<(), String> {
    let runs = lines
        .corpus
        .runs
        .iter()
        .filter_map(|run| Some((run, run.actions.as_ref()?)));
    let runs: Vec<(&LabelledRun, &Vec<Value>)> = runs.collect();
    // A hand-off to a person changes nothing that an outcome is verified by.
    let is_change = |tool: &String| !tool.starts_with("transfer_to_");
    let writes = runs
        .iter()
        .flat_map(|(run, _)| plant::write_tools(&run.trace))
        .filter(is_change);
    let writes: BTreeSet<String> = writes.collect();
    let (mut alone, mut both) = (Vec::new(), Vec::new());
    for (run, actions) in runs.iter().filter(|_| !writes.is_empty()) {
        let is_write = |action: &&Value| {
            action["name"]
                .as_str()
                .is_some_and(|name| writes.contains(name))
        };
        let wanted: Vec<&Value> = actions.iter().filter(is_write).collect();
        let call = |action: &&Value| json!({ "name": action["name"], "args": { "exact": action["kwargs"], "lists": "any-order" } });
        let calls: Vec<Value> = wanted.iter().map(call).collect();
        let others: Vec<&String> = writes
            .iter()
            .filter(|name| wanted.iter().all(|action| action["name"] != **name))
            .collect();
        let others: Vec<Value> = others
            .into_iter()
            .map(|name| json!({ "name": name, "successful": true }))
            .collect();
        let trajectory =
            json!({ "mode": "set", "among": writes, "successful": true, "calls": calls });
        let mut blocks = format!("    trajectory: {trajectory}\n");
        alone.push(Gates::of(&blocks, 1)?.pass(&[&run.trace], None)? == run.is_good);
        if !others.is_empty() {
            blocks.push_str(&format!(
                "    tool_edges: {}\n",
                json!({ "restricted": others })
            ));
        }
        both.push(Gates::of(&blocks, 1)?.pass(&[&run.trace], None)? == run.is_good);
    }
    lines.add(
        "trajectory of the successful writes agrees with the outcome",
        Bound::AtLeast(95),
        alone,
    );
    lines.add(
        "the same, with tool_edges against every other write",
        Bound::AtLeast(95),
        both,
    );
    Ok(())
}
