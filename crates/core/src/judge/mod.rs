//! Which verdict do the recorded runs of a suite lead to? The runs are in memory, so no file is
//! opened here.

mod advice;
mod agent_row;
mod faults;
mod measurable;
mod one_run;
mod outcome;
mod recorded;
mod selected_runs;
mod servers;
mod side_runs;
mod tool_row;
mod vacuous;

pub use advice::is_read_only;
pub use measurable::{MeasurableRun, MeasurableRuns, SettledRuns};
pub use one_run::{judged_alone, with_outcome};
pub(crate) use recorded::with_known_tools;
pub use recorded::{Recorded, RecordedCall, RecordedRun, RecordedRuns, RecordedSideRuns};

use crate::guard::guarded;
use crate::hidden::without_named_secrets;
use crate::problem::nearest;
use crate::report::{Embed, Place, RawTrace, Report, Status, TestReport};
use crate::row::{Reason, ReasonKind, Rerun, Row, RowId, RowOfAgent, Subject};
use crate::suite::Suite;

/// Options for judging rows.
#[derive(Debug, Clone, Copy, Default)]
pub struct Judging {
    /// Fail gates and tests that measured nothing.
    pub deny_vacuous: bool,
    /// Fail rows whose recording has no fingerprint.
    pub deny_unpinned: bool,
    /// The runs are made just now and kept nowhere: who judges the row again makes them again.
    pub is_live: bool,
    /// Adds the evidence behind gates' numbers, and these traces.
    pub evidence: Option<Embed>,
}

/// Judges all rows of a suite, each by the runs given under its id. A problem of a row stays in
/// that row.
///
/// A row without runs is an error, and so are runs under an id that no row has.
pub fn judge(suite: &Suite, rows: &[(RowId, Recorded<'_>)]) -> Report {
    let judging = Judging {
        evidence: Some(Embed::None),
        ..Judging::default()
    };
    let of_suite = suite.rows();
    let mut tests: Vec<TestReport> = Vec::with_capacity(of_suite.len());
    for row in &of_suite {
        let given = rows.iter().find(|(id, _)| id.is_of(row));
        tests.push(if let Some((_, recorded)) = given {
            judge_row(row, recorded, judging)
        } else {
            let message = "no runs were given for this row";
            let reason = Reason::new(ReasonKind::RecordingMissing, message);
            judge_row(row, &Recorded::Nothing(reason), judging)
        });
    }
    for (id, _) in rows {
        if !of_suite.iter().any(|row| id.is_of(row)) {
            tests.push(unknown_row(&id.to_string(), suite, &of_suite));
        }
    }
    Report::new(tests, suite.gates)
}

/// The row for runs under an unknown id.
fn unknown_row(name: &str, suite: &Suite, rows: &[Row<'_>]) -> TestReport {
    let message = format!("the suite has no row `{name}`");
    let mut reason = Reason::new(ReasonKind::RowUnknown, message);
    let near = nearest(name, rows.iter().map(|row| row.name.as_str()));
    reason.help = near.map(|near| format!("did you mean `{near}`?"));
    let file = suite.path.display().to_string();
    let rerun = Rerun {
        suite: file.clone(),
        ..Rerun::default()
    };
    TestReport {
        status: Status::Error,
        reason: Some(reason),
        ..TestReport::blank(name, &Place { file, line: 1 }, &rerun)
    }
}

/// Judges one row. A bug in mcptest is an error of this row alone.
pub fn judge_row(row: &Row<'_>, recorded: &Recorded<'_>, judging: Judging) -> TestReport {
    let judge = || {
        let mut blank = row.blank();
        if row.skip.is_none() {
            blank.rerun = rerun(row, judging).to_string();
        }
        judge_unguarded(row, recorded, judging, blank)
    };
    guarded(judge).unwrap_or_else(|panic| row.broken(panic.into()))
}

/// Judges one row as [`judge_row`] does. The report lacks what describes the row: the command that judges it, and the
/// digests of its checks.
pub(crate) fn judge_undescribed(
    row: &Row<'_>,
    recorded: &Recorded<'_>,
    judging: Judging,
) -> TestReport {
    let judge = || judge_unguarded(row, recorded, judging, row.undescribed());
    guarded(judge).unwrap_or_else(|panic| row.broken(panic.into()))
}

fn judge_unguarded(
    row: &Row<'_>,
    recorded: &Recorded<'_>,
    judging: Judging,
    blank: TestReport,
) -> TestReport {
    without_named_secrets(judge_openly(row, recorded, judging, blank), recorded)
}

/// The report with everything that the recordings show.
fn judge_openly(
    row: &Row<'_>,
    recorded: &Recorded<'_>,
    judging: Judging,
    mut report: TestReport,
) -> TestReport {
    if let Some(reason) = &row.skip {
        report.status = Status::Skipped;
        report.reason = Some(reason.clone());
        return report;
    }
    if let Err(reason) = judge_subject(row, recorded, judging, &mut report) {
        // A file beside the traces of a folder is left alone.
        report.status = match reason.kind {
            ReasonKind::NotATrace => Status::Skipped,
            _ => Status::Error,
        };
        report.reason = Some(reason);
    }
    if judging.deny_vacuous {
        let baseline = row
            .agent_row()
            .and_then(|of| of.agent.baseline_of(of.variant));
        vacuous::deny(&mut report, baseline);
    }
    if let Some(option) = unpinned_denied_by(row, judging) {
        deny_unpinned(&mut report, option);
    }
    if let Recorded::Runs(runs) = recorded
        && judging.evidence.is_some_and(|embed| embed.takes(&report))
    {
        embed(&mut report, &runs.runs);
    }
    report
}

fn judge_subject(
    row: &Row<'_>,
    recorded: &Recorded<'_>,
    judging: Judging,
    report: &mut TestReport,
) -> Result<(), Reason> {
    let mismatched = |message: &str| Err(Reason::new(ReasonKind::RecordingUnreadable, message));
    match (row.subject, recorded) {
        (Subject::Refused(loaded), _) => Err(loaded.refusal()),
        (_, Recorded::Nothing(reason)) => Err(reason.clone()),
        (Subject::Agent(of), Recorded::Runs(runs)) => {
            agent_row::judge(RowOfAgent { row, of }, runs, judging, report)
        }
        (Subject::Tool(of), Recorded::Call(call)) => tool_row::judge(row, of, call, report),
        (Subject::Agent(_), Recorded::Call(_)) => {
            mismatched("an agent is judged by runs, not by a call")
        }
        (Subject::Tool(_), Recorded::Runs(_)) => {
            mismatched("a tool test is judged by its call, not by runs")
        }
    }
}

/// The command that judges the row again with the same options.
fn rerun(row: &Row<'_>, judging: Judging) -> Rerun {
    let mut rerun = row.rerun.clone();
    for (is_set, flag) in [
        (judging.is_live, "--live"),
        (judging.deny_vacuous, "--deny-vacuous"),
        (judging.deny_unpinned, "--deny-unpinned"),
    ] {
        if is_set {
            rerun.flags.push(flag);
        }
    }
    rerun
}

/// The option that fails rows whose recordings have no fingerprint.
fn unpinned_denied_by(row: &Row<'_>, judging: Judging) -> Option<&'static str> {
    if judging.deny_unpinned {
        return Some("--deny-unpinned");
    }
    let is_denied_by_suite = row.suite()?.run_options.deny_unpinned;
    is_denied_by_suite.then_some("`run_options: {deny_unpinned: true}`")
}

/// Puts the traces of the runs into the report.
fn embed(report: &mut TestReport, recorded: &[RecordedRun<'_>]) {
    for run in &mut report.runs {
        let recorded = recorded
            .iter()
            .find(|recorded| recorded.number == run.index);
        let trace = recorded.and_then(|recorded| recorded.trace.as_ref().ok());
        run.trace = trace.and_then(|trace| RawTrace::new(trace.text));
    }
}

/// Fails a row whose recording does not describe its conditions: it may belong to another suite.
fn deny_unpinned(report: &mut TestReport, option: &str) {
    if report.unpinned && matches!(report.status, Status::Passed | Status::Failed) {
        report.status = Status::Failed;
        let message = format!("the recording has no fingerprint, but {option} requires one");
        report.reason.get_or_insert_with(|| {
            Reason::new(ReasonKind::RecordingUnpinned, message)
                .help("record it with `mcptest run --record`, which writes one")
        });
    }
}
