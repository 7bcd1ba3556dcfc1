//! Which of these are equal, so that they are printed once?

use crate::suites::grouped;
use mcptest_core::report::{CallTable, Finding};

/// Something that several runs have in common.
pub(super) struct Folded<'r, T> {
    pub(super) shown: &'r T,
    /// The numbers of the runs.
    pub(super) runs: Vec<usize>,
}

/// Findings, each with the runs that it was found in.
pub(super) fn findings<'f>(found: impl Iterator<Item = &'f Finding>) -> Vec<Folded<'f, Finding>> {
    let found: Vec<&Finding> = found.collect();
    let groups = grouped(&found, |finding| {
        serde_json::to_string(&(&finding.message, &finding.diff)).ok()
    });
    groups
        .into_iter()
        .map(|group| Folded {
            shown: *group[0],
            runs: group.iter().filter_map(|one| one.run).collect(),
        })
        .collect()
}

/// Tables, each with the runs that have equal calls.
pub(super) fn tables(tables: &[CallTable]) -> Vec<Folded<'_, CallTable>> {
    let groups = grouped(tables, |table| {
        serde_json::to_string(&(&table.summary, &table.rows, &table.notes)).ok()
    });
    groups
        .into_iter()
        .map(|group| Folded {
            shown: group[0],
            runs: group.iter().filter_map(|one| one.run).collect(),
        })
        .collect()
}
