//! Which verdict do the recorded runs of an agent's row lead to?

use super::one_run::{
    broken_run, doubled_argument, judge_run, overcome_errors, reached_limit, set_totals,
};
use super::recorded::{RecordedRun, RecordedRuns, with_known_tools};
use super::selected_runs::{numbered, select_runs, unreadable_run};
use super::{Judging, advice, faults, outcome, servers, side_runs};
use crate::engine::{GateBlock, GateTrait, SideRuns, decided};
use crate::grade::{self, Found, Grade};
use crate::report::{Advice, GateReport, RunReport, Status, TestReport};
use crate::row::{AgentRow, Reason, ReasonKind, Row, RowOfAgent};
use crate::suite::Agent;
use crate::trace::{Run, Trace};
use crate::words::count;

pub(super) fn judge(
    row: RowOfAgent<'_>,
    recorded: &RecordedRuns<'_>,
    judging: Judging,
    report: &mut TestReport,
) -> Result<(), Reason> {
    check_recording(row, recorded, report)?;
    let selected = select_runs(row, recorded, report)?;
    let graded = grades_of_each(row, &selected.judged, recorded);
    let settled = with_known_tools(row.of, &selected.judged);
    let judged = settled_runs(&selected.judged, &settled);
    if let Some(reason) = faults::misrecorded(row, &judged) {
        return Err(reason);
    }
    add_advice(&judged, &graded, report);
    let mut runs = judge_runs(row.of.agent, &judged, &graded, report);
    say_how_to_record_again(row, recorded.is_live, report);
    let broken = errors_of(report);
    if runs.is_empty()
        && let Some(reason) = broken
    {
        return Err(reason);
    }
    let gates = gates_to_judge(row, report);
    let ordinary = judge_ordinary(row.of, &gates, &mut runs, judging, report);
    if selected.is_stopped_early && broken.is_none() {
        let note = accept_early_stop(row, &runs, selected.wanted)?;
        report.notes.push(note);
    }
    note_runs(&runs, report);
    let row = JudgedRow {
        row,
        gates: &gates,
        runs: &runs,
        recorded,
        judging,
    };
    let not_judged = row.settle(ordinary, report).err();
    if broken.is_some() && runs.len() < judged.len() {
        say_how_many_are_scored(runs.len(), report);
    }
    let unreadable = || unreadable_run(selected.others).cloned();
    match broken.or_else(unreadable).or(not_judged) {
        Some(reason) => Err(reason),
        None => Ok(()),
    }
}

/// Refuses stale recordings, and recordings without a tool that an injected fault can affect. Notes
/// facts about the others.
fn check_recording(
    row: RowOfAgent<'_>,
    recorded: &RecordedRuns<'_>,
    report: &mut TestReport,
) -> Result<(), Reason> {
    report.unpinned = recorded.unpinned;
    report.stale = recorded.is_stale;
    if let Some(reason) = &recorded.stale {
        return Err(reason.clone());
    }
    report.notes.clone_from(&recorded.notes);
    match faults::unhittable(row.of, recorded) {
        Some(reason) => Err(reason),
        None => Ok(()),
    }
}

/// The grades that judges gave each run.
fn grades_of_each(
    row: RowOfAgent<'_>,
    runs: &[RecordedRun<'_>],
    recorded: &RecordedRuns<'_>,
) -> Vec<Vec<Found>> {
    runs.iter()
        .map(|run| recorded.grades.of(&grade::of_run(row.of, run), row.row))
        .collect()
}

/// The runs with the settled names of their tools.
fn settled_runs<'t>(
    runs: &[RecordedRun<'t>],
    settled: &'t [Option<Trace<'t>>],
) -> Vec<RecordedRun<'t>> {
    runs.iter()
        .zip(settled)
        .map(|(run, settled)| RecordedRun {
            trace: settled.as_ref().map_or_else(|| run.trace.clone(), Ok),
            ..run.clone()
        })
        .collect()
}

/// Sets the number of scored runs in a row with failed runs.
fn say_how_many_are_scored(scored: usize, report: &mut TestReport) {
    for gate in &mut report.gates {
        gate.scored_runs = Some(scored);
    }
}

/// Notes irregularities of the runs that do not change the verdict.
fn note_runs(runs: &[Run<'_>], report: &mut TestReport) {
    servers::note(runs, report);
    let doubled = runs
        .iter()
        .filter_map(|run| doubled_argument(run.trace, run.number));
    report.notes.extend(doubled);
    let overcome = runs
        .iter()
        .filter_map(|run| overcome_errors(run.trace, run.number));
    report.notes.extend(overcome);
    let failed = runs.iter().filter(|run| !run.as_expected);
    let limited = failed.filter_map(|run| reached_limit(run.trace, run.number));
    report.notes.extend(limited);
}

/// Fails a row with a fault that no run met.
fn deny_unmet(fault: &str, report: &mut TestReport) {
    if report.status == Status::Error {
        return;
    }
    let message = format!("{fault}, which `--deny-vacuous` forbids");
    report.status = Status::Failed;
    report.reason = Some(Reason::new(ReasonKind::FaultNotMet, message));
}

/// The gates of the agent. If single runs were selected, only the gates that judge single runs.
fn gates_to_judge<'g>(row: RowOfAgent<'g>, report: &mut TestReport) -> Vec<&'g GateBlock> {
    let all = row.of.agent.gates.iter();
    if row.row.runs.is_empty() {
        return all.collect();
    }
    let (judged, others): (Vec<&GateBlock>, Vec<&GateBlock>) =
        all.partition(|gate| gate.kind.fails_runs() && gate.judges_one_run());
    if !others.is_empty() {
        let keys: Vec<String> = others
            .iter()
            .map(|gate| format!("`{}:`", gate.key()))
            .collect();
        report.notes.push(format!(
            "not judged, because it needs all runs: {}",
            keys.join(", ")
        ));
    }
    judged
}

/// Why the row is an error if runs are: the reason of the first, and the numbers of the others.
fn errors_of(report: &TestReport) -> Option<Reason> {
    let mut broken = report.runs.iter().filter(|run| run.status == Status::Error);
    let mut reason = broken.next()?.reason.clone().unwrap_or_default();
    let others: Vec<usize> = broken.map(|run| run.index).collect();
    if !others.is_empty() {
        let are = if others.len() == 1 {
            "is an error"
        } else {
            "are errors"
        };
        reason
            .details
            .push(format!("{} {are} too", numbered("run", &others)));
    }
    Some(reason)
}

/// Explains how to record again: a run that ended in an error belongs to its recording, so all runs
/// of the row are recorded again, or none.
fn say_how_to_record_again(row: RowOfAgent<'_>, is_live: bool, report: &mut TestReport) {
    for reason in report.runs.iter_mut().filter_map(|run| run.reason.as_mut()) {
        add_recording_command(row, is_live, reason);
    }
}

fn add_recording_command(agent: RowOfAgent<'_>, is_live: bool, reason: &mut Reason) {
    // What an eval grades was recorded by another row, which is the one to record again.
    let recorder = agent.row.recorded_by();
    let RowOfAgent { row, of } = recorder.as_ref().and_then(Row::of_agent).unwrap_or(agent);
    let can_be_recorded = of.agent.own.is_some() || of.model.is_some();
    let is_kept = !is_live && can_be_recorded && !of.agent.is_read_only();
    if is_kept && matches!(reason.kind, ReasonKind::RunError | ReasonKind::AgentCrashed) {
        reason
            .help
            .get_or_insert_with(|| "record the row again".to_owned());
        reason.command = Some(row.rerun.recording("--record=failed"));
    }
}

/// Adds the advice of judges on the runs. Missing advice only gets a note.
fn add_advice(runs: &[RecordedRun<'_>], graded: &[Vec<Found>], report: &mut TestReport) {
    for (run, graded) in runs.iter().zip(graded) {
        for found in graded.iter().filter(|found| found.is_advice) {
            match &found.grade {
                Ok(grade) => add_votes(run.number, &found.check, grade, report),
                Err(reason) => report.notes.push(missing_advice(reason)),
            }
        }
    }
}

/// Adds each judge's criticism of a run.
fn add_votes(run: usize, check: &str, grade: &Grade, report: &mut TestReport) {
    for vote in &grade.votes {
        let noticed = vote.answers.iter().filter(|answer| answer.score < 0.5);
        report.advice.extend(noticed.map(|answer| Advice {
            key: check.to_owned(),
            run,
            model: vote.model.clone(),
            message: answer.reason.clone(),
        }));
    }
}

fn missing_advice(reason: &Reason) -> String {
    let command = reason
        .command
        .as_ref()
        .map(|command| format!("; `{command}` asks for it"))
        .unwrap_or_default();
    format!("advice: {}{command}", reason.message)
}

/// Checks each run against the agent's `expect:`. The gates score the runs without errors.
fn judge_runs<'t>(
    agent: &Agent,
    recorded: &[RecordedRun<'t>],
    graded: &'t [Vec<Found>],
    report: &mut TestReport,
) -> Vec<Run<'t>> {
    let mut runs = Vec::with_capacity(recorded.len());
    report.runs.reserve_exact(recorded.len());
    for (run, graded) in recorded.iter().zip(graded) {
        let mut run_report = match &run.trace {
            Ok(trace) => {
                let judged = judge_run(agent, run.number, trace, graded);
                runs.extend(judged.passed.map(|passed| Run {
                    number: run.number,
                    trace,
                    header: run.header,
                    as_expected: passed,
                    passed,
                    grades: graded,
                }));
                judged.report
            }
            Err(reason) => unreadable_run_report(run.number, reason),
        };
        run_report.source = run.source.map(|path| path.display().to_string());
        run_report.line = run.line;
        if let Ok(trace) = &run.trace {
            set_totals(&mut run_report, trace);
        }
        report.runs.push(run_report);
    }
    runs
}

fn unreadable_run_report(number: usize, reason: &Reason) -> RunReport {
    let mut reason = reason.clone();
    reason.message = format!("run {number} cannot be read: {}", reason.message);
    broken_run(number, reason)
}

/// Accepts fewer runs if the remaining ones could change nothing, with a note.
fn accept_early_stop(
    row: RowOfAgent<'_>,
    runs: &[Run<'_>],
    wanted: usize,
) -> Result<String, Reason> {
    let recorded = runs.len();
    let agent = row.of.agent;
    let open = if !agent.stop_decided {
        Some("the suite does not set `stop: decided`")
    } else if decided(agent, runs, wanted).is_none() {
        Some("with the current suite, the remaining runs could change the verdict")
    } else {
        None
    };
    if let Some(why) = open {
        let message =
            format!("{recorded} of {wanted} runs are recorded: recording stopped early, and {why}");
        let reason = Reason::new(ReasonKind::RunsMissing, message);
        return Err(advice::short(reason, row));
    }
    let saved = count(wanted - recorded, "run");
    Ok(format!(
        "stopped after {recorded} of {wanted} runs: the verdict was decided ({saved} saved)"
    ))
}

/// Adds the reports of gates that do not need outcomes, in the agent's order, and the outcomes of
/// the runs by them. Gates that count outcomes, or make their own runs, are judged later.
fn judge_ordinary(
    of: AgentRow<'_>,
    gates: &[&GateBlock],
    runs: &mut [Run<'_>],
    judging: Judging,
    report: &mut TestReport,
) -> Vec<Option<GateReport>> {
    let row_name = report.row_name();
    let judge = |gate: &&GateBlock| {
        let is_later = gate.judges_side_runs()
            || gate.is(GateTrait::DecidesRuns)
            || gate.is(GateTrait::ComparesWithBaseline);
        (!is_later).then(|| judge_gate(gate, of, &row_name, runs, judging))
    };
    let judged: Vec<Option<GateReport>> = gates.iter().map(judge).collect();
    let counts_runs = gates.iter().any(|gate| gate.is(GateTrait::DecidesRuns));
    for (gate, judged) in gates.iter().zip(&judged) {
        let Some(judged) = judged else { continue };
        outcome::fail_runs(runs, gate, judged);
        if counts_runs && gate.decides_a_run() && !judged.failed_runs.is_empty() {
            report.notes.push(note_failed_runs(gate, judged));
        }
    }
    judged
}

fn note_failed_runs(gate: &GateBlock, judged: &GateReport) -> String {
    let count = if judged.failed_runs.len() == 1 {
        "counts"
    } else {
        "count"
    };
    let failed = numbered("run", &judged.failed_runs);
    format!("{failed} {count} as failed by `{}:`", gate.key())
}

fn judge_gate(
    gate: &GateBlock,
    of: AgentRow<'_>,
    row_name: &str,
    runs: &[Run<'_>],
    judging: Judging,
) -> GateReport {
    let mut judged = gate.judge_beside(of, row_name, runs);
    if judging.evidence.is_some() {
        judged.evidence = gate.evidence(of.variant, &[], runs, &judged);
    }
    judged
}

/// A row with the outcomes of its runs.
struct JudgedRow<'j> {
    row: RowOfAgent<'j>,
    gates: &'j [&'j GateBlock],
    runs: &'j [Run<'j>],
    recorded: &'j RecordedRuns<'j>,
    judging: Judging,
}

impl JudgedRow<'_> {
    /// Judges the remaining gates and settles the outcome of the row and its runs.
    fn settle(
        &self,
        ordinary: Vec<Option<GateReport>>,
        report: &mut TestReport,
    ) -> Result<(), Reason> {
        let unmet = faults::unmet(self.row.of.agent, self.runs);
        report.notes.extend(unmet.iter().cloned());
        let judged = self.judge_gates(ordinary, report);
        report.settle_runs();
        if self.judging.deny_vacuous
            && let Some(fault) = unmet.first()
        {
            deny_unmet(fault, report);
        }
        judged
    }

    /// Judges the gates that are not among the ordinary ones.
    fn judge_gates(
        &self,
        ordinary: Vec<Option<GateReport>>,
        report: &mut TestReport,
    ) -> Result<(), Reason> {
        let row_name = report.row_name();
        let mut gates = Vec::with_capacity(ordinary.len());
        let mut not_judged = None;
        for (gate, judged) in self.gates.iter().zip(ordinary) {
            match judged {
                Some(judged) => gates.push(judged),
                // The other gates are judged although these runs are broken.
                None if gate.judges_side_runs() => match self.judge_side_runs(gate, report) {
                    Ok(judged) => gates.push(judged),
                    Err(reason) => not_judged = Some(reason),
                },
                None => gates.push(judge_gate(
                    gate,
                    self.row.of,
                    &row_name,
                    self.runs,
                    self.judging,
                )),
            }
        }
        report.gates = gates;
        report.status = self.status(report);
        not_judged.map_or(Ok(()), Err)
    }

    /// The worst of gates and runs. If a gate counts the runs, they do not decide alone.
    fn status(&self, report: &TestReport) -> Status {
        let are_counted = self
            .gates
            .iter()
            .any(|gate| gate.is(GateTrait::DecidesRuns));
        // What judges say of a run no other gate counts, so it holds in each.
        let has_bad_grade = |run: &&RunReport| {
            run.expectations
                .iter()
                .any(|one| !one.passed && one.grade.is_some())
        };
        let deciding = report
            .runs
            .iter()
            .filter(|run| !are_counted || has_bad_grade(run));
        let of_runs = deciding.map(|run| run.status);
        let of_gates = report.gates.iter().map(|gate| gate.status);
        of_runs.chain(of_gates).max().unwrap_or(Status::Passed)
    }

    fn judge_side_runs(
        &self,
        gate: &GateBlock,
        report: &mut TestReport,
    ) -> Result<GateReport, Reason> {
        // Which faults there are is read from the first run, when that is one.
        let is_read = self
            .recorded
            .runs
            .first()
            .is_some_and(|first| first.trace.is_ok());
        let wanted = SideRuns::wanted(self.row.of.agent, if is_read { self.runs } else { &[] });
        let side = side_runs::SideRunsOfRow {
            row: self.row,
            gate,
            wanted,
            judging: self.judging,
        };
        side.judge(self.recorded.side_runs.as_ref(), self.runs, report)
    }
}
