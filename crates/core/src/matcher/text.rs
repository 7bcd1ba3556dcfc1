//! Part of a value: `contains` and its relatives, `regex`.

use super::{MatcherKind, differences, differs, holds, matcher, vacuous};
use crate::json::{is_subset, values_equal};
use crate::problem::Problem;
use crate::report::AssertionDiff;
use crate::suite::read::Field;
use regex::RegexBuilder;
use serde_json::{Value, json};

const REGEX_SIZE_LIMIT: usize = 1 << 20;

pub(super) const CONTAINS: MatcherKind = matcher(
    "contains",
    "A string in a string, a value in a list, or a part of an object or list",
    |field| {
        let part = vacuous::part(field)?;
        Some(differences(move |actual| not_contained(&part, actual)))
    },
);

pub(super) const ICONTAINS: MatcherKind = matcher(
    "icontains",
    "A string in a string, whatever the case",
    |field| {
        let part = vacuous::text(field)?;
        let (expected, part) = (json!({ "icontains": part }), part.to_lowercase());
        Some(holds(expected, move |actual| match actual {
            Value::String(whole) => whole.to_lowercase().contains(&part),
            Value::Array(items) => items
                .iter()
                .filter_map(Value::as_str)
                .any(|item| item.to_lowercase() == part),
            _ => false,
        }))
    },
);

pub(super) const CONTAINS_ALL: MatcherKind =
    matcher("contains-all", "Contains every one of these", |field| {
        let parts = several(field)?;
        Some(differences(move |actual| {
            let missing = parts.iter().filter(|part| !contains(part, actual));
            missing
                .flat_map(|part| differs(json!({ "contains": part }), actual))
                .collect()
        }))
    });

pub(super) const CONTAINS_ANY: MatcherKind =
    matcher("contains-any", "Contains at least one of these", |field| {
        let parts = several(field)?;
        let expected = json!({ "contains-any": parts });
        Some(holds(expected, move |actual| {
            parts.iter().any(|part| contains(part, actual))
        }))
    });

pub(super) const STARTS_WITH: MatcherKind =
    matcher("starts-with", "A string that starts with this", |field| {
        let start = vacuous::text(field)?;
        let expected = json!({ "starts-with": start });
        Some(holds(expected, move |actual| {
            actual.as_str().is_some_and(|text| text.starts_with(&start))
        }))
    });

pub(super) const ENDS_WITH: MatcherKind =
    matcher("ends-with", "A string that ends with this", |field| {
        let end = vacuous::text(field)?;
        let expected = json!({ "ends-with": end });
        Some(holds(expected, move |actual| {
            actual.as_str().is_some_and(|text| text.ends_with(&end))
        }))
    });

pub(super) const REGEX: MatcherKind = matcher(
    "regex",
    "A string in which this regular expression matches somewhere; anchor it with ^ and $",
    |field| {
        let pattern = field.string()?;
        if vacuous::matches_every_text(&pattern) {
            field.report(vacuous::problem("text"));
            return None;
        }
        let regex = RegexBuilder::new(&pattern)
            .size_limit(REGEX_SIZE_LIMIT)
            .build();
        let regex = regex
            .map_err(|error| field.report(regex_problem(&error)))
            .ok()?;
        let expected = json!({ "regex": pattern });
        Some(holds(expected, move |actual| {
            actual.as_str().is_some_and(|text| regex.is_match(text))
        }))
    },
);

fn several(field: &mut Field<'_>) -> Option<Vec<Value>> {
    let empty = Problem::error("an empty list asks for nothing").help("name at least one value");
    field.list_of_some(empty, vacuous::part)
}

/// What is wrong with a pattern, in words that are the same wherever a suite has one.
pub(crate) fn regex_problem(error: &regex::Error) -> Problem {
    let text = error.to_string();
    let reason = text
        .lines()
        .last()
        .unwrap_or_default()
        .trim_start_matches("error: ")
        .to_owned();
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

/// A number is never in a string, and in a list `contains` looks for a whole item.
pub(super) fn hint(expected: &Value, actual: &Value) -> Option<String> {
    match (expected, actual) {
        (Value::Number(number), Value::String(text)) if text.contains(&number.to_string()) => Some(
            format!("a number is never part of a string: write `contains: \"{number}\"`"),
        ),
        (Value::String(part), Value::Array(items)) => {
            let near = items
                .iter()
                .filter_map(Value::as_str)
                .find(|item| *item != part && item.contains(part.as_str()))?;
            Some(format!(
                "in a list `contains` looks for a whole item: `{near}` is another one"
            ))
        }
        _ => None,
    }
}

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
        (Value::Object(_), Value::Array(items)) => items
            .iter()
            .any(|item| is_subset(expected, item).is_empty()),
        (_, Value::Array(items)) => items.iter().any(|item| values_equal(item, expected)),
        _ => false,
    }
}

fn not_contained(part: &Value, actual: &Value) -> Vec<AssertionDiff> {
    if contains(part, actual) {
        return Vec::new();
    }
    if part.is_object() && actual.is_object() {
        return is_subset(part, actual);
    }
    differs(json!({ "contains": part }), actual)
}
