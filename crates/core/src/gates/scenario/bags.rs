//! `unordered:` which lists of the state are compared as bags?

use crate::json::{difference, difference_of_bags, hash_of_bags, pointer_key};
use crate::report::AssertionDiff;
use serde_json::Value;

/// The places of these lists. `*` in a place means every name.
#[derive(Debug, Default)]
pub(super) struct Bags(Vec<Vec<String>>);

impl Bags {
    pub(super) fn new(written: &[String]) -> Self {
        let place = |written: &String| written.split('.').map(str::to_owned).collect();
        Self(written.iter().map(place).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The differences between two states.
    pub(super) fn difference(&self, expected: &Value, actual: &Value) -> Vec<AssertionDiff> {
        if self.is_empty() {
            return difference(expected, actual);
        }
        let (mut expected, mut actual) = (expected.clone(), actual.clone());
        let mut found = Vec::new();
        for place in &self.0 {
            compare(&mut expected, &mut actual, place, "", &mut found);
        }
        let mut differences = difference(&expected, &actual);
        differences.extend(found);
        differences
    }

    /// A state with the unordered lists sorted.
    pub(super) fn sorted(&self, state: &Value) -> Value {
        let mut sorted = state.clone();
        for place in &self.0 {
            sort(&mut sorted, place);
        }
        sorted
    }

    /// The places, as written, that are not a list in any of these states.
    pub(super) fn without_list(&self, states: &[&Value]) -> Vec<String> {
        let leads = |place: &&Vec<String>| states.iter().any(|state| leads_to_list(state, place));
        let without = self.0.iter().filter(|place| !leads(place));
        without.map(|place| place.join(".")).collect()
    }
}

/// Compares the lists at a place, and removes both from the values that remain to be compared.
fn compare(
    expected: &mut Value,
    actual: &mut Value,
    place: &[String],
    pointer: &str,
    found: &mut Vec<AssertionDiff>,
) {
    let Some((name, rest)) = place.split_first() else {
        if expected.is_array() && actual.is_array() {
            let differences = difference_of_bags(expected, actual);
            found.extend(differences.into_iter().map(|diff| AssertionDiff {
                pointer: format!("{pointer}{}", diff.pointer),
                ..diff
            }));
            (*expected, *actual) = (Value::Null, Value::Null);
        }
        return;
    };
    for name in names(expected, name) {
        let inner = (member(expected, &name), member(actual, &name));
        if let (Some(expected), Some(actual)) = inner {
            let pointer = format!("{pointer}/{}", pointer_key(&name));
            compare(expected, actual, rest, &pointer, found);
        }
    }
}

fn sort(value: &mut Value, place: &[String]) {
    match (place.split_first(), value) {
        (None, Value::Array(items)) => items.sort_by_cached_key(hash_of_bags),
        (Some((name, rest)), value) => {
            for name in names(value, name) {
                if let Some(inner) = member(value, &name) {
                    sort(inner, rest);
                }
            }
        }
        _ => {}
    }
}

fn leads_to_list(value: &Value, place: &[String]) -> bool {
    let Some((name, rest)) = place.split_first() else {
        return value.is_array();
    };
    let inner = |name: String| match value {
        Value::Object(members) => members.get(&name),
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        _ => None,
    };
    let mut inner = names(value, name).into_iter().filter_map(inner);
    inner.any(|inner| leads_to_list(inner, rest))
}

/// The names that one step of a place matches.
fn names(value: &Value, written: &str) -> Vec<String> {
    match value {
        Value::Object(members) if written == "*" => members.keys().cloned().collect(),
        Value::Array(items) if written == "*" => {
            (0..items.len()).map(|at| at.to_string()).collect()
        }
        _ => vec![written.to_owned()],
    }
}

fn member<'v>(value: &'v mut Value, name: &str) -> Option<&'v mut Value> {
    match value {
        Value::Object(members) => members.get_mut(name),
        Value::Array(items) => items.get_mut(name.parse::<usize>().ok()?),
        _ => None,
    }
}
