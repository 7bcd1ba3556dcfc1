//! What does one recorded run come to by itself?

use crate::eval::failed_by;
use crate::report::{Expectation, RunReport, Status};
use crate::row::{Reason, ReasonKind};
use crate::suite::Agent;
use crate::trace::{Header, Run, Trace, error_in_words};
use serde_json::Value;

const SHOWN_TOOL_NAMES: usize = 50;

/// Whether a run's own `expect:` holds, and what gates ask of each run where a gate counts those that pass; `None` when
/// the run is no evidence.
pub fn passes(agent: &Agent, trace: &Trace<'_>, header: Option<&Header>) -> Option<bool> {
    match judge_run(agent, 1, trace).status {
        Status::Passed => Some(failed_by(agent, &Run { header, ..Run::of(trace) }).is_empty()),
        Status::Failed => Some(false),
        Status::Error | Status::Skipped => None,
    }
}

/// Holds a run to the agent's `expect:`; one that never ended, or cannot be judged, is an error. An agent of the user's
/// own that crashed has failed, whatever was expected.
pub(super) fn judge_run(agent: &Agent, index: usize, trace: &Trace<'_>) -> RunReport {
    let crash = trace.crash();
    if let Some(message) = trace.fatal_error().filter(|_| crash.is_none()) {
        let message = format!("run {index} ended in an error: {message}");
        return broken_run(index, Reason::new(ReasonKind::RunError, message));
    }
    if let Some(message) = misplaced_result(trace) {
        let message = format!("run {index} cannot be judged: {message}");
        return broken_run(index, Reason::new(ReasonKind::TraceInconsistent, message));
    }
    let expectations = judge_expectations(agent, trace);
    let passed = crash.is_none() && expectations.iter().all(|expectation| expectation.passed);
    RunReport {
        index,
        status: if passed { Status::Passed } else { Status::Failed },
        reason: crash.map(|crash| Reason::of_lines(ReasonKind::AgentCrashed, &crash)),
        source: None,
        trace_id: None,
        tool_names: trace.tool_names().take(SHOWN_TOOL_NAMES).map(str::to_owned).collect(),
        calls: trace.tool_calls.len(),
        duration_ms: None,
        expectations,
    }
}

/// The agent's `expect:` in this run.
pub(super) fn judge_expectations(agent: &Agent, trace: &Trace<'_>) -> Vec<Expectation> {
    let mut expectations: Vec<Expectation> =
        agent.expect.iter().map(|assertion| assertion.check(trace)).collect();
    expectations.iter_mut().filter(|expectation| !expectation.passed).for_each(say_if_redacted);
    expectations
}

/// A run that is an error.
pub(super) fn broken_run(index: usize, reason: Reason) -> RunReport {
    RunReport {
        index,
        status: Status::Error,
        reason: Some(reason),
        source: None,
        trace_id: None,
        tool_names: Vec::new(),
        calls: 0,
        duration_ms: None,
        expectations: Vec::new(),
    }
}

/// A result that answers no call, or not in the order of the calls: nothing said about results would be true.
pub(super) fn misplaced_result(trace: &Trace<'_>) -> Option<String> {
    let mut next = 0;
    for (at, result) in trace.tool_results.iter().enumerate() {
        let call = result.call_index.unwrap_or(at);
        if call >= trace.tool_calls.len() {
            let calls = trace.tool_calls.len();
            return Some(format!("tool_results[{at}] answers call {call} of {calls}, counted from 0"));
        }
        if call < next {
            let before = next - 1;
            return Some(format!(
                "tool_results[{at}] answers call {call} behind the answer to call {before}; \
                 results stand in call order, one for a call"
            ));
        }
        next = call + 1;
    }
    None
}

/// Errors that a run got over: evidence, not a verdict.
pub(super) fn overcome_errors(trace: &Trace<'_>, index: usize) -> Option<String> {
    let first = trace.errors.first().filter(|_| trace.crash().is_none())?;
    let more = trace.errors.len() - 1;
    let others = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!("run {index} met an error and went on: {}{others}", error_in_words(first.get())))
}

/// Which limit ended a run: it may be why something is missing.
pub(super) fn reached_limit(trace: &Trace<'_>, index: usize) -> Option<String> {
    let limit = trace.stop_reason.as_deref()?;
    let is_limit = matches!(limit, "max_turns" | "max_tool_calls" | "token_budget" | "time_budget");
    is_limit.then(|| format!("run {index} ended at its `{limit}`"))
}

/// A matcher may fail for the placeholder that stands where the value was.
pub(super) fn say_if_redacted(expectation: &mut Expectation) {
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
