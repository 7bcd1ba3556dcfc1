//! The verdict with its evidence: the one model that every reporter renders.

mod cause;
pub mod checks;
mod definition;
pub mod evidence;
mod excerpt;
mod exit_code;
mod expectation;
pub mod leaderboard;
mod named;
mod number;
mod outcome;
mod probe;
mod raw_trace;
mod table;
mod text;

pub use crate::json::Layout;
pub use crate::row::{Reason, ReasonKind};
pub use cause::Cause;
pub use definition::{GateDefinition, TargetDefinition};
pub use evidence::Evidence;
pub use excerpt::Excerpt;
pub use expectation::{AssertionDiff, Expectation, Side};
pub use number::Number;
pub use probe::Probe;
pub use raw_trace::{Embed, RawTrace};
pub use table::{CallRow, CallShown, CallTable, Pairing};

use crate::coverage::Coverage;
use crate::engine::{Gates, Target};
use crate::grade::{Grade, Numbers};
use crate::suite::Variant;
use crate::trace::{RecordedServer, Tokens};
use leaderboard::{Leaderboard, USUAL_K, by_model};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// The version of the JSON report this build writes and reads.
pub const SCHEMA_VERSION: u32 = 1;

/// Everything one invocation judged.
///
/// ```
/// use mcptest_core::{Host, Recorded, RowId, Trace, judge, load};
/// use std::path::Path;
///
/// let text = "
/// agents:
///   - name: forecast
///     model: gpt-5
///     prompt: Will it rain in Oslo?
///     expect: [{ target: final_response, matcher: { contains: umbrella } }]
///     golden_path: { calls: [get_weather] }
/// ";
/// let read = |_: &Path| Ok(text.as_bytes().to_vec());
/// let suite = load(Path::new("weather.yml"), &Host::new(&read, &|_| None)).into_result()?;
/// let traces = [Trace::read(r#"{"final_response": "No idea."}"#)?];
/// let report = judge(&suite, &[(RowId::new("forecast"), Recorded::from_traces(&traces))]);
/// for test in &report.tests {
///     println!("{}: {:?}", test.row_name(), test.status);
/// }
/// assert_eq!(report.exit_code(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// The version of this format.
    pub schema_version: u32,
    /// The totals.
    pub summary: Summary,
    /// One entry per (agent, model), in the order of the suites.
    pub tests: Vec<TestReport>,
    /// The coverage of the servers, if it was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
    /// The version of mcptest that judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The command as typed, without options that do not affect judging; `None` if a host judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The definitions of the gates in the tests, by their keys.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub gates: BTreeMap<String, GateDefinition>,
    /// The leaderboard, if several models ran the same tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaderboard: Option<Leaderboard>,
}

/// The number of tests for each status.
///
/// ```
/// use mcptest_core::{Host, Recorded, RowId, Trace, judge, load};
/// use std::path::Path;
///
/// let text = "
/// agents:
///   - name: forecast
///     model: gpt-5
///     prompt: Will it rain in Oslo?
///     expect: [{ target: final_response, matcher: { contains: umbrella } }]
///     golden_path: { calls: [get_weather] }
/// ";
/// let read = |_: &Path| Ok(text.as_bytes().to_vec());
/// let suite = load(Path::new("weather.yml"), &Host::new(&read, &|_| None)).into_result()?;
/// let traces = [Trace::read(r#"{"final_response": "No idea."}"#)?];
/// let report = judge(&suite, &[(RowId::new("forecast"), Recorded::from_traces(&traces))]);
/// assert_eq!((report.summary.tests, report.summary.failed), (1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Summary {
    /// The number of tests.
    pub tests: usize,
    /// Tests in which every assertion and gate held.
    pub passed: usize,
    /// Tests in which an assertion or gate failed.
    pub failed: usize,
    /// Tests that could not be judged.
    pub errors: usize,
    /// The probes of a server among the errors that had no result in time.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_finished: usize,
    /// Tests that were not judged on purpose.
    pub skipped: usize,
    /// The tests that passed with a warning: probes of a server that does not follow a recommendation.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub warnings: usize,
    /// Recorded runs that were judged.
    pub runs: usize,
    /// Gates that were scored.
    pub gates: usize,
    /// Gates that measured nothing.
    #[serde(default)]
    pub not_exercised: usize,
}

/// The outcome of a test, a run or a gate.
///
/// ```
/// use mcptest_core::Status;
///
/// assert_eq!(serde_json::to_string(&Status::Passed)?, "\"passed\"");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Every assertion and gate held.
    #[default]
    Passed,
    /// An assertion or a gate did not hold.
    Failed,
    /// It could not be judged.
    Error,
    /// The suite skips it.
    Skipped,
}

/// One agent with one model: its runs and its gates.
///
/// ```
/// use mcptest_core::{Host, Recorded, RowId, Trace, judge, load};
/// use std::path::Path;
///
/// let text = "
/// agents:
///   - name: forecast
///     model: gpt-5
///     prompt: Will it rain in Oslo?
///     expect: [{ target: final_response, matcher: { contains: umbrella } }]
///     golden_path: { calls: [get_weather] }
/// ";
/// let read = |_: &Path| Ok(text.as_bytes().to_vec());
/// let suite = load(Path::new("weather.yml"), &Host::new(&read, &|_| None)).into_result()?;
/// let traces = [Trace::read(r#"{"final_response": "No idea."}"#)?];
/// let report = judge(&suite, &[(RowId::new("forecast"), Recorded::from_traces(&traces))]);
/// let test = &report.tests[0];
/// assert_eq!((test.row_name().as_str(), test.runs.len(), test.gates.len()), ("forecast", 1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TestReport {
    /// 10 hexadecimal digits that identify the test in every report.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The agent's name.
    pub name: String,
    /// The place of the test in the suite.
    pub suite: Place,
    /// The model, if the agent names one.
    pub model: Option<String>,
    /// True if `[model]` is part of the row's name, because the agent has several models.
    #[serde(default, rename = "matrix", skip_serializing_if = "std::ops::Not::not")]
    pub has_several_models: bool,
    /// The variant, if the agent has several: `4 distractors`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<Variant>,
    /// The worst of its runs and gates.
    pub status: Status,
    /// The reason for an error or a skip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// True if a recording has no fingerprint, so that it cannot be checked for staleness.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unpinned: bool,
    /// True if a recording is stale and `stale: warn` tolerates it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
    /// Notes that do not change the verdict: more traces than runs, a tolerated stale cassette.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The advice of models. No verdict depends on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<Advice>,
    /// The servers with their protocols, if the recording has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<RecordedServer>,
    /// The agent's tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The command that judges this test alone.
    pub rerun: String,
    /// Why it did not pass, in sentences. Only the report in HTML has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// The lines of the suite around the checks that failed, where a report shows evidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excerpts: Vec<Excerpt>,
    /// The expectations of its runs: a digest of each block of the suite, by the block's key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub checks: BTreeMap<String, String>,
    /// Each run with its `expect:`.
    pub runs: Vec<RunReport>,
    /// Each gate, over all runs.
    pub gates: Vec<GateReport>,
    /// The requests and answers of a probe, if the row is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<Box<Probe>>,
    /// The time to judge it, and to record its runs if they were recorded now. Only the terminal
    /// shows it, because a report must have the same bytes every time.
    #[serde(skip)]
    pub elapsed: Option<Duration>,
    /// The suite's path from the working directory, if it differs from the path in `suite`. Only the terminal shows
    /// it.
    #[serde(skip)]
    pub file_from_here: Option<String>,
}

/// A file and line.
///
/// ```
/// use mcptest_core::Place;
///
/// fn shown(place: &Place) -> String {
///     format!("{}:{}", place.file, place.line)
/// }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Place {
    /// The file, from the root of its git repository, otherwise as named on the command line.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
}

/// One run and its `expect:` assertions.
///
/// ```
/// use mcptest_core::{Host, Recorded, RowId, Trace, judge, load};
/// use std::path::Path;
///
/// let text = "
/// agents:
///   - name: forecast
///     model: gpt-5
///     prompt: Will it rain in Oslo?
///     expect: [{ target: final_response, matcher: { contains: umbrella } }]
///     golden_path: { calls: [get_weather] }
/// ";
/// let read = |_: &Path| Ok(text.as_bytes().to_vec());
/// let suite = load(Path::new("weather.yml"), &Host::new(&read, &|_| None)).into_result()?;
/// let traces = [Trace::read(r#"{"final_response": "No idea."}"#)?];
/// let report = judge(&suite, &[(RowId::new("forecast"), Recorded::from_traces(&traces))]);
/// let run = &report.tests[0].runs[0];
/// let failed = run.expectations.iter().filter(|expectation| !expectation.passed);
/// assert_eq!(failed.map(|one| one.target.as_str()).collect::<Vec<_>>(), ["final_response"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunReport {
    /// The run, from 1.
    pub index: usize,
    /// Its outcome. A run that a gate fails has failed, even if the gate as a whole passes.
    pub status: Status,
    /// The gates that fail this run, by their keys.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_by: Vec<String>,
    /// The reason for an error, or for a failure that does not depend on expectations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The file it was read from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The id of its trace in the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// The line of its file, from 1, if the file has one run per line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Why it ended, in the word that was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// The number of the model's turns, if recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<usize>,
    /// Its tokens, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    /// Its cost in dollars, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// The tools called, in order (the first 50; `calls` has the number).
    #[serde(default)]
    pub tool_names: Vec<String>,
    /// The number of calls that the run made.
    #[serde(default)]
    pub calls: usize,
    /// The recorded duration of the run, or of a tool test's call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The numbers that scorers gave it, by their targets.
    #[serde(default, skip_serializing_if = "Numbers::is_empty")]
    pub scores: Numbers,
    /// Every assertion with its evidence.
    pub expectations: Vec<Expectation>,
    /// The whole recorded run, if traces are embedded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<RawTrace>,
}

/// One gate over the runs of a test.
///
/// ```
/// use mcptest_core::{Host, Recorded, RowId, Trace, judge, load};
/// use std::path::Path;
///
/// let text = "
/// agents:
///   - name: forecast
///     model: gpt-5
///     prompt: Will it rain in Oslo?
///     expect: [{ target: final_response, matcher: { contains: umbrella } }]
///     golden_path: { calls: [get_weather] }
/// ";
/// let read = |_: &Path| Ok(text.as_bytes().to_vec());
/// let suite = load(Path::new("weather.yml"), &Host::new(&read, &|_| None)).into_result()?;
/// let traces = [Trace::read(r#"{"final_response": "No idea."}"#)?];
/// let report = judge(&suite, &[(RowId::new("forecast"), Recorded::from_traces(&traces))]);
/// let gate = &report.tests[0].gates[0];
/// assert_eq!(gate.key, "golden_path");
/// for (target, number) in &gate.targets {
///     println!("{target}: {number:?}");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GateReport {
    /// The block's key in the suite.
    pub key: String,
    /// Failed if an expectation failed.
    pub status: Status,
    /// The reason that the gate measured nothing, if so.
    pub not_exercised: Option<String>,
    /// The number of scored runs, if other runs of the test are errors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scored_runs: Option<usize>,
    /// The runs that the gate fails, if it scores run by run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_runs: Vec<usize>,
    /// Every target the gate computes; `null` is not measured.
    pub targets: BTreeMap<String, Option<Number>>,
    /// The assertions on the targets.
    pub expectations: Vec<Expectation>,
    /// The findings to look at, shortest first.
    pub explanation: Vec<Finding>,
    /// Remarks that the row shows whatever the gate's verdict is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Remark>,
    /// The expected and recorded calls of runs, as tables.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<CallTable>,
    /// The judges' grades of the runs, if the gate uses judges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grades: Vec<Grade>,
    /// The data behind the numbers, for pictures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Box<Evidence>>,
    /// The gate's numbers in words, for gates whose numbers are clearer together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// A line of the gate's own that is printed to the letter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// The line of the suite that its block begins on, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite_line: Option<usize>,
}

/// A remark on a gate that readers need whatever the verdict is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    /// A few words that are read after the gate's key: `walked 1 of 3 steps`.
    pub message: String,
    /// True if the gate judged only part of its block, which `--deny-vacuous` fails.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_partial: bool,
}

/// One thing a gate found in one run.
///
/// ```
/// use mcptest_core::Finding;
///
/// let finding = Finding::new(Some(2), "`get_weather` was not called".to_owned());
/// assert_eq!(finding.run, Some(2));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The run, from 1; `None` if it concerns all runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<usize>,
    /// The finding, in one sentence.
    pub message: String,
    /// The differing values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diff: Vec<AssertionDiff>,
    /// The targets whose failed expectations it explains.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<String>,
}

impl Finding {
    /// A finding without differences.
    pub fn new(run: Option<usize>, message: String) -> Self {
        Self {
            run,
            message,
            diff: Vec::new(),
            targets: Vec::new(),
        }
    }

    /// Names the targets of the finding. It comes first if an expectation of one of them failed.
    #[must_use]
    pub fn about(self, targets: &[Target]) -> Self {
        Self {
            targets: targets
                .iter()
                .map(|target| target.name.to_owned())
                .collect(),
            ..self
        }
    }
}

/// An observation of a model that gives advice. It never changes a verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// The block, by its key in the suite.
    pub key: String,
    /// The run, from 1.
    pub run: usize,
    /// The model.
    pub model: String,
    /// The finding, in the model's words.
    pub message: String,
}

impl Report {
    /// A report over these tests, with its totals; their gates are some of these.
    pub fn new(tests: Vec<TestReport>, gates: Gates) -> Self {
        let definitions = definition::definitions(&tests, gates);
        Self::from_defined(tests, definitions)
    }

    /// A report over other tests with these gate definitions.
    #[must_use]
    pub fn over(&self, tests: Vec<TestReport>) -> Self {
        let definitions = definition::of_gates_in(&tests, &self.gates);
        Self::from_defined(tests, definitions)
    }

    fn from_defined(mut tests: Vec<TestReport>, gates: BTreeMap<String, GateDefinition>) -> Self {
        for test in tests.iter_mut().filter(|test| test.id.is_empty()) {
            test.id = test.hashed_id(&test.suite.file);
        }
        Self {
            schema_version: SCHEMA_VERSION,
            summary: Summary::over(&tests),
            gates,
            leaderboard: leaderboard::leaderboard(&by_model(&tests), USUAL_K),
            tests,
            coverage: None,
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            command: None,
        }
    }
}

impl RunReport {
    /// Returns true for the call of a tool test, which has a time but no turns and no source.
    pub fn is_single_call(&self) -> bool {
        self.duration_ms.is_some() && self.turns.is_none() && self.source.is_none()
    }

    /// A run with only a status.
    pub(crate) fn blank(index: usize, status: Status) -> Self {
        Self {
            index,
            status,
            ..Self::default()
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Summary {
    fn over(tests: &[TestReport]) -> Self {
        let count = |status| tests.iter().filter(|test| test.status == status).count();
        let gates = || tests.iter().flat_map(|test| &test.gates);
        Self {
            tests: tests.len(),
            passed: count(Status::Passed),
            failed: count(Status::Failed),
            errors: count(Status::Error),
            not_finished: tests.iter().filter(|test| test.is_not_finished()).count(),
            skipped: count(Status::Skipped),
            warnings: tests.iter().filter(|test| test.warning().is_some()).count(),
            runs: tests.iter().map(|test| test.runs.len()).sum(),
            gates: gates().count(),
            not_exercised: gates().filter(|gate| gate.not_exercised.is_some()).count(),
        }
    }
}
