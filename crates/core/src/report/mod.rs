//! The verdict with its evidence: the one model that every reporter renders.

pub use crate::row::{Reason, ReasonKind};

use crate::coverage::Coverage;
use crate::grade::{Grade, Numbers};
use crate::row::Rerun;
use crate::suite::Variant;
use crate::trace::RecordedServer;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The version of the JSON report this build writes and reads.
pub const SCHEMA_VERSION: u32 = 1;

/// Everything one invocation judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// The version of this format.
    pub schema_version: u32,
    /// The totals.
    pub summary: Summary,
    /// One entry per (agent, model), in the order of the suites.
    pub tests: Vec<TestReport>,
    /// What the tests exercised of their servers, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
}

/// How many tests ended in which way.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Summary {
    /// All of them.
    pub tests: usize,
    /// Tests in which every assertion and gate held.
    pub passed: usize,
    /// Tests in which one did not.
    pub failed: usize,
    /// Tests that could not be judged.
    pub errors: usize,
    /// Tests that were not judged on purpose.
    pub skipped: usize,
    /// Recorded runs that were judged.
    pub runs: usize,
    /// Gates that were scored.
    pub gates: usize,
    /// Gates that measured nothing.
    #[serde(default)]
    pub not_exercised: usize,
}

/// How a test, a run or a gate ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Everything held.
    Passed,
    /// An assertion or a gate did not hold.
    Failed,
    /// It could not be judged.
    Error,
    /// It was left out on purpose.
    Skipped,
}

/// One agent with one model: its runs and its gates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TestReport {
    /// The agent's name.
    pub name: String,
    /// Where it is written.
    pub suite: Place,
    /// The model, when the agent names one.
    #[serde(default)]
    pub model: Option<String>,
    /// Whether `[model]` is part of the row's name, because the agent has several models.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub matrix: bool,
    /// The variant, when the agent has several: `4 distractors`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<Variant>,
    /// The worst of its runs and gates.
    pub status: Status,
    /// Why it is an error, or why it was skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Whether a recording has no fingerprint, so that it could not be checked for staleness.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unpinned: bool,
    /// Things worth knowing that decide nothing: more traces than runs, a stale cassette that is tolerated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What models noticed who were asked for advice. It decides nothing, and nothing else depends on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<Advice>,
    /// The servers as they were spoken to, where the recording says so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<RecordedServer>,
    /// The agent's tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The command that judges this test alone.
    pub rerun: String,
    /// Each run's own `expect:`.
    pub runs: Vec<RunReport>,
    /// Each gate, over all runs.
    pub gates: Vec<GateReport>,
    /// What was sent to a server and what came, where the row is a probe of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<Box<Probe>>,
    /// How long judging it took, and making its runs where they were made now. Only a terminal is told: it is no part of
    /// a report that must have the same bytes again.
    #[serde(skip)]
    pub elapsed: Option<Duration>,
}

impl TestReport {
    /// A test of which nothing is judged so far.
    pub(crate) fn blank(name: &str, place: &Place, rerun: &Rerun) -> Self {
        Self {
            name: name.to_owned(),
            suite: place.clone(),
            model: None,
            matrix: false,
            variant: None,
            status: Status::Passed,
            reason: None,
            unpinned: false,
            notes: Vec::new(),
            advice: Vec::new(),
            servers: Vec::new(),
            tags: Vec::new(),
            rerun: rerun.to_string(),
            runs: Vec::new(),
            gates: Vec::new(),
            probe: None,
            elapsed: None,
        }
    }

    /// The row of a probe of a server; `rerun` is the command that sends it alone.
    pub fn of_probe(
        server: &str,
        probe: Probe,
        status: Status,
        reason: Option<Reason>,
        rerun: String,
    ) -> Self {
        let place = Place { file: server.to_owned(), line: 1 };
        let blank = Self::blank(&probe.id, &place, &Rerun::default());
        let tags = vec![probe.family.clone()];
        Self { status, reason, tags, rerun, probe: Some(Box::new(probe)), ..blank }
    }

    /// The name of the test's row: `name`, or `name [model]` in a matrix, then `[variant]` where there are several.
    pub fn row_name(&self) -> String {
        let variant = self.variant.map(|variant| format!(" [{variant}]"));
        self.base_name() + &variant.unwrap_or_default()
    }

    /// The name that the rows of all its variants begin with.
    pub fn base_name(&self) -> String {
        let model = self.model.as_ref().filter(|_| self.matrix).map(|model| format!(" [{model}]"));
        format!("{}{}", self.name, model.unwrap_or_default())
    }

    /// The name of one run's row: `name #3`, or the test's own when it has one run.
    pub fn run_name(&self, run: &RunReport) -> String {
        if self.runs.len() > 1 { format!("{} #{}", self.row_name(), run.index) } else { self.row_name() }
    }

    /// A run as it is told from the others: `run 97`, its file when each has one of its own, and how the id of its trace
    /// begins.
    pub fn run_label(&self, index: usize) -> String {
        let trace = self.runs.iter().find(|run| run.index == index).and_then(|run| run.trace_id.as_deref());
        let trace = trace.map(|id| match id.char_indices().nth(8) {
            Some((end, _)) => format!("trace {}…", &id[..end]),
            None => format!("trace {id}"),
        });
        let parts: Vec<String> = self.own_source(index).map(str::to_owned).into_iter().chain(trace).collect();
        if parts.is_empty() { format!("run {index}") } else { format!("run {index} ({})", parts.join(", ")) }
    }

    /// The status by what is recorded, where all that keeps it from being judged is that it has no grades so far.
    pub fn status_but_for_grades(&self) -> Status {
        let is_of_grade = |reason: &Reason| {
            matches!(reason.kind, ReasonKind::GradeMissing | ReasonKind::GradeStale | ReasonKind::GradeFailed)
        };
        if !self.reason.as_ref().is_some_and(is_of_grade) {
            return self.status;
        }
        let of_runs = self.runs.iter().flat_map(|run| &run.expectations);
        let has_failed = of_runs.into_iter().any(|one| !one.passed && one.grade.is_none())
            || self.gates.iter().any(|gate| gate.status == Status::Failed);
        if has_failed { Status::Failed } else { Status::Passed }
    }

    /// One piece of advice with where it comes from: `narrative, by gpt-5, run 2: …`.
    pub fn advice_in_words(&self, advice: &Advice) -> String {
        let run =
            if self.runs.len() > 1 { format!(", {}", self.run_label(advice.run)) } else { String::new() };
        format!("{}, by {}{run}: {}", advice.key, advice.model, advice.message)
    }

    /// How many runs passed: their `expect:` held, and no gate that scores run by run fails them.
    pub fn passed_runs(&self) -> usize {
        let is_failed = |run: &RunReport| {
            self.gates.iter().any(|gate| gate.failed_runs.binary_search(&run.index).is_ok())
        };
        self.runs.iter().filter(|run| run.status == Status::Passed && !is_failed(run)).count()
    }

    /// The file of a run, when not all runs of the test are in that one.
    pub fn own_source(&self, index: usize) -> Option<&str> {
        let source = self.runs.iter().find(|run| run.index == index)?.source.as_deref()?;
        let is_elsewhere = |run: &RunReport| run.source.as_deref() != Some(source);
        self.runs.iter().any(is_elsewhere).then_some(source)
    }
}

/// One probe of a server, whatever came of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// Its id, which no other probe has and which stays: `ERRORS-unknown-tool`.
    pub id: String,
    /// The family it belongs to.
    pub family: String,
    /// What a good server does, in a few words.
    pub title: String,
    /// What was sent, cut short.
    pub sent: String,
    /// What came, cut short.
    pub came: String,
    /// What the specification says.
    pub says: String,
    /// Where it says so: the revision and the section.
    pub section: String,
    /// What is not as it should be, though the specification does not insist on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// A file and line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The file, as it was named on the command line.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
}

/// One run and its `expect:` assertions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunReport {
    /// The run, from 1.
    pub index: usize,
    /// How it ended.
    pub status: Status,
    /// Why it is an error, or why it failed whatever was expected of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The file it was read from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What it is called where it came from: the id of its trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// The tools called, in order (the first 50; `calls` has the number).
    #[serde(default)]
    pub tool_names: Vec<String>,
    /// How many calls the run made.
    #[serde(default)]
    pub calls: usize,
    /// How long the call of a tool test took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The numbers that scorers gave it, by their targets.
    #[serde(default, skip_serializing_if = "Numbers::is_empty")]
    pub scores: Numbers,
    /// Every assertion with its evidence.
    pub expectations: Vec<Expectation>,
}

/// One gate over the runs of a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GateReport {
    /// The block's key in the suite.
    pub key: String,
    /// Whether its expectations held.
    pub status: Status,
    /// Why the gate measured nothing, when it did not.
    #[serde(default)]
    pub not_exercised: Option<String>,
    /// Over how many runs it was scored, when the others of its test are errors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scored_runs: Option<usize>,
    /// The runs that do not meet what the gate asks of each, where it scores run by run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_runs: Vec<usize>,
    /// Every target the gate computes; `null` is not measured.
    pub targets: BTreeMap<String, Option<Number>>,
    /// What was asserted of the targets.
    pub expectations: Vec<Expectation>,
    /// What to look at, shortest first.
    pub explanation: Vec<Finding>,
    /// The expected calls beside the recorded ones: for its run it says what the explanation says in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<CallTable>,
    /// What judges said of the runs, where the gate asks them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grades: Vec<Grade>,
    /// The gate's numbers in words, for gates whose numbers say more together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// A line of the gate's own that is printed to the letter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
}

/// One thing a gate found in one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The run it was found in, from 1; none when it concerns all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<usize>,
    /// The finding, in one sentence.
    pub message: String,
    /// Where the values differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diff: Vec<AssertionDiff>,
}

/// One thing that a model noticed, who was asked for advice: a finding that never changes a verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// The block that asked, by its key in the suite.
    pub key: String,
    /// The run it is about, from 1.
    pub run: usize,
    /// The model that said it.
    pub model: String,
    /// What it noticed, in its own words.
    pub message: String,
}

/// The expected calls beside the recorded ones of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallTable {
    /// The run, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<usize>,
    /// How the expected calls are meant, in the suite's word.
    pub mode: String,
    /// How many calls are not as expected, in words.
    pub summary: String,
    /// The calls in order.
    pub rows: Vec<CallRow>,
    /// What the rows do not show.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// How many further rows are not as expected.
    #[serde(default)]
    pub left_out: usize,
}

/// An expected call beside a recorded one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallRow {
    /// How the two go together.
    pub how: Pairing,
    /// What was expected here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<CallShown>,
    /// What was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<CallShown>,
    /// How many calls in a row match, where they stand for themselves only by their number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
}

/// How an expected and a recorded call go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pairing {
    /// The call is as expected.
    Matched,
    /// Another tool, or other arguments.
    Changed,
    /// The expected call was not made.
    Missing,
    /// The recorded call was not expected.
    Extra,
    /// The call was made, but not in this place.
    Swapped,
}

/// One call of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallShown {
    /// Its number, from 1.
    pub number: usize,
    /// The tool, as written or recorded.
    pub tool: String,
    /// What is asked of its arguments, or what they are; of a changed call those that differ, by their paths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
}

/// One assertion and what it saw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Expectation {
    /// The path or gate target.
    pub target: String,
    /// The matcher as written, which the suite has too.
    pub matcher: Arc<Value>,
    /// Whether it held.
    pub passed: bool,
    /// What the target was; absent when there was nothing there.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub actual: Option<Value>,
    /// Where it differs.
    #[serde(default)]
    pub diff: Vec<AssertionDiff>,
    /// The suite's own words for this failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Why it failed, in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What judges said, where the matcher asks them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grade: Option<Box<Grade>>,
}

/// A field that is there is a value, also when the value is `null`.
fn present<'de, D: serde::Deserializer<'de>>(source: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(source).map(Some)
}

/// One difference, at a JSON Pointer into the value that was looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AssertionDiff {
    /// Where, as a JSON Pointer.
    pub pointer: String,
    /// What was expected there.
    pub expected: Value,
    /// What was there.
    pub actual: Value,
    /// The side that has nothing there, where one has not: its `null` is no value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absent: Option<Side>,
}

/// A side of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// What was expected.
    Expected,
    /// What was there.
    Actual,
}

/// A measured number: whole numbers stay whole in every report.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Number {
    /// A count, a flag or a percent.
    Int(i64),
    /// A ratio.
    Float(f64),
}

impl Number {
    /// The number as a float.
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Int(whole) => whole as f64,
            Self::Float(float) => float,
        }
    }

    /// The number as JSON.
    pub fn to_value(self) -> Value {
        match self {
            Self::Int(whole) => Value::from(whole),
            Self::Float(float) => Value::from(float),
        }
    }
}

/// Whole numbers as they are, others with at most six decimals.
impl std::fmt::Display for Number {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Int(whole) => write!(out, "{whole}"),
            Self::Float(float) => {
                let text = format!("{float:.6}");
                out.write_str(text.trim_end_matches('0').trim_end_matches('.'))
            }
        }
    }
}

impl Report {
    /// A report over these tests, with its totals.
    pub fn new(tests: Vec<TestReport>) -> Self {
        Self { schema_version: SCHEMA_VERSION, summary: Summary::over(&tests), tests, coverage: None }
    }

    /// 2 if any row is an error, else 1 if any failed, else 6 if less was covered than asked for, else 0; 7 when nothing
    /// was selected.
    pub fn exit_code(&self) -> u8 {
        if self.tests.is_empty() {
            7
        } else if self.summary.errors > 0 {
            2
        } else {
            let missed = self.coverage.as_ref().is_some_and(|coverage| coverage.miss().is_some());
            if self.summary.failed > 0 { 1 } else { 6 * u8::from(missed) }
        }
    }
}

impl Summary {
    fn over(tests: &[TestReport]) -> Self {
        let count = |status| tests.iter().filter(|test| test.status == status).count();
        Self {
            tests: tests.len(),
            passed: count(Status::Passed),
            failed: count(Status::Failed),
            errors: count(Status::Error),
            skipped: count(Status::Skipped),
            runs: tests.iter().map(|test| test.runs.len()).sum(),
            gates: tests.iter().map(|test| test.gates.len()).sum(),
            not_exercised: tests
                .iter()
                .flat_map(|test| &test.gates)
                .filter(|gate| gate.not_exercised.is_some())
                .count(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_null_that_was_seen_is_not_read_back_as_nothing() {
        let text = r#"{"target":"x","matcher":{"exact":1},"passed":false,"actual":null,"diff":[]}"#;
        let seen: Expectation = serde_json::from_str(text).unwrap();
        assert_eq!(seen.actual, Some(Value::Null));
        assert_eq!(serde_json::to_string(&seen).unwrap(), text);
    }

    #[test]
    fn numbers_print_through_one_formatter() {
        assert_eq!(Number::Int(100).to_string(), "100");
        assert_eq!(Number::Float(2.0 / 3.0).to_string(), "0.666667");
        assert_eq!(Number::Float(0.5).to_string(), "0.5");
        assert_eq!(Number::Float(1.0).to_string(), "1");
    }
}
