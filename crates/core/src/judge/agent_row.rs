//! Which verdict do the recorded runs of an agent's row lead to?

use super::one_run::{
    broken_run, doubled_argument, judge_run, overcome_errors, reached_limit, set_totals,
};
use super::recorded::{RecordedRun, RecordedRuns, missing, with_known_tools};
use super::{Judging, advice, faults, outcome, servers, side_runs};
use crate::engine::{GateBlock, GateTrait, SideRuns, decided};
use crate::grade::{self, Found};
use crate::report::{Advice, GateReport, RunReport, Status, TestReport};
use crate::row::{AgentRow, Reason, ReasonKind, Row, RowOfAgent};
use crate::suite::Agent;
use crate::trace::{Run, Trace};
use crate::words::count;
use std::borrow::Cow;

pub(super) fn judge(
    row: RowOfAgent<'_>,
    recorded: &RecordedRuns<'_>,
    judging: Judging,
    report: &mut TestReport,
) -> Result<(), Reason> {
    let of = row.of;
    let agent = of.agent;
    report.unpinned = recorded.unpinned;
    report.stale = recorded.is_stale;
    if let Some(reason) = &recorded.stale {
        return Err(reason.clone());
    }
    report.notes.clone_from(&recorded.notes);
    if let Some(reason) = faults::unhittable(of, recorded) {
        return Err(reason);
    }
    let RunsToJudge {
        judged,
        others,
        wanted,
        stop,
    } = runs_to_judge(row, recorded, report)?;
    // What nobody judges must be whole too: a file with something else in it is not the one that was recorded.
    let not_whole = others.iter().find_map(|run| run.trace.as_ref().err());
    let graded: Vec<Vec<Found>> = judged
        .iter()
        .map(|run| recorded.grades.of(&grade::of_run(of, run), row.row))
        .collect();
    let settled = with_known_tools(of, &judged);
    let judged: Vec<RecordedRun<'_>> = judged
        .iter()
        .zip(&settled)
        .map(|(run, settled)| settled_run(run, settled.as_ref()))
        .collect();
    if let Some(reason) = faults::misrecorded(row, &judged) {
        return Err(reason);
    }
    for (run, graded) in judged.iter().zip(&graded) {
        add_advice(run.number, graded, report);
    }
    let mut runs = judge_runs(agent, &judged, &graded, report);
    for reason in report.runs.iter_mut().filter_map(|run| run.reason.as_mut()) {
        again(row, recorded.is_live, reason);
    }
    let broken = errors_of(report);
    if runs.is_empty()
        && let Some(reason) = broken
    {
        return Err(reason);
    }
    let gates = gates_to_judge(row, report);
    let ordinary = judge_ordinary(of, &gates, &mut runs, judging, report);
    if stop.is_some() && broken.is_none() {
        let note = accept_early_stop(row, &runs, wanted)?;
        report.notes.push(note);
    }
    note_runs(&runs, report);
    let unmet = faults::unmet(agent, &runs);
    report.notes.extend(unmet.iter().cloned());
    let row = JudgedRow {
        row,
        gates: &gates,
        runs: &runs,
        recorded,
        judging,
    };
    let not_judged = row.judge_gates(ordinary, report).err();
    report.settle_runs();
    if judging.deny_vacuous
        && let Some(fault) = unmet.first()
    {
        deny_unmet(fault, report);
    }
    if broken.is_some() && runs.len() < judged.len() {
        for gate in &mut report.gates {
            gate.scored_runs = Some(runs.len());
        }
    }
    match broken.or_else(|| not_whole.cloned()).or(not_judged) {
        Some(reason) => Err(reason),
        None => Ok(()),
    }
}

/// Says what is odd about the runs and changes no verdict.
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
    let message = format!("{fault}, which --deny-vacuous does not allow");
    report.status = Status::Failed;
    report.reason = Some(Reason::new(ReasonKind::FaultNotMet, message));
}

/// Which of the recorded runs are judged.
struct RunsToJudge<'r, 't> {
    judged: Cow<'r, [RecordedRun<'t>]>,
    others: &'r [RecordedRun<'t>],
    wanted: usize,
    /// After how many runs recording stopped early, where these are enough.
    stop: Option<usize>,
}

fn runs_to_judge<'r, 't>(
    row: RowOfAgent<'_>,
    recorded: &'r RecordedRuns<'t>,
    report: &mut TestReport,
) -> Result<RunsToJudge<'r, 't>, Reason> {
    if !row.row.runs.is_empty() {
        return chosen_runs(row.row, recorded, report);
    }
    let there = recorded.runs.len();
    let wanted = row.of.agent.runs_to_judge(there);
    let missing = missing(&recorded.runs, wanted);
    let stop = recorded.early_stop(&missing, wanted);
    let judged = stop.unwrap_or(if missing.is_empty() { wanted } else { 0 });
    let (judged, others) = recorded.runs.split_at(judged);
    if let Some(message) = missing_in_words(&missing, wanted).filter(|_| stop.is_none()) {
        if let Some(reason) = others.iter().find_map(|run| run.trace.as_ref().err()) {
            return Err(reason.clone());
        }
        return Err(advice::short(
            Reason::new(ReasonKind::RunsMissing, message),
            row,
        ));
    }
    if there > wanted {
        let first = if wanted == 1 {
            "is".to_owned()
        } else {
            format!("{wanted} are")
        };
        report.notes.push(format!(
            "{there} runs are recorded; only the first {first} judged"
        ));
    }
    Ok(RunsToJudge {
        judged: Cow::Borrowed(judged),
        others,
        wanted,
        stop,
    })
}

/// The runs that were selected by their numbers.
fn chosen_runs<'r, 't>(
    row: &Row<'_>,
    recorded: &'r RecordedRuns<'t>,
    report: &mut TestReport,
) -> Result<RunsToJudge<'r, 't>, Reason> {
    let is_chosen = |run: &&RecordedRun<'_>| row.runs.contains(&run.number);
    let judged: Vec<RecordedRun<'t>> = recorded.runs.iter().filter(is_chosen).cloned().collect();
    let is_recorded = |number: &usize| judged.iter().any(|run| run.number == *number);
    let missing: Vec<usize> = row
        .runs
        .iter()
        .copied()
        .filter(|number| !is_recorded(number))
        .collect();
    let all = count(recorded.runs.len(), "run");
    if !missing.is_empty() {
        let are = if missing.len() == 1 { "is" } else { "are" };
        let message = format!(
            "{} {are} not among the {all} recorded",
            numbered("run", &missing)
        );
        return Err(Reason::new(ReasonKind::RunsMissing, message));
    }
    report.notes.push(format!(
        "only {} of {all} is judged, as selected",
        numbered("run", &row.runs)
    ));
    Ok(RunsToJudge {
        wanted: judged.len(),
        judged: Cow::Owned(judged),
        others: &[],
        stop: None,
    })
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
            "not judged, because it takes all runs: {}",
            keys.join(", ")
        ));
    }
    judged
}

/// The run with the settled names of its tools.
fn settled_run<'t>(run: &RecordedRun<'t>, settled: Option<&'t Trace<'t>>) -> RecordedRun<'t> {
    RecordedRun {
        trace: settled.map_or_else(|| run.trace.clone(), Ok),
        ..run.clone()
    }
}

/// Why the row is an error, when runs of it are: the reason of the first, and which others there are.
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

/// Says which of the wanted runs are not recorded, when these are not.
pub(super) fn missing_in_words(missing: &[usize], wanted: usize) -> Option<String> {
    let first = *missing.first()?;
    if missing.len() == wanted + 1 - first {
        return Some(format!("{} of {wanted} runs are recorded", first - 1));
    }
    let are = if missing.len() == 1 { "is" } else { "are" };
    Some(format!(
        "{} of {wanted} {are} not recorded",
        numbered("run", missing)
    ))
}

/// `run 3`, `runs 3 and 7`, or the first few of many.
fn numbered(what: &str, numbers: &[usize]) -> String {
    const SHOWN: usize = 5;
    let mut named: Vec<String> = numbers
        .iter()
        .take(SHOWN)
        .map(ToString::to_string)
        .collect();
    if numbers.len() > SHOWN {
        named.push(format!("{} more", numbers.len() - SHOWN));
    }
    match &named[..] {
        [one] => format!("{what} {one}"),
        [first @ .., last] => format!("{what}s {} and {last}", first.join(", ")),
        [] => String::new(),
    }
}

/// A run that ended in an error is part of its recording: all runs of the row are recorded again, or none.
fn again(agent: RowOfAgent<'_>, is_live: bool, reason: &mut Reason) {
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

/// Adds the advice of judges on a run. Missing advice only gets a note.
fn add_advice(run: usize, graded: &[Found], report: &mut TestReport) {
    for found in graded.iter().filter(|found| found.is_advice) {
        let grade = match &found.grade {
            Ok(grade) => grade,
            Err(reason) => {
                let command = reason
                    .command
                    .as_ref()
                    .map(|command| format!("; `{command}` asks for it"));
                report.notes.push(format!(
                    "advice: {}{}",
                    reason.message,
                    command.unwrap_or_default()
                ));
                continue;
            }
        };
        for vote in &grade.votes {
            let noticed = vote.answers.iter().filter(|answer| answer.score < 0.5);
            report.advice.extend(noticed.map(|answer| Advice {
                key: found.check.clone(),
                run,
                model: vote.model.clone(),
                message: answer.reason.clone(),
            }));
        }
    }
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
        let number = run.number;
        let mut run_report = match &run.trace {
            Ok(trace) => {
                let judged = judge_run(agent, number, trace, graded);
                runs.extend(judged.passed.map(|passed| Run {
                    number,
                    trace,
                    header: run.header,
                    as_expected: passed,
                    passed,
                    grades: graded,
                }));
                judged.report
            }
            Err(reason) => {
                let mut reason = reason.clone();
                reason.message = format!("run {number} cannot be read: {}", reason.message);
                broken_run(number, reason)
            }
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

/// Accepts fewer runs if the remaining ones could change nothing. The row notes it.
fn accept_early_stop(
    row: RowOfAgent<'_>,
    runs: &[Run<'_>],
    wanted: usize,
) -> Result<String, Reason> {
    let recorded = runs.len();
    let agent = row.of.agent;
    let open = if !agent.stop_decided {
        Some("the suite does not say `stop: decided`")
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

/// Reports the gates that need no outcomes, in the order of the agent's gates, and the outcomes of the runs by them.
/// The gates that count outcomes, or make their own runs, are judged later.
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
            let failed = numbered("run", &judged.failed_runs);
            let count = if judged.failed_runs.len() == 1 {
                "counts"
            } else {
                "count"
            };
            let note = format!("{failed} {count} as failed by `{}:`", gate.key());
            report.notes.push(note);
        }
    }
    judged
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

/// A row whose runs have their outcomes.
struct JudgedRow<'j> {
    row: RowOfAgent<'j>,
    gates: &'j [&'j GateBlock],
    runs: &'j [Run<'j>],
    recorded: &'j RecordedRuns<'j>,
    judging: Judging,
}

impl JudgedRow<'_> {
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

    /// The worst of gates and runs. Where a gate counts the runs, they do not decide by themselves.
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
        let wanted = SideRuns::of(self.row.of.agent, if is_read { self.runs } else { &[] });
        let side = side_runs::SideRunsOfRow {
            row: self.row,
            gate,
            wanted,
            judging: self.judging,
        };
        side.judge(self.recorded.side_runs.as_ref(), self.runs, report)
    }
}
