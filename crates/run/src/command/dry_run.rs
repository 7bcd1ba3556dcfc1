//! `mcptest run --dry-run`: what would recording take?

use crate::{Estimate, ExceededBudget, Options, RowEstimate, SideRunsEstimate};
use console::{Alignment, measure_text_width, pad_str};
use mcptest_command::progress::words::{count_grouped, dollars, grouped};
use mcptest_command::{Failure, output};
use mcptest_core::escape::escape;
use mcptest_core::eval::PRICES_HELP;
use mcptest_replay::Plan;
use std::collections::BTreeSet;

/// Above this number, a note counts rows instead of naming them.
const NAMED: usize = 3;

pub(super) fn run(plan: &Plan<'_>, options: &Options) -> Result<u8, Failure> {
    let mut text = render(&crate::estimate(plan, options));
    text.extend(
        crate::refused_tools(plan)
            .iter()
            .map(|line| format!("{}\n", escape(line))),
    );
    if !plan.rows.is_empty() {
        output::stdout(text.as_bytes())?;
    }
    Ok(super::run::unjudged(plan))
}

fn render(estimate: &Estimate) -> String {
    let mut text = match &estimate.rows[..] {
        [] => "no run of an agent would be recorded\n".to_owned(),
        rows => table(rows),
    };
    let notes = notes(estimate);
    text.push_str(if notes.is_empty() { "" } else { "\n" });
    text.extend(notes.iter().map(|note| format!("{note}\n")));
    text
}

const HEADINGS: [&str; 6] = [
    "",
    "runs",
    "model calls at most",
    "tokens at most",
    "tokens about",
    "cost about",
];

/// The rows and their sum, the numbers flush right.
fn table(rows: &[RowEstimate]) -> String {
    let mut lines: Vec<[String; 6]> = vec![HEADINGS.map(str::to_owned)];
    lines.extend(rows.iter().map(line));
    if rows.len() > 1 {
        lines.push(total(rows));
    }
    let width = |column: usize| {
        lines
            .iter()
            .map(|line| measure_text_width(&line[column]))
            .max()
            .unwrap_or_default()
    };
    let widths: Vec<usize> = (0..HEADINGS.len()).map(width).collect();
    let line = |line: &[String; 6]| {
        let name = pad_str(&line[0], widths[0], Alignment::Left, None);
        let numbers = line.iter().zip(&widths).skip(1);
        let numbers =
            numbers.map(|(number, width)| pad_str(number, *width, Alignment::Right, None));
        let cells: Vec<_> = [name].into_iter().chain(numbers).collect();
        cells.join("  ") + "\n"
    };
    lines.iter().map(line).collect()
}

fn line(row: &RowEstimate) -> [String; 6] {
    let or_unknown = |number: Option<String>| number.unwrap_or_else(|| "unknown".to_owned());
    let unlimited = if row.is_own { "unknown" } else { "no limit" };
    [
        escape(&row.row_name).into_owned(),
        runs(row),
        or_unknown(row.calls_at_most.map(grouped)),
        row.tokens_at_most
            .map_or_else(|| unlimited.to_owned(), grouped),
        or_unknown(
            row.tokens
                .map(|tokens| format!("{}{}", mark(is_rough(row)), grouped(tokens.total))),
        ),
        or_unknown(
            row.cost_usd
                .map(|cost| format!("{}{}", mark(is_rough(row)), dollars(cost))),
        ),
    ]
}

/// `10`, or `10+6` with a fault matrix; `10+…` if the tools are unknown.
fn runs(row: &RowEstimate) -> String {
    let of_side_runs = row.side_runs.map(|side| match side.at_most {
        None => "+…".to_owned(),
        Some(most) => format!(
            "+{}{}",
            mark(side.about != most),
            grouped(side.about as u64)
        ),
    });
    format!(
        "{}{}",
        grouped(row.runs as u64),
        of_side_runs.unwrap_or_default()
    )
}

fn mark(is_rough: bool) -> &'static str {
    if is_rough { "~" } else { "" }
}

fn is_rough(row: &RowEstimate) -> bool {
    row.tokens.is_some_and(|tokens| tokens.is_rough) || row.side_runs.is_some_and(is_open)
}

/// Returns true if the number of runs is unknown until the first one.
fn is_open(side: SideRunsEstimate) -> bool {
    side.at_most != Some(side.about)
}

/// Adds up all rows. A sum with unknown parts ends in `+ …`.
fn total(rows: &[RowEstimate]) -> [String; 6] {
    let about: usize = rows
        .iter()
        .map(|row| row.runs + row.side_runs.map_or(0, |side| side.about))
        .sum();
    let is_open = rows.iter().any(|row| row.side_runs.is_some_and(is_open));
    let any_rough = rows.iter().any(is_rough);
    let all_limited = rows
        .iter()
        .all(|row| row.is_own || row.tokens_at_most.is_some());
    let calls = Sum::over(rows, |row| row.calls_at_most);
    let limit = Sum::over(rows, |row| row.tokens_at_most);
    let tokens = Sum::over(rows, |row| row.tokens.map(|tokens| tokens.total));
    let costs: Vec<f64> = rows.iter().filter_map(|row| row.cost_usd).collect();
    let cost = dollars(costs.iter().sum());
    let rough = mark(any_rough);
    [
        "total".to_owned(),
        format!("{}{}", mark(is_open), grouped(about as u64)),
        calls.cell(""),
        if all_limited {
            limit.cell("")
        } else {
            "no limit".to_owned()
        },
        tokens.cell(rough),
        of_known(costs.len(), rows.len(), format!("{rough}{cost}")),
    ]
}

/// A sum over all rows, as far as known.
struct Sum {
    total: u64,
    known: usize,
    rows: usize,
}

impl Sum {
    fn over(rows: &[RowEstimate], number: impl Fn(&RowEstimate) -> Option<u64>) -> Self {
        let known: Vec<u64> = rows.iter().filter_map(number).collect();
        Self {
            total: known.iter().copied().fold(0, u64::saturating_add),
            known: known.len(),
            rows: rows.len(),
        }
    }

    fn cell(&self, mark: &str) -> String {
        of_known(
            self.known,
            self.rows,
            format!("{mark}{}", grouped(self.total)),
        )
    }
}

/// A sum; it ends in `+ …` if a part is unknown.
fn of_known(known: usize, rows: usize, sum: String) -> String {
    match known {
        0 => "unknown".to_owned(),
        _ if known < rows => format!("{sum} + …"),
        _ => sum,
    }
}

/// A note, with the rows that it concerns.
struct RowsNote {
    is_about: fn(&RowEstimate) -> bool,
    /// The note, with `{rows}` for their names.
    text: &'static str,
}

const ROWS_NOTES: [RowsNote; 6] = [
    RowsNote {
        is_about: is_guessed,
        text: "~ is a rough guess from the prompt and the tools of {rows}: 4 characters per token, 3 answers per turn",
    },
    RowsNote {
        is_about: |row| row.tokens.is_some() && !is_guessed(row),
        text: "the numbers of {rows} are the mean of the recorded runs",
    },
    RowsNote {
        is_about: |row| row.tokens_at_most.is_some(),
        text: "a run may exceed its token limit by one answer ({rows})",
    },
    RowsNote {
        is_about: |row| !row.is_own && row.tokens_at_most.is_none(),
        text: "no token limit for {rows}: set `token_budget:` of the agent, or `budget: {per_run_tokens: …}` of the suite",
    },
    RowsNote {
        is_about: |row| row.is_own,
        text: "model calls of {rows} are unknown, and tokens until they are recorded: your own program calls the model",
    },
    RowsNote {
        is_about: |row| row.may_stop_early,
        text: "{rows} may need fewer runs: `stop: decided`",
    },
];

fn is_guessed(row: &RowEstimate) -> bool {
    row.tokens.is_some_and(|tokens| tokens.is_rough)
}

impl RowsNote {
    /// The note, if it concerns any of the rows.
    fn about(&self, rows: &[RowEstimate]) -> Option<String> {
        let about: Vec<&RowEstimate> = rows.iter().filter(|row| (self.is_about)(row)).collect();
        (!about.is_empty()).then(|| self.text.replace("{rows}", &names(&about)))
    }
}

/// Explains numbers that need it.
fn notes(estimate: &Estimate) -> Vec<String> {
    let rows = &estimate.rows;
    let mut notes: Vec<String> = ROWS_NOTES
        .iter()
        .filter_map(|note| note.about(rows))
        .collect();
    for row in rows {
        notes.extend(row.side_runs.and_then(|side| of_side_runs(row, side)));
    }
    notes.extend(unpriced(rows));
    notes.extend(refused(rows));
    notes.extend(estimate.exceeded.iter().map(exceeded));
    notes.extend(without_a_model(estimate));
    notes
}

/// The models without a price.
fn unpriced(rows: &[RowEstimate]) -> Vec<String> {
    let models: BTreeSet<&String> = rows
        .iter()
        .filter_map(|row| row.unpriced.as_ref())
        .collect();
    models
        .into_iter()
        .map(|model| format!("no price is known for `{}`: {PRICES_HELP}", escape(model)))
        .collect()
}

/// The rows that cannot be recorded, by why.
fn refused(rows: &[RowEstimate]) -> Vec<String> {
    let mut reasons: Vec<&String> = rows.iter().filter_map(|row| row.refused.as_ref()).collect();
    reasons.dedup();
    let note = |why: &String| {
        let of_reason: Vec<&RowEstimate> = rows
            .iter()
            .filter(|row| row.refused.as_ref() == Some(why))
            .collect();
        format!("{} cannot be recorded: {why}", names(&of_reason))
    };
    reasons.into_iter().map(note).collect()
}

fn exceeded(budget: &ExceededBudget) -> String {
    let (limit, estimated) = (dollars(budget.limit_usd), dollars(budget.estimated_usd));
    format!(
        "{} of {limit} would end the recording: it needs about {estimated}",
        escape(&budget.name)
    )
}

/// Rows that would be recorded without a model.
fn without_a_model(estimate: &Estimate) -> Vec<String> {
    let mut notes = Vec::new();
    if estimate.tool_tests > 0 {
        let tests = count_grouped(estimate.tool_tests as u64, "tool test");
        notes.push(format!("{tests} would be called, without a model"));
    }
    if estimate.read_only > 0 {
        let rows = count_grouped(estimate.read_only as u64, "row");
        notes.push(format!(
            "{rows} whose `cassette:` is a list or a pattern would not be recorded"
        ));
    }
    notes
}

fn of_side_runs(row: &RowEstimate, side: SideRunsEstimate) -> Option<String> {
    let most = side
        .at_most
        .map(|most| format!(": at most {}", grouped(most as u64)));
    is_open(side).then(|| {
        let (all, name) = (side.words.all, escape(&row.row_name));
        format!(
            "the number of runs in {all} of `{name}` is unknown until its first run is recorded{}",
            most.unwrap_or_default()
        )
    })
}

/// `a`, `b` and `c`; or their number, if they are many.
fn names(rows: &[&RowEstimate]) -> String {
    let named: Vec<String> = rows
        .iter()
        .map(|row| format!("`{}`", escape(&row.row_name)))
        .collect();
    match &named[..] {
        [] => String::new(),
        [one] => one.clone(),
        many if many.len() > NAMED => count_grouped(many.len() as u64, "row"),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
