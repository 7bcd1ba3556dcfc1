//! Which problems keep tests from passing, one entry each? For the formats that list problems.

use crate::doubts::is_without_assertion;
use crate::words::{
    FILE, Limits, SCREEN, clipped, count, first_sentence_of_gate, first_sentence_of_run, label,
};
use mcptest_core::digest::digest;
use mcptest_core::report::{GateReport, Reason, Report, Status, TestReport};
use serde_json::json;

/// One problem that keeps a test from passing.
pub(crate) struct Failure<'r> {
    pub(crate) test: &'r TestReport,
    /// The gate's key, `expect`, the id of the probe, or the kind of the error: `recording-missing`.
    pub(crate) rule: String,
    /// The problem, in a sentence.
    pub(crate) message: String,
    /// True if the test passes anyway.
    pub(crate) is_warning: bool,
}

impl<'r> Failure<'r> {
    fn new(test: &'r TestReport, rule: String, message: String) -> Self {
        Self {
            test,
            rule,
            message,
            is_warning: false,
        }
    }

    /// A fingerprint that stays equal in later reports, even if the test moves in its file.
    pub(crate) fn fingerprint(&self) -> String {
        let what = json!([self.test.suite.file, self.test.row_name(), self.rule]);
        digest(what.to_string().as_bytes())
            .trim_start_matches("blake3:")
            .to_owned()
    }
}

/// The tests that did not pass, each with its causes.
pub(crate) fn failed_tests(report: &Report) -> Vec<(&TestReport, Vec<Failure<'_>>)> {
    let all = report
        .tests
        .iter()
        .map(|test| (test, of_test(test, SCREEN)));
    all.filter(|(_, causes)| !causes.is_empty()).collect()
}

/// The command that fixes a test, otherwise the command that judges it alone.
pub(crate) fn next_command(test: &TestReport) -> &str {
    let command = reasons(test).find_map(|reason| reason.command.as_ref());
    command.unwrap_or(&test.rerun)
}

/// Why the test, or a run of it, is an error or failed whatever was expected of it.
pub(crate) fn reasons(test: &TestReport) -> impl Iterator<Item = &Reason> {
    let of_runs = test.runs.iter().filter_map(|run| run.reason.as_ref());
    test.reason.iter().chain(of_runs)
}

/// The overall result in a line: `2 of 5 tests failed, 1 error`.
pub(crate) fn verdict(report: &Report) -> String {
    let summary = &report.summary;
    let of = count(summary.tests, "test");
    let mut parts = Vec::new();
    parts.extend((summary.failed > 0).then(|| format!("{} of {of} failed", summary.failed)));
    parts.extend(
        (summary.errors > 0).then(|| format!("{} of {of} could not be judged", summary.errors)),
    );
    if parts.is_empty() {
        parts.push(match (summary.tests, summary.passed) {
            (0, _) => "nothing was selected".to_owned(),
            (all, passed) if all == passed => format!("{of} passed"),
            (_, passed) => format!("{passed} of {of} passed"),
        });
    }
    let with_failed_runs = report.tests.iter().filter(|test| hides_failed_runs(test));
    let with_failed_runs = with_failed_runs.count();
    parts.extend((with_failed_runs > 0).then(|| format!("{with_failed_runs} with failed runs")));
    parts.extend((summary.not_exercised > 0).then(|| {
        let gates = count(summary.not_exercised, "gate");
        format!("{gates} not exercised")
    }));
    let idle = report
        .tests
        .iter()
        .filter(|test| is_without_assertion(test));
    let idle = idle.count();
    parts.extend((idle > 0).then(|| format!("{idle} without an assertion")));
    let stale = report.tests.iter().filter(|test| test.stale).count();
    parts.extend((stale > 0).then(|| format!("{stale} stale")));
    parts.extend((summary.warnings > 0).then(|| format!("{} with a warning", summary.warnings)));
    parts.extend((summary.skipped > 0).then(|| format!("{} skipped", summary.skipped)));
    let coverage = report
        .coverage
        .as_ref()
        .and_then(|coverage| coverage.miss());
    parts.extend(coverage);
    parts.join(", ")
}

/// Returns true if a test passed although some of its runs did not.
pub(crate) fn hides_failed_runs(test: &TestReport) -> bool {
    test.status == Status::Passed && test.passed_runs() < test.runs.len()
}

/// The outcome of the whole report. If every test was skipped, nothing was judged: that is not a
/// pass.
pub(crate) fn outcome(report: &Report) -> Status {
    if report.exit_code() != 0 {
        Status::Failed
    } else if report.summary.skipped == report.summary.tests {
        Status::Skipped
    } else {
        Status::Passed
    }
}

/// All failures of tests and warnings about servers, in the order of the tests.
pub(crate) fn failures(report: &Report) -> Vec<Failure<'_>> {
    report
        .tests
        .iter()
        .flat_map(|test| of_test(test, FILE).into_iter().chain(warning(test)))
        .collect()
}

fn warning(test: &TestReport) -> Option<Failure<'_>> {
    let message = clipped(test.warning()?, FILE.text);
    Some(Failure {
        is_warning: true,
        ..Failure::new(test, test.name.clone(), message)
    })
}

/// The failures of one test: the reason that it could not be judged, otherwise its runs and gates.
pub(crate) fn of_test(test: &TestReport, limits: Limits) -> Vec<Failure<'_>> {
    if !matches!(test.status, Status::Failed | Status::Error) {
        return Vec::new();
    }
    if let Some(reason) = &test.reason {
        return vec![of_reason(test, reason, limits)];
    }
    let gates = test
        .gates
        .iter()
        .filter(|gate| gate.status != Status::Passed)
        .map(|gate| of_gate(test, gate, limits));
    let mut all: Vec<Failure<'_>> = of_runs(test, limits).into_iter().chain(gates).collect();
    if all.is_empty() {
        let (rule, message) = ("test".to_owned(), "it did not pass".to_owned());
        all.push(Failure::new(test, rule, message));
    }
    all
}

fn of_reason<'r>(test: &'r TestReport, reason: &Reason, limits: Limits) -> Failure<'r> {
    let rule = test
        .probe
        .as_ref()
        .map_or_else(|| kind(reason), |probe| probe.id.clone());
    Failure::new(test, rule, clipped(&reason.message, limits.text))
}

fn of_gate<'r>(test: &'r TestReport, gate: &GateReport, limits: Limits) -> Failure<'r> {
    let message =
        first_sentence_of_gate(gate, test, limits).unwrap_or_else(|| "it did not hold".to_owned());
    Failure::new(test, gate.key.clone(), message)
}

/// The runs that failed on their own, described by the first of them. A gate that fails a run is a
/// separate cause.
fn of_runs(test: &TestReport, limits: Limits) -> Option<Failure<'_>> {
    let failed: Vec<_> = test
        .runs
        .iter()
        .filter(|run| run.fails_by_itself())
        .collect();
    let first = failed.first()?;
    let said =
        first_sentence_of_run(first, limits).unwrap_or_else(|| "the run did not pass".to_owned());
    let message = match (test.runs.len(), failed.len()) {
        (1, _) => said,
        (_, 1) => format!("{}: {said}", label(test, &[first.index], limits)),
        (all, some) => format!("{some} of {}: {said}", count(all, "run")),
    };
    let rule = first.reason.as_ref().map_or("expect".to_owned(), kind);
    Some(Failure::new(test, rule, message))
}

pub(crate) fn kind(reason: &Reason) -> String {
    reason.kind.words().replace(' ', "-")
}
