//! Which lines of the suite does a report show beside the checks that failed?

use super::{Expectation, GateReport, Status, TestReport};
use crate::problem::SourceFile;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Lines of a suite around a check that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excerpt {
    /// The number of its first line, from 1.
    pub first: usize,
    /// The lines.
    pub lines: Vec<String>,
}

/// The lines to show before the line of a check, and after it.
const BEFORE: usize = 2;
const AFTER: usize = 4;
/// The most checks of one test to show lines around.
const MOST_CHECKS: usize = 20;
/// The most characters of one line to show.
const LONGEST_LINE: usize = 300;

impl TestReport {
    /// Adds the lines of the suite around the checks that failed, and around these lines.
    pub fn add_excerpts(&mut self, source: &SourceFile, also: impl IntoIterator<Item = usize>) {
        let checks = self.lines_of_failed_checks();
        let lines: BTreeSet<usize> = checks.into_iter().chain(also).take(MOST_CHECKS).collect();
        self.excerpts = around(&source.text, &lines);
    }

    /// The lines of the suite that ask for what did not hold; the test's own line if nothing else is known.
    fn lines_of_failed_checks(&self) -> Vec<usize> {
        let of_runs = self.runs.iter().flat_map(|run| &run.expectations);
        let is_bad = |gate: &&GateReport| matches!(gate.status, Status::Failed | Status::Error);
        let gates = self.gates.iter().filter(is_bad);
        let of_gates = gates.flat_map(|gate| {
            let missed = missed(&gate.expectations);
            missed.chain(gate.suite_line).collect::<Vec<_>>()
        });
        let mut lines: Vec<usize> = of_runs
            .filter(|one| !one.passed)
            .filter_map(|one| one.suite_line)
            .chain(of_gates)
            .collect();
        if lines.is_empty() {
            lines.push(self.suite.line);
        }
        lines
    }
}

fn missed(expectations: &[Expectation]) -> impl Iterator<Item = usize> {
    let missed = expectations.iter().filter(|one| !one.passed);
    missed.filter_map(|one| one.suite_line)
}

/// The lines around these, each line once.
fn around(text: &str, wanted: &BTreeSet<usize>) -> Vec<Excerpt> {
    let lines: Vec<&str> = text.lines().collect();
    let mut spans: Vec<RangeInclusive<usize>> = Vec::new();
    for &line in wanted
        .iter()
        .filter(|line| (1..=lines.len()).contains(line))
    {
        let (first, last) = (
            line.saturating_sub(BEFORE).max(1),
            (line + AFTER).min(lines.len()),
        );
        match spans.last_mut() {
            Some(before) if first <= *before.end() + 1 => *before = *before.start()..=last,
            _ => spans.push(first..=last),
        }
    }
    let excerpt = |span: RangeInclusive<usize>| Excerpt {
        first: *span.start(),
        lines: span.map(|line| shortened(lines[line - 1])).collect(),
    };
    spans.into_iter().map(excerpt).collect()
}

fn shortened(line: &str) -> String {
    match line.char_indices().nth(LONGEST_LINE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(wanted: &[usize]) -> Vec<(usize, usize)> {
        let lines: Vec<String> = (1..=30).map(|line| format!("line {line}")).collect();
        let text = lines.join("\n");
        let found = around(&text, &wanted.iter().copied().collect());
        for excerpt in &found {
            assert_eq!(excerpt.lines[0], format!("line {}", excerpt.first));
        }
        let span = |one: &Excerpt| (one.first, one.first + one.lines.len() - 1);
        found.iter().map(span).collect()
    }

    #[test]
    fn lines_that_are_near_each_other_are_shown_once() {
        assert_eq!(shown(&[10, 12]), [(8, 16)]);
        assert_eq!(shown(&[5, 20]), [(3, 9), (18, 24)]);
    }

    #[test]
    fn an_excerpt_ends_where_the_file_does() {
        assert_eq!(shown(&[1]), [(1, 5)]);
        assert_eq!(shown(&[30]), [(28, 30)]);
        assert_eq!(shown(&[31, 0]), []);
    }

    #[test]
    fn a_very_long_line_is_cut() {
        let [excerpt] = &around(&"ü".repeat(1000), &BTreeSet::from([1]))[..] else {
            panic!("one excerpt");
        };
        assert_eq!(excerpt.lines[0].chars().count(), LONGEST_LINE + 1);
    }
}
