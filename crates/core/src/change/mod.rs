//! What was added, removed or changed between two versions of a thing, and in which place?

mod catalogue;
mod pairs;

pub use catalogue::{CatalogueChange, CatalogueItem, ItemPart, compare_catalogues};
pub use pairs::{Paired, Pairs, pair_items};

use std::collections::{BTreeMap, BTreeSet};

/// The change of a part from one version to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change<V> {
    /// Only the later version has the part.
    Added(V),
    /// Only the earlier version has the part.
    Removed(V),
    /// Both versions have the part, but it differs.
    Changed {
        /// The part in the earlier version.
        before: V,
        /// The part in the later version.
        after: V,
    },
}

impl<V> Change<V> {
    /// Returns `None` if neither version has the part, or both are equal.
    pub fn between(
        before: Option<V>,
        after: Option<V>,
        is_same: impl FnOnce(&V, &V) -> bool,
    ) -> Option<Self> {
        match (before, after) {
            (Some(before), Some(after)) if is_same(&before, &after) => None,
            (Some(before), Some(after)) => Some(Self::Changed { before, after }),
            (Some(before), None) => Some(Self::Removed(before)),
            (None, Some(after)) => Some(Self::Added(after)),
            (None, None) => None,
        }
    }

    /// The part in the earlier version.
    pub fn before(&self) -> Option<&V> {
        match self {
            Self::Removed(before) | Self::Changed { before, .. } => Some(before),
            Self::Added(_) => None,
        }
    }

    /// The part in the later version.
    pub fn after(&self) -> Option<&V> {
        match self {
            Self::Added(after) | Self::Changed { after, .. } => Some(after),
            Self::Removed(_) => None,
        }
    }

    /// The same change of the values that `convert` returns.
    pub fn map<W>(self, convert: impl Fn(V) -> W) -> Change<W> {
        match self {
            Self::Added(after) => Change::Added(convert(after)),
            Self::Removed(before) => Change::Removed(convert(before)),
            Self::Changed { before, after } => Change::Changed {
                before: convert(before),
                after: convert(after),
            },
        }
    }

    /// The word for reports: `was added`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Added(_) => "added",
            Self::Removed(_) => "removed",
            Self::Changed { .. } => "changed",
        }
    }
}

/// The change of the part at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlacedChange<P, V> {
    /// The part's name, or its path.
    pub place: P,
    /// Its change.
    pub change: Change<V>,
}

/// The changes of named parts, such as the keys of an object: removed and changed parts in their
/// earlier order, then added parts.
pub fn compare_parts<P: Ord + Copy, V: Copy>(
    before: impl IntoIterator<Item = (P, V)>,
    after: impl IntoIterator<Item = (P, V)>,
    is_same: impl Fn(V, V) -> bool,
) -> Vec<PlacedChange<P, V>> {
    let before: Vec<(P, V)> = before.into_iter().collect();
    let after: Vec<(P, V)> = after.into_iter().collect();
    let known: BTreeSet<P> = before.iter().map(|(place, _)| *place).collect();
    let current: BTreeMap<P, V> = after.iter().copied().collect();
    let mut changes = Vec::new();
    for (place, before) in before {
        let after = current.get(&place).copied();
        if let Some(change) = Change::between(Some(before), after, |before, after| {
            is_same(*before, *after)
        }) {
            changes.push(PlacedChange { place, change });
        }
    }
    for (place, after) in after {
        if !known.contains(&place) {
            let change = Change::Added(after);
            changes.push(PlacedChange { place, change });
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_added_removed_or_changed() {
        let before = [("b", 1), ("gone", 2), ("a", 3)];
        let after = [("new", 1), ("a", 3), ("b", 4)];
        let changes = compare_parts(before, after, |one, other| one == other);
        let found: Vec<(&str, &str)> = changes
            .iter()
            .map(|one| (one.place, one.change.word()))
            .collect();
        assert_eq!(
            found,
            [("b", "changed"), ("gone", "removed"), ("new", "added")]
        );
        assert_eq!(changes[0].change.before(), Some(&1));
        assert_eq!(changes[0].change.after(), Some(&4));
    }
}
