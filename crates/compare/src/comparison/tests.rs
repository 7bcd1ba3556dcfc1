//! Which rows are the same, and which can be compared?

use super::*;
use crate::baseline::{RunBaseline, TestBaseline};

/// A row with this number of runs, of which the first passed.
fn row(suite: &str, name: &str, passed: usize, runs: usize) -> TestBaseline {
    TestBaseline {
        suite: suite.to_owned(),
        name: name.to_owned(),
        runs: (0..runs)
            .map(|at| RunBaseline {
                run: at + 1,
                passed: at < passed,
                ..RunBaseline::default()
            })
            .collect(),
        ..TestBaseline::default()
    }
}

/// Each pair as `before > after`, then the rows of only one side.
fn paired(before: &[TestBaseline], after: &[TestBaseline]) -> Vec<String> {
    let comparison = Comparison::new(before, after);
    let both = comparison
        .rows
        .iter()
        .map(|row| format!("{} > {}", row.before.in_words(), row.after.in_words()));
    let gone = names(&comparison.only_before);
    let new = names(&comparison.only_after);
    both.chain(gone.into_iter().map(|name| format!("- {name}")))
        .chain(new.into_iter().map(|name| format!("+ {name}")))
        .collect()
}

#[test]
fn a_row_whose_suite_was_moved_is_the_same_row() {
    assert_eq!(
        paired(&[row("a.yml", "t", 1, 1)], &[row("b.yml", "t", 1, 1)]),
        ["a.yml · t > b.yml · t"]
    );
}

#[test]
fn a_row_that_only_one_side_has_is_listed_also_where_another_suite_has_its_name() {
    let (a, b) = (row("a.yml", "t", 1, 1), row("b.yml", "t", 1, 1));
    assert_eq!(
        paired(std::slice::from_ref(&a), &[a.clone(), b.clone()]),
        ["a.yml · t > a.yml · t", "+ b.yml · t"]
    );
    assert_eq!(
        paired(&[a.clone(), b], &[row("c.yml", "t", 1, 1)]),
        ["- a.yml · t", "- b.yml · t", "+ c.yml · t"]
    );
}

#[test]
fn a_row_that_cannot_be_compared_counts_no_runs() {
    let before = [row("a.yml", "x", 2, 3), row("a.yml", "y", 2, 3)];
    let mut after = [row("a.yml", "x", 3, 4), row("a.yml", "y", 1, 3)];
    after[1].question = "another".to_owned();
    let comparison = Comparison::new(&before, &after);
    let tally = |passed: u64, runs: u64| Tally { passed, runs };
    assert_eq!(
        comparison.tallies(),
        [(tally(2, 3), tally(3, 4)), (tally(0, 0), tally(0, 0))]
    );
    assert_eq!(comparison.comparable().count(), 1);
}
