//! Which verdicts do the rows of a plan have?

use crate::fresh::FreshRows;
use crate::grades::GradedRow;
use crate::plan::Plan;
use crate::secrets::{Secrets, hide_what_is_known};
use crate::{judge, root};
use mcptest_core::coverage::{Coverage, Exercised};
use mcptest_core::guard::guarded;
use mcptest_core::judge::Judging;
use mcptest_core::report::{Report, Status, TestReport};
use mcptest_core::row::Row;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::time::Instant;

/// Options for judging the rows of a plan.
#[derive(Debug, Clone, Copy, Default)]
pub struct JudgeOptions {
    /// The maximum number of rows judged at once; `None` lets the machine decide.
    pub jobs: Option<usize>,
    /// Stop at the first test that does not pass.
    pub fail_fast: bool,
    /// The options for judging each row.
    pub row: Judging,
    /// Report the coverage of the servers.
    pub coverage: Option<CoverageFloor>,
}

/// The required percentage of called tools, if any.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CoverageFloor(pub Option<usize>);

/// Judges every row of a plan by its recordings.
pub fn replay(plan: &Plan<'_>, options: JudgeOptions) -> Report {
    let (fresh, graded) = (FreshRows::default(), BTreeMap::new());
    judge_plan(plan, options, &Secrets::default(), &fresh, &graded)
}

/// Judges every row of a plan by its recordings, old or new.
pub fn judge_plan(
    plan: &Plan<'_>,
    options: JudgeOptions,
    secrets: &Secrets,
    fresh: &FreshRows,
    graded: &BTreeMap<usize, GradedRow>,
) -> Report {
    let judge = |(index, row): (usize, &Row<'_>)| {
        let begun = Instant::now();
        let (report, exercised) =
            judge::judge(row, options, fresh.rows.get(&index), graded.get(&index));
        let report = match options.row.evidence {
            Some(_) => with_excerpts(report, row, plan),
            None => report,
        };
        let mut report = without_secrets(report, row, secrets);
        report.elapsed =
            Some(begun.elapsed() + fresh.took.get(&index).copied().unwrap_or_default());
        (report, exercised)
    };
    let judged: Vec<(TestReport, Option<Exercised>)> = match &plan.rows[..] {
        [row] => vec![judge((0, row))],
        rows if options.fail_fast => until_first_failure(rows, judge),
        rows => in_parallel(options.jobs, || {
            rows.par_iter().enumerate().map(judge).collect()
        }),
    };
    let (mut tests, exercised): (Vec<_>, Vec<_>) = judged.into_iter().unzip();
    root::name_from_root(&mut tests);
    let mut report = Report::new(tests, plan.gates());
    report.coverage = options
        .coverage
        .map(|floor| coverage(exercised, floor, plan, secrets));
    report
}

/// The report of a row with the lines of the suite that ask for what did not hold.
fn with_excerpts(mut report: TestReport, row: &Row<'_>, plan: &Plan<'_>) -> TestReport {
    let is_bad = matches!(report.status, Status::Failed | Status::Error);
    if let Some(source) = plan.source(&report.suite.file).filter(|_| is_bad) {
        report.add_excerpts(source, row.refused_lines());
    }
    report
}

/// The report of a row with no secret in it.
fn without_secrets(report: TestReport, row: &Row<'_>, secrets: &Secrets) -> TestReport {
    let hidden = || match row.suite() {
        Some(suite) => secrets.of(suite).hide_in(report),
        None => hide_what_is_known(report),
    };
    guarded(hidden).unwrap_or_else(|panic| row.broken(panic.into()))
}

/// The coverage of all rows.
fn coverage(
    of_rows: Vec<Option<Exercised>>,
    CoverageFloor(floor): CoverageFloor,
    plan: &Plan<'_>,
    secrets: &Secrets,
) -> Coverage {
    let mut all = Exercised::default();
    for exercised in of_rows.into_iter().flatten() {
        all.merge(exercised);
    }
    let mut coverage = all.into_coverage(floor);
    let suites: BTreeMap<_, _> = plan
        .rows
        .iter()
        .filter_map(Row::suite)
        .map(|suite| (&suite.path, secrets.of(suite)))
        .collect();
    for secrets in suites.values() {
        coverage.change_texts(|text| *text = secrets.hidden_in(text));
    }
    coverage
}

/// Runs on the user's number of threads, otherwise on the shared threads of the process.
fn in_parallel<T: Send>(jobs: Option<usize>, judge: impl FnOnce() -> T + Send) -> T {
    let pool = jobs.and_then(|threads| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .ok()
    });
    match pool {
        Some(pool) => pool.install(judge),
        None => judge(),
    }
}

fn until_first_failure(
    rows: &[Row<'_>],
    judge_one: impl Fn((usize, &Row<'_>)) -> (TestReport, Option<Exercised>),
) -> Vec<(TestReport, Option<Exercised>)> {
    let mut failed = false;
    rows.iter()
        .enumerate()
        .map(|(index, row)| {
            if failed {
                let report = judge::after_a_failure(row, "not judged: --fail-fast");
                return (report, None);
            }
            let (report, exercised) = judge_one((index, row));
            failed = matches!(report.status, Status::Failed | Status::Error);
            (report, exercised)
        })
        .collect()
}
