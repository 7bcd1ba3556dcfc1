//! Recording: which runs are made, which judges are called, and when is a suite recorded?

mod accept;
mod command;
pub mod draft;
mod record;
mod refused_tools;
mod score;
mod tool_call;

pub use accept::{Changes, FileChange, WriteChangeError, changes, recorded_changes};
pub use command::{INIT, REPORT, RUN, SCENARIO, SCORE, SHOW, VALIDATE};
pub use record::{
    Estimate, ExceededBudget, ExpectedTokens, RowEstimate, SideRunsEstimate, estimate,
};
pub use refused_tools::refused_tools;

use mcptest_agent::Spending;
use mcptest_core::judge::Judging;
use mcptest_core::report::{Embed, Report};
use mcptest_grade::{GradeOptions, GradingContext, WhichGrades, grade};
use mcptest_replay::{
    CoverageFloor, FreshRows, Interrupt, Interrupted, JudgeOptions, Plan, Secrets, Watch,
    judge_plan,
};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Options for judging a plan.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// The source of the runs.
    pub mode: Mode,
    /// The maximum number of runs to record, tools to call or, in a replay, rows to judge at once [default: chosen
    /// for the machine].
    pub jobs: Option<usize>,
    /// The cost limit of recording in dollars. Once it is reached, no more calls are made.
    pub max_cost_usd: Option<f64>,
    /// Stop at the first test that does not pass.
    pub fail_fast: bool,
    /// Fail gates that measured nothing.
    pub deny_vacuous: bool,
    /// A recording without a fingerprint fails.
    pub deny_unpinned: bool,
    /// Report the coverage of the servers.
    pub coverage: Option<CoverageFloor>,
    /// Report the data behind the numbers of gates, and embed these traces.
    pub evidence: Option<Embed>,
}

impl Options {
    fn judge_options(self) -> JudgeOptions {
        JudgeOptions {
            jobs: self.jobs.filter(|_| self.mode == Mode::Replay),
            fail_fast: self.fail_fast,
            row: Judging {
                deny_vacuous: self.deny_vacuous,
                deny_unpinned: self.deny_unpinned,
                is_live: self.mode == Mode::Live,
                evidence: self.evidence,
            },
            coverage: self.coverage,
        }
    }

    /// The grades that are asked for: of the recorded runs, or of all runs if everything is recorded again.
    fn grade_options(self) -> GradeOptions {
        let (of_fresh, of_others) = match self.mode {
            Mode::Live | Mode::Record(Which::All) => (WhichGrades::ALL, WhichGrades::ALL),
            Mode::Record(Which::Missing) => (WhichGrades::NEEDED, WhichGrades::MISSING),
            Mode::Record(Which::Stale) => (WhichGrades::NEEDED, WhichGrades::STALE),
            Mode::Record(Which::Failed) => (WhichGrades::NEEDED, WhichGrades::NONE),
            Mode::Replay => (WhichGrades::NONE, WhichGrades::NONE),
        };
        GradeOptions {
            of_fresh,
            of_others,
            jobs: self.jobs,
            is_live: self.mode == Mode::Live,
        }
    }
}

/// The source of the runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// Read recordings only: no process, no socket.
    #[default]
    Replay,
    /// Record these rows first.
    Record(Which),
    /// Call everything now, and write nothing.
    Live,
}

/// The rows to record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Everything.
    All,
    /// Rows without a readable recording.
    Missing,
    /// Rows that were recorded before the suite changed.
    Stale,
    /// Rows that do not pass with their recording.
    Failed,
}

/// The result of judging a plan.
#[derive(Debug)]
pub struct RunOutcome {
    /// The verdict with its evidence.
    pub report: Report,
    /// The budget that ended the recording, with the amount spent, if one did.
    pub over_budget: Option<String>,
    /// The results of tool tests that were called without writing a recording, each with its recording's place.
    pub called: Vec<(PathBuf, String)>,
}

/// Judges every row of a plan, after recording or calling the rows that the mode asks for.
pub fn run(
    plan: &Plan<'_>,
    options: Options,
    watch: &Watch,
    interrupt: Interrupt,
) -> Result<RunOutcome, Interrupted> {
    let secrets = Secrets::default();
    let spending = Spending::new(options.max_cost_usd);
    let context = GradingContext {
        secrets: &secrets,
        spending: &spending,
        watch,
        interrupt: &interrupt,
    };
    let recorded = match options.mode {
        Mode::Replay => FreshRows::default(),
        Mode::Record(_) | Mode::Live => record::record(plan, options, context)?,
    };
    let graded = match options.mode {
        Mode::Replay => BTreeMap::new(),
        _ => grade(plan, options.grade_options(), &recorded, context)?,
    };
    let over_budget = spending.stopped();
    drop(interrupt);
    let report = judge_plan(plan, options.judge_options(), &secrets, &recorded, &graded);
    Ok(RunOutcome {
        report,
        over_budget,
        called: recorded.of_tool_tests(plan),
    })
}
