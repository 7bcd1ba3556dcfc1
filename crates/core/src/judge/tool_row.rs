//! Which verdict does the recorded call of a tool test lead to?

use super::one_run::say_if_redacted;
use super::recorded::RecordedCall;
use crate::grade;
use crate::report::{RunReport, Status, TestReport};
use crate::row::{Reason, ReasonKind, Row, ToolRow};
use crate::suite::{ToolOutcome, ToolTest};

pub(super) fn judge(
    row: &Row<'_>,
    of: ToolRow<'_>,
    call: &RecordedCall<'_>,
    report: &mut TestReport,
) -> Result<(), Reason> {
    let test = of.test;
    report.unpinned = call.unpinned;
    report.stale = call.is_stale;
    if let Some(reason) = &call.stale {
        return Err(reason.clone());
    }
    let outcome = &call.outcome;
    report.notes.clone_from(&call.notes);
    report.servers.extend(call.server.clone());
    report.notes.extend(outcome.oddities.iter().cloned());
    let run = |status, reason, expectations| RunReport {
        reason,
        tool_names: vec![test.tool.clone()],
        calls: 1,
        duration_ms: Some(outcome.duration_ms),
        expectations,
        ..RunReport::blank(1, status)
    };
    if let Some(reason) = too_slow(test, outcome) {
        report.status = Status::Failed;
        report.runs = vec![run(Status::Failed, Some(reason), Vec::new())];
        return Ok(());
    }
    if let Some(failure) = outcome.failure {
        let mut reason = Reason::of_lines(ReasonKind::CallFailed, failure);
        if !call.is_live {
            let help = "this is what was recorded; record it again";
            reason = reason.help(help).command(row.rerun.recording("--record"));
        }
        return Err(reason);
    }
    let graded = call.grades.of(&grade::of_call(of, outcome), row);
    let mut expectations = test.check(outcome, &graded);
    if expectations.is_empty() && graded.is_empty() {
        return Err(nothing_checked(outcome));
    }
    for expectation in expectations
        .iter_mut()
        .filter(|expectation| !expectation.passed)
    {
        say_if_redacted(expectation);
    }
    let held = expectations.iter().all(|expectation| expectation.passed);
    report.status = if held { Status::Passed } else { Status::Failed };
    let ungraded = graded.into_iter().find_map(|found| found.grade.err());
    let status = if ungraded.is_some() {
        Status::Error
    } else {
        report.status
    };
    report.runs = vec![run(status, ungraded.clone(), expectations)];
    ungraded.map_or(Ok(()), Err)
}

/// A call that had no answer within the `timeout:` that the suite sets for it has failed its test.
fn too_slow(test: &ToolTest, outcome: &ToolOutcome<'_>) -> Option<Reason> {
    let limit = test
        .timeout_ms
        .filter(|limit| outcome.duration_ms >= *limit)?;
    let mut reason = Reason::of_lines(ReasonKind::CallTooSlow, outcome.failure?);
    reason
        .details
        .insert(0, std::mem::take(&mut reason.message));
    reason.message = format!("the call had no answer within its `timeout:` of {limit} ms");
    Some(reason)
}

/// A test without `expect:` is one of the tool's own schema; where that says nothing either, nothing was tested.
fn nothing_checked(outcome: &ToolOutcome<'_>) -> Reason {
    let why = if outcome.output_schema.is_none() {
        "the test has no `expect:`, and the tool declares no outputSchema"
    } else {
        "the test has no `expect:`, and an error is not held to the tool's outputSchema"
    };
    Reason::new(
        ReasonKind::NothingAsserted,
        format!("nothing was checked: {why}"),
    )
    .help("say under `expect:` what must hold")
}
