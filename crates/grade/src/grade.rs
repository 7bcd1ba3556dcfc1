//! Grading: which checks lack a grade, which judges are called, and where are the grades stored?

use crate::ask_judge::{AskedJudges, GradeRequest, Ungraded};
use crate::keep::RowGrades;
use crate::options::{GradeOptions, WhichGrades};
use mcptest_agent::{Spending, usd};
use mcptest_core::grade::{Grade, Grades, Wanted, wanted};
use mcptest_core::guard::guarded;
use mcptest_core::judge::Recorded;
use mcptest_core::row::Row;
use mcptest_replay::grades::GradedRow;
use mcptest_replay::{
    Event, FreshRow, FreshRows, Interrupt, Interrupted, OpenedRow, Plan, Secrets, Watch,
};
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use tokio::runtime::Runtime;

/// The context of grading besides the plan.
#[derive(Clone, Copy)]
pub struct GradingContext<'a> {
    /// The secrets in the suites of the plan.
    pub secrets: &'a Secrets,
    /// The remaining budget.
    pub spending: &'a Spending,
    /// Receives the progress.
    pub watch: &'a Watch,
    /// Ends the grading early.
    pub interrupt: &'a Interrupt,
}

/// One check of one run to grade.
#[derive(Clone)]
pub(crate) struct WantedGrade<'p> {
    /// Its row's place in the plan.
    pub(crate) index: usize,
    pub(crate) wanted: Wanted<'p>,
}

/// Requests the wanted grades of a plan's recorded runs.
pub fn grade(
    plan: &Plan<'_>,
    options: GradeOptions,
    recorded: &FreshRows,
    context: GradingContext<'_>,
) -> Result<BTreeMap<usize, GradedRow>, Interrupted> {
    let mut rows: BTreeMap<usize, RowGrades<'_>> = BTreeMap::new();
    let mut units: VecDeque<WantedGrade<'_>> = VecDeque::new();
    for (index, row) in plan
        .rows
        .iter()
        .enumerate()
        .filter(|(_, row)| row.skip.is_none())
    {
        let fresh = recorded.rows.get(&index);
        let Some((grades, wanted)) = to_grade(row, options.which(fresh), fresh) else {
            continue;
        };
        let grades = RowGrades::new(row, grades, options.is_live, context.secrets);
        rows.insert(index, grades);
        units.extend(
            wanted
                .into_iter()
                .map(|wanted| WantedGrade { index, wanted }),
        );
    }
    let rows = ask_all(rows, units, options, context)?;
    Ok(rows
        .into_iter()
        .map(|(index, row)| (index, row.into_graded()))
        .collect())
}

/// Asks for each of these grades, several at once, and keeps the answers next to the row's recording.
pub(crate) fn ask_all<'p>(
    rows: BTreeMap<usize, RowGrades<'p>>,
    units: VecDeque<WantedGrade<'p>>,
    options: GradeOptions,
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
    let grading = Grading::new(rows, units, context);
    std::thread::scope(|scope| {
        for _ in 0..asked_at_once(options.jobs, all) {
            scope.spawn(|| grading.work(&runtime));
        }
    });
    runtime.shutdown_timeout(std::time::Duration::from_secs(2));
    let rows = grading.into_rows();
    if let Some(exit_code) = *context.interrupt.borrow() {
        let finished = rows.values().map(|row| row.given).sum();
        let rest = (!options.is_live).then_some("`mcptest eval` grades the rest");
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

/// The number of grades to ask for at once: 4 or the number of cores, whichever is more.
fn asked_at_once(jobs: Option<usize>, all: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    jobs.unwrap_or(cores.max(4)).clamp(1, all)
}

/// The rows to grade, and the remaining units.
struct Grading<'p, 'a> {
    judges: AskedJudges<'a>,
    units: Mutex<VecDeque<WantedGrade<'p>>>,
    rows: BTreeMap<usize, Mutex<RowGrades<'p>>>,
    watch: &'a Watch,
}

impl<'p, 'a> Grading<'p, 'a> {
    fn new(
        rows: BTreeMap<usize, RowGrades<'p>>,
        units: VecDeque<WantedGrade<'p>>,
        context: GradingContext<'a>,
    ) -> Self {
        let rows = rows.into_iter();
        Self {
            judges: AskedJudges::new(context),
            units: Mutex::new(units),
            rows: rows.map(|(index, row)| (index, Mutex::new(row))).collect(),
            watch: context.watch,
        }
    }

    /// Grades one unit at a time until none remains, or until an interrupt.
    fn work(&self, runtime: &Runtime) {
        while let Some(unit) = self.next() {
            let graded_row = &self.rows[&unit.index];
            let row = graded_row.lock().row;
            let asking = GradeRequest {
                judges: &self.judges,
                row,
                index: unit.index,
                wanted: &unit.wanted,
            };
            let asked = runtime.block_on(asking.grade());
            if matches!(asked, Err(Ungraded::Interrupted)) {
                self.units.lock().clear();
                return;
            }
            let asked = asked.map_err(|why| why.to_string());
            graded_row.lock().keep(&unit.wanted, asked, self.watch);
        }
    }

    /// A separate method, so that the lock is not held during grading.
    fn next(&self) -> Option<WantedGrade<'p>> {
        self.units.lock().pop_front()
    }

    fn into_rows(self) -> BTreeMap<usize, RowGrades<'p>> {
        let rows = self.rows.into_iter();
        rows.map(|(index, row)| (index, row.into_inner())).collect()
    }
}

/// The existing grades of a row, and the wanted ones; `None` if no grade is wanted.
pub(crate) fn to_grade<'p>(
    row: &'p Row<'p>,
    which: WhichGrades,
    fresh: Option<&FreshRow>,
) -> Option<(Grades, Vec<Wanted<'p>>)> {
    if row.is_refused() || matches!(fresh, Some(FreshRow::Failed(_) | FreshRow::NotRun)) {
        return None;
    }
    // Where this panics, so does the judging of the row, which reports it.
    let (grades, mut wanted) = guarded(|| grades_and_wanted(row, fresh)).ok()?;
    wanted.retain(|wanted| which.wants(&grades.find(wanted)));
    (!wanted.is_empty()).then_some((grades, wanted))
}

/// The grades of a row, and all of its questions to judges and scorers.
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
pub(crate) fn graded(row: &Row<'_>, wanted: &Wanted<'_>, asked: &Result<Grade, String>) -> Event {
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

/// `score 0.90`, or the numbers of a scorer.
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
pub(crate) fn dollars(amount: f64) -> String {
    format!("${}", usd(amount))
}
