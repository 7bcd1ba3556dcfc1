//! How does a judge grade runs with a known outcome, and the same runs in other words?

use crate::calibrate::{Mislabelled, each_labelled};
use crate::grade::{GradingContext, WantedGrade, ask_all};
use crate::judge_quality::{CheckedRun, JudgeCheck, JudgeGrade};
use crate::keep::RowGrades;
use crate::options::{GradeOptions, WhichGrades};
use crate::retell::{Retelling, retold};
use mcptest_agent::Spending;
use mcptest_core::grade::{Question, Wanted, questions, wanted};
use mcptest_core::judge::Recorded;
use mcptest_core::row::{Row, Subject};
use mcptest_replay::{Interrupt, Interrupted, LeftOut, Plan, Secrets, Watch};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

/// The options for checking a judge.
#[derive(Debug, Clone, Copy)]
pub struct CheckOptions {
    /// The number of runs to retell in each other way.
    pub sample: usize,
    /// The maximum number of grades to ask for at once.
    pub jobs: Option<usize>,
    /// The budget in dollars.
    pub max_cost_usd: Option<f64>,
}

/// The result of checking the judges of a plan.
#[derive(Debug)]
pub struct Checked {
    /// One for each question, in the order of the plan.
    pub checks: Vec<JudgeCheck>,
    /// Why runs have no grade, each reason once.
    pub failures: Vec<String>,
    /// The files that could not be read or judged.
    pub left_out: Vec<LeftOut>,
    /// The budget that ended it, if any.
    pub over_budget: Option<String>,
}

/// Why judges could not be checked.
#[derive(Debug)]
pub enum UncheckedJudge {
    /// The labels are of no use.
    Mislabelled(Mislabelled),
    /// The host ended it.
    Interrupted(Interrupted),
}

/// One question about one run with a label.
struct Labelled<'p> {
    is_good: bool,
    unit: WantedGrade<'p>,
}

/// The question about a retold run.
struct RetoldUnit<'p> {
    how: Retelling,
    unit: WantedGrade<'p>,
}

impl RetoldUnit<'_> {
    fn is_of(&self, labelled: &Labelled<'_>) -> bool {
        let (retold, original) = (&self.unit.wanted, &labelled.unit.wanted);
        let is_same_check = retold
            .check
            .strip_prefix(&original.check)
            .is_some_and(|rest| rest.starts_with(' '));
        self.unit.index == labelled.unit.index && retold.run == original.run && is_same_check
    }
}

/// Requests the missing grades of all labelled runs, then the grades of a retold sample. Existing
/// grades are kept.
pub fn check(
    plan: &Plan<'_>,
    labels: Option<&Path>,
    options: CheckOptions,
    watch: &Watch,
    interrupt: Interrupt,
) -> Result<Checked, UncheckedJudge> {
    let secrets = Secrets::default();
    let spending = Spending::new(options.max_cost_usd);
    let context = GradingContext {
        secrets: &secrets,
        spending: &spending,
        watch,
        interrupt: &interrupt,
    };
    let Collected {
        rows,
        labelled,
        left_out,
    } = collect(plan, labels, &secrets).map_err(UncheckedJudge::Mislabelled)?;
    let grading = GradeOptions {
        jobs: options.jobs,
        ..GradeOptions::new(WhichGrades::NEEDED)
    };
    let units = without_grade(&rows, labelled.iter().map(|labelled| &labelled.unit));
    let rows = ask_all(rows, units, grading, context).map_err(UncheckedJudge::Interrupted)?;
    let retold = retell(plan, &labelled, &rows, options.sample);
    let units = without_grade(&rows, retold.iter().map(|retold| &retold.unit));
    let rows = ask_all(rows, units, grading, context).map_err(UncheckedJudge::Interrupted)?;
    // Nothing is asked from here on, so a signal ends the program.
    drop(interrupt);
    Ok(Checked {
        checks: measure(&labelled, &retold, &rows),
        failures: failures(&rows),
        left_out,
        over_budget: spending.stopped(),
    })
}

/// The cost of a check, before it starts.
#[derive(Debug)]
pub struct PlannedCheck {
    /// Requests, at most.
    pub calls: usize,
    /// Grades of runs that have a label.
    pub labelled: usize,
    /// The files that cannot be read or judged.
    pub left_out: Vec<LeftOut>,
}

/// Estimates the cost of a check without asking a judge.
pub fn plan_check(
    plan: &Plan<'_>,
    labels: Option<&Path>,
    sample: usize,
) -> Result<PlannedCheck, Mislabelled> {
    let Collected {
        rows,
        labelled,
        left_out,
    } = collect(plan, labels, &Secrets::default())?;
    let calls = |unit: &WantedGrade<'_>| match plan.rows[unit.index].suite() {
        Some(suite) if rows[&unit.index].find(&unit.wanted).is_none() => {
            unit.wanted.question.calls(suite)
        }
        _ => 0,
    };
    let retold = retell(plan, &labelled, &rows, sample);
    let first: usize = labelled.iter().map(|labelled| calls(&labelled.unit)).sum();
    let then: usize = retold.iter().map(|retold| calls(&retold.unit)).sum();
    Ok(PlannedCheck {
        calls: first + then,
        labelled: labelled.len(),
        left_out,
    })
}

/// The labelled runs of every row with a judge, and the grades of these rows.
struct Collected<'p> {
    rows: BTreeMap<usize, RowGrades<'p>>,
    labelled: Vec<Labelled<'p>>,
    left_out: Vec<LeftOut>,
}

fn collect<'p>(
    plan: &'p Plan<'p>,
    labels: Option<&Path>,
    secrets: &Secrets,
) -> Result<Collected<'p>, Mislabelled> {
    let mut rows = BTreeMap::new();
    let mut labelled = Vec::new();
    let read = each_labelled(plan, labels, secrets, |shown| {
        let Recorded::Runs(recorded) = shown.recorded else {
            return;
        };
        let index = shown.index;
        let row = &plan.rows[index];
        let mut asked = wanted(row, shown.recorded);
        asked.retain(|wanted| is_checked(wanted.question));
        for run in shown.runs {
            let of_run = asked.iter().filter(|wanted| wanted.run == run.run.number);
            labelled.extend(of_run.cloned().map(|wanted| Labelled {
                is_good: run.is_good,
                unit: WantedGrade { index, wanted },
            }));
        }
        let grades = recorded.grades.clone();
        rows.insert(index, RowGrades::new(row, grades, false, secrets));
    })?;
    let left_out = read
        .left_out
        .into_iter()
        .filter(|row| may_ask_judges(&plan.rows[row.index]))
        .map(|row| row.left_out)
        .collect();
    Ok(Collected {
        rows,
        labelled,
        left_out,
    })
}

fn may_ask_judges(row: &Row<'_>) -> bool {
    match row.subject {
        Subject::Agent(of) => questions(of.agent).any(is_checked),
        _ => true,
    }
}

/// Judges are checked, not advice and not scorers.
fn is_checked(question: &Question) -> bool {
    !question.is_advice && question.scorer().is_none()
}

/// The units without a grade.
fn without_grade<'u, 'p: 'u>(
    rows: &BTreeMap<usize, RowGrades<'p>>,
    units: impl Iterator<Item = &'u WantedGrade<'p>>,
) -> VecDeque<WantedGrade<'p>> {
    units
        .filter(|unit| rows[&unit.index].find(&unit.wanted).is_none())
        .cloned()
        .collect()
}

/// The first labelled runs of each question, retold in every way. The persuading retelling uses
/// only bad runs that the judge fails, or has not graded yet.
fn retell<'p>(
    plan: &'p Plan<'p>,
    labelled: &[Labelled<'p>],
    rows: &BTreeMap<usize, RowGrades<'p>>,
    sample: usize,
) -> Vec<RetoldUnit<'p>> {
    let mut units = Vec::new();
    let mut taken: BTreeMap<(String, Retelling), usize> = BTreeMap::new();
    for Labelled { is_good, unit } in labelled {
        let Some(suite) = plan.rows[unit.index].suite() else {
            continue;
        };
        let grade = rows[&unit.index].find(&unit.wanted);
        let passes = grade.is_some_and(|grade| unit.wanted.question.holds(grade));
        let may_be_won_over = !is_good && !passes;
        for how in Retelling::ALL {
            if how.is_persuasion() && !may_be_won_over {
                continue;
            }
            let count = taken.entry((question_key(&unit.wanted), how)).or_default();
            if *count < sample
                && let Some(wanted) = retold(&unit.wanted, suite, how)
            {
                *count += 1;
                let index = unit.index;
                units.push(RetoldUnit {
                    how,
                    unit: WantedGrade { index, wanted },
                });
            }
        }
    }
    units
}

/// The key of a question, equal for equal questions.
fn question_key(wanted: &Wanted<'_>) -> String {
    let asked = &wanted.asked;
    format!(
        "{} {} {} {}",
        asked.rubric,
        asked.judges.join(" "),
        asked.samples,
        wanted.question.threshold
    )
}

/// The results for each question, in the order of the rows.
fn measure<'p>(
    labelled: &[Labelled<'p>],
    retold: &[RetoldUnit<'p>],
    rows: &BTreeMap<usize, RowGrades<'p>>,
) -> Vec<JudgeCheck> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut by_question: Vec<Vec<&Labelled<'p>>> = Vec::new();
    for one in labelled {
        let next = by_question.len();
        let place = *places.entry(question_key(&one.unit.wanted)).or_insert(next);
        if place == next {
            by_question.push(Vec::new());
        }
        by_question[place].push(one);
    }
    by_question
        .iter()
        .filter_map(|of_question| measure_question(of_question, retold, rows))
        .collect()
}

fn measure_question(
    labelled: &[&Labelled<'_>],
    retold: &[RetoldUnit<'_>],
    rows: &BTreeMap<usize, RowGrades<'_>>,
) -> Option<JudgeCheck> {
    let first = &labelled.first()?.unit.wanted;
    let runs: Vec<CheckedRun> = labelled
        .iter()
        .filter_map(|one| checked_run(one, retold, rows))
        .collect();
    let ungraded = labelled.len() - runs.len();
    Some(JudgeCheck::new(
        first.check.clone(),
        first.asked.judges.clone(),
        first.question.threshold,
        &runs,
        ungraded,
    ))
}

/// A judge's grades of a labelled run, and of the same run retold.
fn checked_run(
    labelled: &Labelled<'_>,
    retold: &[RetoldUnit<'_>],
    rows: &BTreeMap<usize, RowGrades<'_>>,
) -> Option<CheckedRun> {
    let given = |unit: &WantedGrade<'_>| {
        let grade = rows[&unit.index].find(&unit.wanted)?;
        Some(JudgeGrade {
            passed: unit.wanted.question.holds(grade),
            score: grade.score(),
        })
    };
    Some(CheckedRun {
        is_good: labelled.is_good,
        grade: given(&labelled.unit)?,
        retold: retold
            .iter()
            .filter(|retold| retold.is_of(labelled))
            .filter_map(|retold| Some((retold.how, given(&retold.unit)?)))
            .collect(),
    })
}

/// Why runs have no grade, each reason once.
fn failures(rows: &BTreeMap<usize, RowGrades<'_>>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut failures = Vec::new();
    for grades in rows.values() {
        for failure in grades.failures() {
            let message = format!("{}, run {}: {}", grades.row.name, failure.run, failure.why);
            if seen.insert(message.clone()) {
                failures.push(message);
            }
        }
    }
    failures
}
