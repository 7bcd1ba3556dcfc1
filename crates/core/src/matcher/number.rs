//! How large: `gte`, `lte`, `gt`, `lt`.

use super::{Check, Kind, differs, whole_or_float};
use crate::report::AssertionDiff;
use serde_json::{Value, json};

pub(super) const GTE: Kind =
    Kind { key: "gte", alias: None, doc: "At least this number", read: |field| bound(field, "gte") };
pub(super) const LTE: Kind =
    Kind { key: "lte", alias: None, doc: "At most this number", read: |field| bound(field, "lte") };
pub(super) const GT: Kind =
    Kind { key: "gt", alias: None, doc: "More than this number", read: |field| bound(field, "gt") };
pub(super) const LT: Kind =
    Kind { key: "lt", alias: None, doc: "Less than this number", read: |field| bound(field, "lt") };

fn bound(field: &mut crate::suite::read::Field<'_>, key: &'static str) -> Option<Box<dyn Check>> {
    let limit = field.number(f64::NEG_INFINITY..=f64::INFINITY)?;
    Some(Box::new(Bound { key, limit }))
}

pub(super) fn at_least(limit: f64) -> Box<dyn Check> {
    Box::new(Bound { key: "gte", limit })
}

pub(super) fn at_most(limit: f64) -> Box<dyn Check> {
    Box::new(Bound { key: "lte", limit })
}

struct Bound {
    key: &'static str,
    limit: f64,
}

impl Check for Bound {
    fn diff(&self, actual: &Value) -> Vec<AssertionDiff> {
        let holds = actual.as_f64().is_some_and(|number| match self.key {
            "gte" => number >= self.limit,
            "lte" => number <= self.limit,
            "gt" => number > self.limit,
            _ => number < self.limit,
        });
        if holds { Vec::new() } else { differs(json!({ self.key: whole_or_float(self.limit) }), actual) }
    }
}
