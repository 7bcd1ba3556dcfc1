//! Matchers of the items of a list: `any-item`, `every-item`, `no-item`.

use super::{Check, MatcherKind, differs, matcher};
use crate::report::AssertionDiff;
use crate::suite::read::Field;
use serde_json::{Value, json};

/// Every spelling of them: their operands are matchers again.
pub(super) const KEYS: [&str; 6] = [
    "any-item",
    "anyItem",
    "every-item",
    "everyItem",
    "no-item",
    "noItem",
];

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

pub(super) const NO_ITEM: MatcherKind = matcher(
    "no-item",
    "The value is a list, and this matcher holds for none of its items",
    |field| read(field, "no-item"),
)
.or("noItem");

fn read(field: &mut Field<'_>, key: &'static str) -> Option<Check> {
    let written = super::documented(field.value_quietly());
    let check = super::read_check(field)?;
    Some(Check::new(move |actual| {
        of_items(key, &check, &written, actual)
    }))
}

/// An item that breaks `every-item` shows where it differs, one that breaks `no-item` shows itself. Nothing is said of a
/// list with an item of which nothing can be said.
fn of_items(
    key: &str,
    check: &Check,
    written: &Value,
    actual: &Value,
) -> Option<Vec<AssertionDiff>> {
    let whole = || differs(json!({ key: written }), actual);
    let Value::Array(items) = actual else {
        return Some(whole());
    };
    let diffs: Vec<_> = items
        .iter()
        .map(|item| (check.decide)(item))
        .collect::<Option<_>>()?;
    let at_item = |(at, diffs): (usize, Vec<AssertionDiff>)| {
        diffs.into_iter().map(move |diff| AssertionDiff {
            pointer: format!("/{at}{}", diff.pointer),
            ..diff
        })
    };
    Some(match key {
        "any-item" if diffs.iter().any(Vec::is_empty) => Vec::new(),
        "every-item" if !items.is_empty() => {
            diffs.into_iter().enumerate().flat_map(at_item).collect()
        }
        "no-item" => {
            let held = diffs
                .iter()
                .zip(items)
                .enumerate()
                .filter(|(_, (diff, _))| diff.is_empty());
            let differ = |item: &Value| differs(json!({ "not": written }), item);
            held.map(|(at, (_, item))| (at, differ(item)))
                .flat_map(at_item)
                .collect()
        }
        _ => whole(),
    })
}
