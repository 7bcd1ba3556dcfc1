//! Which of these are equal, so that they are printed once?

use crate::suites::grouped;
use mcptest_core::report::{CallTable, Finding};

/// Findings, each with the runs that it was found in.
pub(super) fn findings<'f>(
    found: impl Iterator<Item = &'f Finding>,
) -> Vec<(&'f Finding, Vec<usize>)> {
    let found: Vec<&Finding> = found.collect();
    let groups = grouped(&found, |finding| {
        serde_json::to_string(&(&finding.message, &finding.diff)).ok()
    });
    groups
        .into_iter()
        .map(|group| (*group[0], group.iter().filter_map(|one| one.run).collect()))
        .collect()
}

/// Tables, each with the runs whose calls are the same.
pub(super) fn tables(tables: &[CallTable]) -> Vec<(&CallTable, Vec<usize>)> {
    let groups = grouped(tables, |table| {
        serde_json::to_string(&(&table.summary, &table.rows, &table.notes)).ok()
    });
    groups
        .into_iter()
        .map(|group| (group[0], group.iter().filter_map(|one| one.run).collect()))
        .collect()
}
