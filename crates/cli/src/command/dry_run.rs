//! `mcptest run --dry-run`: what would recording take?

use console::{Alignment, measure_text_width, pad_str};
use mcptest_command::progress::words::{counted, dollars, grouped};
use mcptest_command::{Failure, output};
use mcptest_core::escape::escape;
use mcptest_core::eval::PRICES_HELP;
use mcptest_replay::Plan;
use mcptest_run::{Estimate, Options, RowEstimate, SideRunsEstimate};
use std::collections::BTreeSet;

/// More rows than these are not named one by one in a note.
const NAMED: usize = 3;

pub(super) fn run(plan: &Plan<'_>, options: &Options) -> Result<u8, Failure> {
    let mut text = render(&mcptest_run::estimate(plan, options));
    text.extend(
        mcptest_run::refused_tools(plan)
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

/// `10`, or `10+6` with a fault matrix; `10+…` where the tools are not known.
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

/// Whether how many runs there are is known only once there is one.
fn is_open(side: SideRunsEstimate) -> bool {
    side.at_most != Some(side.about)
}

/// All rows together; a sum of which a part is not known says so.
fn total(rows: &[RowEstimate]) -> [String; 6] {
    let about: usize = rows
        .iter()
        .map(|row| row.runs + row.side_runs.map_or(0, |side| side.about))
        .sum();
    let is_open = rows.iter().any(|row| row.side_runs.is_some_and(is_open));
    let any_rough = rows.iter().any(is_rough);
    let sum = |number: &dyn Fn(&RowEstimate) -> Option<u64>| {
        let known: Vec<u64> = rows.iter().filter_map(number).collect();
        (
            known
                .iter()
                .fold(0, |sum: u64, number| sum.saturating_add(*number)),
            known.len(),
        )
    };
    let of_all = |known: usize, text: String| match known {
        0 => "unknown".to_owned(),
        _ if known < rows.len() => format!("{text} + …"),
        _ => text,
    };
    let (calls, calls_known) = sum(&|row| row.calls_at_most);
    let (limit, limited) = sum(&|row| row.tokens_at_most);
    let (tokens, tokens_known) = sum(&|row| row.tokens.map(|tokens| tokens.total));
    let costs: Vec<f64> = rows.iter().filter_map(|row| row.cost_usd).collect();
    let all_limited = rows
        .iter()
        .all(|row| row.is_own || row.tokens_at_most.is_some());
    [
        "total".to_owned(),
        format!("{}{}", mark(is_open), grouped(about as u64)),
        of_all(calls_known, grouped(calls)),
        if all_limited {
            of_all(limited, grouped(limit))
        } else {
            "no limit".to_owned()
        },
        of_all(
            tokens_known,
            format!("{}{}", mark(any_rough), grouped(tokens)),
        ),
        of_all(
            costs.len(),
            format!("{}{}", mark(any_rough), dollars(costs.iter().sum())),
        ),
    ]
}

/// What the numbers do not say of themselves.
fn notes(estimate: &Estimate) -> Vec<String> {
    let rows = &estimate.rows;
    let mut notes = Vec::new();
    let of = |wanted: &dyn Fn(&RowEstimate) -> bool| -> Vec<&RowEstimate> {
        rows.iter().filter(|row| wanted(row)).collect()
    };
    let mut note = |wanted: &dyn Fn(&RowEstimate) -> bool, text: &str| {
        let named = names(&of(wanted));
        if !named.is_empty() {
            notes.push(text.replace("{rows}", &named));
        }
    };
    let is_guessed = |row: &RowEstimate| row.tokens.is_some_and(|tokens| tokens.is_rough);
    note(
        &is_guessed,
        "~ is a rough guess from the prompt and the tools of {rows}: 4 characters a token, 3 answers a turn",
    );
    note(
        &|row| row.tokens.is_some() && !is_guessed(row),
        "the numbers of {rows} are the mean of the recorded runs",
    );
    note(
        &|row| row.tokens_at_most.is_some(),
        "a run may exceed its token limit by one answer ({rows})",
    );
    note(
        &|row| !row.is_own && row.tokens_at_most.is_none(),
        "{rows} have no token limit: set `token_budget:` of the agent, or `budget: {per_run_tokens: …}` of the suite",
    );
    note(
        &|row| row.is_own,
        "model calls are unknown for {rows}, and tokens until it is recorded: a program of your own asks the model",
    );
    note(
        &|row| row.may_stop_early,
        "{rows} may need fewer runs: `stop: decided`",
    );
    for row in rows {
        notes.extend(row.side_runs.and_then(|side| of_side_runs(row, side)));
    }
    let unpriced: BTreeSet<&String> = rows
        .iter()
        .filter_map(|row| row.unpriced.as_ref())
        .collect();
    let unpriced = unpriced.into_iter().map(|model| escape(model));
    notes.extend(unpriced.map(|model| format!("no price is known for `{model}`: {PRICES_HELP}")));
    let mut refused: Vec<&String> = rows.iter().filter_map(|row| row.refused.as_ref()).collect();
    refused.dedup();
    for why in refused {
        let named = names(&of(&|row| row.refused.as_ref() == Some(why)));
        notes.push(format!("{named} cannot be recorded: {why}"));
    }
    notes.extend(estimate.exceeded.iter().map(|budget| {
        let (limit, estimated) = (dollars(budget.limit_usd), dollars(budget.estimated_usd));
        format!(
            "{} of {limit} would end the recording: about {estimated} are needed",
            escape(&budget.name)
        )
    }));
    notes.extend(without_a_model(estimate));
    notes
}

/// What would be done beside the rows that ask a model.
fn without_a_model(estimate: &Estimate) -> Vec<String> {
    let some = |number: usize, what: &str| (number > 0).then(|| counted(number as u64, what));
    let called = some(estimate.tool_tests, "tool test");
    let called = called.map(|tests| format!("{tests} would be called, without a model"));
    let read = some(estimate.read_only, "row");
    let read = read.map(|rows| {
        format!("{rows} whose `cassette:` is a list or a pattern would not be recorded")
    });
    called.into_iter().chain(read).collect()
}

fn of_side_runs(row: &RowEstimate, side: SideRunsEstimate) -> Option<String> {
    let most = side
        .at_most
        .map(|most| format!(": {} at most", grouped(most as u64)));
    is_open(side).then(|| {
        let (all, name) = (side.words.all, escape(&row.row_name));
        format!(
            "how many runs {all} of `{name}` has is known after its first run{}",
            most.unwrap_or_default()
        )
    })
}

/// `a`, `b` and `c`; or how many, where they are many.
fn names(rows: &[&RowEstimate]) -> String {
    let named: Vec<String> = rows
        .iter()
        .map(|row| format!("`{}`", escape(&row.row_name)))
        .collect();
    match &named[..] {
        [] => String::new(),
        [one] => one.clone(),
        many if many.len() > NAMED => counted(many.len() as u64, "row"),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
