//! Grading: which checks have no grade, which judges are asked, and where is what they said kept?

mod ask;
mod check;
mod explain;
mod keep;
mod score;

pub use check::{CheckOptions, Checked, PlannedCheck, UncheckedJudge, check, plan_check};
pub use explain::{CheckPlan, plan};

use crate::{Mode, Options, Which};
use ask::{AskedJudges, Asking, Ungraded};
use keep::RowGrades;
use mcptest_agent::{Spending, usd};
use mcptest_core::grade::{Grade, Grades, NotGraded, Wanted, wanted};
use mcptest_core::guard::guarded;
use mcptest_core::judge::Recorded;
use mcptest_core::row::Row;
use mcptest_replay::OpenedRow;
use mcptest_replay::Plan;
use mcptest_replay::Secrets;
use mcptest_replay::grades::GradedRow;
use mcptest_replay::{Event, Watch};
use mcptest_replay::{FreshRow, FreshRows};
use mcptest_replay::{Interrupt, Interrupted};
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};

/// Which grades are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WhichGrades {
    /// Those that nobody gave so far.
    pub missing: bool,
    /// Those that were given to something else.
    pub stale: bool,
    /// Those that are there already.
    pub current: bool,
}

impl WhichGrades {
    /// What `mcptest eval` asks for unless it is told otherwise.
    pub const NEEDED: Self = Self {
        missing: true,
        stale: true,
        current: false,
    };
    /// Everything.
    pub const ALL: Self = Self {
        missing: true,
        stale: true,
        current: true,
    };
    const NONE: Self = Self {
        missing: false,
        stale: false,
        current: false,
    };

    /// What a mode asks for of a row; `is_fresh` when its runs were made just now.
    fn of(mode: Mode, is_fresh: bool) -> Self {
        match mode {
            Mode::Grade(which) => which,
            Mode::Live | Mode::Record(Which::All) => Self::ALL,
            Mode::Record(_) if is_fresh => Self::NEEDED,
            Mode::Record(Which::Missing) => Self {
                missing: true,
                ..Self::NONE
            },
            Mode::Record(Which::Stale) => Self {
                stale: true,
                ..Self::NONE
            },
            Mode::Replay | Mode::Record(Which::Failed) => Self::NONE,
        }
    }

    fn wants(self, found: &Result<&Grade, NotGraded>) -> bool {
        match found {
            Ok(_) => self.current,
            Err(NotGraded::Missing) => self.missing,
            Err(NotGraded::Stale(_)) => self.stale,
            // What cannot be read is not written over.
            Err(NotGraded::Failed(_) | NotGraded::Unreadable(_)) => false,
        }
    }
}

/// What grading needs beside the plan.
#[derive(Clone, Copy)]
pub(crate) struct GradingContext<'a> {
    pub(crate) secrets: &'a Secrets,
    pub(crate) spending: &'a Spending,
    pub(crate) watch: &'a Watch,
    pub(crate) interrupt: &'a Interrupt,
}

/// One check of one run to grade.
#[derive(Clone)]
struct Unit<'p> {
    /// Its row's place in the plan.
    index: usize,
    wanted: Wanted<'p>,
}

/// Asks the judges for what the mode wants, after the runs were recorded.
pub(crate) fn grade(
    plan: &Plan<'_>,
    options: Options,
    recorded: &FreshRows,
    context: GradingContext<'_>,
) -> Result<BTreeMap<usize, GradedRow>, Interrupted> {
    let mut rows: BTreeMap<usize, RowGrades<'_>> = BTreeMap::new();
    let mut units: VecDeque<Unit<'_>> = VecDeque::new();
    for (index, row) in plan
        .rows
        .iter()
        .enumerate()
        .filter(|(_, row)| row.skip.is_none())
    {
        let fresh = recorded.rows.get(&index);
        let Some((grades, wanted)) = to_grade(row, options.mode, fresh) else {
            continue;
        };
        let is_live = options.mode == Mode::Live;
        rows.insert(index, RowGrades::new(row, grades, is_live, context.secrets));
        units.extend(wanted.into_iter().map(|wanted| Unit { index, wanted }));
    }
    let rows = ask_all(rows, units, options, context)?;
    Ok(rows
        .into_iter()
        .map(|(index, row)| (index, row.into_graded()))
        .collect())
}

/// Asks for each of these, several at once, and keeps what is said beside the row's recording.
fn ask_all<'p>(
    rows: BTreeMap<usize, RowGrades<'p>>,
    units: VecDeque<Unit<'p>>,
    options: Options,
    context: GradingContext<'_>,
) -> Result<BTreeMap<usize, RowGrades<'p>>, Interrupted> {
    if units.is_empty() {
        return Ok(rows);
    }
    let all = units.len();
    let Ok(runtime) = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
    else {
        return Ok(rows);
    };
    let bench = AskedJudges::new(context);
    let units = Mutex::new(units);
    let rows: BTreeMap<usize, Mutex<RowGrades<'_>>> = rows
        .into_iter()
        .map(|(index, row)| (index, Mutex::new(row)))
        .collect();
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let at_once = options.jobs.unwrap_or(cores.max(4)).clamp(1, all);
    // A function, so that the lock is not held while the unit is graded.
    let next = || units.lock().pop_front();
    let work = || {
        while let Some(unit) = next() {
            let row = &rows[&unit.index];
            let of = row.lock().row;
            let asking = Asking {
                bench: &bench,
                row: of,
                index: unit.index,
                wanted: &unit.wanted,
            };
            let asked = runtime.block_on(asking.grade());
            if matches!(asked, Err(Ungraded::Interrupted)) {
                return units.lock().clear();
            }
            let asked = asked.map_err(|why| why.to_string());
            row.lock().keep(&unit.wanted, asked, context.watch);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(work);
        }
    });
    runtime.shutdown_timeout(std::time::Duration::from_secs(2));
    let rows = rows
        .into_iter()
        .map(|(index, row)| (index, row.into_inner()));
    let rows: BTreeMap<usize, RowGrades<'_>> = rows.collect();
    if let Some(exit_code) = *context.interrupt.borrow() {
        let finished = rows.values().map(|row| row.given).sum();
        let rest = (options.mode != Mode::Live).then_some("`mcptest eval` asks for the rest");
        return Err(Interrupted {
            exit_code,
            what: "grades",
            finished,
            wanted: all,
            rest,
        });
    }
    Ok(rows)
}

/// The grades that a row has, and what is wanted of it; `None` where nothing is.
fn to_grade<'p>(
    row: &'p Row<'p>,
    mode: Mode,
    fresh: Option<&FreshRow>,
) -> Option<(Grades, Vec<Wanted<'p>>)> {
    if row.is_refused() || matches!(fresh, Some(FreshRow::Failed(_) | FreshRow::NotRun)) {
        return None;
    }
    // Where this panics, so does the judging of the row, which reports it.
    let (grades, mut wanted) = guarded(|| grades_and_wanted(row, fresh)).ok()?;
    let which = WhichGrades::of(mode, matches!(fresh, Some(FreshRow::OnDisk { .. })));
    wanted.retain(|wanted| which.wants(&grades.find(wanted)));
    (!wanted.is_empty()).then_some((grades, wanted))
}

/// The grades that a row has, and everything that it asks judges and scorers.
fn grades_and_wanted<'p>(row: &'p Row<'p>, fresh: Option<&FreshRow>) -> (Grades, Vec<Wanted<'p>>) {
    let opened = OpenedRow::open(row, fresh);
    let parsed = opened.parse();
    let recorded = parsed.recorded();
    let grades = match &recorded {
        Recorded::Runs(runs) => runs.grades.clone(),
        Recorded::Call(call) => call.grades.clone(),
        _ => Grades::default(),
    };
    (grades, wanted(row, &recorded))
}

/// The event of a check that was graded, or was not.
fn graded(row: &Row<'_>, wanted: &Wanted<'_>, asked: &Result<Grade, String>) -> Event {
    let grade = asked.as_ref().ok();
    Event::Graded {
        row_name: row.name.clone(),
        run: wanted.run,
        check: wanted.check.clone(),
        said: grade.map(said),
        tokens: grade.and_then(|grade| grade.tokens().totalled().total),
        cost_usd: grade
            .filter(|grade| !grade.votes.is_empty())
            .and_then(Grade::cost_usd),
        ungraded: asked.as_ref().err().cloned(),
    }
}

/// `score 0.90`, or what a scorer printed.
fn said(grade: &Grade) -> String {
    if grade.scores.is_empty() {
        return format!("score {:.2}", grade.score());
    }
    let scores = grade
        .scores
        .iter()
        .map(|(key, value)| format!("{key} {value}"));
    scores.collect::<Vec<_>>().join(", ")
}

/// `$0.0006`, for reasons.
fn dollars(amount: f64) -> String {
    format!("${}", usd(amount))
}
