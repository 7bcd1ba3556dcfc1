//! Parts of a value: when do `contains` and its variants and `regex` hold?

use super::answer::{Answer, Wanted};
use super::{Check, MatcherKind, differs, matcher, vacuous};
use crate::json::{is_subset, type_word, values_equal};
use crate::problem::Problem;
use crate::suite::read::Field;
use regex::RegexBuilder;
use serde_json::{Value, json};

const REGEX_SIZE_LIMIT: usize = 1 << 20;

pub(super) const CONTAINS: MatcherKind = matcher(
    "contains",
    "A string in a string, a value in a list, or a part of an object or list",
    "a string for a string, an object for an object, a list that is empty or has a value of the type",
    |field| {
        let part = vacuous::part(field)?;
        Some(Check::new(move |actual| {
            contains_answer("contains", &part, actual)
        }))
    },
);

pub(super) const ICONTAINS: MatcherKind = matcher(
    "icontains",
    "Like `contains` for a string, but ignores case",
    "a string, or a list that is empty or has a string",
    |field| {
        let part = vacuous::text(field)?;
        let (expected, part) = (json!({ "icontains": part }), part.to_lowercase());
        Some(Check::new(move |actual| {
            let is_found = match actual {
                Value::String(whole) => whole.to_lowercase().contains(&part),
                Value::Array(items) if has_or_is_empty(items, Value::is_string) => items
                    .iter()
                    .filter_map(Value::as_str)
                    .any(|item| item.to_lowercase() == part),
                _ => {
                    let wanted = Wanted::TextOrListOfTexts;
                    return Answer::cannot_be_asked("icontains", expected.clone(), wanted);
                }
            };
            if is_found {
                Answer::Holds
            } else {
                Answer::Differs(differs(expected.clone(), actual))
            }
        }))
    },
);

pub(super) const CONTAINS_ALL: MatcherKind = matcher(
    "contains-all",
    "Contains every one of these",
    "what `contains` applies to",
    |field| {
        let parts = several(field)?;
        Some(Check::new(move |actual| {
            let answers = parts
                .iter()
                .map(|part| contains_answer("contains-all", part, actual));
            Answer::all(answers)
        }))
    },
);

pub(super) const CONTAINS_ANY: MatcherKind = matcher(
    "contains-any",
    "Contains at least one of these",
    "what `contains` applies to",
    |field| {
        let parts = several(field)?;
        let expected = json!({ "contains-any": parts });
        Some(Check::new(move |actual| {
            let answers = parts
                .iter()
                .map(|part| contains_answer("contains-any", part, actual));
            Answer::any(answers, || differs(expected.clone(), actual))
        }))
    },
);

pub(super) const STARTS_WITH: MatcherKind = matcher(
    "starts-with",
    "A string that starts with this",
    "a string",
    |field| {
        let start = vacuous::text(field)?;
        let expected = json!({ "starts-with": start });
        Some(of_text("starts-with", expected, move |text| {
            text.starts_with(&start)
        }))
    },
);

pub(super) const ENDS_WITH: MatcherKind = matcher(
    "ends-with",
    "A string that ends with this",
    "a string",
    |field| {
        let end = vacuous::text(field)?;
        let expected = json!({ "ends-with": end });
        Some(of_text("ends-with", expected, move |text| {
            text.ends_with(&end)
        }))
    },
);

pub(super) const REGEX: MatcherKind = matcher(
    "regex",
    "A string in which this regular expression matches somewhere; anchor it with ^ and $",
    "a string",
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
        Some(of_text("regex", expected, move |text| regex.is_match(text)))
    },
);

/// A check that applies only to texts.
fn of_text(
    key: &'static str,
    expected: Value,
    holds: impl Fn(&str) -> bool + Send + Sync + 'static,
) -> Check {
    Check::new(move |actual| match actual.as_str() {
        Some(text) if holds(text) => Answer::Holds,
        Some(_) => Answer::Differs(differs(expected.clone(), actual)),
        None => Answer::cannot_be_asked(key, expected.clone(), Wanted::Text),
    })
}

fn several(field: &mut Field<'_>) -> Option<Vec<Value>> {
    let empty = Problem::error("an empty list requires nothing").help("name at least one value");
    field.list_of_some(empty, vacuous::part)
}

/// The problem of a pattern, in the same words everywhere.
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
            .help("repeat less: `(a{1000}){1000}` means a million characters");
    }
    let problem = Problem::error(format!("this is not a regular expression: {reason}"));
    if reason.contains("look-around") || reason.contains("backreference") {
        return problem.help(
            "patterns run in linear time, so look-around and backreferences are \
        not supported",
        );
    }
    problem
}

/// In a list `contains` looks for a whole item.
pub(super) fn hint(expected: &Value, actual: &Value) -> Option<String> {
    let (part, items) = (expected.as_str()?, actual.as_array()?);
    let near = items
        .iter()
        .filter_map(Value::as_str)
        .find(|item| *item != part && item.contains(part))?;
    Some(format!(
        "on a list, `contains` looks for a whole item: `{near}` differs"
    ))
}

fn contains_answer(key: &'static str, part: &Value, actual: &Value) -> Answer {
    let expected = || json!({ "contains": part });
    match contains(part, actual) {
        Some(true) => Answer::Holds,
        Some(false) if part.is_object() && actual.is_object() => {
            Answer::Differs(is_subset(part, actual))
        }
        Some(false) => Answer::Differs(differs(expected(), actual)),
        None => Answer::cannot_be_asked(key, expected(), sought_in(part)),
    }
}

/// The values in which a part of this type can be searched.
fn sought_in(part: &Value) -> Wanted {
    match part {
        Value::String(_) => Wanted::TextOrListOfTexts,
        Value::Object(_) => Wanted::ObjectOrListOfObjects,
        Value::Array(_) => Wanted::List,
        Value::Null | Value::Bool(_) | Value::Number(_) => Wanted::ListOfThatType,
    }
}

/// Returns true if the part is in the value. `None` if a part of its type cannot be searched there.
fn contains(part: &Value, actual: &Value) -> Option<bool> {
    match (part, actual) {
        (Value::String(part), Value::String(whole)) => Some(whole.contains(part.as_str())),
        (Value::Object(_), Value::Object(_)) => Some(is_subset(part, actual).is_empty()),
        (Value::Array(parts), Value::Array(items)) => {
            let is_found = is_subset(part, actual).is_empty() || is_item(part, items);
            if is_found {
                return Some(true);
            }
            let is_unanswered = |part: &Value| !part.is_array() && contains(part, actual).is_none();
            let is_missing =
                |part: &Value| !part.is_array() && contains(part, actual) == Some(false);
            let cannot_be_asked = parts.iter().any(is_unanswered) && !parts.iter().any(is_missing);
            (!cannot_be_asked).then_some(false)
        }
        (_, Value::Array(items)) => {
            let is_of_type = |item: &Value| type_word(item) == type_word(part);
            has_or_is_empty(items, is_of_type).then(|| is_item(part, items))
        }
        _ => None,
    }
}

/// Returns true if such a value can be searched in the list: an empty list certainly lacks it.
fn has_or_is_empty(items: &[Value], is_such: impl Fn(&Value) -> bool) -> bool {
    items.is_empty() || items.iter().any(is_such)
}

fn is_item(part: &Value, items: &[Value]) -> bool {
    items.iter().any(|item| match part {
        Value::Object(_) => is_subset(part, item).is_empty(),
        _ => values_equal(item, part),
    })
}
