//! Part of a value: `contains` and its relatives, `regex`.

use super::{Check, Kind, differs, vacuous};
use crate::json::{is_subset, values_equal};
use crate::problem::Problem;
use crate::report::AssertionDiff;
use crate::suite::read::Field;
use regex::{Regex, RegexBuilder};
use serde_json::{Value, json};

const REGEX_SIZE_LIMIT: usize = 1 << 20;

pub(super) const CONTAINS: Kind = Kind {
    key: "contains",
    alias: None,
    doc: "A text in a text, a value in a list, or a part of an object or list",
    read: |field| Some(Box::new(Contains(vacuous::part(field)?))),
};

pub(super) const ICONTAINS: Kind = Kind {
    key: "icontains",
    alias: None,
    doc: "A text in a text, whatever the case",
    read: |field| Some(Box::new(ContainsIgnoringCase(vacuous::text(field)?))),
};

pub(super) const CONTAINS_ALL: Kind = Kind {
    key: "contains-all",
    alias: None,
    doc: "Contains every one of these",
    read: |field| Some(Box::new(ContainsAll(several(field)?))),
};

pub(super) const CONTAINS_ANY: Kind = Kind {
    key: "contains-any",
    alias: None,
    doc: "Contains at least one of these",
    read: |field| Some(Box::new(ContainsAny(several(field)?))),
};

pub(super) const STARTS_WITH: Kind = Kind {
    key: "starts-with",
    alias: None,
    doc: "A text that starts with this",
    read: |field| {
        Some(Box::new(Edge {
            text: vacuous::text(field)?,
            key: "starts-with",
            holds: |a, b| a.starts_with(b),
        }))
    },
};

pub(super) const ENDS_WITH: Kind = Kind {
    key: "ends-with",
    alias: None,
    doc: "A text that ends with this",
    read: |field| {
        Some(Box::new(Edge { text: vacuous::text(field)?, key: "ends-with", holds: |a, b| a.ends_with(b) }))
    },
};

pub(super) const REGEX: Kind = Kind {
    key: "regex",
    alias: None,
    doc: "A text in which this regular expression matches somewhere; anchor it with ^ and $",
    read: |field| {
        let pattern = field.string()?;
        if vacuous::matches_every_text(&pattern) {
            field.report(vacuous::problem("text"));
            return None;
        }
        match RegexBuilder::new(&pattern).size_limit(REGEX_SIZE_LIMIT).build() {
            Ok(regex) => Some(Box::new(Pattern(regex))),
            Err(error) => {
                field.report(regex_problem(&error));
                None
            }
        }
    },
};

fn several(field: &mut Field<'_>) -> Option<Vec<Value>> {
    let values = field.list(vacuous::part);
    field.amend_schema("minItems", json!(1));
    let values = values?;
    if values.is_empty() {
        field.report(Problem::error("an empty list asks for nothing").help("name at least one value"));
        return None;
    }
    Some(values)
}

/// What is wrong with a pattern, in words that are the same wherever a suite has one.
pub(crate) fn regex_problem(error: &regex::Error) -> Problem {
    let text = error.to_string();
    let reason = text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
    if matches!(error, regex::Error::CompiledTooBig(_)) {
        return Problem::error("this regular expression is too large once it is compiled")
            .help("repeat less: `(a{1000}){1000}` is a million characters");
    }
    let problem = Problem::error(format!("this is not a regular expression: {reason}"));
    if reason.contains("look-around") || reason.contains("backreference") {
        return problem.help("patterns run in linear time, without look-around and backreferences");
    }
    problem
}

/// A number is never in a text, and in a list `contains` looks for a whole item.
pub(super) fn hint(expected: &Value, actual: &Value) -> Option<String> {
    match (expected, actual) {
        (Value::Number(number), Value::String(text)) if text.contains(&number.to_string()) => {
            Some(format!("a number is never part of a text: write `contains: \"{number}\"`"))
        }
        (Value::String(part), Value::Array(items)) => {
            let near = items
                .iter()
                .filter_map(Value::as_str)
                .find(|item| *item != part && item.contains(part.as_str()))?;
            Some(format!("in a list `contains` looks for a whole item: `{near}` is another one"))
        }
        _ => None,
    }
}

struct Contains(Value);

fn contains(expected: &Value, actual: &Value) -> bool {
    match (expected, actual) {
        (Value::String(part), Value::String(whole)) => whole.contains(part.as_str()),
        (Value::Array(_) | Value::Object(_), Value::Array(_) | Value::Object(_)) => {
            is_subset(expected, actual).is_empty() || is_item(expected, actual)
        }
        _ => is_item(expected, actual),
    }
}

fn is_item(expected: &Value, actual: &Value) -> bool {
    match (expected, actual) {
        (Value::Object(_), Value::Array(items)) => {
            items.iter().any(|item| is_subset(expected, item).is_empty())
        }
        (_, Value::Array(items)) => items.iter().any(|item| values_equal(item, expected)),
        _ => false,
    }
}

impl Check for Contains {
    fn diff(&self, actual: &Value) -> Vec<AssertionDiff> {
        if contains(&self.0, actual) {
            return Vec::new();
        }
        if self.0.is_object() && actual.is_object() {
            return is_subset(&self.0, actual);
        }
        differs(json!({ "contains": self.0 }), actual)
    }
}

struct ContainsIgnoringCase(String);

impl Check for ContainsIgnoringCase {
    fn diff(&self, actual: &Value) -> Vec<AssertionDiff> {
        let part = self.0.to_lowercase();
        let holds = match actual {
            Value::String(whole) => whole.to_lowercase().contains(&part),
            Value::Array(items) => {
                items.iter().filter_map(Value::as_str).any(|item| item.to_lowercase() == part)
            }
            _ => false,
        };
        if holds { Vec::new() } else { differs(json!({ "icontains": self.0 }), actual) }
    }
}

struct ContainsAll(Vec<Value>);

impl Check for ContainsAll {
    fn diff(&self, actual: &Value) -> Vec<AssertionDiff> {
        let missing = self.0.iter().filter(|part| !contains(part, actual));
        missing.flat_map(|part| differs(json!({ "contains": part }), actual)).collect()
    }
}

struct ContainsAny(Vec<Value>);

impl Check for ContainsAny {
    fn diff(&self, actual: &Value) -> Vec<AssertionDiff> {
        if self.0.iter().any(|part| contains(part, actual)) {
            return Vec::new();
        }
        differs(json!({ "contains-any": self.0 }), actual)
    }
}

struct Edge {
    text: String,
    key: &'static str,
    holds: fn(&str, &str) -> bool,
}

impl Check for Edge {
    fn diff(&self, actual: &Value) -> Vec<AssertionDiff> {
        match actual.as_str() {
            Some(whole) if (self.holds)(whole, &self.text) => Vec::new(),
            _ => differs(json!({ self.key: self.text }), actual),
        }
    }
}

struct Pattern(Regex);

impl Check for Pattern {
    fn diff(&self, actual: &Value) -> Vec<AssertionDiff> {
        match actual.as_str() {
            Some(text) if self.0.is_match(text) => Vec::new(),
            _ => differs(json!({ "regex": self.0.as_str() }), actual),
        }
    }
}
