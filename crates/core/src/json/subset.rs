//! Is everything that was expected part of what was recorded?

use super::compare::{Pointer, Whole, compare};
use super::hash::hash_value;
use super::values_equal;
use crate::hashed::HashMap;
use crate::pairing::assignment::{Groups, assign, match_grouped};
use crate::report::{AssertionDiff, Side};
use serde_json::Value;

/// The parts of `expected` that `actual` lacks. Empty if `actual` is a superset. Objects are compared key by key,
/// lists as multisets by maximum matching, scalars (strings included) by equality.
pub fn is_subset(expected: &Value, actual: &Value) -> Vec<AssertionDiff> {
    let mut diffs = Vec::new();
    compare(
        &Pointer::Root,
        [Some(expected), Some(actual)],
        Whole::Expected,
        &mut diffs,
    );
    diffs
}

/// The differences between two values with every list as a bag; empty if `hash_of_bags` is equal.
/// Extra items of `actual` are absent in `expected`.
pub fn difference_of_bags(expected: &Value, actual: &Value) -> Vec<AssertionDiff> {
    let mut diffs = is_subset(expected, actual);
    let turned = is_subset(actual, expected)
        .into_iter()
        .map(|diff| AssertionDiff {
            pointer: diff.pointer,
            expected: diff.actual,
            actual: diff.expected,
            absent: diff.absent.map(|_| Side::Expected),
        });
    let turned: Vec<AssertionDiff> = turned.collect();
    let is_whole = diffs.is_empty();
    diffs.extend(
        turned
            .into_iter()
            .filter(|diff| is_whole || diff.absent.is_some()),
    );
    diffs
}

/// Returns true if `actual` is a superset of `expected`, without reporting differences.
pub fn is_part_of(expected: &Value, actual: &Value) -> bool {
    match (expected, actual) {
        (Value::Object(fields), Value::Object(others)) => fields.iter().all(|(key, value)| {
            others
                .get(key)
                .is_some_and(|other| is_part_of(value, other))
        }),
        (Value::Array(items), Value::Array(others)) => {
            items.len() <= others.len() && partners(items, others).iter().all(Option::is_some)
        }
        _ => values_equal(expected, actual),
    }
}

/// Compares the items without a partner, and reports their differences.
pub(super) fn compare_lists(
    at: &Pointer<'_>,
    items: &[Value],
    others: &[Value],
    diffs: &mut Vec<AssertionDiff>,
) {
    let partners = partners(items, others);
    let mut is_left_over = vec![true; others.len()];
    partners
        .iter()
        .flatten()
        .for_each(|&partner| is_left_over[partner] = false);
    let unmatched: Vec<usize> = (0..items.len())
        .filter(|&item| partners[item].is_none())
        .collect();
    let left_over: Vec<usize> = (0..others.len())
        .filter(|&other| is_left_over[other])
        .collect();
    if let ([item], [other]) = (&unmatched[..], &left_over[..]) {
        let pair = [items.get(*item), others.get(*other)];
        return compare(&Pointer::Index(at, *other), pair, Whole::Expected, diffs);
    }
    for item in unmatched {
        compare(
            &Pointer::Index(at, item),
            [items.get(item), None],
            Whole::Expected,
            diffs,
        );
    }
}

/// Each expected item's partner among the recorded ones. Equal values are paired first, which loses nothing because
/// containment is transitive. Only the rest needs a search.
fn partners(items: &[Value], others: &[Value]) -> Vec<Option<usize>> {
    let mut partners = equal_partners(items, others);
    let mut is_free = vec![true; others.len()];
    partners
        .iter()
        .flatten()
        .for_each(|&partner| is_free[partner] = false);
    let is_open = |value: &Value| value.is_array() || value.is_object();
    let unmatched: Vec<usize> = (0..items.len())
        .filter(|&item| partners[item].is_none() && is_open(&items[item]))
        .collect();
    let free: Vec<usize> = (0..others.len())
        .filter(|&other| is_free[other] && is_open(&others[other]))
        .collect();
    if unmatched.is_empty() || free.is_empty() {
        return partners;
    }
    let left = Groups::collapse(unmatched.iter().map(|&item| hash_value(&items[item])));
    let right = Groups::collapse(free.iter().map(|&other| hash_value(&others[other])));
    let candidates: Vec<Vec<usize>> = left
        .representatives()
        .map(|item| {
            let fits = |other: usize| is_part_of(&items[unmatched[item]], &others[free[other]]);
            right
                .representatives()
                .enumerate()
                .filter(|&(_, other)| fits(other))
                .map(|(group, _)| group)
                .collect()
        })
        .collect();
    let matching = match_grouped(left.counts(), right.counts(), &candidates);
    for (&item, partner) in unmatched.iter().zip(assign(&left, &right, &matching)) {
        partners[item] = partner.map(|other| free[other]);
    }
    partners
}

fn equal_partners(items: &[Value], others: &[Value]) -> Vec<Option<usize>> {
    let mut available: HashMap<u128, Vec<usize>> = HashMap::default();
    for (index, other) in others.iter().enumerate().rev() {
        available.entry(hash_value(other)).or_default().push(index);
    }
    items
        .iter()
        .map(|item| available.get_mut(&hash_value(item)).and_then(Vec::pop))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::arbitrary::any_json;
    use proptest::prelude::*;
    use serde_json::json;

    fn pointers(expected: &Value, actual: &Value) -> Vec<String> {
        is_subset(expected, actual)
            .into_iter()
            .map(|diff| diff.pointer)
            .collect()
    }

    #[test]
    fn more_keys_and_items_than_expected_are_fine() {
        let actual = json!({"city": "Sacramento", "days": [3, 1, 2, 1], "unit": null});
        for expected in [
            json!({}),
            json!({"city": "Sacramento"}),
            json!({"days": [1, 1.0, 2]}),
            json!({"unit": null}),
        ] {
            assert!(is_subset(&expected, &actual).is_empty(), "{expected}");
        }
    }

    #[test]
    fn strings_are_equal_or_not_and_absent_is_not_null() {
        assert_eq!(
            pointers(&json!({"q": "rust"}), &json!({"q": "rust lang"})),
            ["/q"]
        );
        assert_eq!(pointers(&json!({"q": null}), &json!({})), ["/q"]);
        assert_eq!(pointers(&json!({}), &json!([])), [""]);
    }

    #[test]
    fn an_item_can_be_used_only_once() {
        assert_eq!(pointers(&json!([1, 1, 2]), &json!([1, 2, 3])), ["/2"]);
        assert_eq!(pointers(&json!([1, 1]), &json!([1])), ["/1"]);
    }

    #[test]
    fn lists_are_matched_as_well_as_possible_and_not_first_come() {
        let expected = json!([{"f": 1}, {"f": 1, "x": 1}]);
        let actual = json!([{"f": 1, "x": 1, "y": 1}, {"f": 1, "x": 2}]);
        assert!(is_subset(&expected, &actual).is_empty());
        let swapped = json!([{"f": 1, "x": 2}, {"f": 1, "x": 1, "y": 1}]);
        assert!(is_subset(&expected, &swapped).is_empty());
    }

    #[test]
    fn the_only_pair_left_over_is_compared_within() {
        let expected = json!([{"id": 1}, {"id": 2, "tags": ["a"]}]);
        let actual = json!([{"id": 2, "tags": ["b"]}, {"id": 1}]);
        assert_eq!(pointers(&expected, &actual), ["/0/tags/0"]);
    }

    #[test]
    fn long_lists_of_equal_items_are_matched_without_trying_all_pairs() {
        let rows = |range: std::ops::Range<usize>| {
            Value::from(range.map(|id| json!({"id": id})).collect::<Vec<_>>())
        };
        let reversed = Value::from(
            rows(0..20_000)
                .as_array()
                .unwrap()
                .iter()
                .rev()
                .cloned()
                .collect::<Vec<_>>(),
        );
        assert!(is_subset(&rows(0..20_000), &reversed).is_empty());
    }

    proptest! {
        #[test]
        fn the_two_ways_to_ask_agree(expected in any_json(), actual in any_json()) {
            prop_assert_eq!(is_subset(&expected, &actual).is_empty(), is_part_of(&expected, &actual));
            prop_assert!(is_part_of(&actual, &actual));
        }

        #[test]
        fn the_order_of_a_list_does_not_matter(
            expected in prop::collection::vec(any_json(), 0..5),
            actual in prop::collection::vec(any_json(), 0..5),
        ) {
            let reversed = Value::from(actual.iter().rev().cloned().collect::<Vec<_>>());
            prop_assert_eq!(
                is_part_of(&Value::from(expected.clone()), &Value::from(actual)),
                is_part_of(&Value::from(expected), &reversed)
            );
        }

        #[test]
        fn what_is_left_after_taking_items_away_is_part_of_the_whole(
            items in prop::collection::vec(any_json(), 0..6),
            keep in prop::collection::vec(any::<bool>(), 6),
        ) {
            let kept: Vec<Value> = items.iter().zip(&keep).filter(|(_, keep)| **keep).map(|(item, _)| item.clone()).collect();
            prop_assert!(is_part_of(&Value::from(kept), &Value::from(items)));
        }
    }
}
