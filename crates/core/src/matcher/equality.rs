//! Equality: when do `exact`, `equals-json` and `one-of` hold?

use super::except::Exceptions;
use super::{ANY_VALUE, Check, MatcherKind, differences, holds, matcher};
use crate::json::{difference, values_equal};
use crate::problem::Problem;
use crate::suite::read::Field;
use serde_json::{Value, json};

pub(super) const EXACT: MatcherKind = matcher(
    "exact",
    "The same JSON value: key order never counts, 1 equals 1.0, true is not 1",
    ANY_VALUE,
    |field| {
        let expected = field.value()?;
        Some(differences(move |actual| difference(&expected, actual)))
    },
);

pub(super) const EQUALS_JSON: MatcherKind = matcher(
    "equals-json",
    "The same JSON value; a string is read as JSON first. `except: [items.*.id]` excludes places",
    ANY_VALUE,
    |field| equals_json(field, Exceptions::default()),
);

/// The same JSON value beside these places.
pub(super) fn equals_json(field: &mut Field<'_>, exceptions: Exceptions) -> Option<Check> {
    let expected = field.value()?;
    Some(differences(move |actual| {
        match actual.as_str().map(serde_json::from_str::<Value>) {
            Some(Ok(read)) => exceptions.difference(&expected, &read),
            _ => exceptions.difference(&expected, actual),
        }
    }))
}

pub(super) const ONE_OF: MatcherKind = matcher(
    "one-of",
    "Equal to one of these values",
    ANY_VALUE,
    |field| {
        let values = field.list(|item| item.value())?;
        if values.is_empty() {
            field.report(
                Problem::error("an empty list requires nothing").help("name at least one value"),
            );
            return None;
        }
        let expected = json!({ "one-of": values });
        Some(holds(expected, move |actual| {
            values.iter().any(|value| values_equal(value, actual))
        }))
    },
)
.or("oneOf");
