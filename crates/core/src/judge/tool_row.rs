//! Which verdict does the recorded call of a tool test lead to?

use super::one_run::say_if_redacted;
use super::recorded::RecordedCall;
use crate::grade::{self, Found};
use crate::report::{Expectation, RunReport, Status, TestReport};
use crate::row::{Reason, ReasonKind, Row, ToolRow};
use crate::suite::{ToolOutcome, ToolTest};

pub(super) fn judge(
    row: &Row<'_>,
    of: ToolRow<'_>,
    call: &RecordedCall<'_>,
    report: &mut TestReport,
) -> Result<(), Reason> {
    let outcome = &call.outcome;
    describe_recording(call, report)?;
    if let Some(reason) = too_slow(of.test, outcome) {
        report.status = Status::Failed;
        report.runs = vec![RunReport {
            reason: Some(reason),
            ..run_report(of.test, outcome, Status::Failed)
        }];
        return Ok(());
    }
    if let Some(failure) = outcome.failure {
        return Err(call_failed(failure, call, row));
    }
    let graded = call.grades.of(&grade::of_call(of, outcome), row);
    let expectations = check(of.test, outcome, &graded)?;
    let held = expectations.iter().all(|expectation| expectation.passed);
    report.status = if held { Status::Passed } else { Status::Failed };
    let ungraded = graded.into_iter().find_map(|found| found.grade.err());
    let status = if ungraded.is_some() {
        Status::Error
    } else {
        report.status
    };
    report.runs = vec![RunReport {
        reason: ungraded.clone(),
        expectations,
        ..run_report(of.test, outcome, status)
    }];
    ungraded.map_or(Ok(()), Err)
}

/// Notes facts about the recording, and refuses a stale one.
fn describe_recording(call: &RecordedCall<'_>, report: &mut TestReport) -> Result<(), Reason> {
    report.unpinned = call.unpinned;
    report.stale = call.is_stale;
    if let Some(reason) = &call.stale {
        return Err(reason.clone());
    }
    report.notes.clone_from(&call.notes);
    report.servers.extend(call.server.clone());
    report.notes.extend(call.outcome.oddities.iter().cloned());
    Ok(())
}

/// The report of the call as the only run of the row.
fn run_report(test: &ToolTest, outcome: &ToolOutcome<'_>, status: Status) -> RunReport {
    RunReport {
        tool_names: vec![test.tool.clone()],
        calls: 1,
        duration_ms: Some(outcome.duration_ms),
        ..RunReport::blank(1, status)
    }
}

fn call_failed(failure: &str, call: &RecordedCall<'_>, row: &Row<'_>) -> Reason {
    let reason = Reason::from_lines(ReasonKind::CallFailed, failure);
    if call.is_live {
        return reason;
    }
    reason
        .help("this result was recorded; record it again")
        .command(row.rerun.recording("--record"))
}

/// Checks the outcome against the test's `expect:`. Refuses a test that checks nothing.
fn check(
    test: &ToolTest,
    outcome: &ToolOutcome<'_>,
    graded: &[Found],
) -> Result<Vec<Expectation>, Reason> {
    let mut expectations = test.check(outcome, graded);
    if expectations.is_empty() && graded.is_empty() {
        return Err(nothing_checked(outcome));
    }
    expectations
        .iter_mut()
        .filter(|expectation| !expectation.passed)
        .for_each(say_if_redacted);
    Ok(expectations)
}

/// A call that had no answer within the `timeout:` that the suite sets for it has failed its test.
fn too_slow(test: &ToolTest, outcome: &ToolOutcome<'_>) -> Option<Reason> {
    let limit = test
        .timeout_ms
        .filter(|limit| outcome.duration_ms >= *limit)?;
    let mut reason = Reason::from_lines(ReasonKind::CallTooSlow, outcome.failure?);
    reason
        .details
        .insert(0, std::mem::take(&mut reason.message));
    reason.message = format!("the call had no answer within its `timeout:` of {limit} ms");
    Some(reason)
}

/// A test without `expect:` checks the tool's own schema. Without a schema, nothing was tested.
fn nothing_checked(outcome: &ToolOutcome<'_>) -> Reason {
    let why = if outcome.output_schema.is_none() {
        "the test has no `expect:`, and the tool declares no outputSchema"
    } else {
        "the test has no `expect:`, and an error result is not checked against the tool's \
        outputSchema"
    };
    Reason::new(
        ReasonKind::NothingAsserted,
        format!("nothing was checked: {why}"),
    )
    .help("state the requirements under `expect:`")
}
