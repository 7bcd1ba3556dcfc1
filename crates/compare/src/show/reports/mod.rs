//! Two reports side by side, or several, in, bytes out: for people, for machines and for a pull request.

mod md;
mod pretty;
#[cfg(test)]
mod tests;

use crate::reports::{Compared, ReportDiff, TargetChange, TestChange};
use mcptest_core::report::leaderboard::{p_value, points};
use mcptest_core::report::{Number, Status};
use mcptest_report::words::{count, only_in};
use mcptest_report::{Reporter, html, json};

/// The JSON Schema of the comparison (draft 2020-12).
pub const SCHEMA: &str = include_str!("compare.schema.json");

/// Every format, the default first.
pub const REPORTERS: &[Reporter<Compared>] = &[
    Reporter::new(
        "pretty",
        "for people: the tests that changed, and the evidence in their runs",
        "txt",
        pretty::render,
    ),
    Reporter::new("json", "the whole comparison as JSON", "json", json::whole),
    Reporter::new("md", "Markdown for a pull request", "md", md::render),
    Reporter::new(
        "html",
        "one page for a browser, with the sides of every test",
        "html",
        html::sides,
    ),
];

/// `a.yml · refunds [gpt-5]`.
pub(super) fn named(test: &TestChange) -> String {
    format!("{} · {}", test.suite, test.row)
}

/// The verdict on the change of a test.
pub(super) fn verdict(test: &TestChange) -> &'static str {
    test.verdict
        .map_or("not compared", |verdict| verdict.words())
}

/// Returns true if a test deserves a separate line: its outcome, its calls, its runs or what its
/// gates measured differ.
pub(super) fn has_changed(test: &TestChange) -> bool {
    let has_moved = test
        .change
        .is_none_or(|change| change.difference.abs() > 0.0);
    let is_broken = test.broken_a + test.broken_b > 0;
    has_moved
        || is_broken
        || test.status_a != test.status_b
        || !test.no_longer_exercised.is_empty()
        || !test.calls.is_empty()
}

/// `9 of 10 runs passed, now 3 of 10`.
pub(super) fn runs(test: &TestChange) -> String {
    let of = |passed: u64, runs: u64| format!("{passed} of {}", count(runs as usize, "run"));
    let broken = |runs: u64| match runs {
        0 => String::new(),
        1 => " (1 ended in an error)".to_owned(),
        more => format!(" ({more} ended in errors)"),
    };
    format!(
        "{} passed{}, now {} of {}{}",
        of(test.passed_a, test.runs_a),
        broken(test.broken_a),
        test.passed_b,
        test.runs_b,
        broken(test.broken_b)
    )
}

/// `-60 points, -82.1 to -15.3, p = 0.02`, the p-value being the adjusted one.
pub(super) fn change(test: &TestChange) -> Option<String> {
    let change = test.change?;
    let p = test
        .p_holm
        .map(|p| format!(", {}", p_value(p)))
        .unwrap_or_default();
    let (low, high) = (points(change.low), points(change.high));
    Some(format!(
        "{} points, {low} to {high}{p}",
        points(change.difference)
    ))
}

/// `passed, now failed` and `golden_path is no longer exercised`, if so.
pub(super) fn outcome(test: &TestChange) -> Vec<String> {
    let word = |status: Status| match status {
        Status::Passed => "passed",
        Status::Failed => "failed",
        Status::Error => "could not be judged",
        Status::Skipped => "skipped",
    };
    let differs = test.status_a != test.status_b;
    let changed = differs.then(|| format!("{}, now {}", word(test.status_a), word(test.status_b)));
    let idle = test.no_longer_exercised.iter();
    let idle = idle.map(|gate| format!("{gate} is no longer exercised: it measured nothing"));
    changed.into_iter().chain(idle).collect()
}

/// The calls that differ, in a sentence each.
pub(super) fn calls(test: &TestChange) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    for one in &test.calls {
        let runs = |runs: usize| count(runs, "run");
        said.push(match one.runs_b {
            0 => format!(
                "{} is no longer called (it was in {})",
                one.tool,
                runs(one.runs_a)
            ),
            now => format!(
                "{} is now called in {}; it was in none",
                one.tool,
                runs(now)
            ),
        });
    }
    if let Some(first) = &test.first_difference {
        let tool = |tool: &Option<String>| tool.clone().unwrap_or_else(|| "the end".to_owned());
        let (a, b) = (tool(&first.a), tool(&first.b));
        said.push(format!(
            "the typical run differs from call {}: {a}, now {b}",
            first.call
        ));
    }
    said
}

/// `golden_path.penalty 0.2, now 1.4`, of the numbers that differ.
pub(super) fn targets(test: &TestChange) -> Vec<String> {
    let said = |number: Option<Number>| {
        number.map_or("not measured".to_owned(), |number| number.to_string())
    };
    let one = |target: &TargetChange| {
        let p = target
            .p
            .map(|p| format!(" ({})", p_value(p)))
            .unwrap_or_default();
        format!(
            "{} {}, now {}{p}",
            target.target,
            said(target.a),
            said(target.b)
        )
    };
    test.targets
        .iter()
        .filter(|target| target.a != target.b)
        .map(one)
        .collect()
}

/// The number of a side's tests that were not compared with the first side.
pub(super) fn left_out(of: &ReportDiff) -> Option<String> {
    let tests = of.not_compared() + of.only_a.len() + of.only_b.len();
    let said = format!(
        "{} of {} or {} not compared",
        count(tests, "test"),
        of.a.name,
        of.b.name
    );
    (tests > 0).then(|| format!("{said}; -v names them with the reason"))
}

/// The tests that only one side has.
pub(super) fn notes(of: &ReportDiff) -> Vec<String> {
    only_in(&of.a.name, &of.only_a)
        .chain(only_in(&of.b.name, &of.only_b))
        .collect()
}
