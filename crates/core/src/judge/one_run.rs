//! Which verdict does one recorded run lead to by itself?

use crate::engine::{Assertion, failed_by};
use crate::grade::{Found, Numbers, SCORERS, found, scores_of};
use crate::json::key_written_twice;
use crate::report::{Expectation, RunReport, Status};
use crate::row::{Reason, ReasonKind};
use crate::suite::Agent;
use crate::target::Path;
use crate::trace::{Header, Run, Tokens, Trace, error_in_words};
use crate::words::count;
use serde_json::Value;

const SHOWN_TOOL_NAMES: usize = 50;

/// Reports the first call with a duplicate argument: JSON keeps the last one, but a server may keep
/// the first.
pub(super) fn doubled_argument(trace: &Trace<'_>, run: usize) -> Option<String> {
    let calls = trace.tool_calls.iter().enumerate();
    let mut doubled = calls.filter_map(|(at, call)| {
        let key = key_written_twice(call.args?.get())?;
        Some((at + 1, &call.name, key))
    });
    let (number, name, key) = doubled.next()?;
    let more = match doubled.count() {
        0 => String::new(),
        more => format!("; so do {} more", count(more, "call")),
    };
    Some(format!(
        "run {run}: call {number} `{name}` has the argument `{key}` twice; gates read the last \
        one{more}"
    ))
}

/// A run with its outcome, judged alone; `None` if the run is not evidence.
pub fn judged_alone<'t>(
    agent: &Agent,
    trace: &'t Trace<'t>,
    header: Option<&'t Header>,
) -> Option<Run<'t>> {
    let as_expected = judge_run(agent, 1, trace, &[]).passed?;
    let run = Run {
        header,
        as_expected,
        ..Run::new(trace)
    };
    Some(with_outcome(agent, run))
}

/// The run with its outcome: whether it meets its `expect:`, and no gate fails it by observed
/// evidence.
pub fn with_outcome<'t>(agent: &Agent, run: Run<'t>) -> Run<'t> {
    Run {
        passed: run.as_expected && failed_by(agent, &run).is_empty(),
        ..run
    }
}

/// Judges a run by the agent's `expect:`. A run that never ended, or cannot be judged, is an error. A crash of the
/// user's own agent fails the run, whatever the expectations.
pub(super) fn judge_run(
    agent: &Agent,
    index: usize,
    trace: &Trace<'_>,
    graded: &[Found],
) -> JudgedRun {
    let crash = trace.crash();
    if let Some(reason) = why_no_evidence(index, trace, crash.is_some()) {
        return JudgedRun {
            report: broken_run(index, reason),
            passed: None,
        };
    }
    let observed = judge_expectations(agent, trace);
    let has_passed = crash.is_none() && observed.iter().all(|expectation| expectation.passed);
    let expectations = with_grades(agent, trace, observed, graded);
    let all_passed = has_passed && expectations.iter().all(|expectation| expectation.passed);
    let ungraded = missing_grade(graded);
    let status = match ungraded {
        Some(_) => Status::Error,
        None if all_passed => Status::Passed,
        None => Status::Failed,
    };
    let crash = crash.map(|crash| Reason::from_lines(ReasonKind::AgentCrashed, &crash));
    let report = RunReport {
        reason: ungraded.cloned().or(crash),
        tool_names: trace
            .tool_names()
            .take(SHOWN_TOOL_NAMES)
            .map(str::to_owned)
            .collect(),
        calls: trace.tool_calls.len(),
        scores: scores_of(graded),
        expectations,
        ..RunReport::blank(index, status)
    };
    JudgedRun {
        report,
        passed: Some(has_passed),
    }
}

/// A run, and whether its observable evidence meets the expectations. `None` if it is not evidence.
/// Judges' answers are only in the report: no gate depends on them.
pub(super) struct JudgedRun {
    pub(super) report: RunReport,
    pub(super) passed: Option<bool>,
}

/// Why the run is not evidence of the agent's behaviour.
fn why_no_evidence(index: usize, trace: &Trace<'_>, has_crashed: bool) -> Option<Reason> {
    if let Some(error) = trace.fatal_error().filter(|_| !has_crashed) {
        let message = format!("run {index} ended in an error: {error}");
        return Some(Reason::new(ReasonKind::RunError, message));
    }
    let why = misplaced_result(trace)?;
    let message = format!("run {index} cannot be judged: {why}");
    Some(Reason::new(ReasonKind::TraceInconsistent, message))
}

/// Why a grade that decides the run is missing.
fn missing_grade(graded: &[Found]) -> Option<&Reason> {
    graded
        .iter()
        .filter(|found| !found.is_advice)
        .find_map(|found| found.grade.as_ref().err())
}

/// All checks of the agent's `expect:`, in order: observed ones and judges' grades.
fn with_grades(
    agent: &Agent,
    trace: &Trace<'_>,
    observed: Vec<Expectation>,
    graded: &[Found],
) -> Vec<Expectation> {
    let mut observed = observed.into_iter();
    let mut all = Vec::with_capacity(agent.expect.len());
    for (at, assertion) in agent.expect.iter().enumerate() {
        if let Some(name) = assertion.target.scorer() {
            all.extend(scored(assertion, name, graded));
            continue;
        }
        match (assertion.matcher.question(), found(graded, at)) {
            (None, _) => all.extend(observed.next()),
            // The reason of the run says that there is no grade.
            (Some(_), Some(Found { grade: Err(_), .. })) => {}
            (Some(_), found) => all.push(assertion.check_with(trace, found)),
        }
    }
    all
}

/// The result of a scorer's number. `None` without a number, which the reason of the run explains.
fn scored(assertion: &Assertion<Path>, name: &str, graded: &[Found]) -> Option<Expectation> {
    let is_its = |found: &&Found| {
        found
            .check
            .strip_prefix(SCORERS)
            .is_some_and(|rest| rest[1..] == *name)
    };
    match graded.iter().find(is_its) {
        Some(found) => found
            .grade
            .as_ref()
            .ok()
            .map(|grade| assertion.check_scores(name, &grade.scores)),
        None => Some(assertion.check_scores(name, &Numbers::new())),
    }
}

/// The observable part of the agent's `expect:` in this run.
pub(super) fn judge_expectations(agent: &Agent, trace: &Trace<'_>) -> Vec<Expectation> {
    let observable = agent
        .expect
        .iter()
        .filter(|assertion| assertion.is_observable());
    let mut expectations: Vec<Expectation> =
        observable.map(|assertion| assertion.check(trace)).collect();
    expectations
        .iter_mut()
        .filter(|expectation| !expectation.passed)
        .for_each(say_if_redacted);
    expectations
}

/// A run that is an error.
pub(super) fn broken_run(index: usize, reason: Reason) -> RunReport {
    RunReport {
        reason: Some(reason),
        ..RunReport::blank(index, Status::Error)
    }
}

/// Copies the run's end and its cost into the report.
pub(super) fn set_totals(report: &mut RunReport, trace: &Trace<'_>) {
    let conversation = &trace.conversation;
    let turns = conversation
        .turns
        .iter()
        .filter(|turn| turn.role == "assistant")
        .count();
    report.trace_id = trace.trace_id.as_deref().map(str::to_owned);
    report.stop_reason = trace.stop_reason.as_deref().map(str::to_owned);
    report.turns = (!conversation.turns.is_empty()).then_some(turns);
    report.tokens = Some(conversation.tokens).filter(|tokens| *tokens != Tokens::default());
    report.cost_usd = conversation.cost_usd;
    report.duration_ms = conversation.duration_ms;
}

/// A result that answers no call, or is out of order. It would make every check of results wrong.
pub(super) fn misplaced_result(trace: &Trace<'_>) -> Option<String> {
    let mut next = 0;
    for (at, result) in trace.tool_results.iter().enumerate() {
        let call = result.call_index.unwrap_or(at);
        if call >= trace.tool_calls.len() {
            let calls = trace.tool_calls.len();
            return Some(format!(
                "tool_results[{at}] answers call {call} of {calls}, counted from 0"
            ));
        }
        if call < next {
            let before = next - 1;
            return Some(format!(
                "tool_results[{at}] answers call {call} after the answer to call {before}; \
                results must be in call order, one for each call"
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
    let others = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    Some(format!(
        "run {index} continued after an error: {}{others}",
        error_in_words(first.get())
    ))
}

/// The limit that ended a run, which may explain missing calls.
pub(super) fn reached_limit(trace: &Trace<'_>, index: usize) -> Option<String> {
    let limit = trace.stop_reason.as_deref()?;
    let is_limit = matches!(
        limit,
        "max_turns" | "max_tool_calls" | "token_budget" | "time_budget"
    );
    is_limit.then(|| format!("run {index} ended at its `{limit}`"))
}

/// Notes that a matcher may fail because a placeholder replaces the value.
pub(super) fn say_if_redacted(expectation: &mut Expectation) {
    const HINT: &str = "the value has a placeholder where a secret was: see docs/redaction.md";
    if expectation.actual.as_ref().is_some_and(has_placeholder) {
        let before = expectation
            .reason
            .take()
            .map(|reason| format!("{reason}; "))
            .unwrap_or_default();
        expectation.reason = Some(format!("{before}{HINT}"));
    }
}

fn has_placeholder(value: &Value) -> bool {
    match value {
        Value::String(text) => mcptest_redact::has_placeholder(text),
        Value::Array(items) => items.iter().any(has_placeholder),
        Value::Object(fields) => fields.values().any(has_placeholder),
        _ => false,
    }
}
