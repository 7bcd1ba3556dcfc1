//! Sorted lists and maps, in little code.
//!
//! The standard library compiles about five kilobytes of sorting for every closure that it sorts by, and for every
//! iterator that is collected into a `BTreeMap`. Here all lists are sorted by one compiled function, on their indices,
//! and the pairs of a map are put in one by one. For lists and maps of suites and reports, not of calls.

use serde_json::{Map, Value};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Stable sorting, as the functions of the standard library with these names do it.
pub trait SmallSort<T> {
    /// By a comparison.
    fn small_sort_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering);

    /// By a key.
    fn small_sort_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
        self.small_sort_by(|one, other| key(one).cmp(&key(other)));
    }
}

impl<T> SmallSort<T> for [T] {
    fn small_sort_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        let mut from = sorted(self.len(), &mut |one, other| {
            compare(&self[one], &self[other])
        });
        for first in 0..from.len() {
            // Around the circle of those that take each other's places, until it is closed.
            let mut at = first;
            while from[at] != first {
                let next = std::mem::replace(&mut from[at], at);
                self.swap(at, next);
                at = next;
            }
            from[at] = at;
        }
    }
}

#[inline(never)]
fn sorted(count: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|one, other| compare(*one, *other));
    order
}

/// Pairs that become a map.
pub trait IntoMap<K, V>: Iterator<Item = (K, V)> + Sized {
    /// The map; of two pairs with one key the later counts.
    fn into_map(self) -> BTreeMap<K, V>
    where
        K: Ord,
    {
        let mut map = BTreeMap::new();
        self.for_each(|(key, value)| drop(map.insert(key, value)));
        map
    }

    /// The JSON object; of two members with one key the later counts.
    fn into_object(self) -> Map<String, Value>
    where
        K: Into<String>,
        V: Into<Value>,
    {
        let mut map = Map::new();
        self.for_each(|(key, value)| drop(map.insert(key.into(), value.into())));
        map
    }
}

impl<K, V, I: Iterator<Item = (K, V)>> IntoMap<K, V> for I {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lists_are_sorted_as_the_standard_library_does_it(mut list: Vec<(u8, u32)>) {
            let mut expected = list.clone();
            expected.sort_by_key(|(key, _)| *key);
            list.small_sort_by_key(|(key, _)| *key);
            prop_assert_eq!(list, expected);
        }

        #[test]
        fn the_later_of_two_pairs_counts(pairs: Vec<(u8, u32)>) {
            let expected: BTreeMap<_, _> = pairs.iter().copied().collect();
            prop_assert_eq!(pairs.into_iter().into_map(), expected);
        }
    }
}
