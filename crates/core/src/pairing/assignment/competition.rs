//! Why does a node have no partner? A set of left nodes competes for too few right ones (Hall's
//! theorem).

use super::Matching;
use std::collections::BTreeSet;

/// Left groups with more nodes than all their possible right groups together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Competition {
    /// The competing left groups, in order.
    pub left: Vec<usize>,
    /// Every right group that any of them may match, in order.
    pub right: Vec<usize>,
}

/// The competitors of a left group with unmatched nodes: all groups that alternating paths reach.
pub fn competition(matching: &Matching, start: usize, edges: &[Vec<usize>]) -> Competition {
    let holders = Holders::new(matching);
    holders
        .reach(start, edges, usize::MAX)
        .unwrap_or(Competition {
            left: vec![start],
            right: Vec::new(),
        })
}

/// The smallest competition around any unmatched left group; `None` if all are matched.
pub fn smallest_competition(matching: &Matching, edges: &[Vec<usize>]) -> Option<Competition> {
    /// Enough for an explanation; a larger search would cost more than it shows.
    const STARTS: usize = 100;
    let holders = Holders::new(matching);
    let unmatched =
        (0..matching.unmatched_left.len()).filter(|&group| matching.unmatched_left[group] > 0);
    let mut smallest: Option<Competition> = None;
    for start in unmatched.take(STARTS) {
        let limit = smallest
            .as_ref()
            .map_or(usize::MAX, |found| found.left.len() - 1);
        if let Some(found) = holders.reach(start, edges, limit) {
            smallest = Some(found);
        }
    }
    smallest
}

/// The left groups with nodes of a right group, as sorted (right, left) pairs.
struct Holders(Vec<(usize, usize)>);

impl Holders {
    fn new(matching: &Matching) -> Self {
        let mut pairs: Vec<_> = matching
            .pairs
            .iter()
            .map(|&(left, right, _)| (right, left))
            .collect();
        pairs.sort_unstable();
        Self(pairs)
    }

    fn holding(&self, right: usize) -> impl Iterator<Item = usize> {
        let from = self.0.partition_point(|&(group, _)| group < right);
        self.0[from..]
            .iter()
            .take_while(move |&&(group, _)| group == right)
            .map(|&(_, left)| left)
    }

    fn reach(&self, start: usize, edges: &[Vec<usize>], limit: usize) -> Option<Competition> {
        let mut left = BTreeSet::from([start]);
        let mut right = BTreeSet::new();
        let mut waiting = vec![start];
        while let Some(group) = waiting.pop() {
            for &partner in &edges[group] {
                if right.insert(partner) {
                    waiting.extend(self.holding(partner).filter(|&holder| left.insert(holder)));
                }
            }
            if left.len() > limit {
                return None;
            }
        }
        (left.len() <= limit).then(|| Competition {
            left: left.into_iter().collect(),
            right: right.into_iter().collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairing::assignment::match_grouped;
    use proptest::prelude::*;

    #[test]
    fn three_that_may_go_to_two_compete_and_the_bystander_does_not() {
        let edges = [vec![0, 1], vec![2, 3], vec![0, 1], vec![1]];
        let matching = match_grouped(&[1; 4], &[1; 4], &edges);
        let found = smallest_competition(&matching, &edges).unwrap();
        assert_eq!(
            found,
            Competition {
                left: vec![0, 2, 3],
                right: vec![0, 1]
            }
        );
    }

    #[test]
    fn one_with_nowhere_to_go_is_the_smallest_explanation() {
        let edges = [vec![0], vec![0], vec![]];
        let matching = match_grouped(&[1; 3], &[1], &edges);
        let found = smallest_competition(&matching, &edges).unwrap();
        assert_eq!(
            found,
            Competition {
                left: vec![2],
                right: vec![]
            }
        );
        assert_eq!(competition(&matching, 1, &edges).left, [0, 1]);
    }

    #[test]
    fn nobody_competes_when_all_are_matched() {
        let matching = match_grouped(&[2], &[2], &[vec![0]]);
        assert_eq!(smallest_competition(&matching, &[vec![0]]), None);
    }

    proptest! {
        #[test]
        fn the_competitors_outnumber_what_they_compete_for(
            edges in prop::collection::vec(prop::collection::btree_set(0_usize..5, 0..4), 1..7),
            left in prop::collection::vec(1_usize..4, 7),
            right in prop::collection::vec(1_usize..4, 5),
        ) {
            let edges: Vec<Vec<usize>> = edges.into_iter().map(|row| row.into_iter().collect()).collect();
            let left = &left[..edges.len()];
            let matching = match_grouped(left, &right, &edges);
            for start in (0..edges.len()).filter(|&group| matching.unmatched_left[group] > 0) {
                let found = competition(&matching, start, &edges);
                let wanted: usize = found.left.iter().map(|&group| left[group]).sum();
                let there: usize = found.right.iter().map(|&group| right[group]).sum();
                prop_assert!(wanted > there);
                for &group in &found.left {
                    prop_assert!(edges[group].iter().all(|partner| found.right.contains(partner)));
                }
            }
        }
    }
}
