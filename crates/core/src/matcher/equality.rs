//! The same value: `exact`, `equals-json`, `one-of`.

use super::{Check, Kind, differs};
use crate::json::{difference, values_equal};
use crate::problem::Problem;
use crate::report::AssertionDiff;
use serde_json::{Value, json};

pub(super) const EXACT: Kind = Kind {
    key: "exact",
    alias: None,
    doc: "The same JSON value: key order never counts, 1 equals 1.0, true is not 1",
    read: |field| Some(Box::new(Exact(field.value()?))),
};

pub(super) const EQUALS_JSON: Kind = Kind {
    key: "equals-json",
    alias: None,
    doc: "The same JSON value; a text is read as JSON first",
    read: |field| Some(Box::new(EqualsJson(field.value()?))),
};

pub(super) const ONE_OF: Kind = Kind {
    key: "one-of",
    alias: Some("oneOf"),
    doc: "Equal to one of these values",
    read: |field| {
        let values = field.list(|item| item.value())?;
        if values.is_empty() {
            field.report(Problem::error("an empty list asks for nothing").help("name at least one value"));
            return None;
        }
        Some(Box::new(OneOf(values)))
    },
};

struct Exact(Value);

impl Check for Exact {
    fn diff(&self, actual: &Value) -> Vec<AssertionDiff> {
        difference(&self.0, actual)
    }
}

struct EqualsJson(Value);

impl Check for EqualsJson {
    fn diff(&self, actual: &Value) -> Vec<AssertionDiff> {
        match actual.as_str().map(serde_json::from_str::<Value>) {
            Some(Ok(read)) => difference(&self.0, &read),
            _ => difference(&self.0, actual),
        }
    }
}

struct OneOf(Vec<Value>);

impl Check for OneOf {
    fn diff(&self, actual: &Value) -> Vec<AssertionDiff> {
        if self.0.iter().any(|value| values_equal(value, actual)) {
            return Vec::new();
        }
        differs(json!({ "one-of": self.0 }), actual)
    }
}
