//! Which pairing of left and right nodes matches as many as possible?

mod competition;
mod groups;

pub use competition::{Competition, competition, smallest_competition};
pub use groups::{Groups, assign};

use std::collections::VecDeque;

/// A maximum matching between groups of interchangeable nodes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Matching {
    /// The number of matched nodes of each pair of groups, as (left, right, count) in order.
    pub pairs: Vec<(usize, usize, usize)>,
    /// The number of nodes of each left group without a partner.
    pub unmatched_left: Vec<usize>,
    /// The number of nodes in each right group without a partner.
    pub unmatched_right: Vec<usize>,
}

impl Matching {
    /// The number of matched pairs of nodes.
    pub fn size(&self) -> usize {
        self.pairs.iter().map(|&(_, _, count)| count).sum()
    }
}

/// A maximum matching between groups of `left[i]` and `right[j]` interchangeable nodes, by Hopcroft
/// and Karp's phases (<https://doi.org/10.1137/0202019>) over groups. List each edge only once.
pub fn match_grouped(left: &[usize], right: &[usize], edges: &[Vec<usize>]) -> Matching {
    let mut network = Network::new(left, right, edges);
    network.take_what_is_free();
    while network.layer() {
        for root in 0..left.len() {
            while network.left_free[root] > 0 && network.augment(root) {}
        }
    }
    network.into_matching()
}

const UNREACHED: usize = usize::MAX;

struct Network<'e> {
    /// The possible right groups of each left group.
    edges: &'e [Vec<usize>],
    left_free: Vec<usize>,
    right_free: Vec<usize>,
    /// The flow on each edge, in their order.
    flow: Vec<Vec<usize>>,
    /// The edges into each right group, as (left, index into `edges[left]`).
    incoming: Vec<Vec<(usize, usize)>>,
    left_level: Vec<usize>,
    right_level: Vec<usize>,
    next_edge: Vec<usize>,
    next_incoming: Vec<usize>,
}

impl<'e> Network<'e> {
    fn new(left: &[usize], right: &[usize], edges: &'e [Vec<usize>]) -> Self {
        let mut incoming = vec![Vec::new(); right.len()];
        for (group, partners) in edges.iter().enumerate() {
            for (index, &partner) in partners.iter().enumerate() {
                incoming[partner].push((group, index));
            }
        }
        Self {
            left_free: left.to_vec(),
            right_free: right.to_vec(),
            flow: edges
                .iter()
                .map(|partners| vec![0; partners.len()])
                .collect(),
            incoming,
            left_level: Vec::new(),
            right_level: Vec::new(),
            next_edge: Vec::new(),
            next_incoming: Vec::new(),
            edges,
        }
    }

    fn take_what_is_free(&mut self) {
        for group in 0..self.left_free.len() {
            for (index, &partner) in self.edges[group].iter().enumerate() {
                let amount = self.left_free[group].min(self.right_free[partner]);
                self.left_free[group] -= amount;
                self.right_free[partner] -= amount;
                self.flow[group][index] = amount;
            }
        }
    }

    /// Computes the distance of each group from a free left node. Returns true if a free right node
    /// is reachable.
    fn layer(&mut self) -> bool {
        self.left_level = self
            .left_free
            .iter()
            .map(|&free| if free > 0 { 0 } else { UNREACHED })
            .collect();
        self.right_level = vec![UNREACHED; self.right_free.len()];
        self.next_edge = vec![0; self.left_free.len()];
        self.next_incoming = vec![0; self.right_free.len()];
        let mut queue: VecDeque<usize> = (0..self.left_free.len())
            .filter(|&group| self.left_free[group] > 0)
            .collect();
        let mut in_reach = false;
        while let Some(group) = queue.pop_front() {
            let level = self.left_level[group];
            for &partner in &self.edges[group] {
                if self.right_level[partner] != UNREACHED {
                    continue;
                }
                self.right_level[partner] = level;
                in_reach |= self.right_free[partner] > 0;
                for &(other, index) in &self.incoming[partner] {
                    if self.flow[other][index] > 0 && self.left_level[other] == UNREACHED {
                        self.left_level[other] = level + 1;
                        queue.push_back(other);
                    }
                }
            }
        }
        in_reach
    }

    /// Reassigns matched nodes along one alternating path from `root`, which matches one more node.
    fn augment(&mut self, root: usize) -> bool {
        let mut path: Vec<(usize, usize)> = Vec::new();
        let mut group = root;
        loop {
            let Some(&partner) = self.edges[group].get(self.next_edge[group]) else {
                let Some((previous, partner)) = path.pop() else {
                    return false;
                };
                self.next_incoming[partner] += 1;
                group = previous;
                continue;
            };
            if self.right_level[partner] != self.left_level[group] {
                self.next_edge[group] += 1;
            } else if self.right_free[partner] > 0 {
                path.push((group, partner));
                self.shift_along(&path);
                return true;
            } else if let Some(other) = self.next_holder(partner, self.left_level[group] + 1) {
                path.push((group, partner));
                group = other;
            } else {
                self.next_edge[group] += 1;
            }
        }
    }

    /// The next left group at `level` with nodes of this right group.
    fn next_holder(&mut self, partner: usize, level: usize) -> Option<usize> {
        let from = self.next_incoming[partner];
        let found = self.incoming[partner][from..]
            .iter()
            .position(|&(other, index)| {
                self.flow[other][index] > 0 && self.left_level[other] == level
            });
        self.next_incoming[partner] =
            found.map_or(self.incoming[partner].len(), |skipped| from + skipped);
        self.incoming[partner]
            .get(self.next_incoming[partner])
            .map(|&(other, _)| other)
    }

    fn shift_along(&mut self, path: &[(usize, usize)]) {
        let (Some(&(root, _)), Some(&(_, end))) = (path.first(), path.last()) else {
            return;
        };
        let given_up: Vec<(usize, usize)> = path[..path.len() - 1]
            .iter()
            .map(|&(_, partner)| self.incoming[partner][self.next_incoming[partner]])
            .collect();
        let amount = given_up
            .iter()
            .map(|&(group, index)| self.flow[group][index])
            .fold(self.left_free[root].min(self.right_free[end]), usize::min);
        for (group, index) in given_up {
            self.flow[group][index] -= amount;
        }
        for &(group, _) in path {
            self.flow[group][self.next_edge[group]] += amount;
        }
        self.left_free[root] -= amount;
        self.right_free[end] -= amount;
    }

    fn into_matching(self) -> Matching {
        let mut pairs = Vec::new();
        for (group, flow) in self.flow.iter().enumerate() {
            let partners = self.edges[group].iter().zip(flow);
            pairs.extend(
                partners
                    .filter(|&(_, &count)| count > 0)
                    .map(|(&partner, &count)| (group, partner, count)),
            );
        }
        pairs.sort_unstable();
        Matching {
            pairs,
            unmatched_left: self.left_free,
            unmatched_right: self.right_free,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The partner of each left node.
    fn maximum_matching(right: usize, edges: &[Vec<usize>]) -> Vec<Option<usize>> {
        let mut partners = vec![None; edges.len()];
        for (node, partner, _) in match_grouped(&vec![1; edges.len()], &vec![1; right], edges).pairs
        {
            partners[node] = Some(partner);
        }
        partners
    }

    fn matched(edges: &[Vec<usize>], right: usize) -> usize {
        maximum_matching(right, edges).iter().flatten().count()
    }

    #[test]
    fn a_wide_node_makes_room_for_a_narrow_one() {
        let edges = [vec![0, 1], vec![0]];
        assert_eq!(maximum_matching(2, &edges), [Some(1), Some(0)]);
    }

    #[test]
    fn a_long_chain_of_moves_is_found_without_recursion() {
        let n = 20_000;
        let mut edges: Vec<Vec<usize>> = (0..n).map(|node| vec![node, node + 1]).collect();
        edges.push(vec![0]);
        assert_eq!(matched(&edges, n + 1), n + 1);
    }

    #[test]
    fn reversed_unique_candidates_all_match() {
        let n = 10_000;
        let edges: Vec<Vec<usize>> = (0..n).map(|node| vec![n - 1 - node]).collect();
        assert_eq!(matched(&edges, n), n);
    }

    #[test]
    fn identical_nodes_are_one_group_with_a_count() {
        let matching = match_grouped(&[10_000, 5], &[4, 10_000], &[vec![0, 1], vec![0]]);
        assert_eq!(matching.size(), 10_004);
        assert_eq!(matching.pairs, [(0, 1, 10_000), (1, 0, 4)]);
        assert_eq!(matching.unmatched_left, [0, 1]);
        assert_eq!(matching.unmatched_right, [0, 0]);
    }

    #[test]
    fn nothing_matches_nothing() {
        assert_eq!(matched(&[], 0), 0);
        assert_eq!(matched(&[vec![]], 3), 0);
    }

    fn largest_by_search(edges: &[Vec<usize>], taken: u32) -> usize {
        let Some((first, rest)) = edges.split_first() else {
            return 0;
        };
        let with = first.iter().filter(|&&node| taken & 1 << node == 0);
        let best = with
            .map(|&node| 1 + largest_by_search(rest, taken | 1 << node))
            .max();
        best.unwrap_or(0).max(largest_by_search(rest, taken))
    }

    fn any_edges() -> impl Strategy<Value = Vec<Vec<usize>>> {
        prop::collection::vec(prop::collection::btree_set(0_usize..6, 0..5), 0..7).prop_map(
            |edges| {
                edges
                    .into_iter()
                    .map(|row| row.into_iter().collect())
                    .collect()
            },
        )
    }

    proptest! {
        #[test]
        fn no_larger_matching_exists(edges in any_edges()) {
            let partners = maximum_matching(6, &edges);
            let mut taken: Vec<usize> = partners.iter().flatten().copied().collect();
            taken.sort_unstable();
            prop_assert!(taken.windows(2).all(|pair| pair[0] < pair[1]));
            for (node, partner) in partners.iter().enumerate() {
                prop_assert!(partner.is_none_or(|partner| edges[node].contains(&partner)));
            }
            prop_assert_eq!(taken.len(), largest_by_search(&edges, 0));
        }

        #[test]
        fn groups_match_as_many_as_their_members_would(
            edges in any_edges(),
            left in prop::collection::vec(0_usize..5, 7),
            right in prop::collection::vec(0_usize..5, 6),
        ) {
            let left = &left[..edges.len()];
            let members = |group: usize| (right[..group].iter().sum()..).take(right[group]);
            let expanded: Vec<Vec<usize>> = (0..left.len())
                .flat_map(|group| vec![edges[group].iter().flat_map(|&other| members(other)).collect(); left[group]])
                .collect();
            let grouped = match_grouped(left, &right, &edges);
            prop_assert_eq!(grouped.size(), matched(&expanded, right.iter().sum()));
            prop_assert_eq!(grouped.size() + grouped.unmatched_left.iter().sum::<usize>(), left.iter().sum::<usize>());
        }

        #[test]
        fn the_order_of_nodes_does_not_change_the_size(edges in any_edges()) {
            let reversed: Vec<Vec<usize>> = edges.iter().rev().cloned().collect();
            prop_assert_eq!(matched(&edges, 6), matched(&reversed, 6));
        }
    }
}
