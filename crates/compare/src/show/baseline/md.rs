//! `md`: the comparison for a pull request.

use super::{named, runs, totals, unpaired, verdict};
use crate::baseline::{BaselineDiff, Difference, DifferenceClass, NumberShift, TestDiff};
use mcptest_core::report::Number;
use mcptest_report::Options;
use mcptest_report::md::text;

pub(super) fn render(comparison: &BaselineDiff, options: &Options) -> Vec<u8> {
    let mut out = format!(
        "## {}: {} and {}\n\n{}.\n",
        verdict(comparison),
        text(named(&comparison.before)),
        text(named(&comparison.after)),
        totals(comparison)
    );
    for test in &comparison.tests {
        write_test(&mut out, test, options);
    }
    write_drifted_numbers(&mut out, comparison);
    for note in unpaired(comparison) {
        out.push_str(&format!("\nNote: {}\n", text(&note)));
    }
    out.into_bytes()
}

fn write_test(out: &mut String, test: &TestDiff, options: &Options) {
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
    let is_shown = |one: &&Difference| one.class != DifferenceClass::Pass || options.verbose > 0;
    let shown: Vec<&Difference> = test.differences.iter().filter(is_shown).collect();
    if !shown.is_empty() {
        out.push_str("\n| | What | Runs |\n|---|---|---|\n");
    }
    for difference in shown {
        let class = difference.class.word();
        let message = text(&difference.message);
        let support = difference.support_in_words().unwrap_or_default();
        out.push_str(&format!("| {class} | {message} | {support} |\n"));
    }
}

fn write_drifted_numbers(out: &mut String, comparison: &BaselineDiff) {
    let numbers = comparison.numbers.iter();
    let drifted: Vec<&NumberShift> = numbers
        .filter(|one| one.class == DifferenceClass::Drift)
        .collect();
    if !drifted.is_empty() {
        out.push_str(
            "\n### Numbers of gates\n\n| Number | Before | Now | | p |\n|---|---|---|---|---|\n",
        );
    }
    for shift in drifted {
        let target = text(&shift.target);
        let before = Number::Float(shift.before);
        let after = Number::Float(shift.after);
        let how = if shift.is_worse() { "worse" } else { "better" };
        let p = Number::Float(shift.adjusted_p.unwrap_or(shift.p));
        out.push_str(&format!(
            "| {target} | {before} | {after} | {how} | {p} |\n"
        ));
    }
}
