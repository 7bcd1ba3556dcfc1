//! Are the runs of a test held to the same on both sides?

use super::TestReport;
use crate::change::compare_parts;

/// The blocks that differ, in a sentence; `None` if none differ or a report lacks them.
pub fn changed(a: &TestReport, b: &TestReport) -> Option<String> {
    if a.checks.is_empty() || b.checks.is_empty() {
        return None;
    }
    let mut changes = compare_parts(&a.checks, &b.checks, |a, b| a == b);
    changes.sort_by_key(|check| check.place);
    let changed: Vec<String> = changes
        .iter()
        .map(|check| format!("`{}:` was {}", check.place, check.change.word()))
        .collect();
    (!changed.is_empty()).then(|| {
        let changed = changed.join(", ");
        format!("the two sides assert different things: {changed}")
    })
}
