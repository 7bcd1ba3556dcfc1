//! Which of these say the same, so that it is said once?

use mcptest_core::report::{CallTable, Finding};
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
