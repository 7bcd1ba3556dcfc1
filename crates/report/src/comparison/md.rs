//! `md`: the comparison for a pull request.

use super::{calls, change, has_changed, named, notes, outcome, runs, targets, verdict};
use crate::md::text;
use crate::{Options, leaderboard};
use mcptest_core::compare::{Comparison, TestChange};

pub(super) fn render(comparison: &Comparison, options: &Options) -> Vec<u8> {
    let Comparison { a, b, .. } = comparison;
    let mut out = format!("## {}: {} and {}\n\n", comparison.verdict.words(), text(&a.name), text(&b.name));
    out.push_str(&format!("{}\n", text(&comparison.sentence)));
    let is_shown = |test: &&TestChange| has_changed(test) || options.verbose > 0;
    let shown: Vec<&TestChange> = comparison.tests.iter().filter(is_shown).collect();
    if !shown.is_empty() {
        out.push_str("\n| | Test | Runs | Change |\n|---|---|---|---|\n");
    }
    for test in shown {
        let more: Vec<String> = outcome(test).into_iter().chain(calls(test)).collect();
        let numbers = if options.verbose > 0 { targets(test) } else { Vec::new() };
        let more = more.iter().chain(&numbers).chain(&test.not_compared);
        let more: Vec<String> = more.map(|line| format!("<br>{}", text(line))).collect();
        let more = more.concat();
        let change = change(test).unwrap_or_default();
        out.push_str(&format!(
            "| {} | {}{more} | {} | {change} |\n",
            verdict(test),
            text(&named(test)),
            runs(test)
        ));
    }
    if let Some(board) = &comparison.leaderboard {
        out.push_str(&leaderboard::md(board));
    }
    for said in notes(comparison) {
        out.push_str(&format!("\nNote: {}\n", text(&said)));
    }
    out.into_bytes()
}
