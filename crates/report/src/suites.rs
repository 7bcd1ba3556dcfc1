//! Which tests belong to which suite file, and how are other lists grouped?

use mcptest_core::report::{Report, TestReport};
use std::collections::HashMap;
use std::hash::Hash;

/// The items in groups of equal keys, in the order of their first. An item without a key is alone.
pub fn grouped<'i, T, K: Hash + Eq>(
    items: &'i [T],
    key: impl Fn(&'i T) -> Option<K>,
) -> Vec<Vec<&'i T>> {
    let mut groups: Vec<Vec<&'i T>> = Vec::new();
    let mut places: HashMap<K, usize> = HashMap::new();
    for item in items {
        let place = key(item).map_or(groups.len(), |key| {
            *places.entry(key).or_insert(groups.len())
        });
        match groups.get_mut(place) {
            Some(group) => group.push(item),
            None => groups.push(vec![item]),
        }
    }
    groups
}

/// The tests of each suite file, in order of first occurrence.
pub(crate) fn by_suite(report: &Report) -> Vec<(&str, Vec<&TestReport>)> {
    let suites = grouped(&report.tests, |test| Some(&test.suite.file));
    suites
        .into_iter()
        .map(|tests| (tests[0].suite.file.as_str(), tests))
        .collect()
}
