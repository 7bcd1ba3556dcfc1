//! Matchers of the items of a list: `any-item`, `every-item`, `no-item`.

use super::answer::{Answer, Wanted};
use super::{Check, MatcherKind, differs, matcher};
use crate::suite::read::Field;
use serde_json::{Value, json};

/// All spellings of these keys, whose operands are matchers.
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
    "a list whose items the matcher applies to, unless one holds",
    |field| read(field, "any-item"),
)
.or("anyItem");

pub(super) const EVERY_ITEM: MatcherKind = matcher(
    "every-item",
    "The value is a list of at least one item, and this matcher holds for each of them",
    "a list whose items the matcher applies to, unless one does not hold",
    |field| read(field, "every-item"),
)
.or("everyItem");

pub(super) const NO_ITEM: MatcherKind = matcher(
    "no-item",
    "The value is a list, and this matcher holds for none of its items",
    "a list whose items the matcher applies to, unless one holds",
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

/// An item that breaks `every-item` shows its difference; an item that breaks `no-item` shows
/// itself.
fn of_items(key: &'static str, check: &Check, written: &Value, actual: &Value) -> Answer {
    let whole = || differs(json!({ key: written }), actual);
    let Value::Array(items) = actual else {
        return Answer::cannot_be_asked(key, json!({ key: written }), Wanted::List);
    };
    let answers = items
        .iter()
        .enumerate()
        .map(|(index, item)| (check.decide)(item).at_item(index));
    match key {
        "any-item" => Answer::any(answers, whole),
        "every-item" if items.is_empty() => Answer::Differs(whole()),
        "every-item" => Answer::all(answers),
        _ => {
            let opposites = answers.enumerate().map(|(index, answer)| match answer {
                Answer::Holds => Answer::Differs(differs(json!({ "not": written }), &items[index]))
                    .at_item(index),
                Answer::Differs(_) => Answer::Holds,
                unanswered @ Answer::CannotBeAsked(_) => unanswered,
            });
            Answer::all(opposites)
        }
    }
}
