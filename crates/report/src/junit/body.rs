//! What does the text inside a `failure` or `error` say?

use crate::bound::bounded_text;
use crate::words::{self, FILE, escape};
use mcptest_core::report::{Expectation, GateReport, Reason, RunReport, TestReport};

/// The reason of a row that has no run or gate to blame.
pub(super) fn of_row(test: &TestReport) -> String {
    let mut lines = test.reason.as_ref().map(reason).unwrap_or_default();
    close(&mut lines, test);
    lines.join("\n")
}

/// Every failed assertion of the run.
pub(super) fn of_run(test: &TestReport, run: &RunReport) -> String {
    let mut lines = run
        .reason
        .as_ref()
        .or(test.reason.as_ref())
        .map(reason)
        .unwrap_or_default();
    lines.extend(failed(&run.expectations, None));
    lines.extend(
        words::of_failing_gates(test, run, FILE).map(|(gate, found)| format!("{gate}: {found}")),
    );
    if !run.tool_names.is_empty() {
        let more = if run.calls > run.tool_names.len() {
            ", …"
        } else {
            ""
        };
        lines.push(format!(
            "called: {}{more}",
            escape(&run.tool_names.join(", "))
        ));
    }
    close(&mut lines, test);
    lines.join("\n")
}

/// Every failed assertion of the gate, then everything it found.
pub(super) fn of_gate(test: &TestReport, gate: &GateReport) -> String {
    let mut lines = failed(&gate.expectations, Some(gate));
    lines.extend(
        gate.not_exercised
            .iter()
            .map(|reason| format!("not exercised: {}", escape(reason))),
    );
    for finding in &gate.explanation {
        let (sentence, differences) = words::finding(finding, test, FILE);
        lines.push(sentence);
        lines.extend(indented(differences));
    }
    close(&mut lines, test);
    lines.join("\n")
}

fn failed(expectations: &[Expectation], gate: Option<&GateReport>) -> Vec<String> {
    let mut lines = Vec::new();
    for expectation in expectations
        .iter()
        .filter(|expectation| !expectation.passed)
    {
        lines.push(format!(
            "{} {}",
            escape(&expectation.target),
            words::headline(expectation, gate, FILE)
        ));
        lines.extend(indented(words::details(expectation, FILE)));
    }
    lines
}

fn reason(reason: &Reason) -> Vec<String> {
    let mut lines = vec![escape(&bounded_text(&reason.message)).into_owned()];
    lines.extend(indented(
        reason
            .details
            .iter()
            .map(|detail| escape(&bounded_text(detail)).into_owned()),
    ));
    lines.extend(
        reason
            .help
            .iter()
            .map(|help| format!("help: {}", escape(help))),
    );
    lines.extend(
        reason
            .command
            .iter()
            .map(|command| format!("run: {}", escape(command))),
    );
    lines
}

fn close(lines: &mut Vec<String>, test: &TestReport) {
    lines.extend(
        test.notes
            .iter()
            .map(|note| format!("note: {}", escape(&bounded_text(note)))),
    );
    let advice = test
        .advice
        .iter()
        .map(|advice| test.advice_in_words(advice));
    lines.extend(advice.map(|advice| format!("advice: {}", escape(&bounded_text(&advice)))));
    lines.push(format!("rerun: {}", escape(&test.rerun)));
}

fn indented(lines: impl IntoIterator<Item = String>) -> impl Iterator<Item = String> {
    lines.into_iter().map(|line| format!("  {line}"))
}
