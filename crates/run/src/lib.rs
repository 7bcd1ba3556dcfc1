//! From a suite to a report: plan, replay the recorded runs, judge them.

mod accept;
mod advice;
pub mod arguments;
mod baseline;
mod calibrate;
pub mod cassette;
mod conditions;
pub mod draft;
mod exit;
mod find;
pub mod grade;
mod judge;
mod last;
mod plan;
mod record;
mod refused_tools;
mod replay;
mod revision;
mod root;
mod scan;
mod secrets;
mod select;
mod surface;
mod tool_test;
mod traces;
mod walk;
mod watch;

pub use accept::{Changes, FileChange, changes, recorded_changes};
pub use baseline::{Captured, CapturedRuns, capture_baselines, read_baseline, write_baseline};
pub use calibrate::{Mislabelled, calibrate};
pub use exit::{clean, environment, remember, remember_words, write};
pub use find::{FindError, Found, find, find_in, plain};
pub use last::LastRun;
pub use mcptest_core::row::Transcripts;
pub use plan::Plan;
pub use record::{Estimate, ExceededBudget, ExpectedTokens, MatrixRuns, RowEstimate, estimate};
pub use record::{Event, Interrupt, Interrupted, RowToRecord, Watch, uninterrupted, unwatched};
pub use refused_tools::refused_tools;
pub use replay::{cassette_paths, expected_header, side_path};
pub use revision::{Revision, RevisionError, is_revision};
pub use root::{id_of, named_from_root};
pub use scan::{ScanError, Sighted, Tally, recordings, scan};
pub use secrets::redactor_of;
pub use select::{Filter, Selection, Shard};
pub use surface::{FirstChoice, first_choices, read_pins, read_surface, write_bench, write_pins};
pub use tool_test::{is_tool_test, tool_test_timeline};
pub use traces::{TracesError, groups, transcripts_in};
pub use walk::{Unlisted, not_entered};
pub use watch::{Judged, Stamps};

use mcptest_agent::Spending;
use mcptest_core::coverage::{Coverage, Exercised};
use mcptest_core::eval::GATES;
use mcptest_core::guard::guarded;
use mcptest_core::problem::Problem;
use mcptest_core::report::{Embed, Report, Status, TestReport};
use mcptest_core::row::Row;
use mcptest_core::suite::{Host, Loaded, load, load_for_traces, load_to_capture};
use mcptest_files as files;
pub use mcptest_files::reason;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The files and environment of this process.
pub fn host() -> Host<'static> {
    Host {
        read: &|path: &Path| files::read(path, files::TEXT).map_err(|error| reason(&error)),
        environment: &exit::environment,
        mock: &mcptest_mock::manifest::catalogue,
        gates: GATES,
        list: &|folder, path| {
            cassette::resolve(&[path], folder)
                .map(|resolved| resolved.files)
                .map_err(|error| match error {
                    cassette::ResolveError::NoMatch { .. } => "no file matches it".to_owned(),
                    error => error.to_string(),
                })
        },
    }
}

/// Loads suites from disk with the process's environment.
pub fn load_suites(paths: &[PathBuf]) -> Vec<(String, Loaded)> {
    load_each(paths, load)
}

/// Loads suites that judge traces given from elsewhere.
pub fn load_suites_for_traces(paths: &[PathBuf]) -> Vec<(String, Loaded)> {
    load_each(paths, load_for_traces)
}

/// Loads suites below a folder that stands in place of the one we are in: a file that it lacks is read here.
pub fn load_suites_in(folder: &Path, paths: &[PathBuf]) -> Vec<(String, Loaded)> {
    let load_one = |path: &PathBuf| {
        let read = |path: &Path| {
            let here = path.strip_prefix(folder).ok().filter(|_| !path.exists());
            files::read(here.unwrap_or(path), files::TEXT).map_err(|error| reason(&error))
        };
        named(
            path,
            load(
                path,
                &Host {
                    read: &read,
                    ..host()
                },
            ),
        )
    };
    paths.iter().map(load_one).collect()
}

/// A suite with its file name, whose secrets are known from now on.
fn named(path: &Path, loaded: Loaded) -> (String, Loaded) {
    loaded.suite.iter().for_each(exit::remember_suite);
    (path.display().to_string(), loaded)
}

/// Loads suites to make the baselines that their gates name.
pub fn load_suites_to_capture(paths: &[PathBuf]) -> Vec<(String, Loaded)> {
    load_each(paths, load_to_capture)
}

/// A suite with one agent that asks nothing, to measure transcripts by.
pub fn bare_suite() -> Vec<(String, Loaded)> {
    let read = |_: &Path| Ok(b"agents:\n  - name: agent\n".to_vec());
    vec![(
        "(no suite)".to_owned(),
        load_for_traces(
            Path::new("mcptest.yml"),
            &Host {
                read: &read,
                ..host()
            },
        ),
    )]
}

fn load_each(paths: &[PathBuf], load: fn(&Path, &Host<'_>) -> Loaded) -> Vec<(String, Loaded)> {
    let load_one = |path: &PathBuf| {
        let read = files::reading(path);
        named(
            path,
            load(
                path,
                &Host {
                    read: &read,
                    ..host()
                },
            ),
        )
    };
    if paths.len() == 1 {
        paths.iter().map(load_one).collect()
    } else {
        paths.par_iter().map(load_one).collect()
    }
}

/// Checks a suite again whose runs or models were replaced; gives what is new, and refuses the suite if it must.
pub fn check_again(loaded: &mut Loaded) -> Vec<Problem> {
    let found = loaded
        .suite
        .as_ref()
        .map(|suite| suite.lint())
        .unwrap_or_default();
    let new: Vec<Problem> = found
        .into_iter()
        .filter(|problem| !loaded.problems.contains(problem))
        .collect();
    loaded.problems.extend(new.iter().cloned());
    if loaded.is_refused() {
        loaded.suite = None;
    }
    new
}

/// How a plan is judged.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Where the runs come from.
    pub mode: Mode,
    /// How many runs are recorded, tools called or, in a replay, rows judged at once; else as many as suits the machine.
    pub jobs: Option<usize>,
    /// Dollars that recording may cost; no more calls are made once they are spent.
    pub max_cost_usd: Option<f64>,
    /// Stop at the first test that does not pass.
    pub fail_fast: bool,
    /// A gate that measured nothing fails.
    pub deny_vacuous: bool,
    /// What is judged by a recording without a fingerprint fails.
    pub deny_unpinned: bool,
    /// Say what the tests exercise of their servers.
    pub coverage: Option<CoverageFloor>,
    /// Say what is behind the numbers of gates, and hold these traces.
    pub evidence: Option<Embed>,
}

/// The percent of the tools that must be called, where one is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CoverageFloor(pub Option<usize>);

/// Where the runs come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// From recordings alone: no process, no socket.
    #[default]
    Replay,
    /// These are recorded first.
    Record(Which),
    /// Runs are read from recordings, and judges are asked for these grades first.
    Grade(grade::WhichGrades),
    /// Everything is called now, and nothing is written.
    Live,
}

/// What is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Everything.
    All,
    /// What has no recording that can be read.
    Missing,
    /// What was recorded before the suite changed.
    Stale,
    /// What does not pass as it is recorded.
    Failed,
}

/// The result of judging a plan.
#[derive(Debug)]
pub struct RunOutcome {
    /// The verdict with its evidence.
    pub report: Report,
    /// Which budget ended the recording, and what was spent, when one did.
    pub over_budget: Option<String>,
    /// What tool tests came to that were called without a recording being written, each with its recording's place.
    pub called: Vec<(PathBuf, String)>,
}

/// Judges every row of a plan; what the mode asks for is recorded or called first.
pub fn run(
    plan: &Plan<'_>,
    options: Options,
    watch: &Watch,
    interrupt: Interrupt,
) -> Result<RunOutcome, Interrupted> {
    let secrets = secrets::Secrets::default();
    let spending = Spending::new(options.max_cost_usd);
    let around = grade::Around {
        secrets: &secrets,
        spending: &spending,
        watch,
        interrupt: &interrupt,
    };
    let recorded = match options.mode {
        Mode::Replay | Mode::Grade(_) => record::RecordedRows::default(),
        Mode::Record(_) | Mode::Live => record::record(plan, options, around)?,
    };
    let graded = match options.mode {
        Mode::Replay => BTreeMap::new(),
        _ => grade::grade(plan, options, &recorded, around)?,
    };
    let over_budget = spending.stopped();
    drop(interrupt);
    let judge = |(index, row): (usize, &Row<'_>)| {
        let begun = Instant::now();
        let (fresh, graded) = (recorded.rows.get(&index), graded.get(&index));
        let (report, exercised) = judge::judge(row, options, fresh, graded);
        let mut report = without_secrets(report, row, &secrets);
        report.elapsed =
            Some(begun.elapsed() + recorded.took.get(&index).copied().unwrap_or_default());
        (report, exercised)
    };
    let judged: Vec<(TestReport, Option<Exercised>)> = match &plan.rows[..] {
        [row] => vec![judge((0, row))],
        rows if options.fail_fast => until_first_failure(rows, judge),
        rows => in_parallel(options, || rows.par_iter().enumerate().map(judge).collect()),
    };
    let (mut tests, exercised): (Vec<_>, Vec<_>) = judged.into_iter().unzip();
    root::name_from_root(&mut tests);
    let mut report = Report::new(tests, plan.gates());
    report.coverage = options
        .coverage
        .map(|floor| coverage(exercised, floor, plan, &secrets));
    Ok(RunOutcome {
        report,
        over_budget,
        called: recorded.of_tool_tests(plan),
    })
}

/// The report of a row with no secret in it.
fn without_secrets(report: TestReport, row: &Row<'_>, secrets: &secrets::Secrets) -> TestReport {
    let hidden = || match row.suite() {
        Some(suite) => secrets.of(suite).hide_in(report),
        None => secrets::hide_what_is_known(report),
    };
    guarded(hidden).unwrap_or_else(|panic| row.broken(panic.into()))
}

/// What all rows together exercise of their servers.
fn coverage(
    of_rows: Vec<Option<Exercised>>,
    CoverageFloor(floor): CoverageFloor,
    plan: &Plan<'_>,
    secrets: &secrets::Secrets,
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

/// On as many threads as the user asked for, else on those that all of the process share.
fn in_parallel<T: Send>(options: Options, judge: impl FnOnce() -> T + Send) -> T {
    let threads = options.jobs.filter(|_| options.mode == Mode::Replay);
    let pool = threads.and_then(|threads| {
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
