//! `model_compat:` does the model still do what its baseline did?

use crate::baseline::{
    Baseline, BaselineDiff, Difference, DifferenceClass, MissingRuns, RunBaseline, TestBaseline,
    capture, compare_test, of_question,
};
use mcptest_core::gates::AgentFacts;
use mcptest_core::gates::Block;
use mcptest_core::gates::Gates;
use mcptest_core::gates::Scores;
use mcptest_core::gates::Target;
use mcptest_core::gates::{Documentation, Gate, GateKind, GateTrait, ReadNamed, RunFailsBy};
use mcptest_core::gates::{Proposal, ProposedChange, ProposedPlace};
use mcptest_core::problem::{Problem, Span, nearest};
use mcptest_core::report::{Finding, Number};
use mcptest_core::row::AgentRow;
use mcptest_core::suite::Agent;
use mcptest_core::trace::Run;
use mcptest_core::words::count;
use std::collections::BTreeMap;
use std::path::Path;

const PASSED: Target = Target::flag(
    "model_compat.passed",
    "1 when nothing is broken and no number has shifted for the worse",
)
.pooled();
const BROKEN: Target = Target::count(
    "model_compat.broken",
    "facts that held in every run of the baseline and no longer hold",
)
.pooled();
const DRIFTED: Target = Target::count(
    "model_compat.drifted",
    "numbers of gates that have shifted for the worse",
)
.pooled();
const IMPROVED: Target = Target::count(
    "model_compat.improved",
    "numbers of gates that have shifted for the better",
)
.pooled()
.wanted();
const UNDECIDED: Target = Target::count(
    "model_compat.undecided",
    "facts that hold less often, in too few runs to be certain",
)
.pooled();

const TARGETS: &[Target] = &[PASSED, BROKEN, DRIFTED, IMPROVED, UNDECIDED];

pub(super) const KIND: GateKind = GateKind::new(
    "model_compat",
    Documentation {
        summary: "Does the model still do what its baseline did?",
        doc: include_str!("doc.md"),
        example: include_str!("example.yml"),
    },
    TARGETS,
    RunFailsBy::Nothing,
    |block| Box::new(ModelCompat::read(block)),
)
.with_floors(&[(PASSED, 1.0)])
.with_traits(&[GateTrait::ComparesWithBaseline]);

/// The block, and the test of the baseline once it is read.
struct ModelCompat {
    file: String,
    file_span: Span,
    test: Option<String>,
    allow_drift: bool,
    baseline: Option<(Option<String>, TestBaseline)>,
}

impl ModelCompat {
    fn read(block: &mut Block<'_>) -> Self {
        let mut file_span = Span::default();
        let doc =
            "The baseline, as `mcptest model-baseline capture` wrote it, relative to the suite";
        let file = block.required("baseline", doc, |field| {
            file_span = field.span();
            field.name()
        });
        let doc = "The name of the test in the baseline [default: the agent's name]";
        let test = block.optional("test", doc, |field| field.name());
        let doc = "Allow a number of a gate to shift for the worse; the shift is still reported";
        let allow_drift = block.flag("allow_drift", doc, false);
        Self {
            file: file.unwrap_or_default(),
            file_span,
            test,
            allow_drift,
            baseline: None,
        }
    }

    fn scores(&self, after: &TestBaseline, gates: Gates) -> Scores {
        let Some((model, before)) = &self.baseline else {
            return Scores::default();
        };
        let found = compare_test(before, after, gates);
        let mut scores = Scores::default();
        if let Some(why) = found
            .tests
            .iter()
            .find_map(|test| test.not_compared.clone())
        {
            scores.not_exercised = Some(why);
            return scores;
        }
        let drifted = found
            .numbers
            .iter()
            .filter(|number| number.is_worse())
            .count();
        let passed = found.counts.fail == 0 && (drifted == 0 || self.allow_drift);
        let number = |count: usize| Some(Number::Int(count as i64));
        scores
            .set(&PASSED, number(usize::from(passed)))
            .set(&BROKEN, number(found.counts.fail));
        scores
            .set(&DRIFTED, number(drifted))
            .set(&IMPROVED, number(found.counts.drift - drifted));
        scores.set(&UNDECIDED, number(found.counts.undecided));
        scores.not_exercised = if found.counts.invariants == 0 {
            Some("nothing held in every run of the baseline".to_owned())
        } else {
            too_few_runs(before.runs.len(), after.runs.len())
        };
        scores.findings = findings(&found);
        scores.summary = Some(summary(&found, model.as_deref()));
        scores
    }

    /// The test in the file, and its model.
    fn find(
        &self,
        test: &TestBaseline,
        read: ReadNamed<'_>,
    ) -> Result<(Option<String>, TestBaseline), String> {
        let file = &self.file;
        let bytes =
            read(file).map_err(|reason| format!("cannot read the baseline {file}: {reason}"))?;
        let read = Baseline::read(&bytes).map_err(|error| format!("{file}: {error}"))?;
        let name = self.test.as_ref().unwrap_or(&test.name);
        let Some(found) = read.test(&test.suite, name) else {
            let near = nearest(name, read.tests.iter().map(|test| test.name.as_str()));
            let near = near
                .map(|near| format!("; did you mean `test: {near}`?"))
                .unwrap_or_default();
            return Err(format!("the baseline {file} has no test `{name}`{near}"));
        };
        if found.question != test.question {
            return Err(format!(
                "the baseline {file} is stale: the prompts, servers or parameters of `{name}` \
                changed after it was captured"
            ));
        }
        Ok((read.model.clone(), found.clone()))
    }

    fn missing(&self, suite: &str, message: String) -> Problem {
        let folder = Path::new(&self.file).parent().unwrap_or(Path::new(""));
        let folder = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        let help = format!(
            "capture it from recordings that are good: `mcptest model-baseline capture {suite} -o {}` \
             writes one file per model",
            folder.display()
        );
        Problem::error(message).at(self.file_span).help(help)
    }
}

impl Gate for ModelCompat {
    fn score(&self, runs: &[Run<'_>]) -> Scores {
        let question = self
            .baseline
            .as_ref()
            .map(|(_, test)| test.clone())
            .unwrap_or_default();
        let runs = runs.iter().map(RunBaseline::of).collect();
        let after = TestBaseline {
            runs,
            gates: BTreeMap::new(),
            ..question
        };
        self.scores(&after, Gates::default())
    }

    fn score_beside(&self, runs: &[Run<'_>], row: AgentRow<'_>) -> Scores {
        self.scores(&capture(row, runs), row.suite.gates)
    }

    fn propose(&self, runs: &[Run<'_>], row: AgentRow<'_>) -> Option<Proposal> {
        let (_, before) = self.baseline.as_ref()?;
        let after = TestBaseline {
            suite: before.suite.clone(),
            name: before.name.clone(),
            ..capture(row, runs)
        };
        let place = ProposedPlace::Test {
            file: self.file.clone(),
            test: before.name.clone(),
        };
        let change = (after != *before).then(|| proposed(&after));
        Some(Proposal {
            place,
            change: Ok(change),
        })
    }

    fn lint(&self, agent: &AgentFacts<'_>) -> Vec<Problem> {
        let Some((_, before)) = self.baseline.as_ref().filter(|_| agent.runs > 0) else {
            return Vec::new();
        };
        let looks_at_undecided = agent
            .written()
            .any(|assertion| assertion.target.name == UNDECIDED.name);
        let why = too_few_runs(before.runs.len(), agent.runs).filter(|_| !looks_at_undecided);
        let problem = |why: String| {
            let help = format!(
                "set `runs: {}` or more, and capture the baseline from as many",
                MissingRuns::ENOUGH
            );
            Problem::warning(format!(
                "`model_compat:` cannot find anything broken: {why}"
            ))
            .at(agent.key_span)
            .help(help)
        };
        why.map(problem).into_iter().collect()
    }

    fn read_files(&mut self, agent: &Agent, suite: &Path, read: ReadNamed<'_>) -> Option<Problem> {
        let test = of_question(suite, agent, None);
        match self.find(&test, read) {
            Ok(found) => self.baseline = Some(found),
            Err(message) => return Some(self.missing(&test.suite, message)),
        }
        None
    }
}

/// A baseline in which this test replaces the test with the same suite and name.
fn proposed(test: &TestBaseline) -> ProposedChange {
    let value = serde_json::to_value(test).unwrap_or_default();
    ProposedChange::InFile {
        value,
        write: write_test,
    }
}

fn write_test(now: &str, test: &serde_json::Value) -> Result<String, String> {
    let test: TestBaseline = serde_json::from_value(test.clone()).map_err(|error| {
        format!(
            "cannot keep its runs without their secrets ({error}); narrow the patterns of `redact:`"
        )
    })?;
    let mut baseline = Baseline::read(now.as_bytes()).map_err(|error| error.to_string())?;
    for one in &mut baseline.tests {
        if one.suite == test.suite && one.name == test.name {
            one.clone_from(&test);
        }
    }
    Ok(baseline.to_text())
}

/// Why no invariant can be broken with these numbers of runs; `None` if one can.
fn too_few_runs(before: usize, now: usize) -> Option<String> {
    let missing = MissingRuns::between(before, now)?;
    let enough = MissingRuns::ENOUGH;
    Some(format!(
        "an invariant is broken only with {enough} runs or more on each side; this takes {}",
        missing.in_words()
    ))
}

fn summary(found: &BaselineDiff, model: Option<&str>) -> String {
    let runs = count(
        found.tests.first().map_or(0, |test| test.runs_before),
        "run",
    );
    let of = model
        .map(|model| format!(" of {model}"))
        .unwrap_or_default();
    let counts = found.counts;
    format!(
        "{} of {} invariants of {runs}{of} broken, {} undecided, {} numbers shifted",
        counts.fail, counts.invariants, counts.undecided, counts.drift
    )
}

fn findings(found: &BaselineDiff) -> Vec<Finding> {
    let differences = found.tests.iter().flat_map(|test| &test.differences);
    let told = differences
        .filter(|one| one.class > DifferenceClass::Pass)
        .map(|one: &Difference| {
            let support = one
                .support_in_words()
                .map(|support| format!(" ({support})"))
                .unwrap_or_default();
            let about: &[Target] = if one.class == DifferenceClass::Fail {
                &[BROKEN, PASSED]
            } else {
                &[UNDECIDED]
            };
            Finding::new(
                None,
                format!("{}: {}{support}", one.class.word(), one.message),
            )
            .about(about)
        });
    let shifted = found
        .numbers
        .iter()
        .filter(|number| number.class == DifferenceClass::Drift);
    let shifted = shifted.map(|number| {
        let about: &[Target] = if number.is_worse() {
            &[DRIFTED, PASSED]
        } else {
            &[IMPROVED]
        };
        Finding::new(None, number.in_words()).about(about)
    });
    told.chain(shifted).collect()
}

#[cfg(test)]
mod tests;
