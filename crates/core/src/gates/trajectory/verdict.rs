//! Do the recorded calls meet the mode, and if not, in how many places?

use super::comparison::Comparison;
use super::reference::MatchMode;
use crate::pairing::assignment::{Groups, Matching, assign, match_grouped};
use crate::pairing::subsequence::order_keeping_partners;

/// The result of comparing one run, with the data to explain it.
pub(super) enum TraceVerdict {
    /// Strict: the differing positions, over the longer length.
    InStep(Vec<usize>),
    /// Subsequence: the recorded call for each expected call, in a longest match that keeps the order.
    InOrder(Vec<Option<usize>>),
    /// Any order: a maximum matching.
    Matched(Assignment),
    /// Exactly the expected calls, in any order: a maximum matching, and the number of unmatched
    /// recorded calls.
    Whole {
        assignment: Assignment,
        extra: usize,
    },
}

/// A maximum matching between the side that needs partners and the other side.
pub(super) struct Assignment {
    /// For each group of the side that needs partners, the matching groups of the other side.
    pub(super) edges: Vec<Vec<usize>>,
    pub(super) matching: Matching,
    /// Each item's partner, on the side that must find one.
    pub(super) partners: Vec<Option<usize>>,
}

impl TraceVerdict {
    pub(super) fn new(comparison: &Comparison<'_>) -> Self {
        if comparison.reference.accepts_anything() {
            return Self::InStep(Vec::new());
        }
        match comparison.reference.mode {
            MatchMode::Strict => Self::InStep(differing_positions(comparison)),
            MatchMode::Subsequence => Self::InOrder(
                first_fits_in_order(comparison).unwrap_or_else(|| best_fits_in_order(comparison)),
            ),
            MatchMode::Unordered | MatchMode::Superset | MatchMode::Subset => {
                Self::Matched(Assignment::new(comparison))
            }
            MatchMode::Set => {
                let assignment = Assignment::new(comparison);
                let matched = assignment.partners.iter().flatten().count();
                let extra = comparison.calls.len() - matched;
                Self::Whole { assignment, extra }
            }
        }
    }

    pub(super) fn mismatch_count(&self) -> usize {
        let without = |partners: &[Option<usize>]| {
            partners.iter().filter(|partner| partner.is_none()).count()
        };
        match self {
            Self::InStep(positions) => positions.len(),
            Self::InOrder(partners) => without(partners),
            Self::Matched(assignment) => without(&assignment.partners),
            Self::Whole { assignment, extra } => without(&assignment.partners).max(*extra),
        }
    }
}

fn differing_positions(comparison: &Comparison<'_>) -> Vec<usize> {
    let (expected, recorded) = (comparison.reference.calls.len(), comparison.calls.len());
    let shared = expected.min(recorded);
    (0..expected.max(recorded))
        .filter(|&at| at >= shared || !comparison.fits(at, at))
        .collect()
}

/// Each expected call's first possible partner; `None` if one has no partner, because then no
/// assignment is complete.
fn first_fits_in_order(comparison: &Comparison<'_>) -> Option<Vec<Option<usize>>> {
    let mut recorded = 0..comparison.calls.len();
    (0..comparison.reference.calls.len())
        .map(|expected| {
            recorded
                .find(|&call| comparison.fits(expected, call))
                .map(Some)
        })
        .collect()
}

/// A longest order-keeping match. If both begin or end with matching calls, these are paired, which
/// never shortens the match. Calls that match no expected call are ignored.
fn best_fits_in_order(comparison: &Comparison<'_>) -> Vec<Option<usize>> {
    let (expected, recorded) = (comparison.reference.calls.len(), comparison.calls.len());
    let shorter = expected.min(recorded);
    let before = (0..shorter)
        .take_while(|&at| comparison.fits(at, at))
        .count();
    let after = (0..shorter - before)
        .take_while(|back| comparison.fits(expected - 1 - back, recorded - 1 - back))
        .count();
    let fitted = turned(&comparison.candidates(), comparison.recorded.counts().len());
    let classes = Groups::collapse(&fitted);
    let class_of = |call: usize| classes.group_of(comparison.recorded.group_of(call));
    let in_between = before..expected - after;
    let calls: Vec<usize> = (before..recorded - after)
        .filter(|&call| !fitted[comparison.recorded.group_of(call)].is_empty())
        .collect();
    let recorded_classes: Vec<usize> = calls.iter().map(|&call| class_of(call)).collect();
    let middle = order_keeping_partners(in_between.len(), &recorded_classes, |class| {
        let groups = &fitted[classes.members(class)[0]];
        let positions = groups
            .iter()
            .flat_map(|&group| comparison.reference.groups.members(group));
        let inside = positions.filter(|position| in_between.contains(position));
        inside.map(|position| position - before).collect::<Vec<_>>()
    });
    let start = (0..before).map(Some);
    let end = (recorded - after..recorded).map(Some);
    start
        .chain(
            middle
                .into_iter()
                .map(|partner| partner.map(|at| calls[at])),
        )
        .chain(end)
        .collect()
}

impl Assignment {
    fn new(comparison: &Comparison<'_>) -> Self {
        let (expected, recorded) = (&comparison.reference.groups, &comparison.recorded);
        let candidates = comparison.candidates();
        let (from, to, edges) = match comparison.reference.mode {
            MatchMode::Subset => (
                recorded,
                expected,
                turned(&candidates, recorded.counts().len()),
            ),
            _ => (expected, recorded, candidates),
        };
        let matching = match_grouped(from.counts(), to.counts(), &edges);
        let partners = assign(from, to, &matching);
        Self {
            edges,
            matching,
            partners,
        }
    }
}

/// The edges from the other side.
fn turned(edges: &[Vec<usize>], others: usize) -> Vec<Vec<usize>> {
    let mut turned = vec![Vec::new(); others];
    for (from, to) in edges.iter().enumerate() {
        for &other in to {
            turned[other].push(from);
        }
    }
    turned
}
