//! Are the runs of a test held to the same on both sides?

use super::TestReport;
use std::collections::BTreeSet;

/// Which blocks differ, in a sentence; `None` where none do, or a report says nothing of them.
pub fn changed(a: &TestReport, b: &TestReport) -> Option<String> {
    if a.checks.is_empty() || b.checks.is_empty() {
        return None;
    }
    let keys: BTreeSet<&String> = a.checks.keys().chain(b.checks.keys()).collect();
    let changed: Vec<String> = keys
        .into_iter()
        .filter(|key| a.checks.get(*key) != b.checks.get(*key))
        .map(|key| match (a.checks.get(key), b.checks.get(key)) {
            (None, _) => format!("`{key}:` was added"),
            (_, None) => format!("`{key}:` was removed"),
            _ => format!("`{key}:` was changed"),
        })
        .collect();
    (!changed.is_empty()).then(|| {
        let changed = changed.join(", ");
        format!("the two sides do not assert the same: {changed}")
    })
}
