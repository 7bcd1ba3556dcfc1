//! What would grading take: which judges answer which questions, how often, and at about which
//! cost?

use crate::ask_judge::price_of;
use crate::grade::to_grade;
use crate::options::WhichGrades;
use mcptest_core::grade::{Asks, Question, SYSTEM, Wanted};
use mcptest_core::price::{Price, count_tokens};
use mcptest_core::row::{Row, Subject};
use mcptest_core::suite::Suite;
use mcptest_core::trace::Tokens;
use mcptest_replay::Plan;

/// The estimated tokens of a judge's answer: a reason and a grade.
const TOKENS_OF_AN_ANSWER: u64 = 100;

/// The cost of grading one check of a row.
#[derive(Debug)]
pub struct CheckPlan<'p> {
    /// The row.
    pub row_name: String,
    /// The check, by its path in the test.
    pub check: String,
    /// The question.
    pub question: &'p Question,
    /// The judges, each with its price, if known.
    pub judges: Vec<(String, Option<Price>)>,
    /// The number of runs to grade.
    pub runs: usize,
    /// The number of runs with a gradable recording.
    pub recorded: usize,
    /// The number of runs to grade once they are recorded.
    pub unrecorded: usize,
    /// The number of requests, if every answer is valid, including requests about unrecorded runs.
    pub calls: usize,
    /// The estimated number of tokens.
    pub tokens: u64,
    /// The estimated cost of the recorded runs. `None` if a price is unknown.
    pub cost_usd: Option<f64>,
}

/// The checks of a plan that ask judges, and the scorers, in the order of the plan, with the number
/// of requests. The estimate calls no judge and needs no key.
pub fn plan<'p>(plan: &'p Plan<'p>, which: WhichGrades) -> Vec<CheckPlan<'p>> {
    let rows = plan.rows.iter().filter(|row| row.skip.is_none());
    let checks = rows.flat_map(|row| {
        let wanted = |which| {
            to_grade(row, which, None)
                .map(|(_, wanted)| wanted)
                .unwrap_or_default()
        };
        let all = wanted(WhichGrades::ALL);
        let now = wanted(which);
        row.questions()
            .into_iter()
            .map(move |(check, question)| check_plan(row, (check, question), &all, &now))
    });
    checks.collect()
}

fn check_plan<'p>(
    row: &Row<'p>,
    (check, question): (String, &'p Question),
    all: &[Wanted<'_>],
    now: &[Wanted<'_>],
) -> CheckPlan<'p> {
    let of_check = |wanted: &&Wanted<'_>| wanted.check == check;
    let recorded = all.iter().filter(of_check).count();
    let unrecorded = runs_to_record(row).saturating_sub(recorded);
    let of_run: Vec<Tokens> = now.iter().filter(of_check).map(tokens_of_a_vote).collect();
    let judges = priced_judges(row, question);
    let tokens: u64 = of_run
        .iter()
        .filter_map(|tokens| tokens.totalled().total)
        .sum();
    let calls = |suite: &Suite| question.calls(suite) * (of_run.len() + unrecorded);
    CheckPlan {
        row_name: row.name.clone(),
        recorded,
        unrecorded,
        runs: of_run.len(),
        calls: row.suite().map(calls).unwrap_or_default(),
        tokens: tokens * (judges.len() * question.samples) as u64,
        cost_usd: judges
            .iter()
            .map(|(_, price)| Some(cost_of_runs(*price, &of_run)? * question.samples as f64))
            .sum(),
        check,
        question,
        judges,
    }
}

/// The judges of a question, each with its price if known.
fn priced_judges(row: &Row<'_>, question: &Question) -> Vec<(String, Option<Price>)> {
    let judges = row
        .suite()
        .map(|suite| question.judges_of(suite))
        .unwrap_or_default();
    judges
        .into_iter()
        .map(|model| (model.label(), price_of(row, model)))
        .collect()
}

/// The cost of one vote on each run; `None` if the price is unknown.
fn cost_of_runs(price: Option<Price>, of_run: &[Tokens]) -> Option<f64> {
    of_run.iter().map(|tokens| price?.cost_usd(*tokens)).sum()
}

/// The number of the row's runs once it is recorded. 0 for traces from elsewhere.
fn runs_to_record(row: &Row<'_>) -> usize {
    let recorder = row.recorded_by();
    match recorder.as_ref().unwrap_or(row).subject {
        Subject::Agent(of) if of.agent.is_read_only() || row.transcripts.is_some() => 0,
        Subject::Agent(of) => of.agent.runs,
        Subject::Tool(_) => 1,
        Subject::Refused(_) => 0,
    }
}

/// The estimated tokens of one vote on a run.
fn tokens_of_a_vote(wanted: &Wanted<'_>) -> Tokens {
    let count = |text: &str| count_tokens(text).unwrap_or(text.len() / 4) as u64;
    match &wanted.question.asks {
        Asks::Rubric(rubric) => {
            let sheets = rubric.sheets();
            let prompt = sheets
                .iter()
                .map(|sheet| count(SYSTEM) + count(&sheet.prompt(&wanted.evidence)));
            Tokens::without_total(
                Some(prompt.sum()),
                Some(TOKENS_OF_AN_ANSWER * sheets.len() as u64),
            )
        }
        Asks::Similar(to) => Tokens::without_total(
            Some(count(to) + count(&wanted.evidence.judged_text())),
            Some(0),
        ),
        Asks::Scorer(_) => Tokens::default(),
    }
}
