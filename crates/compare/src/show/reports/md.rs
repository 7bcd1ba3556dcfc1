//! `md`: the comparison for a pull request.

use super::{calls, change, has_changed, left_out, named, notes, outcome, runs, targets, verdict};
use crate::reports::{Compared, ReportDiff, Several, TestChange};
use mcptest_report::md::text;
use mcptest_report::{Options, leaderboard};

pub(super) fn render(compared: &Compared, options: &Options) -> Vec<u8> {
    let text = match compared {
        Compared::Two(two) => of_two(two, options),
        Compared::Several(several) => of_several(several, options),
    };
    text.into_bytes()
}

fn of_several(of: &Several, options: &Options) -> String {
    let names = [&of.first]
        .into_iter()
        .chain(of.sides.iter().map(|side| &side.b));
    let names: Vec<String> = names.map(|side| text(&side.name)).collect();
    let mut out = format!("## {}: {}\n\n", of.verdict.words(), names.join(", "));
    for side in &of.sides {
        out.push_str(&format!("- {}\n", text(&side.sentence)));
    }
    if let Some(board) = &of.leaderboard {
        out.push_str(&leaderboard::md(board, "Sides", options.sort));
    }
    for side in &of.sides {
        match left_out(side) {
            _ if options.verbose > 0 => out.push_str(&format!("\n{}", of_two(side, options))),
            Some(said) => out.push_str(&format!("\nNote: {}\n", text(&said))),
            None => {}
        }
    }
    out
}

/// The lines below the name of a test.
fn details(test: &TestChange, options: &Options) -> String {
    let numbers = if options.verbose > 0 {
        targets(test)
    } else {
        Vec::new()
    };
    let facts = outcome(test).into_iter().chain(calls(test)).chain(numbers);
    let lines = facts.chain(test.not_compared.clone());
    let lines: Vec<String> = lines.map(|line| format!("<br>{}", text(&line))).collect();
    lines.concat()
}

fn of_two(comparison: &ReportDiff, options: &Options) -> String {
    let ReportDiff { a, b, .. } = comparison;
    let mut out = format!(
        "## {}: {} and {}\n\n",
        comparison.verdict.words(),
        text(&a.name),
        text(&b.name)
    );
    out.push_str(&format!("{}\n", text(&comparison.sentence)));
    let is_shown = |test: &&TestChange| has_changed(test) || options.verbose > 0;
    let shown: Vec<&TestChange> = comparison.tests.iter().filter(is_shown).collect();
    if !shown.is_empty() {
        out.push_str("\n| | Test | Runs | Change |\n|---|---|---|---|\n");
    }
    for test in shown {
        out.push_str(&format!(
            "| {} | {}{} | {} | {} |\n",
            verdict(test),
            text(&named(test)),
            details(test, options),
            runs(test),
            change(test).unwrap_or_default()
        ));
    }
    if let Some(board) = &comparison.leaderboard {
        out.push_str(&leaderboard::md(board, "Models", options.sort));
    }
    for said in notes(comparison) {
        out.push_str(&format!("\nNote: {}\n", text(&said)));
    }
    out
}
