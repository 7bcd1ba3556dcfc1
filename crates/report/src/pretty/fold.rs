//! Which of these say the same, so that it is said once?

use crate::words::{self, SCREEN};
use mcptest_core::report::{CallTable, Finding, TestReport};
use std::collections::HashMap;
use std::hash::Hash;

/// The items in groups of equal keys, in the order of their first. An item without a key is alone.
pub(super) fn by<T, K: Hash + Eq>(items: &[T], key: impl Fn(&T) -> Option<K>) -> Vec<Vec<&T>> {
    let mut groups: Vec<Vec<&T>> = Vec::new();
    let mut places: HashMap<K, usize> = HashMap::new();
    for item in items {
        let place = key(item).map_or(groups.len(), |key| *places.entry(key).or_insert(groups.len()));
        match groups.get_mut(place) {
            Some(group) => group.push(item),
            None => groups.push(vec![item]),
        }
    }
    groups
}

/// Findings, each with the runs that it was found in.
pub(super) fn findings<'f>(found: impl Iterator<Item = &'f Finding>) -> Vec<(&'f Finding, Vec<usize>)> {
    let found: Vec<&Finding> = found.collect();
    let groups = by(&found, |finding| serde_json::to_string(&(&finding.message, &finding.diff)).ok());
    groups.into_iter().map(|group| (*group[0], group.iter().filter_map(|one| one.run).collect())).collect()
}

/// Tables, each with the runs whose calls are the same.
pub(super) fn tables(tables: &[CallTable]) -> Vec<(&CallTable, Vec<usize>)> {
    let groups = by(tables, |table| serde_json::to_string(&(&table.summary, &table.rows, &table.notes)).ok());
    groups.into_iter().map(|group| (group[0], group.iter().filter_map(|one| one.run).collect())).collect()
}

/// The finding, after the runs it was found in where there are several.
pub(super) fn sentence(finding: &Finding, runs: &[usize], test: &TestReport) -> String {
    labelled(&finding.message, runs, test)
}

/// The text, after the runs it is about where there are several.
pub(super) fn labelled(text: &str, runs: &[usize], test: &TestReport) -> String {
    let message = words::clipped(text, SCREEN.text);
    if runs.is_empty() || test.runs.len() < 2 {
        return message;
    }
    format!("{}: {message}", label(test, runs))
}

/// `run 3`, `run 3 (nightly/3.json)`, `runs 1-4, 7`.
pub(super) fn label(test: &TestReport, runs: &[usize]) -> String {
    if let [run] = runs {
        return words::clipped(&test.run_label(*run), SCREEN.text);
    }
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for &run in runs {
        match spans.last_mut() {
            Some((_, last)) if run == *last + 1 => *last = run,
            Some((_, last)) if run == *last => {}
            _ => spans.push((run, run)),
        }
    }
    let span = |(from, to): &(usize, usize)| {
        if from == to { from.to_string() } else { format!("{from}-{to}") }
    };
    format!("runs {}", spans.iter().map(span).collect::<Vec<_>>().join(", "))
}
