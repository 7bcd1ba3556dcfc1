//! Which testcases does one test become, and how did each end?

use super::{bad, body, describe, xml};
use crate::bound::bounded_text;
use crate::words::{self, SCREEN};
use mcptest_core::report::{GateReport, Number, RunReport, Status, TestReport};
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestRerun, XmlString};

/// A testcase per run and per gate, and one for the row itself when none of these says how it ended.
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
    let verdict = Verdict {
        status: test.status,
        kind: "row",
        is_decisive: true,
        message: words::first_reason(test, SCREEN),
        body: body::of_row(test),
    };
    case(test, &name, verdict)
}

fn of_run(test: &TestReport, run: &RunReport) -> TestCase {
    let by_gate = || {
        let first = words::of_failing_gates(test, run, SCREEN).next()?;
        Some(format!("{}: {}", first.0, first.1))
    };
    let message = words::first_sentence_of_run(run, SCREEN)
        .or_else(by_gate)
        .or_else(|| words::first_reason(test, SCREEN));
    let is_decisive = test.status != Status::Passed;
    let kind = match run.failed_by.first() {
        Some(gate) if !run.fails_by_itself() => gate,
        _ => "expect",
    };
    let verdict = Verdict {
        status: run.status,
        kind,
        is_decisive,
        message,
        body: body::of_run(test, run),
    };
    let mut case = case(test, &test.run_name(run), verdict);
    case.set_assertions(run.expectations.len());
    describe(
        &mut case,
        [
            ("run.status", word(run.status).to_owned()),
            ("run.calls", run.calls.to_string()),
        ],
    );
    describe(
        &mut case,
        (!run.failed_by.is_empty()).then(|| ("run.failed_by", run.failed_by.join(", "))),
    );
    describe(
        &mut case,
        run.source
            .iter()
            .map(|source| ("run.source", source.clone())),
    );
    describe(
        &mut case,
        run.trace_id
            .iter()
            .map(|trace_id| ("run.trace_id", trace_id.clone())),
    );
    describe(
        &mut case,
        run.scores
            .iter()
            .map(|(target, value)| (target.as_str(), value.to_string())),
    );
    if let Some(duration_ms) = run.duration_ms {
        describe(&mut case, [("run.duration_ms", duration_ms.to_string())]);
        case.set_time(std::time::Duration::from_millis(duration_ms));
    }
    case
}

fn of_gate(test: &TestReport, gate: &GateReport) -> TestCase {
    let message = words::first_sentence_of_gate(gate, test, SCREEN);
    let verdict = Verdict {
        status: gate.status,
        kind: &gate.key,
        is_decisive: true,
        message,
        body: body::of_gate(test, gate),
    };
    let mut case = case(
        test,
        &format!("{} · {}", test.row_name(), gate.key),
        verdict,
    );
    case.set_assertions(gate.expectations.len());
    let measured = |number: Option<Number>| {
        number.map_or("not measured".to_owned(), |number| number.to_string())
    };
    describe(
        &mut case,
        gate.targets
            .iter()
            .map(|(target, value)| (target.as_str(), measured(*value))),
    );
    describe(
        &mut case,
        gate.scored_runs
            .map(|scored| ("scored_runs", scored.to_string())),
    );
    let failed: Vec<String> = gate.failed_runs.iter().map(ToString::to_string).collect();
    describe(
        &mut case,
        (!failed.is_empty()).then(|| ("failed_runs", failed.join(", "))),
    );
    describe(
        &mut case,
        gate.not_exercised
            .iter()
            .map(|reason| ("not exercised", reason.clone())),
    );
    describe(
        &mut case,
        gate.remarks
            .iter()
            .map(|remark| ("remark", remark.message.clone())),
    );
    if let Some(line) = gate.line.as_ref().or(gate.summary.as_ref()) {
        case.set_system_out(xml(line));
    }
    case
}

struct Verdict<'a> {
    status: Status,
    /// The judging part: `expect`, a gate's key, or `row` if nothing could be judged.
    kind: &'a str,
    /// False for a run that failed in a test whose gates let it pass: CI must not call that a failure.
    is_decisive: bool,
    message: Option<String>,
    body: String,
}

fn case(test: &TestReport, name: &str, verdict: Verdict<'_>) -> TestCase {
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

fn status(verdict: Verdict<'_>) -> TestCaseStatus {
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
