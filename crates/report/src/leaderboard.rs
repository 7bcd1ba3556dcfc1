//! The models of a report as a table: its columns, and the table in Markdown.

use crate::md::text;
use crate::words::count;
use mcptest_core::report::leaderboard::{Leaderboard, ModelRow, Verdict, p_value, points};

/// A column for sorting the rows.
#[derive(Debug)]
pub struct Column {
    /// Its name for `--sort`.
    pub key: &'static str,
    /// Its heading, in which `k` is the number of runs.
    head: &'static str,
    cell: fn(&ModelRow) -> Option<String>,
    /// The smaller, the further up; none sorts by the name.
    rank: Option<fn(&ModelRow) -> Option<f64>>,
}

const fn column(
    key: &'static str,
    head: &'static str,
    cell: fn(&ModelRow) -> Option<String>,
    rank: fn(&ModelRow) -> Option<f64>,
) -> Column {
    Column {
        key,
        head,
        cell,
        rank: Some(rank),
    }
}

/// Every column in order. Sorting puts the best row first.
pub const COLUMNS: &[Column] = &[
    Column {
        key: "name",
        head: "Leaderboard",
        cell: |row| Some(row.model.clone()),
        rank: None,
    },
    column(
        "runs",
        "runs",
        |row| Some(row.runs.to_string()),
        |row| Some(-(row.runs as f64)),
    ),
    column(
        "pass@1",
        "pass@1",
        |row| Some(share(row.pass_1)),
        |row| Some(-row.pass_1),
    ),
    column(
        "interval",
        "95% interval",
        |row| Some(format!("{} to {}", points(row.low), share(row.high))),
        |row| Some(-row.low),
    ),
    column(
        "pass@k",
        "pass@k",
        |row| Some(share(row.pass_k)),
        |row| Some(-row.pass_k),
    ),
    column(
        "pass^k",
        "pass^k",
        |row| Some(share(row.pass_hat_k)),
        |row| Some(-row.pass_hat_k),
    ),
    column(
        "calls",
        "calls",
        |row| number(row.calls, 1),
        |row| row.calls,
    ),
    column(
        "turns",
        "turns",
        |row| number(row.turns, 1),
        |row| row.turns,
    ),
    column(
        "tokens",
        "tokens",
        |row| number(row.tokens, 0),
        |row| row.tokens,
    ),
    column(
        "usd",
        "USD",
        |row| number(row.cost_usd, 4),
        |row| row.cost_usd,
    ),
    column(
        "ms",
        "ms",
        |row| number(row.duration_ms, 0),
        |row| row.duration_ms,
    ),
    column("difference", TO_THE_FIRST, difference, |row| {
        Some(-row.difference.map_or(0.0, |one| one.value))
    }),
];

const TO_THE_FIRST: &str = "to the first";

fn share(share: f64) -> String {
    format!("{}%", points(share))
}

fn number(number: Option<f64>, decimals: usize) -> Option<String> {
    number.map(|number| format!("{number:.decimals$}"))
}

/// The head of each column and its cells, the name first. Omits columns without any number.
pub(crate) fn columns(board: &Leaderboard, sort: Option<&Column>) -> Vec<(String, Vec<String>)> {
    let mut rows: Vec<&ModelRow> = board.models.iter().collect();
    match sort.map(|column| column.rank) {
        None => {}
        Some(None) => rows.sort_by(|one, other| one.model.cmp(&other.model)),
        Some(Some(rank)) => {
            let rank = |row: &ModelRow| rank(row).unwrap_or(f64::INFINITY);
            rows.sort_by(|one, other| rank(one).total_cmp(&rank(other)));
        }
    }
    let head = |head: &str| match (head, board.models.first()) {
        // Sorted, the first is no longer the one above.
        (TO_THE_FIRST, Some(first)) if sort.is_some() => format!("to {}", first.model),
        ("pass@k" | "pass^k", _) => head.replace('k', &board.k.to_string()),
        _ => head.to_owned(),
    };
    let shown = COLUMNS
        .iter()
        .filter(|column| board.k > 1 || !column.key.ends_with('k'));
    let filled = shown.map(|column| {
        (
            head(column.head),
            rows.iter().map(|row| (column.cell)(row)).collect(),
        )
    });
    filled
        .filter(|(_, cells): &(_, Vec<Option<String>>)| cells.iter().any(Option::is_some))
        .map(|(head, cells)| {
            (
                head,
                cells.into_iter().map(Option::unwrap_or_default).collect(),
            )
        })
        .collect()
}

/// `-12.5 worse (p = 0.01)`.
fn difference(row: &ModelRow) -> Option<String> {
    let one = row.difference?;
    let said = match one.verdict {
        Verdict::Better | Verdict::Worse => one.verdict.words(),
        Verdict::NoEvidence | Verdict::NotEnoughRuns => "no evidence",
    };
    Some(format!("{} {said} ({})", points(one.value), p_value(one.p)))
}

/// The exclusions from the table, a sentence each.
pub(crate) fn notes(board: &Leaderboard) -> Vec<String> {
    let mut notes = Vec::new();
    let tests = &board.tests_left_out;
    if !tests.is_empty() {
        let counted = board.models.first().map_or(0, |first| first.tests);
        notes.push(format!(
            "counted: {} that all have; not counted: {}",
            count(counted, "test"),
            some_of(tests)
        ));
    }
    if !board.models_left_out.is_empty() {
        notes.push(format!(
            "without a test in common with these: {}",
            some_of(&board.models_left_out)
        ));
    }
    notes
}

/// The first few of many names.
fn some_of(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let named = names[..names.len().min(SHOWN)].join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// As a table of Markdown below this heading.
pub fn md(board: &Leaderboard, heading: &str, sort: Option<&Column>) -> String {
    let columns = columns(board, sort);
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let head = |head: &String| {
        if head.starts_with("pass@") {
            head.clone()
        } else {
            text(head)
        }
    };
    let heads = columns.iter().map(|(of, _)| head(of)).collect();
    let mut out = format!("\n### {heading}\n\n{}", row(heads));
    out.push_str(&format!("|{}\n", "---|".repeat(columns.len())));
    for at in 0..board.models.len() {
        out.push_str(&row(columns
            .iter()
            .map(|(_, cells)| text(&cells[at]))
            .collect()));
    }
    for note in notes(board) {
        out.push_str(&format!("\nNote: {}\n", text(&note)));
    }
    out
}
