//! `md`: the comparison for a pull request.

use super::{named, runs, totals, unpaired, verdict};
use crate::Options;
use crate::md::text;
use mcptest_core::baseline::{Class, Comparison, Difference, NumberShift};
use mcptest_core::report::Number;

pub(super) fn render(comparison: &Comparison, options: &Options) -> Vec<u8> {
    let Comparison { before, after, .. } = comparison;
    let mut out = format!(
        "## {}: {} and {}\n\n",
        verdict(comparison),
        text(named(before)),
        text(named(after))
    );
    out.push_str(&format!("{}.\n", totals(comparison)));
    for test in &comparison.tests {
        let word = if test.not_compared.is_some() {
            "NOT COMPARED"
        } else {
            test.verdict.word()
        };
        let name = format!("{} · {}", test.suite, test.name);
        out.push_str(&format!(
            "\n### {word}: {}\n\n{}\n",
            text(&name),
            runs(test)
        ));
        if let Some(why) = &test.not_compared {
            out.push_str(&format!("\n{}\n", text(why)));
        }
        let is_shown = |one: &&Difference| one.class != Class::Pass || options.verbose > 0;
        let shown: Vec<&Difference> = test.differences.iter().filter(is_shown).collect();
        out.push_str(if shown.is_empty() {
            ""
        } else {
            "\n| | What | Runs |\n|---|---|---|\n"
        });
        for one in shown {
            let support = one.support_in_words().unwrap_or_default();
            out.push_str(&format!(
                "| {} | {} | {support} |\n",
                one.class.word(),
                text(&one.message)
            ));
        }
    }
    let drifted: Vec<&NumberShift> = comparison
        .numbers
        .iter()
        .filter(|one| one.class == Class::Drift)
        .collect();
    if !drifted.is_empty() {
        out.push_str(
            "\n### Numbers of gates\n\n| Number | Before | Now | | p |\n|---|---|---|---|---|\n",
        );
    }
    for one in drifted {
        let how = if one.is_worse() { "worse" } else { "better" };
        let (before, after) = (Number::Float(one.before), Number::Float(one.after));
        let p = Number::Float(one.adjusted_p.unwrap_or(one.p));
        out.push_str(&format!(
            "| {} | {before} | {after} | {how} | {p} |\n",
            text(&one.target)
        ));
    }
    for said in unpaired(comparison) {
        out.push_str(&format!("\nNote: {}\n", text(&said)));
    }
    out.into_bytes()
}
