//! Which items are interchangeable, and which of them does a matching of groups pair?

use super::Matching;
use crate::hashed::HashMap;
use std::hash::Hash;

/// Items collapsed into groups of equals, numbered by first appearance.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Groups {
    of: Vec<usize>,
    counts: Vec<usize>,
    starts: Vec<usize>,
    by_group: Vec<usize>,
}

impl Groups {
    /// Groups the items with equal keys.
    pub fn collapse<K: Hash + Eq>(keys: impl IntoIterator<Item = K>) -> Self {
        let mut numbers = HashMap::default();
        let mut counts = Vec::new();
        let of: Vec<usize> = keys
            .into_iter()
            .map(|key| {
                let group = *numbers.entry(key).or_insert(counts.len());
                if group == counts.len() {
                    counts.push(0);
                }
                counts[group] += 1;
                group
            })
            .collect();
        Self::numbered(of, counts)
    }

    /// Groups from the group of each item and the number of items of each group.
    fn numbered(of: Vec<usize>, counts: Vec<usize>) -> Self {
        let mut starts = Vec::with_capacity(counts.len());
        let mut taken = 0;
        for count in &counts {
            starts.push(taken);
            taken += count;
        }
        let (mut next, mut by_group) = (starts.clone(), vec![0; of.len()]);
        for (item, &group) in of.iter().enumerate() {
            by_group[next[group]] = item;
            next[group] += 1;
        }
        Self {
            of,
            counts,
            starts,
            by_group,
        }
    }

    /// The number of items in each group.
    pub fn counts(&self) -> &[usize] {
        &self.counts
    }

    /// The group of an item.
    pub fn group_of(&self, item: usize) -> usize {
        self.of[item]
    }

    /// The items of a group, in order.
    pub fn members(&self, group: usize) -> &[usize] {
        &self.by_group[self.starts[group]..][..self.counts[group]]
    }

    /// The first item of each group.
    pub fn representatives(&self) -> impl ExactSizeIterator<Item = usize> {
        self.starts.iter().map(|&start| self.by_group[start])
    }
}

/// Each left item's partner under a matching of groups. Within a group, the earliest items come
/// first.
pub fn assign(left: &Groups, right: &Groups, matching: &Matching) -> Vec<Option<usize>> {
    let mut partners = vec![None; left.of.len()];
    let mut left_used = vec![0; left.counts.len()];
    let mut right_used = vec![0; right.counts.len()];
    for &(from, to, count) in &matching.pairs {
        let items = &left.members(from)[left_used[from]..][..count];
        let others = &right.members(to)[right_used[to]..][..count];
        for (&item, &other) in items.iter().zip(others) {
            partners[item] = Some(other);
        }
        left_used[from] += count;
        right_used[to] += count;
    }
    partners
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairing::assignment::match_grouped;

    #[test]
    fn equal_items_share_a_group_numbered_by_first_appearance() {
        let groups = Groups::collapse(["b", "a", "b", "c", "a"]);
        assert_eq!(groups.counts(), [2, 2, 1]);
        assert_eq!(groups.members(1), [1, 4]);
        assert_eq!(groups.group_of(2), 0);
        assert_eq!(groups.representatives().collect::<Vec<_>>(), [0, 1, 3]);
    }

    #[test]
    fn each_item_gets_a_partner_of_its_own() {
        let left = Groups::collapse(["x", "y", "x", "x"]);
        let right = Groups::collapse(["y", "x", "x"]);
        let matching = match_grouped(left.counts(), right.counts(), &[vec![1], vec![0]]);
        assert_eq!(
            assign(&left, &right, &matching),
            [Some(1), Some(0), Some(2), None]
        );
    }
}
