//! Are two JSON values equal, and where do they differ?

use super::number::Canonical;
use super::pointer_key;
use super::subset::compare_lists;
use crate::report::{AssertionDiff, Side};
use serde_json::Value;

/// As many differences as a reader will look at.
const MOST_DIFFS: usize = 20;

/// Returns true if two values are equal by JSON value: `1 == 1.0`, `true != 1`, null is not absent.
pub fn values_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => Canonical::new(a) == Canonical::new(b),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| values_equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, a)| b.get(key).is_some_and(|b| values_equal(a, b)))
        }
        _ => a == b,
    }
}

/// The differences between two values, as JSON Pointers (RFC 6901); empty if they are equal JSON
/// values.
pub fn difference(expected: &Value, actual: &Value) -> Vec<AssertionDiff> {
    let mut diffs = Vec::new();
    compare(
        &Pointer::Root,
        [Some(expected), Some(actual)],
        Whole::Both,
        &mut diffs,
    );
    diffs
}

/// The side that must be present completely: both sides, or only the expected one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whole {
    Both,
    Expected,
}

/// Adds the differences of two values; `None` is an absent value.
pub(super) fn compare(
    at: &Pointer<'_>,
    [expected, actual]: [Option<&Value>; 2],
    whole: Whole,
    diffs: &mut Vec<AssertionDiff>,
) {
    if diffs.len() >= MOST_DIFFS {
        return;
    }
    match (expected, actual) {
        (Some(Value::Object(fields)), Some(Value::Object(others))) => {
            for (key, value) in fields {
                compare(
                    &Pointer::Key(at, key),
                    [Some(value), others.get(key)],
                    whole,
                    diffs,
                );
            }
            let is_new = |key: &String| whole == Whole::Both && !fields.contains_key(key);
            for (key, other) in others.iter().filter(|(key, _)| is_new(key)) {
                compare(&Pointer::Key(at, key), [None, Some(other)], whole, diffs);
            }
        }
        (Some(Value::Array(items)), Some(Value::Array(others))) if whole == Whole::Expected => {
            compare_lists(at, items, others, diffs);
        }
        (Some(Value::Array(items)), Some(Value::Array(others))) => {
            for index in 0..items.len().max(others.len()) {
                compare(
                    &Pointer::Index(at, index),
                    [items.get(index), others.get(index)],
                    whole,
                    diffs,
                );
            }
        }
        (Some(expected), Some(actual)) if values_equal(expected, actual) => {}
        _ => diffs.push(AssertionDiff {
            pointer: at.to_string(),
            expected: expected.cloned().unwrap_or_default(),
            actual: actual.cloned().unwrap_or_default(),
            absent: match (expected, actual) {
                (None, _) => Some(Side::Expected),
                (_, None) => Some(Side::Actual),
                _ => None,
            },
        }),
    }
}

/// The path to a value, built only for a difference.
pub(super) enum Pointer<'a> {
    Root,
    Key(&'a Pointer<'a>, &'a str),
    Index(&'a Pointer<'a>, usize),
}

impl std::fmt::Display for Pointer<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Key(parent, key) => write!(out, "{parent}/{}", pointer_key(key)),
            Self::Index(parent, index) => write!(out, "{parent}/{index}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::arbitrary::any_json;
    use proptest::prelude::*;
    use serde_json::json;

    fn pointers(expected: &Value, actual: &Value) -> Vec<String> {
        difference(expected, actual)
            .into_iter()
            .map(|diff| diff.pointer)
            .collect()
    }

    #[test]
    fn values_are_equal_by_value_and_kind() {
        assert!(values_equal(
            &json!({"a": [1, 2.0]}),
            &json!({"a": [1.0, 2]})
        ));
        assert!(!values_equal(&json!(true), &json!(1)));
        assert!(!values_equal(&json!({"a": null}), &json!({})));
        assert!(!values_equal(
            &json!(9_007_199_254_740_993_u64),
            &json!(9_007_199_254_740_992.0)
        ));
    }

    #[test]
    fn a_difference_stands_at_its_pointer() {
        let expected = json!({"a": {"b/c": [1, 2]}, "m~n": 1, "same": 1.0});
        let actual = json!({"a": {"b/c": [1, 3, 4]}, "same": 1, "more": 5});
        assert_eq!(
            pointers(&expected, &actual),
            ["/a/b~1c/1", "/a/b~1c/2", "/m~0n", "/more"]
        );
        let diffs = difference(&expected, &actual);
        assert_eq!(
            (&diffs[1].expected, &diffs[1].actual),
            (&json!(null), &json!(4))
        );
        assert_eq!(
            (&diffs[2].expected, &diffs[2].actual),
            (&json!(1), &json!(null))
        );
    }

    #[test]
    fn values_of_two_kinds_differ_at_the_root() {
        assert_eq!(pointers(&json!([1]), &json!({"0": 1})), [""]);
    }

    #[test]
    fn null_is_told_from_nothing_at_all() {
        let diffs = difference(&json!({"a": {"b": null}}), &json!({"a": {}}));
        assert_eq!(
            (diffs[0].pointer.as_str(), diffs[0].absent),
            ("/a/b", Some(Side::Actual))
        );
        let diffs = difference(&json!([1]), &json!([1, null]));
        assert_eq!(
            (diffs[0].pointer.as_str(), diffs[0].absent),
            ("/1", Some(Side::Expected))
        );
        assert_eq!(difference(&json!([1]), &json!([null]))[0].absent, None);
    }

    #[test]
    fn no_more_differences_are_listed_than_anyone_reads() {
        let list = |from: usize| Value::from((from..from + 1000).collect::<Vec<_>>());
        assert_eq!(difference(&list(0), &list(1)).len(), MOST_DIFFS);
    }

    proptest! {
        #[test]
        fn values_differ_somewhere_exactly_when_they_are_not_equal(a in any_json(), b in any_json()) {
            prop_assert_eq!(difference(&a, &b).is_empty(), values_equal(&a, &b));
            prop_assert!(difference(&a, &a).is_empty());
            for diff in difference(&a, &b) {
                prop_assert_eq!(a.pointer(&diff.pointer).unwrap_or(&Value::Null), &diff.expected);
                prop_assert_eq!(b.pointer(&diff.pointer).unwrap_or(&Value::Null), &diff.actual);
            }
        }
    }
}
