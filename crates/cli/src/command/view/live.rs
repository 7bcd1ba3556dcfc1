//! What is being recorded while a page is open?

use mcptest_core::report::{Report, TestReport};
use mcptest_core::row::{ReasonKind, Row, Subject};
use mcptest_replay::Plan;
use mcptest_replay::cassette::{Recording, lock_of};
use serde::Serialize;

/// A recording in progress. A row appears only after its last run.
#[derive(Debug, Serialize)]
pub(super) struct Live {
    /// Rows that are being recorded.
    at_work: Vec<RowAtWork>,
    /// Rows that wait for their turn, by their places in the report.
    waiting: Vec<usize>,
    /// Runs of all these rows that are on the disk.
    runs: usize,
    /// The number of runs to record.
    of: usize,
    /// The cost of the recorded runs, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_usd: Option<f64>,
    /// The budget of the recording in dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    budget_usd: Option<f64>,
}

/// A row that is being recorded.
#[derive(Debug, Serialize)]
struct RowAtWork {
    /// Its place in the report.
    row: usize,
    /// Its runs that are on the disk.
    runs: usize,
    /// The number of runs to record.
    of: usize,
    #[serde(skip)]
    cost_usd: Option<f64>,
}

impl Live {
    /// None when nothing is being recorded.
    pub(super) fn from_report(plan: &Plan<'_>, report: &Report) -> Option<Self> {
        let rows = || plan.rows.iter().zip(&report.tests).enumerate();
        let at_work: Vec<RowAtWork> = rows()
            .filter_map(|(at, (row, test))| RowAtWork::from_row(at, row, test))
            .collect();
        let first = at_work.first()?.row;
        let is_at_work = |at| at_work.iter().any(|one| one.row == at);
        let waiting = rows().filter(|(at, (_, test))| !is_at_work(*at) && is_unrecorded(test));
        let waiting: Vec<usize> = waiting.map(|(at, _)| at).collect();
        let to_come: usize = waiting.iter().map(|at| planned(&plan.rows[*at])).sum();
        Some(Self {
            runs: at_work.iter().map(|one| one.runs).sum(),
            of: at_work.iter().map(|one| one.of).sum::<usize>() + to_come,
            cost_usd: at_work
                .iter()
                .filter_map(|one| one.cost_usd)
                .reduce(|one, other| one + other),
            budget_usd: plan.rows[first]
                .suite()
                .and_then(|suite| suite.budget.per_suite_usd),
            at_work,
            waiting,
        })
    }
}

impl RowAtWork {
    /// Returns the row if a process holds the lock of its recording and runs are missing.
    fn from_row(at: usize, row: &Row<'_>, test: &TestReport) -> Option<Self> {
        let Subject::Agent(of) = row.subject else {
            return None;
        };
        let files = mcptest_replay::cassette_paths(of).unwrap_or_default();
        let file = files.iter().find(|file| lock_of(file).exists())?;
        if test.runs.len() == planned(row) && !is_unrecorded(test) {
            return None;
        }
        let recording = Recording::open(file).ok();
        let runs = recording
            .as_ref()
            .and_then(|recording| Some(recording.cassette().ok()?.runs));
        let runs = runs.unwrap_or_default();
        let costs = runs
            .iter()
            .filter_map(|run| run.trace.as_ref().ok()?.conversation.cost_usd);
        let cost_usd = costs.reduce(|one, other| one + other);
        Some(Self {
            row: at,
            runs: runs.len(),
            of: planned(row),
            cost_usd,
        })
    }
}

fn planned(row: &Row<'_>) -> usize {
    match row.subject {
        Subject::Agent(of) => of.agent.runs,
        _ => 1,
    }
}

fn is_unrecorded(test: &TestReport) -> bool {
    let is_missing = |kind| matches!(kind, ReasonKind::RecordingMissing | ReasonKind::RunsMissing);
    test.reason
        .as_ref()
        .is_some_and(|reason| is_missing(reason.kind))
}
