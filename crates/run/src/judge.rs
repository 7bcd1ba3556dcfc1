//! Recorded runs become a verdict: each run's `expect:`, then each gate over all of them.

use crate::cassette::Cassette;
use crate::plan::{Cell, Subject, refusal};
use crate::replay::{self, Freshness};
use mcptest_core::report::{Reason, RunReport, Status, TestReport};
use mcptest_core::suite::{Agent, Model, Suite};
use mcptest_core::trace::{Header, Run, Trace};

const SHOWN_TOOL_NAMES: usize = 50;

/// Replays one cell and judges it. Whatever is wrong with it stays in its row.
pub(crate) fn judge(cell: &Cell<'_>) -> TestReport {
    let mut report = cell.blank();
    if let Some(reason) = &cell.skip {
        report.status = Status::Skipped;
        report.reason = Some(Reason { message: reason.clone(), ..Reason::default() });
        return report;
    }
    match cell.subject {
        Subject::Agent { suite, agent, model } => judge_agent(cell, suite, agent, model, &mut report),
        Subject::Tool(_) => fail(
            &mut report,
            Reason {
                message: "a direct tool test cannot be judged from recordings by this version".to_owned(),
                ..Reason::default()
            },
        ),
        Subject::Refused(loaded) => fail(&mut report, refusal(loaded)),
    }
    report
}

fn fail(report: &mut TestReport, reason: Reason) {
    report.status = Status::Error;
    report.reason = Some(reason);
}

fn judge_agent(
    cell: &Cell<'_>,
    suite: &Suite,
    agent: &Agent,
    model: Option<&Model>,
    report: &mut TestReport,
) {
    if !agent.inject.is_empty() {
        let message = "an agent with `inject:` cannot be judged by this version".to_owned();
        return fail(report, Reason { message, ..Reason::default() });
    }
    let recordings = match replay::open(cell, suite, agent, model) {
        Ok(recordings) => recordings,
        Err(reason) => return fail(report, reason),
    };
    let mut cassettes: Vec<Cassette<'_>> = Vec::new();
    for recording in &recordings.files {
        match recording.cassette() {
            Ok(cassette) => cassettes.push(cassette),
            Err(error) => {
                let help = Some(replay::record_help(cell, suite));
                return fail(report, Reason { message: error.to_string(), help, ..Reason::default() });
            }
        }
    }
    let named: Vec<_> = recordings.files.iter().map(|file| file.path()).zip(&cassettes).collect();
    report.unpinned = cassettes.iter().any(|cassette| !cassette.is_pinned());
    match replay::freshness(cell, suite, agent, model, &named) {
        Freshness::Fresh(notes) => report.notes = notes,
        Freshness::Stale(reason) => return fail(report, reason),
    }
    let recorded: Vec<Recorded<'_, '_>> = cassettes
        .iter()
        .flat_map(|cassette| cassette.runs.iter().map(|run| (run, cassette.header.as_ref())))
        .map(|(run, header)| Recorded {
            trace: run.trace.as_ref().map_err(|problem| (run.line, problem.to_string())),
            header,
        })
        .collect();
    if let Some(reason) = too_few(&recorded, agent.runs, cell, suite) {
        return fail(report, reason);
    }
    if recorded.len() > agent.runs {
        let all = recorded.len();
        report.notes.push(format!("{all} runs are recorded; the first {} are judged", agent.runs));
    }
    judge_runs(agent, &recorded[..agent.runs], report);
}

/// One recorded run: its trace, or the line and reason why it cannot be read.
struct Recorded<'c, 'a> {
    trace: Result<&'c Trace<'a>, (usize, String)>,
    header: Option<&'c Header>,
}

fn too_few(recorded: &[Recorded<'_, '_>], wanted: usize, cell: &Cell<'_>, suite: &Suite) -> Option<Reason> {
    (recorded.len() < wanted).then(|| Reason {
        message: format!("{} of {wanted} runs are recorded", recorded.len()),
        help: Some(
            replay::record_help(cell, suite)
                .replace("--record ", "--record=missing ")
                .replace("record it", "record the rest"),
        ),
        ..Reason::default()
    })
}

fn judge_runs(agent: &Agent, recorded: &[Recorded<'_, '_>], report: &mut TestReport) {
    for (at, run) in recorded.iter().enumerate() {
        report.runs.push(match &run.trace {
            Ok(trace) => judge_run(agent, at + 1, trace),
            Err((line, problem)) => {
                broken_run(at + 1, format!("run {} is unreadable (line {line}): {problem}", at + 1))
            }
        });
    }
    if let Some(broken) = report.runs.iter().find(|run| run.status == Status::Error) {
        let message = broken.reason.as_ref().map(|reason| reason.message.clone()).unwrap_or_default();
        let help = (!agent.gates.is_empty())
            .then(|| "the gates are not scored over the other runs; record the test again".to_owned());
        return fail(report, Reason { message, help, ..Reason::default() });
    }
    let runs: Vec<Run<'_>> = recorded
        .iter()
        .zip(&report.runs)
        .filter_map(|(recorded, judged)| {
            let trace = *recorded.trace.as_ref().ok()?;
            Some(Run { trace, header: recorded.header, passed: judged.status == Status::Passed })
        })
        .collect();
    let row_name = report.row_name();
    report.gates = agent.gates.iter().map(|gate| gate.judge(&row_name, &runs)).collect();
    let runs_decide = !agent.gates.iter().any(|gate| gate.decides_runs());
    let runs = report.runs.iter().filter(|_| runs_decide).map(|run| run.status);
    report.status = runs.chain(report.gates.iter().map(|gate| gate.status)).max().unwrap_or(Status::Passed);
}

fn judge_run(agent: &Agent, index: usize, trace: &Trace<'_>) -> RunReport {
    if let Some(message) = fatal_error(trace) {
        return broken_run(index, format!("run {index} ended in an error: {message}"));
    }
    let expectations: Vec<_> = agent.expect.iter().map(|assertion| assertion.check(trace)).collect();
    let passed = expectations.iter().all(|expectation| expectation.passed);
    RunReport {
        index,
        status: if passed { Status::Passed } else { Status::Failed },
        reason: None,
        tool_names: trace.tool_names().take(SHOWN_TOOL_NAMES).map(str::to_owned).collect(),
        calls: trace.tool_calls.len(),
        expectations,
    }
}

fn broken_run(index: usize, message: String) -> RunReport {
    let reason = Some(Reason { message, ..Reason::default() });
    RunReport {
        index,
        status: Status::Error,
        reason,
        tool_names: Vec::new(),
        calls: 0,
        expectations: Vec::new(),
    }
}

/// Why the run never came to an end of its own, when it did not.
fn fatal_error(trace: &Trace<'_>) -> Option<String> {
    let never_ended =
        trace.final_response.is_none() && trace.stop_reason.is_none() && !trace.errors.is_empty();
    if trace.stop_reason.as_deref() != Some("error") && !never_ended {
        return None;
    }
    Some(
        trace
            .errors
            .first()
            .map_or_else(|| "it does not say which".to_owned(), |error| error.get().to_owned()),
    )
}
