//! Which tools are always called in one order, and which of these orders reversed?

use super::Lost;
use super::fact::{Fact, RunFacts};
use crate::baseline::DifferenceClass;
use std::collections::{BTreeMap, BTreeSet};

/// Every pair of tools of which all runs called the first in an earlier turn than the second.
/// Adjacent tools are not enough: parallel or optional tools may be between them.
pub(super) fn orders(before: &[RunFacts<'_>], now: &BTreeSet<&str>) -> Vec<Fact> {
    let Some(first) = before.first() else {
        return Vec::new();
    };
    let is_always_called = |tool: &&&str| {
        now.contains(**tool) && before.iter().all(|run| run.first.contains_key(**tool))
    };
    let is_always_earlier = |one: &str, other: &str| {
        before
            .iter()
            .all(|run| run.first.get(one) < run.first.get(other))
    };
    let tools: Vec<&str> = first
        .order
        .iter()
        .filter(is_always_called)
        .copied()
        .collect();
    let mut orders = Vec::new();
    for (at, one) in tools.iter().enumerate() {
        for other in &tools[at + 1..] {
            if is_always_earlier(one, other) {
                orders.push(Fact::Before {
                    first: (*one).to_owned(),
                    then: (*other).to_owned(),
                });
            }
        }
    }
    orders
}

/// The reversed orders that no tool in between explains: one tool that moves across nine others is
/// one difference.
pub(super) fn closest_orders<'f>(candidates: &[Fact], turned: Vec<Lost<'f>>) -> Vec<Lost<'f>> {
    let later_than = later_tools(candidates);
    let classes: BTreeMap<(&str, &str), DifferenceClass> = turned
        .iter()
        .filter_map(|lost| Some((pair(lost.fact)?, lost.class)))
        .collect();
    let is_explained = |lost: &Lost<'_>| {
        let Some((one, other)) = pair(lost.fact) else {
            return false;
        };
        let is_as_bad = |pair| classes.get(&pair).is_some_and(|&class| class >= lost.class);
        let is_before_other = |tool: &str| {
            later_than
                .get(tool)
                .is_some_and(|later| later.contains(other))
        };
        let later = later_than.get(one).into_iter().flatten();
        let mut between = later.filter(|tool| is_before_other(tool));
        between.any(|&tool| is_as_bad((one, tool)) || is_as_bad((tool, other)))
    };
    let is_closest: Vec<bool> = turned.iter().map(|lost| !is_explained(lost)).collect();
    turned
        .into_iter()
        .zip(is_closest)
        .filter_map(|(lost, is_closest)| is_closest.then_some(lost))
        .collect()
}

/// The tools that were always called after each tool.
fn later_tools(candidates: &[Fact]) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut later_than: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (one, other) in candidates.iter().filter_map(pair) {
        later_than.entry(one).or_default().insert(other);
    }
    later_than
}

/// The two tools of an order, the first one first.
fn pair(fact: &Fact) -> Option<(&str, &str)> {
    match fact {
        Fact::Before { first, then } => Some((first, then)),
        _ => None,
    }
}
