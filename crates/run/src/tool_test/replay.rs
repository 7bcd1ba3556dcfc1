//! A recorded tool test, read and judged: no process, no socket.

use super::recording::{CallOutcome, Header, parse};
use crate::advice::{reason_of, record_command};
use crate::cassette::{self, ReadError, Recording};
use crate::plan::Cell;
use crate::secrets::without_secret_names;
use mcptest_core::report::{Expectation, Reason, RunReport, Status, TestReport};
use mcptest_core::suite::{Endpoint, Stale, Suite, ToolOutcome, ToolTest};
use serde_json::Value;
use std::path::PathBuf;

/// Where the recording of a tool test is.
pub(crate) fn path_of(suite: &Suite, test: &ToolTest) -> PathBuf {
    let stem = suite.path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    suite.folder().join(cassette::default_path(&stem, &test.name, None))
}

/// The header that a recording made now would have.
pub(crate) fn header_now(suite: &Suite, test: &ToolTest) -> Header {
    let server = suite.servers.get(&test.server);
    let mut server_entry = server.map(mcptest_core::suite::Server::template).unwrap_or_default();
    if let Some(Endpoint::Mock(manifest)) = server.map(|server| &server.endpoint) {
        server_entry
            .extend(fingerprint_of_manifest(suite, manifest).map(|hash| ("manifest".to_owned(), hash)));
    }
    let header = Header {
        test: test.name.clone(),
        server: test.server.clone(),
        server_entry,
        tool: test.tool.clone(),
        args: test.args_template.clone(),
        ..Header::default()
    };
    without_secret_names(&header).map(|clean| clean.in_place_of(&header)).unwrap_or(header)
}

/// What a mock answers is in its manifest, so a changed one makes a recording stale; its comments do not.
fn fingerprint_of_manifest(suite: &Suite, manifest: &str) -> Option<Value> {
    let text = std::fs::read_to_string(suite.folder().join(manifest)).ok()?;
    let value = mcptest_core::suite::yaml_to_json(&text)?;
    Some(cassette::fingerprint_of_value(&value).into())
}

/// Judges what is on the disk.
pub(crate) fn judge(cell: &Cell<'_>, suite: &Suite, test: &ToolTest, report: &mut TestReport) {
    let path = path_of(suite, test);
    let record = || record_command(cell, suite, "--record");
    let recording = match Recording::open(&path) {
        Ok(recording) => recording,
        Err(ReadError::Missing { .. }) => {
            let message = format!("there is no recording at {}", path.display());
            let live = record_command(cell, suite, "--live");
            let help = format!("record it with {}, or call the tool without recording: {live}", record());
            return fail(report, Reason { message, help: Some(help), ..Reason::default() });
        }
        Err(error) => {
            return fail(report, Reason { message: error.to_string(), ..Reason::default() });
        }
    };
    let (header, outcome) = match parse(recording.bytes()) {
        Ok(parsed) => parsed,
        Err(problem) => {
            let message = ReadError::Bad { path, problem }.to_string();
            let help = message.contains("--record").then(|| format!("record it with {}", record()));
            return fail(report, Reason { message, help, ..Reason::default() });
        }
    };
    report.unpinned = !header.is_pinned();
    if let Some((what, details)) = staleness(&header, suite, test) {
        let message = format!("{} {what}", path.display());
        match suite.run_options.stale {
            Stale::Error => {
                let help =
                    Some(format!("record it with {}, or set `run_options: {{stale: warn}}`", record()));
                return fail(report, Reason { message, details, help });
            }
            Stale::Warn => report.notes.push(format!("{message} ({})", details.join("; "))),
        }
    }
    judge_outcome(test, &outcome, report);
    if let Some(reason) = report.reason.as_mut().filter(|_| outcome.failure.is_some()) {
        reason.help = Some(format!("this is what was recorded; record it again with {}", record()));
    }
}

/// Judges a call that was made just now and is not kept.
pub(crate) fn judge_live(test: &ToolTest, recording: &[u8], report: &mut TestReport) {
    match parse(recording) {
        Ok((_, outcome)) => judge_outcome(test, &outcome, report),
        Err(problem) => fail(report, Reason { message: problem.to_string(), ..Reason::default() }),
    }
}

/// Why the recording does not fit the suite, and where, when it does not.
pub(crate) fn staleness(
    header: &Header,
    suite: &Suite,
    test: &ToolTest,
) -> Option<(&'static str, Vec<String>)> {
    if !header.is_pinned() {
        return None;
    }
    let changes = header.changes_to(&header_now(suite, test));
    if !changes.is_empty() {
        Some(("is stale: the suite has changed since it was recorded", changes))
    } else if header.is_tampered() {
        let details = vec!["the header does not fit its own fingerprint".to_owned()];
        Some(("was edited after it was recorded", details))
    } else {
        None
    }
}

fn judge_outcome(test: &ToolTest, outcome: &CallOutcome<'_>, report: &mut TestReport) {
    report.notes.extend(outcome.oddities.iter().cloned());
    if let Some(failure) = &outcome.failure {
        return fail(report, reason_of(failure));
    }
    let mut expectations = test.check(&ToolOutcome {
        result: outcome.result,
        error: outcome.error,
        duration_ms: outcome.duration_ms,
        output_schema: outcome.output_schema.as_ref(),
    });
    if expectations.is_empty() {
        return fail(report, nothing_checked(outcome));
    }
    for expectation in expectations.iter_mut().filter(|expectation| !expectation.passed) {
        say_if_redacted(expectation);
    }
    let held = expectations.iter().all(|expectation| expectation.passed);
    report.status = if held { Status::Passed } else { Status::Failed };
    report.runs = vec![RunReport {
        index: 1,
        status: report.status,
        reason: None,
        tool_names: vec![test.tool.clone()],
        calls: 1,
        duration_ms: Some(outcome.duration_ms),
        expectations,
    }];
}

/// A test without `expect:` is one of the tool's own schema; where that says nothing either, nothing was tested.
fn nothing_checked(outcome: &CallOutcome<'_>) -> Reason {
    let why = if outcome.output_schema.is_none() {
        "the test has no `expect:`, and the tool declares no outputSchema"
    } else {
        "the test has no `expect:`, and an error is not held to the tool's outputSchema"
    };
    let help = Some("say under `expect:` what must hold".to_owned());
    Reason { message: format!("nothing was checked: {why}"), details: Vec::new(), help }
}

/// A matcher may fail for the placeholder that stands where the value was.
pub(crate) fn say_if_redacted(expectation: &mut Expectation) {
    const HINT: &str = "the value has a placeholder where a secret was: see docs/redaction.md";
    if expectation.actual.as_ref().is_some_and(has_placeholder) {
        let before = expectation.reason.take().map(|reason| format!("{reason}; ")).unwrap_or_default();
        expectation.reason = Some(format!("{before}{HINT}"));
    }
}

fn has_placeholder(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains("[redacted:"),
        Value::Array(items) => items.iter().any(has_placeholder),
        Value::Object(fields) => fields.values().any(has_placeholder),
        _ => false,
    }
}

pub(crate) fn fail(report: &mut TestReport, reason: Reason) {
    report.status = Status::Error;
    report.reason = Some(reason);
}
