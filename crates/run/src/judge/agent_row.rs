//! What do the recorded runs of an agent's row come to?

use super::matrix;
use super::one_run::{broken_run, judge_run, overcome_errors, reached_limit};
use crate::cassette::{Cassette, ReadError};
use crate::plan::Row;
use crate::replay::{self, Recordings, expected_header};
use crate::tool_test::fail;
use crate::{advice, faults};
use mcptest_core::eval::{GateBlock, decided};
use mcptest_core::report::{Reason, Status, TestReport};
use mcptest_core::suite::Agent;
use mcptest_core::trace::{Header, Run, Trace};
use std::path::Path;

/// What was recorded just now and is on no disk.
#[derive(Clone, Copy)]
pub(super) struct Live<'l> {
    /// The row's cassette.
    pub(super) cassette: &'l str,
    /// That of its fault matrix, when it has one.
    pub(super) matrix: Option<&'l str>,
}

/// Judges the recordings of a row, or the runs made just now.
pub(super) fn judge(row: Row<'_>, live: Option<Live<'_>>, report: &mut TestReport) {
    if let Err(reason) = judge_recordings(row, live, report) {
        fail(report, reason);
    }
}

fn judge_recordings(row: Row<'_>, live: Option<Live<'_>>, report: &mut TestReport) -> Result<(), Reason> {
    let recordings = match live {
        Some(live) => Recordings::live(live.cassette),
        None => replay::open(row)?,
    };
    let opened: Vec<(&Path, Result<Cassette<'_>, Reason>)> = recordings
        .files
        .iter()
        .map(|(path, file)| {
            let cassette = file
                .as_ref()
                .map_err(Clone::clone)
                .and_then(|file| file.cassette().map_err(|error| replay::unreadable(&error, row)));
            (path.as_path(), cassette)
        })
        .collect();
    // One broken file of several is one broken run; a broken file alone is the row's own error.
    if let [(_, Err(reason))] = &opened[..] {
        return Err(reason.clone());
    }
    let named: Vec<(&Path, &Cassette<'_>)> =
        opened.iter().filter_map(|(path, cassette)| Some((*path, cassette.as_ref().ok()?))).collect();
    report.unpinned = named.iter().any(|(_, cassette)| !cassette.is_pinned());
    let expected = expected_header(row.suite, row.agent, row.model, row.variant);
    report.notes = replay::freshness(row, &expected, &named)?;
    report.notes.extend(recordings.imported());
    let headers = named.iter().filter_map(|(_, cassette)| cassette.header.as_ref());
    if let Some(reason) = faults::unhittable(row.suite, row.agent, headers) {
        return Err(reason);
    }
    let recorded = recorded(&opened, row);
    let wanted = row.agent.runs_to_judge(recorded.len());
    let alone = named.first().filter(|_| opened.len() == 1).map(|(_, cassette)| *cassette);
    let stop = alone.and_then(|cassette| replay::early_stop(cassette, wanted));
    let missing =
        alone.map_or_else(|| (recorded.len() + 1..=wanted).collect(), |cassette| cassette.missing(wanted));
    if let Some(message) = replay::missing(&missing, wanted).filter(|_| stop.is_none()) {
        let help = Some(advice::short(row.cell, row.suite, row.agent));
        return Err(Reason { message, help, ..Reason::default() });
    }
    if recorded.len() > wanted {
        let judged = if wanted == 1 { "is".to_owned() } else { format!("{wanted} are") };
        report.notes.push(format!("{} runs are recorded; only the first {judged} judged", recorded.len()));
    }
    let recorded = &recorded[..stop.unwrap_or(wanted)];
    let traces = recorded.iter().map(|run| run.trace.as_ref().ok().copied());
    if let Some(reason) = faults::misrecorded(row.cell, row.suite, row.agent, traces) {
        return Err(reason);
    }
    let runs = judge_runs(row.agent, recorded, report).map_err(|reason| again(row, live, reason))?;
    if stop.is_some() {
        report.notes.push(accept_early_stop(row, &runs, wanted)?);
    }
    report.notes.extend(runs.iter().enumerate().filter_map(|(at, run)| overcome_errors(run.trace, at + 1)));
    let failed = runs.iter().enumerate().filter(|(_, run)| !run.passed);
    report.notes.extend(failed.filter_map(|(at, run)| reached_limit(run.trace, at + 1)));
    report.notes.extend(faults::unmet(row.agent, &runs));
    judge_gates(row, &runs, live, report)
}

/// The runs of all files in their order; a file that cannot be read is one broken run.
fn recorded<'c, 'a>(
    opened: &'c [(&Path, Result<Cassette<'a>, Reason>)],
    row: Row<'_>,
) -> Vec<Recorded<'c, 'a>> {
    opened
        .iter()
        .flat_map(|(path, cassette)| match cassette {
            Ok(cassette) => cassette
                .runs
                .iter()
                .map(|run| Recorded {
                    trace: run.trace.as_ref().map_err(|problem| {
                        let error = ReadError::Bad { path: path.to_path_buf(), problem: problem.clone() };
                        replay::unreadable(&error, row)
                    }),
                    header: cassette.header.as_ref(),
                })
                .collect(),
            Err(reason) => vec![Recorded { trace: Err(reason.clone()), header: None }],
        })
        .collect()
}

/// A run that ended in an error is part of its recording: all runs of the row are recorded again, or none.
fn again(row: Row<'_>, live: Option<Live<'_>>, reason: Reason) -> Reason {
    let can_be_recorded = row.agent.own.is_some() || row.model.is_some();
    let is_kept = live.is_none() && can_be_recorded && !row.agent.is_read_only();
    let has_ended = reason.message.contains(" ended in an error: ");
    let command = || advice::record_command(row.cell, row.suite, "--record=failed");
    let help = (is_kept && has_ended).then(|| format!("record the row again with {}", command()));
    Reason { help: reason.help.or(help), ..reason }
}

/// One recorded run: its trace, or why it cannot be read.
struct Recorded<'c, 'a> {
    trace: Result<&'c Trace<'a>, Reason>,
    header: Option<&'c Header>,
}

/// Each run held to the agent's `expect:`. One that is an error makes an error of the row.
fn judge_runs<'c>(
    agent: &Agent,
    recorded: &[Recorded<'c, 'c>],
    report: &mut TestReport,
) -> Result<Vec<Run<'c>>, Reason> {
    let mut runs = Vec::with_capacity(recorded.len());
    for (at, run) in recorded.iter().enumerate() {
        report.runs.push(match &run.trace {
            Ok(trace) => {
                let judged = judge_run(agent, at + 1, trace);
                runs.push(Run { trace, header: run.header, passed: judged.status == Status::Passed });
                judged
            }
            Err(reason) => {
                let message = format!("run {} cannot be read: {}", at + 1, reason.message);
                broken_run(at + 1, Reason { message, ..reason.clone() })
            }
        });
    }
    let Some(broken) = report.runs.iter().find(|run| run.status == Status::Error) else { return Ok(runs) };
    let mut reason = broken.reason.clone().unwrap_or_default();
    if !agent.gates.is_empty() {
        reason.details.push("so the gates are not scored".to_owned());
    }
    Err(reason)
}

/// Takes the runs there are for all that are wanted, where the others could change nothing; the row says so.
fn accept_early_stop(row: Row<'_>, runs: &[Run<'_>], wanted: usize) -> Result<String, Reason> {
    let recorded = runs.len();
    let open = if !row.agent.stop_decided {
        Some("the suite does not say `stop: decided`")
    } else if decided(row.agent, runs, wanted).is_none() {
        Some("with the suite as it is now the others could change the verdict")
    } else {
        None
    };
    if let Some(why) = open {
        let message = format!("{recorded} of {wanted} runs are recorded: recording stopped early, and {why}");
        let help = Some(advice::short(row.cell, row.suite, row.agent));
        return Err(Reason { message, help, ..Reason::default() });
    }
    let saved = wanted - recorded;
    let s = if saved == 1 { "" } else { "s" };
    Ok(format!("stopped after {recorded} of {wanted} runs: the verdict was decided ({saved} run{s} saved)"))
}

/// Each gate over the runs, that of the fault matrix over runs of its own; the worst decides.
fn judge_gates(
    row: Row<'_>,
    runs: &[Run<'_>],
    live: Option<Live<'_>>,
    report: &mut TestReport,
) -> Result<(), Reason> {
    let row_name = report.row_name();
    let mut gates = Vec::with_capacity(row.agent.gates.len());
    for gate in &row.agent.gates {
        gates.push(if gate.judges_matrix() {
            matrix::judge(row, gate, runs, live, report)?
        } else {
            gate.judge_variant(row.variant, &row_name, runs)
        });
    }
    report.gates = gates;
    let runs_decide = !row.agent.gates.iter().any(GateBlock::decides_runs);
    let runs = report.runs.iter().filter(|_| runs_decide).map(|run| run.status);
    report.status = runs.chain(report.gates.iter().map(|gate| gate.status)).max().unwrap_or(Status::Passed);
    Ok(())
}
