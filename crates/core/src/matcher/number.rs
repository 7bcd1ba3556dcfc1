//! How large is a number: `gte`, `lte`, `gt`, `lt`?

use super::answer::{Answer, Wanted};
use super::{Check, MatcherKind, differs, matcher};
use crate::json::compare_numbers;
use serde_json::{Number, Value, json};
use std::cmp::Ordering;

pub(super) const GTE: MatcherKind = matcher("gte", "At least this number", "a number", |field| {
    field.json_number().map(at_least)
});
pub(super) const LTE: MatcherKind = matcher("lte", "At most this number", "a number", |field| {
    field.json_number().map(at_most)
});
pub(super) const GT: MatcherKind = matcher("gt", "More than this number", "a number", |field| {
    let limit = field.json_number()?;
    Some(bound("gt", limit, Ordering::is_gt))
});
pub(super) const LT: MatcherKind = matcher("lt", "Less than this number", "a number", |field| {
    let limit = field.json_number()?;
    Some(bound("lt", limit, Ordering::is_lt))
});

pub(super) fn at_least(limit: Number) -> Check {
    bound("gte", limit, Ordering::is_ge)
}

pub(super) fn at_most(limit: Number) -> Check {
    bound("lte", limit, Ordering::is_le)
}

/// Builds the expected value only if the check fails: every gate has bounds, and most of them hold.
fn bound(key: &'static str, limit: Number, is_within: fn(Ordering) -> bool) -> Check {
    let written = limit.clone();
    let holds = move |actual: &Value| match actual {
        Value::Number(number) => is_within(compare_numbers(number, &written)),
        _ => false,
    };
    let check = Check::new(move |actual| match actual {
        Value::Number(number) if is_within(compare_numbers(number, &limit)) => Answer::Holds,
        Value::Number(_) => Answer::Differs(differs(json!({ key: limit }), actual)),
        _ => Answer::cannot_be_asked(key, json!({ key: limit }), Wanted::Number),
    });
    check.holding_if(holds)
}
