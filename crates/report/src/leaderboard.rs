//! The models of a report as a table: its columns, and the same in Markdown.

use crate::md::text;
use mcptest_core::compare::leaderboard::{Leaderboard, ModelRow};
use mcptest_core::compare::{Verdict, p_value, points};

/// What a column shows of a model.
type Cell<'c> = Box<dyn Fn(&ModelRow) -> Option<String> + 'c>;

/// The head of each column and its cells, the model's name first; columns that no model has a number for are left out.
pub(crate) fn columns(board: &Leaderboard) -> Vec<(String, Vec<String>)> {
    let k = board.k;
    let share = |of: fn(&ModelRow) -> f64| move |row: &ModelRow| Some(format!("{}%", points(of(row))));
    let interval = |row: &ModelRow| Some(format!("{} to {}%", points(row.low), points(row.high)));
    let number = |of: fn(&ModelRow) -> Option<f64>, decimals: usize| {
        move |row: &ModelRow| of(row).map(|number| format!("{number:.decimals$}"))
    };
    let mut all: Vec<(String, Cell<'_>)> = vec![
        ("Leaderboard".to_owned(), Box::new(|row| Some(row.model.clone()))),
        ("runs".to_owned(), Box::new(|row| Some(row.runs.to_string()))),
        ("pass@1".to_owned(), Box::new(share(|row| row.pass_1))),
        ("95% interval".to_owned(), Box::new(interval)),
    ];
    if k > 1 {
        all.push((format!("pass@{k}"), Box::new(share(|row| row.pass_k))));
        all.push((format!("pass^{k}"), Box::new(share(|row| row.pass_hat_k))));
    }
    all.push(("calls".to_owned(), Box::new(number(|row| row.calls, 1))));
    all.push(("turns".to_owned(), Box::new(number(|row| row.turns, 1))));
    all.push(("tokens".to_owned(), Box::new(number(|row| row.tokens, 0))));
    all.push(("USD".to_owned(), Box::new(number(|row| row.cost_usd, 4))));
    all.push(("ms".to_owned(), Box::new(number(|row| row.duration_ms, 0))));
    all.push(("to the first".to_owned(), Box::new(difference)));
    let filled = all.into_iter().map(|(head, cell)| {
        let cells: Vec<Option<String>> = board.models.iter().map(cell).collect();
        (head, cells)
    });
    filled
        .filter(|(_, cells)| cells.iter().any(Option::is_some))
        .map(|(head, cells)| (head, cells.into_iter().map(Option::unwrap_or_default).collect()))
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

/// As a table of Markdown below this heading.
pub(crate) fn md(board: &Leaderboard, heading: &str) -> String {
    let columns = columns(board);
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut out =
        format!("\n### {heading}\n\n{}", row(columns.iter().map(|(head, _)| head.clone()).collect()));
    out.push_str(&format!("|{}\n", "---|".repeat(columns.len())));
    for at in 0..board.models.len() {
        out.push_str(&row(columns.iter().map(|(_, cells)| text(&cells[at])).collect()));
    }
    out
}
