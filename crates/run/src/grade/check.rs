//! What does a judge say of runs whose outcome is known, and of the same runs told in other ways?

use super::WhichGrades;
use super::{Around, RowGrades, Unit, ask_all};
use crate::calibrate::{Mislabelled, each_labelled};
use crate::plan::Plan;
use crate::record::{Interrupt, Interrupted, Spending, Watch};
use crate::secrets::Secrets;
use crate::{Mode, Options};
use mcptest_core::calibrate::LeftOut;
use mcptest_core::grade::{
    CheckedRun, Given, JudgeCheck, Question, Retelling, Wanted, questions, wanted,
};
use mcptest_core::judge::Recorded;
use mcptest_core::row::Subject;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

/// How a judge is checked.
#[derive(Debug, Clone, Copy)]
pub struct CheckOptions {
    /// How many runs are told in each other way.
    pub sample: usize,
    /// How many grades are asked for at once.
    pub jobs: Option<usize>,
    /// Dollars that it may cost.
    pub max_cost_usd: Option<f64>,
}

/// The result of checking the judges of a plan.
#[derive(Debug)]
pub struct Checked {
    /// One for each question, in the order of the plan.
    pub checks: Vec<JudgeCheck>,
    /// Why runs have no grade, each reason once.
    pub failures: Vec<String>,
    /// What could not be read, or not judged.
    pub left_out: Vec<LeftOut>,
    /// Which budget ended it, when one did.
    pub over_budget: Option<String>,
}

/// Why judges could not be checked.
#[derive(Debug)]
pub enum UncheckedJudge {
    /// The labels are of no use.
    Mislabelled(Mislabelled),
    /// It was ended by its host.
    Interrupted(Interrupted),
}

/// One question about one run with a label.
struct Labelled<'p> {
    index: usize,
    is_good: bool,
    wanted: Wanted<'p>,
}

/// Asks for the grades of all labelled runs that have none, then for those of a sample that is told in other ways. What
/// was said before is not asked again.
pub fn check(
    plan: &Plan<'_>,
    labels: Option<&Path>,
    options: CheckOptions,
    watch: &Watch,
    interrupt: Interrupt,
) -> Result<Checked, UncheckedJudge> {
    let secrets = Secrets::default();
    let spending = Spending::new(options.max_cost_usd);
    let around = Around {
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
    let mode = Mode::Grade(WhichGrades::NEEDED);
    let grading = Options {
        mode,
        jobs: options.jobs,
        max_cost_usd: options.max_cost_usd,
        ..Options::default()
    };
    let units = labelled
        .iter()
        .filter(|one| rows[&one.index].find(&one.wanted).is_none());
    let units: VecDeque<Unit<'_>> = units
        .map(|one| Unit {
            index: one.index,
            wanted: one.wanted.clone(),
        })
        .collect();
    let rows = ask_all(rows, units, grading, around).map_err(UncheckedJudge::Interrupted)?;
    let retold = retold(plan, &labelled, &rows, options.sample);
    let units = retold
        .iter()
        .filter(|(index, _, wanted)| rows[index].find(wanted).is_none());
    let units: VecDeque<Unit<'_>> = units
        .map(|(index, _, wanted)| Unit {
            index: *index,
            wanted: wanted.clone(),
        })
        .collect();
    let rows = ask_all(rows, units, grading, around).map_err(UncheckedJudge::Interrupted)?;
    // Nothing is asked from here on, so a signal ends the program.
    drop(interrupt);
    Ok(Checked {
        checks: measure(&labelled, &retold, &rows),
        failures: failures(&rows),
        left_out,
        over_budget: spending.stopped(),
    })
}

/// What a check takes.
#[derive(Debug)]
pub struct PlannedCheck {
    /// Requests, at most.
    pub calls: usize,
    /// Grades of runs that have a label.
    pub labelled: usize,
    /// What cannot be read, or not judged.
    pub left_out: Vec<LeftOut>,
}

/// What a check takes. Nobody is asked to find out.
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
    let calls = |index: usize, wanted: &Wanted<'_>| match plan.rows[index].suite() {
        Some(suite) if rows[&index].find(wanted).is_none() => wanted.question.calls(suite),
        _ => 0,
    };
    let first: usize = labelled
        .iter()
        .map(|one| calls(one.index, &one.wanted))
        .sum();
    let then: usize = retold(plan, &labelled, &rows, sample)
        .iter()
        .map(|(index, _, wanted)| calls(*index, wanted))
        .sum();
    Ok(PlannedCheck {
        calls: first + then,
        labelled: labelled.len(),
        left_out,
    })
}

/// The labelled runs of every row that asks a judge, and the grades of these rows.
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
    let (mut rows, mut labelled) = (BTreeMap::new(), Vec::new());
    let read = each_labelled(plan, labels, secrets, |index, _, recorded, of_row| {
        let (row, Recorded::Runs(runs)) = (&plan.rows[index], recorded) else {
            return;
        };
        let asked = wanted(row, recorded);
        let asked = asked.iter().filter(|one| is_checked(one.question));
        let asked: Vec<&Wanted<'p>> = asked.collect();
        for run in of_row {
            let of_run = asked.iter().filter(|one| one.run == run.run.number);
            labelled.extend(of_run.map(|wanted| Labelled {
                index,
                is_good: run.is_good,
                wanted: (*wanted).clone(),
            }));
        }
        rows.insert(
            index,
            RowGrades::new(row, runs.grades.clone(), false, secrets),
        );
    })?;
    let asks = |index: usize| match plan.rows[index].subject {
        Subject::Agent(of) => questions(of.agent).any(is_checked),
        _ => true,
    };
    let left_out = read.left_out.into_iter().filter(|(index, _)| asks(*index));
    Ok(Collected {
        rows,
        labelled,
        left_out: left_out.map(|(_, one)| one).collect(),
    })
}

/// Judges are checked, not advice and not scorers.
fn is_checked(question: &Question) -> bool {
    !question.is_advice && question.scorer().is_none()
}

/// The first labelled runs of each question, told in every other way; to be won over, only bad runs that the judge
/// fails, or has not graded so far.
fn retold<'p>(
    plan: &'p Plan<'p>,
    labelled: &[Labelled<'p>],
    rows: &BTreeMap<usize, RowGrades<'p>>,
    sample: usize,
) -> Vec<(usize, Retelling, Wanted<'p>)> {
    let mut all = Vec::new();
    let mut taken: BTreeMap<(String, Retelling), usize> = BTreeMap::new();
    for one in labelled {
        let Some(suite) = plan.rows[one.index].suite() else {
            continue;
        };
        let passed = rows[&one.index]
            .find(&one.wanted)
            .map(|grade| one.wanted.question.holds(grade));
        for how in Retelling::ALL {
            let is_open = !one.is_good && passed != Some(true);
            if how.is_persuasion() && !is_open {
                continue;
            }
            let count = taken.entry((question_of(&one.wanted), how)).or_default();
            if *count < sample
                && let Some(wanted) = one.wanted.retold(suite, how)
            {
                *count += 1;
                all.push((one.index, how, wanted));
            }
        }
    }
    all
}

/// The same question is one, wherever it stands.
fn question_of(wanted: &Wanted<'_>) -> String {
    let asked = &wanted.asked;
    format!(
        "{} {} {} {}",
        asked.rubric,
        asked.judges.join(" "),
        asked.samples,
        wanted.question.threshold
    )
}

fn measure<'p>(
    labelled: &[Labelled<'p>],
    retold: &[(usize, Retelling, Wanted<'p>)],
    rows: &BTreeMap<usize, RowGrades<'p>>,
) -> Vec<JudgeCheck> {
    let given = |index: usize, question: &Question, wanted: &Wanted<'_>| {
        let grade = rows[&index].find(wanted)?;
        Some(Given {
            passed: question.holds(grade),
            score: grade.score(),
        })
    };
    let mut seen = BTreeSet::new();
    let questions = labelled.iter().map(|one| question_of(&one.wanted));
    let order = questions.filter(|question| seen.insert(question.clone()));
    let of_question = |question: String| {
        let of_it: Vec<&Labelled<'_>> = labelled
            .iter()
            .filter(|one| question_of(&one.wanted) == question)
            .collect();
        let first = &of_it.first()?.wanted;
        let mut runs = Vec::new();
        for one in &of_it {
            let Some(grade) = given(one.index, one.wanted.question, &one.wanted) else {
                continue;
            };
            let is_same = |(index, _, wanted): &&(usize, Retelling, Wanted<'_>)| {
                let begins = wanted
                    .check
                    .strip_prefix(&one.wanted.check)
                    .is_some_and(|rest| rest.starts_with(' '));
                *index == one.index && wanted.run == one.wanted.run && begins
            };
            let of_run = retold.iter().filter(is_same);
            let of_run = of_run.filter_map(|(index, how, wanted)| {
                Some((*how, given(*index, wanted.question, wanted)?))
            });
            runs.push(CheckedRun {
                is_good: one.is_good,
                grade,
                retold: of_run.collect(),
            });
        }
        let (judges, threshold) = (first.asked.judges.clone(), first.question.threshold);
        Some(JudgeCheck::of(
            first.check.clone(),
            judges,
            threshold,
            &runs,
            of_it.len() - runs.len(),
        ))
    };
    order.filter_map(of_question).collect()
}

fn failures(rows: &BTreeMap<usize, RowGrades<'_>>) -> Vec<String> {
    let all = rows
        .values()
        .flat_map(|row| row.failures().iter().map(move |failure| (row, failure)));
    let said = all.map(|(row, one)| format!("{}, run {}: {}", row.row.name, one.run, one.why));
    let mut seen = BTreeSet::new();
    said.filter(|said| seen.insert(said.clone())).collect()
}
