//! Matchers of the items of a list: `any-item`, `every-item`, `no-item`.

use super::{Check, MatcherKind, differs, matcher};
use crate::report::AssertionDiff;
use crate::suite::read::Field;
use serde_json::{Value, json};

/// Every spelling of them: their operands are matchers again.
pub(super) const KEYS: [&str; 6] = ["any-item", "anyItem", "every-item", "everyItem", "no-item", "noItem"];

pub(super) const ANY_ITEM: MatcherKind = matcher(
    "any-item",
    "The value is a list, and this matcher holds for at least one of its items",
    |field| read(field, "any-item"),
)
.or("anyItem");

pub(super) const EVERY_ITEM: MatcherKind = matcher(
    "every-item",
    "The value is a list with an item or more, and this matcher holds for each of them",
    |field| read(field, "every-item"),
)
.or("everyItem");

pub(super) const NO_ITEM: MatcherKind =
    matcher("no-item", "The value is a list, and this matcher holds for none of its items", |field| {
        read(field, "no-item")
    })
    .or("noItem");

fn read(field: &mut Field<'_>, key: &'static str) -> Option<Box<dyn Check>> {
    let written = super::documented(field.value_quietly());
    let check = super::read_check(field)?;
    Some(Box::new(Items { key, check, written }))
}

struct Items {
    key: &'static str,
    check: Box<dyn Check>,
    written: Value,
}

impl Check for Items {
    /// An item that breaks `every-item` shows where it differs, one that breaks `no-item` shows itself.
    fn diff(&self, actual: &Value) -> Vec<AssertionDiff> {
        let whole = || differs(json!({ self.key: self.written }), actual);
        let Value::Array(items) = actual else { return whole() };
        let diffs: Vec<Vec<AssertionDiff>> = items.iter().map(|item| self.check.diff(item)).collect();
        let holds = |at: &usize| diffs[*at].is_empty();
        let at_item = |at: usize, diff: AssertionDiff| AssertionDiff {
            pointer: format!("/{at}{}", diff.pointer),
            ..diff
        };
        match self.key {
            "any-item" if (0..items.len()).any(|at| holds(&at)) => Vec::new(),
            "every-item" if !items.is_empty() => {
                let each = diffs.into_iter().enumerate();
                each.flat_map(|(at, diffs)| diffs.into_iter().map(move |diff| at_item(at, diff))).collect()
            }
            "no-item" => {
                let held = (0..items.len()).filter(holds);
                let expected = || json!({ "not": self.written });
                held.flat_map(|at| {
                    differs(expected(), &items[at]).into_iter().map(move |diff| at_item(at, diff))
                })
                .collect()
            }
            _ => whole(),
        }
    }
}
