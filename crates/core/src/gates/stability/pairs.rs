//! How alike are the paths that the runs took, pair by pair?

use super::aligned::{NumberedCall, together};
use super::session::Session;
use crate::hashed::HashMap;
use crate::pairing::assignment::Groups;
use crate::pairing::subsequence::longest_order_keeping_match;
use std::borrow::Borrow;

/// The agreement of pairs of runs.
#[derive(Default)]
pub(super) struct Agreement {
    /// The length of the longest common subsequence of tool names, divided by the longer length.
    pub(super) similarity: Ratios,
    /// The share of equal arguments at steps where both runs called the same tool.
    pub(super) consistency: Ratios,
    /// The share of equal arguments along the longest common subsequence of the tools.
    pub(super) aligned: Ratios,
    /// Pairs that diverge, and pairs that diverge at step 0 or 1.
    pub(super) diverging: usize,
    pub(super) early: usize,
}

impl Agreement {
    /// Returns true if a strict majority of the diverging pairs diverge early.
    pub(super) fn early_divergence(&self) -> bool {
        2 * self.early > self.diverging
    }
}

/// Two runs by index, and their similarity.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Pair {
    pub(super) one: usize,
    pub(super) other: usize,
    pub(super) ratio: f64,
}

impl Pair {
    pub(super) fn differs(&self) -> bool {
        self.ratio < 1.0
    }
}

/// Compares every pair of runs. Names become numbers once. Equal runs are compared once and
/// weighted by their number. The LCS is bit-parallel and exact. The time grows with the square of
/// the number of runs, not of calls.
pub(super) fn compare(sessions: &[Session<'_>]) -> Agreement {
    let paths = numbered(sessions);
    let mut found = Agreement::default();
    found.compare_arguments(&numbered_calls(sessions, &paths));
    let groups = Groups::collapse(&paths);
    let runs: Vec<usize> = groups.representatives().collect();
    let counts = groups.counts();
    for (at, &run) in runs.iter().enumerate() {
        if let [one, other, ..] = *groups.members(at) {
            let ratio = 1.0;
            let equals = pairs_within(counts[at]);
            found.similarity.add(Pair { one, other, ratio }, equals);
        }
        let path = Path::new(&paths[run]);
        for (other_at, &other) in runs.iter().enumerate().skip(at + 1) {
            let pairs = counts[at] * counts[other_at];
            let common = path.common_with(&paths[other]);
            let pair = Pair {
                one: run,
                other,
                ratio: path.ratio(common.length, &paths[other]),
            };
            found.similarity.add(pair, pairs);
            found.diverging += pairs;
            found.early += if common.parts_at < 2 { pairs } else { 0 };
        }
    }
    found
}

/// The similarity of each run to each earlier run.
pub(super) fn triangle(sessions: &[Session<'_>]) -> Vec<Vec<Option<f64>>> {
    let paths = numbered(sessions);
    let row = |run: usize| {
        let path = Path::new(&paths[run]);
        let before = paths[..run].iter();
        before
            .map(|other| Some(path.ratio(path.common_with(other).length, other)))
            .collect()
    };
    (0..paths.len()).map(row).collect()
}

/// The tools of each run, numbered by first appearance in any.
pub(super) fn numbered<'s, S: Borrow<Session<'s>>>(sessions: &[S]) -> Vec<Vec<usize>> {
    let mut numbers: HashMap<&str, usize> = HashMap::default();
    let mut paths = Vec::new();
    for session in sessions {
        let mut path = Vec::new();
        for call in &session.borrow().calls {
            let next = numbers.len();
            path.push(*numbers.entry(call.name).or_insert(next));
        }
        paths.push(path);
    }
    paths
}

/// A weighted mean of ratios, and the pair with the lowest ratio.
#[derive(Default)]
pub(super) struct Ratios {
    sum: f64,
    pairs: usize,
    pub(super) least: Option<Pair>,
}

impl Ratios {
    /// Adds a pair that represents this number of equal pairs.
    fn add(&mut self, pair: Pair, equals: usize) {
        self.sum += pair.ratio * equals as f64;
        self.pairs += equals;
        if self.least.is_none_or(|least| pair.ratio < least.ratio) {
            self.least = Some(pair);
        }
    }

    /// The mean; 1 without pairs.
    pub(super) fn mean(&self) -> f64 {
        if self.pairs == 0 {
            1.0
        } else {
            self.sum / self.pairs as f64
        }
    }
}

fn pairs_within(count: usize) -> usize {
    count * (count - 1) / 2
}

/// One path with the positions of each tool, for comparison with many others.
struct Path<'a> {
    tools: &'a [usize],
    positions: Vec<Vec<usize>>,
}

/// The common part of two paths.
struct Common {
    /// The step at which they diverge.
    parts_at: usize,
    /// The length of the longest common subsequence.
    length: usize,
}

impl<'a> Path<'a> {
    fn new(tools: &'a [usize]) -> Self {
        let mut positions = vec![Vec::new(); tools.iter().max().map_or(0, |&most| most + 1)];
        for (at, &tool) in tools.iter().enumerate() {
            positions[tool].push(at);
        }
        Self { tools, positions }
    }

    /// The common part as a share of the longer path. It is 1 if neither path has a call.
    fn ratio(&self, common: usize, other: &[usize]) -> f64 {
        let longer = self.tools.len().max(other.len());
        if longer == 0 {
            1.0
        } else {
            common as f64 / longer as f64
        }
    }

    fn common_with(&self, other: &[usize]) -> Common {
        let shorter = self.tools.len().min(other.len());
        let prefix = self
            .tools
            .iter()
            .zip(other)
            .take_while(|(a, b)| a == b)
            .count();
        let ends = self
            .tools
            .iter()
            .rev()
            .zip(other.iter().rev())
            .take(shorter - prefix);
        let suffix = ends.take_while(|(a, b)| a == b).count();
        let (start, end) = (prefix, self.tools.len() - suffix);
        let middle = longest_order_keeping_match(
            end - start,
            &other[prefix..other.len() - suffix],
            |tool| {
                let all = self.positions.get(tool).map_or(&[][..], Vec::as_slice);
                let within =
                    all.partition_point(|&at| at < start)..all.partition_point(|&at| at < end);
                all[within].iter().map(move |at| at - start)
            },
        );
        Common {
            parts_at: prefix,
            length: prefix + middle + suffix,
        }
    }
}

/// The calls of each run, their tools as numbers.
pub(super) fn numbered_calls<'s, S: Borrow<Session<'s>>>(
    sessions: &[S],
    paths: &[Vec<usize>],
) -> Vec<Vec<NumberedCall>> {
    let number_calls = |(session, path): (&S, &Vec<usize>)| {
        let calls = &session.borrow().calls;
        let numbered = path.iter().zip(calls);
        numbered
            .map(|(&tool, call)| NumberedCall {
                tool,
                args: call.args,
            })
            .collect()
    };
    sessions.iter().zip(paths).map(number_calls).collect()
}

impl Agreement {
    /// Compares the arguments of every pair of runs, step by step and along their common tools.
    fn compare_arguments(&mut self, runs: &[Vec<NumberedCall>]) {
        let groups = Groups::collapse(runs);
        let distinct: Vec<usize> = groups.representatives().collect();
        let counts = groups.counts();
        for (at, &run) in distinct.iter().enumerate() {
            let one = &runs[run];
            if !one.is_empty()
                && let [one, other, ..] = *groups.members(at)
            {
                let ratio = 1.0;
                let equals = pairs_within(counts[at]);
                self.consistency.add(Pair { one, other, ratio }, equals);
                self.aligned.add(Pair { one, other, ratio }, equals);
            }
            for (other_at, &other_run) in distinct.iter().enumerate().skip(at + 1) {
                let other = &runs[other_run];
                let equals = counts[at] * counts[other_at];
                let pair_with = |ratio: f64| Pair {
                    one: run,
                    other: other_run,
                    ratio,
                };
                let same_steps = one.iter().zip(other).filter(|(a, b)| a.tool == b.tool);
                if let Some(share) = share_of_equal(same_steps) {
                    self.consistency.add(pair_with(share), equals);
                }
                let aligned = together(one, other);
                let aligned = aligned.iter().map(|(a, b)| (&one[*a], &other[*b]));
                if let Some(share) = share_of_equal(aligned) {
                    self.aligned.add(pair_with(share), equals);
                }
            }
        }
    }
}

/// The share of the pairs with equal arguments; `None` without a pair.
fn share_of_equal<'c>(
    calls: impl Iterator<Item = (&'c NumberedCall, &'c NumberedCall)>,
) -> Option<f64> {
    let (mut all, mut equal) = (0_usize, 0_usize);
    for (a, b) in calls {
        all += 1;
        equal += usize::from(a.args == b.args);
    }
    (all > 0).then(|| equal as f64 / all as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairing::subsequence::lcs_ratio;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn envelope(path: &[(u8, u8)]) -> Value {
        let call =
            |(name, args): &(u8, u8)| json!({ "name": format!("t{name}"), "args": { "v": args } });
        json!({ "tool_calls": path.iter().map(call).collect::<Vec<_>>() })
    }

    fn agreement(paths: &[Vec<(u8, u8)>]) -> Agreement {
        let envelopes: Vec<Value> = paths.iter().map(|path| envelope(path)).collect();
        compare(
            &envelopes
                .iter()
                .map(Session::from_envelope)
                .collect::<Vec<_>>(),
        )
    }

    fn named(paths: &[&[u8]]) -> Agreement {
        agreement(
            &paths
                .iter()
                .map(|path| path.iter().map(|&name| (name, 0)).collect())
                .collect::<Vec<_>>(),
        )
    }

    #[test]
    fn a_run_that_ends_early_parts_there() {
        let found = named(&[b"a", b"ab"]);
        assert!(found.early_divergence() && (found.similarity.mean() - 0.5).abs() < 1e-12);
        let found = named(&[b"abc", b"abcd"]);
        assert!(!found.early_divergence() && (found.similarity.mean() - 0.75).abs() < 1e-12);
    }

    #[test]
    fn half_of_the_diverging_pairs_are_no_majority() {
        assert!(!named(&[b"pqr", b"pqs", b"pqt", b"zqr"]).early_divergence());
        assert!(named(&[b"abc", b"abd", b"abc", b"xbc"]).early_divergence());
    }

    #[test]
    fn no_calls_agree_with_no_calls_only() {
        let found = named(&[b"", b""]);
        assert!((found.similarity.mean() - 1.0).abs() < 1e-12 && !found.early_divergence());
        let found = named(&[b"", b"a"]);
        assert!(found.similarity.mean().abs() < 1e-12 && found.early_divergence());
        assert!((found.consistency.mean() - 1.0).abs() < 1e-12);
    }

    /// The definition, pair by pair, without any of the shortcuts.
    fn plainly(paths: &[Vec<(u8, u8)>]) -> (f64, f64, bool) {
        let (mut ratios, mut shares, mut diverging, mut early) = (Vec::new(), Vec::new(), 0, 0);
        for (at, a) in paths.iter().enumerate() {
            for b in &paths[at + 1..] {
                let names = |path: &[(u8, u8)]| path.iter().map(|step| step.0).collect::<Vec<_>>();
                let (left, right) = (names(a), names(b));
                ratios.push(lcs_ratio(&left, &right));
                let same: Vec<_> = a.iter().zip(b).filter(|(a, b)| a.0 == b.0).collect();
                if !same.is_empty() {
                    shares.push(
                        same.iter().filter(|(a, b)| a.1 == b.1).count() as f64 / same.len() as f64,
                    );
                }
                if left != right {
                    diverging += 1;
                    let parts_at = left.iter().zip(&right).take_while(|(a, b)| a == b).count();
                    early += usize::from(parts_at < 2);
                }
            }
        }
        let mean = |values: &[f64]| {
            if values.is_empty() {
                1.0
            } else {
                values.iter().sum::<f64>() / values.len() as f64
            }
        };
        (mean(&ratios), mean(&shares), 2 * early > diverging)
    }

    proptest! {
        #[test]
        fn the_shortcuts_change_nothing(
            paths in prop::collection::vec(prop::collection::vec((0_u8..3, 0_u8..2), 0..6), 2..9)
        ) {
            let found = agreement(&paths);
            let (similarity, consistency, early) = plainly(&paths);
            prop_assert!((found.similarity.mean() - similarity).abs() < 1e-12);
            prop_assert!((found.consistency.mean() - consistency).abs() < 1e-12);
            prop_assert_eq!(found.early_divergence(), early);
        }
    }
}
