//! Which testcases does one test become, and how did each end?

use super::{bad, body, describe, xml};
use crate::bound::bounded_text;
use crate::words::{self, SCREEN};
use mcptest_core::report::{GateReport, Number, RunReport, Status, TestReport};
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestRerun, XmlString};

/// A testcase per run and per gate, and one for the row itself if none of these gives its outcome.
pub(super) fn cases(test: &TestReport) -> Vec<TestCase> {
    let parts: Vec<_> = test
        .runs
        .iter()
        .map(|run| run.status)
        .chain(test.gates.iter().map(|gate| gate.status))
        .collect();
    let is_said = test.status == Status::Passed || parts.contains(&test.status);
    let row = (parts.is_empty() || !is_said).then(|| of_row(test));
    let runs = test.runs.iter().map(|run| of_run(test, run));
    row.into_iter()
        .chain(runs)
        .chain(test.gates.iter().map(|gate| of_gate(test, gate)))
        .collect()
}

fn of_row(test: &TestReport) -> TestCase {
    let row = test.row_name();
    let name = if test.runs.is_empty() {
        row
    } else {
        format!("{row} · test")
    };
    let verdict = CaseStatus {
        status: test.status,
        kind: "row",
        is_decisive: true,
        message: words::first_reason(test, SCREEN),
        body: body::of_row(test),
    };
    case(test, &name, verdict)
}

fn of_run(test: &TestReport, run: &RunReport) -> TestCase {
    let kind = match run.failed_by.first() {
        Some(gate) if !run.fails_by_itself() => gate,
        _ => "expect",
    };
    let verdict = CaseStatus {
        status: run.status,
        kind,
        is_decisive: test.status != Status::Passed,
        message: message_of_run(test, run),
        body: body::of_run(test, run),
    };
    let mut case = case(test, &test.run_name(run), verdict);
    case.set_assertions(run.expectations.len());
    describe_run(&mut case, run);
    if let Some(duration_ms) = run.duration_ms {
        case.set_time(std::time::Duration::from_millis(duration_ms));
    }
    case
}

/// Why the run did not pass: its own reason, otherwise a gate's, otherwise the row's.
fn message_of_run(test: &TestReport, run: &RunReport) -> Option<String> {
    let by_gate = || {
        let (gate, found) = words::of_failing_gates(test, run, SCREEN).next()?;
        Some(format!("{gate}: {found}"))
    };
    words::first_sentence_of_run(run, SCREEN)
        .or_else(by_gate)
        .or_else(|| words::first_reason(test, SCREEN))
}

fn describe_run(case: &mut TestCase, run: &RunReport) {
    let failed_by = (!run.failed_by.is_empty()).then(|| run.failed_by.join(", "));
    let properties = [
        ("run.status", Some(word(run.status).to_owned())),
        ("run.calls", Some(run.calls.to_string())),
        ("run.failed_by", failed_by),
        ("run.source", run.source.clone()),
        ("run.trace_id", run.trace_id.clone()),
    ];
    describe(
        case,
        properties
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    describe(
        case,
        run.scores
            .iter()
            .map(|(target, value)| (target.as_str(), value.to_string())),
    );
    let duration_ms = run.duration_ms.map(|duration_ms| duration_ms.to_string());
    describe(case, duration_ms.map(|value| ("run.duration_ms", value)));
}

fn of_gate(test: &TestReport, gate: &GateReport) -> TestCase {
    let verdict = CaseStatus {
        status: gate.status,
        kind: &gate.key,
        is_decisive: true,
        message: words::first_sentence_of_gate(gate, test, SCREEN),
        body: body::of_gate(test, gate),
    };
    let name = format!("{} · {}", test.row_name(), gate.key);
    let mut case = case(test, &name, verdict);
    case.set_assertions(gate.expectations.len());
    describe_gate(&mut case, gate);
    if let Some(line) = gate.line.as_ref().or(gate.summary.as_ref()) {
        case.set_system_out(xml(line));
    }
    case
}

fn describe_gate(case: &mut TestCase, gate: &GateReport) {
    let measured = |number: Option<Number>| {
        number.map_or("not measured".to_owned(), |number| number.to_string())
    };
    describe(
        case,
        gate.targets
            .iter()
            .map(|(target, value)| (target.as_str(), measured(*value))),
    );
    let failed: Vec<String> = gate.failed_runs.iter().map(ToString::to_string).collect();
    let properties = [
        (
            "scored_runs",
            gate.scored_runs.map(|scored| scored.to_string()),
        ),
        (
            "failed_runs",
            (!failed.is_empty()).then(|| failed.join(", ")),
        ),
        ("not exercised", gate.not_exercised.clone()),
    ];
    describe(
        case,
        properties
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    describe(
        case,
        gate.remarks
            .iter()
            .map(|remark| ("remark", remark.message.clone())),
    );
}

struct CaseStatus<'a> {
    status: Status,
    /// The judging part: `expect`, a gate's key, or `row` if nothing could be judged.
    kind: &'a str,
    /// False for a run that failed in a test whose gates tolerate it: CI must not count that as a
    /// failure.
    is_decisive: bool,
    message: Option<String>,
    body: String,
}

fn case(test: &TestReport, name: &str, verdict: CaseStatus<'_>) -> TestCase {
    let mut case = TestCase::new(xml(name), status(verdict));
    case.set_classname(xml(&format!("{}::{}", test.suite.file, test.row_name())));
    case.extra.insert(xml("file"), xml(&test.suite.file));
    case.extra
        .insert(xml("line"), xml(&test.suite.line.to_string()));
    describe(
        &mut case,
        test.model.iter().map(|model| ("model", model.clone())),
    );
    describe(
        &mut case,
        test.variant.map(|variant| ("variant", variant.to_string())),
    );
    describe(
        &mut case,
        test.unpinned.then(|| ("unpinned", "true".to_owned())),
    );
    let servers = test.servers.iter();
    let spoken = servers.map(|one| format!("{} {} {}", one.name, one.era, one.protocol_version));
    describe(&mut case, spoken.map(|server| ("server", server)));
    describe(
        &mut case,
        test.notes
            .iter()
            .map(|note| ("note", bounded_text(note).into_owned())),
    );
    let advice = test
        .advice
        .iter()
        .map(|advice| test.advice_in_words(advice));
    let warning = test.warning().map(|text| bounded_text(text).into_owned());
    describe(&mut case, warning.map(|text| ("warning", text)));
    describe(
        &mut case,
        advice.map(|advice| ("advice", bounded_text(&advice).into_owned())),
    );
    case
}

fn status(verdict: CaseStatus<'_>) -> TestCaseStatus {
    let kind = match verdict.status {
        Status::Passed => return TestCaseStatus::success(),
        Status::Skipped => {
            let mut skipped = TestCaseStatus::skipped();
            skipped.set_message(xml(verdict.message.as_deref().unwrap_or("skipped")));
            return skipped;
        }
        Status::Failed => NonSuccessKind::Failure,
        Status::Error => NonSuccessKind::Error,
    };
    let message = verdict
        .message
        .as_deref()
        .unwrap_or_else(|| word(verdict.status));
    if verdict.is_decisive {
        return bad(kind, verdict.kind, message, verdict.body);
    }
    let mut tolerated = TestRerun::new(kind);
    tolerated
        .set_message(xml(message))
        .set_type(xml(verdict.kind))
        .set_description(XmlString::new(verdict.body));
    TestCaseStatus::Success {
        flaky_runs: vec![tolerated],
    }
}

fn word(status: Status) -> &'static str {
    match status {
        Status::Passed => "passed",
        Status::Failed => "failed",
        Status::Error => "error",
        Status::Skipped => "skipped",
    }
}
