//! Two baselines side by side in, bytes out: for people, for machines, for a pull request and for CI servers.

mod junit;
mod md;
mod pretty;
#[cfg(test)]
mod tests;

use crate::baseline::{BaselineDiff, BaselineSide, DifferenceClass, TestDiff};
use mcptest_report::words::{count, only_in};
use mcptest_report::{Reporter, json};

/// The JSON Schema of the comparison (draft 2020-12).
pub const SCHEMA: &str = include_str!("baseline-diff.schema.json");

/// Every format, the default first.
pub const REPORTERS: &[Reporter<BaselineDiff>] = &[
    Reporter::new(
        "pretty",
        "for people: what is broken, what has shifted and what is undecided",
        "txt",
        pretty::render,
    ),
    Reporter::new("json", "the whole comparison as JSON", "json", json::whole),
    Reporter::new("md", "Markdown for a pull request", "md", md::render),
    Reporter::new("junit", "JUnit XML for CI servers", "xml", junit::render),
];

/// The model, or the file if it names none.
pub(super) fn named(side: &BaselineSide) -> &str {
    side.model.as_deref().unwrap_or(&side.file)
}

/// `3 runs before, 5 now, 14 invariants`.
pub(super) fn runs(test: &TestDiff) -> String {
    let (before, now) = (count(test.runs_before, "run"), test.runs_after);
    format!(
        "{before} before, {now} now, {}",
        count(test.invariants, "invariant")
    )
}

/// The overall verdict. It is never PASS if something could not be compared.
pub(super) fn verdict(comparison: &BaselineDiff) -> &'static str {
    let is_whole =
        comparison.counts.not_compared == 0 || comparison.verdict == DifferenceClass::Fail;
    if is_whole {
        comparison.verdict.word()
    } else {
        "NOT COMPARED"
    }
}

/// The totals in one line.
pub(super) fn totals(comparison: &BaselineDiff) -> String {
    let counts = comparison.counts;
    let mut totals = vec![
        format!(
            "{} of {} broken",
            counts.fail,
            count(counts.invariants, "invariant")
        ),
        format!(
            "{} of {} shifted",
            counts.drift,
            count(comparison.numbers.len(), "number")
        ),
        format!(
            "{} undecided{}",
            counts.undecided,
            if counts.undecided > 0 {
                " (too few runs to tell)"
            } else {
                ""
            }
        ),
        format!("{} tolerated", counts.pass),
    ];
    if counts.not_compared > 0 {
        totals.push(format!(
            "{} not compared",
            count(counts.not_compared, "test")
        ));
    }
    totals.join(", ")
}

/// The reason that a number is not reported as shifted.
pub(super) fn why_undecided(class: DifferenceClass) -> &'static str {
    if class == DifferenceClass::Undecided {
        "not enough runs to tell"
    } else {
        "within what chance explains"
    }
}

/// The tests that only one side has, in a sentence each.
pub(super) fn unpaired(of: &BaselineDiff) -> Vec<String> {
    only_in(&of.before.file, &of.only_before)
        .chain(only_in(&of.after.file, &of.only_after))
        .collect()
}
