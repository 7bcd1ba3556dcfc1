//! Recorded runs become a verdict: each run's `expect:`, then each gate over all of them.

use crate::cassette::{Cassette, ReadError};
use crate::faults;
use crate::plan::{Cell, Subject, refusal};
use crate::replay::{self, Freshness};
use crate::tool_test::{self, Done, fail};
use crate::{Fresh, Mode, Options, advice, agent};
use mcptest_core::report::{Finding, GateReport, Reason, RunReport, Status, TestReport};
use mcptest_core::suite::{Agent, Model, Suite, ToolTest};
use mcptest_core::trace::{Header, Run, Trace, error_in_words};
use std::path::Path;

const SHOWN_TOOL_NAMES: usize = 50;

/// Judges one cell: from its recordings, or from what was called for it just now. Whatever is wrong with it stays in
/// its row.
pub(crate) fn judge(cell: &Cell<'_>, options: Options, fresh: Option<Fresh<'_>>) -> TestReport {
    let mut report = cell.blank();
    if let Some(reason) = &cell.skip {
        report.status = Status::Skipped;
        report.reason = Some(Reason { message: reason.clone(), ..Reason::default() });
        return report;
    }
    match cell.subject {
        Subject::Agent { suite, agent, model } => match fresh {
            Some(Fresh::Agent(agent::Done::Failed(reason))) => fail(&mut report, reason.clone()),
            Some(Fresh::Agent(agent::Done::Live { cassette, .. })) => {
                judge_agent(cell, suite, agent, model, Some(cassette), &mut report);
            }
            _ => judge_agent(cell, suite, agent, model, None, &mut report),
        },
        Subject::Tool { suite, test } => {
            let called = fresh.and_then(|fresh| match fresh {
                Fresh::Tool(done) => Some(done),
                Fresh::Agent(_) => None,
            });
            judge_tool(cell, suite, test, called, &mut report);
        }
        Subject::Refused(loaded) => fail(&mut report, refusal(loaded)),
    }
    if options.mode == Mode::Live && !matches!(cell.subject, Subject::Refused(_)) {
        report.rerun.push_str(" --live");
    }
    if options.deny_vacuous {
        deny_vacuous(&mut report);
    }
    report
}

fn judge_tool(
    cell: &Cell<'_>,
    suite: &Suite,
    test: &ToolTest,
    called: Option<&Done>,
    report: &mut TestReport,
) {
    match called {
        Some(Done::Live(recording)) => tool_test::judge_live(test, recording.as_bytes(), report),
        Some(Done::Failed(reason)) => fail(report, reason.clone()),
        Some(Done::Recorded) | None => tool_test::judge(cell, suite, test, report),
    }
}

/// Fails what measured nothing: gates that say so, and a test that asserts nothing at all.
fn deny_vacuous(report: &mut TestReport) {
    report.rerun.push_str(" --deny-vacuous");
    if report.status == Status::Error || report.status == Status::Skipped {
        return;
    }
    for gate in &mut report.gates {
        if let Some(why) = &gate.not_exercised {
            let message = format!("it measured nothing, which --deny-vacuous does not allow: {why}");
            gate.explanation.insert(0, Finding { run: None, message, diff: Vec::new() });
            gate.status = Status::Failed;
            report.status = Status::Failed;
        }
    }
    // A gate without targets, such as `discovery:`, asserts something without an expectation.
    let is_silent = |gate: &GateReport| gate.expectations.is_empty() && !gate.targets.is_empty();
    let asserts_nothing =
        report.gates.iter().all(is_silent) && report.runs.iter().all(|run| run.expectations.is_empty());
    if asserts_nothing {
        report.status = Status::Failed;
        let message = "nothing is asserted, which --deny-vacuous does not allow".to_owned();
        report.reason = Some(Reason { message, ..Reason::default() });
    }
}

fn judge_agent(
    cell: &Cell<'_>,
    suite: &Suite,
    agent: &Agent,
    model: Option<&Model>,
    live: Option<&str>,
    report: &mut TestReport,
) {
    let recordings = match live {
        Some(cassette) => replay::Recordings::live(cassette),
        None => match replay::open(cell, suite, agent, model) {
            Ok(recordings) => recordings,
            Err(reason) => return fail(report, reason),
        },
    };
    let opened: Vec<(&Path, Result<Cassette<'_>, Reason>)> = recordings
        .files
        .iter()
        .map(|(path, file)| {
            let cassette = file.as_ref().map_err(Clone::clone).and_then(|file| {
                file.cassette().map_err(|error| replay::unreadable(&error, cell, suite, agent))
            });
            (path.as_path(), cassette)
        })
        .collect();
    // One broken file of several is one broken run; a broken file alone is the row's own error.
    if let [(_, Err(reason))] = &opened[..] {
        return fail(report, reason.clone());
    }
    let named: Vec<(&Path, &Cassette<'_>)> =
        opened.iter().filter_map(|(path, cassette)| Some((*path, cassette.as_ref().ok()?))).collect();
    report.unpinned = named.iter().any(|(_, cassette)| !cassette.is_pinned());
    match replay::freshness(cell, suite, agent, model, &named) {
        Freshness::Fresh(notes) => report.notes = notes,
        Freshness::Stale(reason) => return fail(report, reason),
    }
    let headers = named.iter().filter_map(|(_, cassette)| cassette.header.as_ref());
    if let Some(reason) = faults::unhittable(suite, agent, headers) {
        return fail(report, reason);
    }
    let recorded: Vec<Recorded<'_, '_>> = opened
        .iter()
        .flat_map(|(path, cassette)| match cassette {
            Ok(cassette) => cassette
                .runs
                .iter()
                .map(|run| Recorded {
                    trace: run.trace.as_ref().map_err(|problem| {
                        let error = ReadError::Bad { path: path.to_path_buf(), problem: problem.clone() };
                        replay::unreadable(&error, cell, suite, agent)
                    }),
                    header: cassette.header.as_ref(),
                })
                .collect(),
            Err(reason) => vec![Recorded { trace: Err(reason.clone()), header: None }],
        })
        .collect();
    let wanted = agent.runs_to_judge(recorded.len());
    if let Some(message) = replay::missing(&named, recorded.len(), wanted) {
        let help = Some(advice::short(cell, suite, agent));
        return fail(report, Reason { message, help, ..Reason::default() });
    }
    if recorded.len() > wanted {
        let judged = if wanted == 1 { "is".to_owned() } else { format!("{wanted} are") };
        report.notes.push(format!("{} runs are recorded; only the first {judged} judged", recorded.len()));
    }
    let recorded = &recorded[..wanted];
    let traces = recorded.iter().map(|run| run.trace.as_ref().ok().copied());
    if let Some(reason) = faults::misrecorded(cell, suite, agent, traces) {
        return fail(report, reason);
    }
    judge_runs(agent, recorded, report);
}

/// One recorded run: its trace, or why it cannot be read.
struct Recorded<'c, 'a> {
    trace: Result<&'c Trace<'a>, Reason>,
    header: Option<&'c Header>,
}

fn judge_runs(agent: &Agent, recorded: &[Recorded<'_, '_>], report: &mut TestReport) {
    for (at, run) in recorded.iter().enumerate() {
        report.runs.push(match &run.trace {
            Ok(trace) => judge_run(agent, at + 1, trace),
            Err(reason) => {
                let message = format!("run {} cannot be read: {}", at + 1, reason.message);
                broken_run(at + 1, Reason { message, ..reason.clone() })
            }
        });
    }
    if let Some(broken) = report.runs.iter().find(|run| run.status == Status::Error) {
        let mut reason = broken.reason.clone().unwrap_or_default();
        if !agent.gates.is_empty() {
            reason.details.push("so the gates are not scored".to_owned());
        }
        return fail(report, reason);
    }
    let runs: Vec<Run<'_>> = recorded
        .iter()
        .zip(&report.runs)
        .filter_map(|(recorded, judged)| {
            let trace = *recorded.trace.as_ref().ok()?;
            Some(Run { trace, header: recorded.header, passed: judged.status == Status::Passed })
        })
        .collect();
    report.notes.extend(runs.iter().enumerate().filter_map(|(at, run)| overcome_errors(run.trace, at + 1)));
    report.notes.extend(faults::unmet(agent, &runs));
    let row_name = report.row_name();
    report.gates = agent.gates.iter().map(|gate| gate.judge(&row_name, &runs)).collect();
    let runs_decide = !agent.gates.iter().any(|gate| gate.decides_runs());
    let runs = report.runs.iter().filter(|_| runs_decide).map(|run| run.status);
    report.status = runs.chain(report.gates.iter().map(|gate| gate.status)).max().unwrap_or(Status::Passed);
}

/// Whether a run's own `expect:` holds; `None` when the run is no evidence.
pub(crate) fn passes(agent: &Agent, trace: &Trace<'_>) -> Option<bool> {
    match judge_run(agent, 1, trace).status {
        Status::Passed => Some(true),
        Status::Failed => Some(false),
        Status::Error | Status::Skipped => None,
    }
}

fn judge_run(agent: &Agent, index: usize, trace: &Trace<'_>) -> RunReport {
    if let Some(message) = trace.fatal_error() {
        let message = format!("run {index} ended in an error: {message}");
        return broken_run(index, Reason { message, ..Reason::default() });
    }
    if let Some(message) = misplaced_result(trace) {
        let message = format!("run {index} cannot be judged: {message}");
        return broken_run(index, Reason { message, ..Reason::default() });
    }
    let expectations: Vec<_> = agent.expect.iter().map(|assertion| assertion.check(trace)).collect();
    let passed = expectations.iter().all(|expectation| expectation.passed);
    RunReport {
        index,
        status: if passed { Status::Passed } else { Status::Failed },
        reason: None,
        tool_names: trace.tool_names().take(SHOWN_TOOL_NAMES).map(str::to_owned).collect(),
        calls: trace.tool_calls.len(),
        duration_ms: None,
        expectations,
    }
}

fn broken_run(index: usize, reason: Reason) -> RunReport {
    RunReport {
        index,
        status: Status::Error,
        reason: Some(reason),
        tool_names: Vec::new(),
        calls: 0,
        duration_ms: None,
        expectations: Vec::new(),
    }
}

/// A result that answers no call, or not in the order of the calls: nothing said about results would be true.
fn misplaced_result(trace: &Trace<'_>) -> Option<String> {
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
fn overcome_errors(trace: &Trace<'_>, index: usize) -> Option<String> {
    let first = trace.errors.first()?;
    let more = trace.errors.len() - 1;
    let others = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!("run {index} met an error and went on: {}{others}", error_in_words(first.get())))
}
