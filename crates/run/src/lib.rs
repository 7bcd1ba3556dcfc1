//! From a suite to a report: plan, replay the recorded runs, judge them.

mod advice;
mod agent;
pub mod cassette;
pub mod draft;
mod faults;
mod find;
pub mod import;
mod judge;
mod plan;
mod replay;
mod scan;
mod secrets;
mod select;
pub mod server;
mod tool_test;
mod traces;
mod walk;

pub use agent::{Estimate, ExceededBudget, ExpectedTokens, MatrixRuns, RowEstimate, estimate};
pub use agent::{Event, RowToRecord, Watch, unwatched};
pub use find::{FindError, Found, find};
pub use plan::{Cell, Plan, Subject};
pub use replay::{cassette_paths, expected_header, faults_path};
pub use scan::{ScanError, Sighted, Tally, recordings, scan};
pub use secrets::redactor_of;
pub use select::{Filter, Selection};
pub use tool_test::{Interrupted, is_tool_test, tool_test_timeline};
pub use traces::{Group, TracesError, groups, transcripts_in};

use mcptest_core::problem::Problem;
use mcptest_core::report::{Reason, Report, Status, TestReport};
use mcptest_core::suite::{Host, Loaded, load, load_for_traces};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The files and environment of this process.
pub(crate) fn host() -> Host<'static> {
    Host {
        read: &|path: &Path| std::fs::read(path).map_err(|error| reason(&error)),
        environment: &|name: &str| match name {
            // What the shell says may be old, or not be there at all.
            "PWD" => std::env::current_dir().ok().map(|here| here.display().to_string()),
            _ => std::env::var(name).ok(),
        },
        mock: &mcptest_mcp::manifest::catalogue,
    }
}

/// Why a file cannot be read or written, in the same words on every system.
pub fn reason(error: &std::io::Error) -> String {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::IsADirectory => "it is a folder".to_owned(),
        ErrorKind::PermissionDenied => "its permissions do not allow it".to_owned(),
        _ => error.to_string(),
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

fn load_each(paths: &[PathBuf], load: fn(&Path, &Host<'_>) -> Loaded) -> Vec<(String, Loaded)> {
    let load_one = |path: &PathBuf| (path.display().to_string(), load(path, &host()));
    if paths.len() == 1 {
        paths.iter().map(load_one).collect()
    } else {
        paths.par_iter().map(load_one).collect()
    }
}

/// Checks a suite again whose runs or models were replaced; gives what is new, and refuses the suite if it must.
pub fn check_again(loaded: &mut Loaded) -> Vec<Problem> {
    let found = loaded.suite.as_ref().map(|suite| suite.lint()).unwrap_or_default();
    let new: Vec<Problem> = found.into_iter().filter(|problem| !loaded.problems.contains(problem)).collect();
    loaded.problems.extend(new.iter().cloned());
    if loaded.is_refused() {
        loaded.suite = None;
    }
    new
}

/// So many rows are judged at once; to be called before anything is.
pub fn judge_at_once(rows: usize) {
    // Fails only when rows were judged before, and then it is too late to change it.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(rows).build_global();
}

/// How a plan is judged.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Where the runs come from.
    pub mode: Mode,
    /// How many runs are recorded, or tools called, at once.
    pub jobs: usize,
    /// Dollars that recording may cost; no more calls are made once they are spent.
    pub max_cost_usd: Option<f64>,
    /// Stop at the first test that does not pass.
    pub fail_fast: bool,
    /// A gate that measured nothing fails.
    pub deny_vacuous: bool,
}

/// Where the runs come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// From recordings alone: no process, no socket.
    #[default]
    Replay,
    /// These are recorded first.
    Record(Which),
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

/// What came of judging a plan.
#[derive(Debug)]
pub struct Outcome {
    /// The verdict with its evidence.
    pub report: Report,
    /// Which budget ended the recording, and what was spent, when one did.
    pub over_budget: Option<String>,
}

/// Judges every cell of a plan, each in its own row; what the mode asks for is recorded or called first.
pub fn run(plan: &Plan<'_>, options: Options, watch: &Watch) -> Result<Outcome, Interrupted> {
    let secrets = secrets::Secrets::default();
    let mut called = Called::default();
    if options.mode != Mode::Replay {
        called.tools = tool_test::execute(plan, options, &secrets, watch)?;
        called.agents = agent::execute(plan, &options, &secrets, watch)?;
        end_when_interrupted();
    }
    let judge = |(index, cell): (usize, &Cell<'_>)| {
        let report = judge::judge(cell, options, called.of(index));
        match cell.subject {
            Subject::Agent { suite, .. } | Subject::Tool { suite, .. } => secrets.of(suite).hide_in(report),
            Subject::Refused(_) => report,
        }
    };
    let tests = match &plan.cells[..] {
        [cell] => vec![judge((0, cell))],
        cells if options.fail_fast => until_first_failure(cells, judge),
        cells => cells.par_iter().enumerate().map(judge).collect(),
    };
    Ok(Outcome { report: Report::new(tests), over_budget: called.agents.over_budget })
}

/// Whoever waited for Ctrl-C is gone, and the system would leave it to them: from now on it ends the program at once.
fn end_when_interrupted() {
    let waiting = || {
        if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() {
            let exit_code = runtime.block_on(mcptest_process::interrupted());
            mcptest_process::end_all();
            std::process::exit(exit_code.into());
        }
    };
    // It lasts as long as the program, which may be used as a library: there is nobody to join it.
    let _detached = std::thread::Builder::new().spawn(waiting);
}

/// What was called or recorded just now, by the index of the cell.
#[derive(Default)]
struct Called {
    tools: BTreeMap<usize, tool_test::Done>,
    agents: agent::Executed,
}

/// What was called or recorded just now for one cell.
#[derive(Clone, Copy)]
pub(crate) enum Fresh<'d> {
    Tool(&'d tool_test::Done),
    Agent(&'d agent::Done),
}

impl Called {
    fn of(&self, index: usize) -> Option<Fresh<'_>> {
        let agent = || self.agents.done.get(&index).map(Fresh::Agent);
        self.tools.get(&index).map(Fresh::Tool).or_else(agent)
    }
}

fn until_first_failure(
    cells: &[Cell<'_>],
    judge: impl Fn((usize, &Cell<'_>)) -> TestReport,
) -> Vec<TestReport> {
    let mut failed = false;
    cells
        .iter()
        .enumerate()
        .map(|(index, cell)| {
            if failed {
                let reason =
                    Some(Reason { message: "not judged: --fail-fast".to_owned(), ..Reason::default() });
                return TestReport { status: Status::Skipped, reason, ..cell.blank() };
            }
            let report = judge((index, cell));
            failed = matches!(report.status, Status::Failed | Status::Error);
            report
        })
        .collect()
}
