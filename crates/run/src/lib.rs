//! Recording: which runs are made, which judges are asked, and what does a suite have to say for it?

mod accept;
mod command;
pub mod draft;
mod record;
mod refused_tools;
mod tool_call;

pub use accept::{Changes, FileChange, changes, recorded_changes};
pub use command::{INIT, REPORT, RUN, SCENARIO, SHOW, VALIDATE};
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

    /// Judges are asked about what is recorded: about all of it, where everything is recorded anew.
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
