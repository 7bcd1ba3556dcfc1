//! How large: `gte`, `lte`, `gt`, `lt`.

use super::{Check, MatcherKind, differences, differs, matcher};
use crate::report::Number;
use crate::suite::read::Field;
use serde_json::json;

pub(super) const GTE: MatcherKind =
    matcher("gte", "At least this number", |field| read(field, at_least));
pub(super) const LTE: MatcherKind =
    matcher("lte", "At most this number", |field| read(field, at_most));
pub(super) const GT: MatcherKind = matcher("gt", "More than this number", |field| {
    read(field, |limit| {
        bound("gt", limit, |number, limit| number > limit)
    })
});
pub(super) const LT: MatcherKind = matcher("lt", "Less than this number", |field| {
    read(field, |limit| {
        bound("lt", limit, |number, limit| number < limit)
    })
});

fn read(field: &mut Field<'_>, check: fn(f64) -> Check) -> Option<Check> {
    field.number(f64::NEG_INFINITY..=f64::INFINITY).map(check)
}

pub(super) fn at_least(limit: f64) -> Check {
    bound("gte", limit, |number, limit| number >= limit)
}

pub(super) fn at_most(limit: f64) -> Check {
    bound("lte", limit, |number, limit| number <= limit)
}

/// What was expected is made where it is missed: every gate has bounds, and most hold.
fn bound(key: &'static str, limit: f64, is_within: fn(f64, f64) -> bool) -> Check {
    differences(move |actual| match actual.as_f64() {
        Some(number) if is_within(number, limit) => Vec::new(),
        _ => differs(json!({ key: Number::whole_or_float(limit) }), actual),
    })
}
