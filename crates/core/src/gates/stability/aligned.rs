//! Which calls of two runs correspond, and how many of them have equal arguments?

use crate::pairing::subsequence::order_keeping_partners;

/// A call, with its tool as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct NumberedCall {
    pub(super) tool: usize,
    /// The hash of its arguments.
    pub(super) args: u128,
}

/// The maximum number of pairs of calls to weigh. For larger differences, the earliest longest
/// common subsequence is used.
const MOST_CELLS: usize = 65_536;

/// The corresponding calls: of all longest common subsequences of the tools, one with the most
/// equal arguments.
///
/// Equal calls at both ends are paired first: an optimal choice keeps them.
pub(super) fn together(one: &[NumberedCall], other: &[NumberedCall]) -> Vec<(usize, usize)> {
    let shorter = one.len().min(other.len());
    let start = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let from_the_end = one.iter().rev().zip(other.iter().rev());
    let end = from_the_end
        .take(shorter - start)
        .take_while(|(a, b)| a == b)
        .count();
    let (one_end, other_end) = (one.len() - end, other.len() - end);
    let (left, right) = (&one[start..one_end], &other[start..other_end]);
    let middle = if left.len().saturating_mul(right.len()) <= MOST_CELLS {
        best(left, right)
    } else {
        earliest(left, right)
    };
    let ahead = (0..start).map(|at| (at, at));
    let middle = middle.into_iter().map(|(a, b)| (start + a, start + b));
    let behind = (0..end).map(|at| (one_end + at, other_end + at));
    ahead.chain(middle).chain(behind).collect()
}

/// Fills in the table of the best that can be had from each pair of calls on: pairs count first, equal arguments second.
fn best(one: &[NumberedCall], other: &[NumberedCall]) -> Vec<(usize, usize)> {
    const PAIR: u64 = 1 << 32;
    let width = other.len() + 1;
    let mut table = vec![0_u64; (one.len() + 1) * width];
    let worth = |a: &NumberedCall, b: &NumberedCall| {
        (a.tool == b.tool).then(|| PAIR + u64::from(a.args == b.args))
    };
    for (i, a) in one.iter().enumerate().rev() {
        for (j, b) in other.iter().enumerate().rev() {
            let skipped = table[(i + 1) * width + j].max(table[i * width + j + 1]);
            let taken = worth(a, b).map_or(0, |worth| worth + table[(i + 1) * width + j + 1]);
            table[i * width + j] = skipped.max(taken);
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while i < one.len() && j < other.len() {
        let here = table[i * width + j];
        let paired = worth(&one[i], &other[j]);
        if paired.is_some_and(|worth| here == worth + table[(i + 1) * width + j + 1]) {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if here == table[(i + 1) * width + j] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

/// A longest common subsequence in near linear memory, whatever the arguments are.
fn earliest(one: &[NumberedCall], other: &[NumberedCall]) -> Vec<(usize, usize)> {
    let tools = one.iter().chain(other).map(|call| call.tool + 1).max();
    let mut positions = vec![Vec::new(); tools.unwrap_or_default()];
    for (at, call) in one.iter().enumerate() {
        positions[call.tool].push(at);
    }
    let recorded: Vec<usize> = other.iter().map(|call| call.tool).collect();
    let partners =
        order_keeping_partners(one.len(), &recorded, |tool| positions[tool].iter().copied());
    let pairs = partners.into_iter().enumerate();
    pairs
        .filter_map(|(at, partner)| Some((at, partner?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairing::subsequence::lcs_length;
    use proptest::prelude::*;

    fn numbered<const N: usize>(calls: [(usize, u128); N]) -> [NumberedCall; N] {
        calls.map(|(tool, args)| NumberedCall { tool, args })
    }

    fn equal(one: &[NumberedCall], other: &[NumberedCall]) -> (usize, usize) {
        let pairs = together(one, other);
        let equal = pairs.iter().filter(|(a, b)| one[*a].args == other[*b].args);
        (pairs.len(), equal.count())
    }

    #[test]
    fn an_extra_call_at_the_front_does_not_shift_the_arguments() {
        let plain = numbered([(1, 10), (1, 20), (2, 30)]);
        let longer = numbered([(1, 5), (1, 10), (1, 20), (2, 30)]);
        assert_eq!(together(&plain, &longer), [(0, 1), (1, 2), (2, 3)]);
        let other_tool = numbered([(7, 5), (1, 10), (1, 20), (2, 30)]);
        assert_eq!(equal(&plain, &other_tool), (3, 3));
    }

    #[test]
    fn as_many_tools_as_possible_go_together_before_equal_arguments_count() {
        // The one equal pair of `1` would leave two tools without a partner.
        let one = numbered([(1, 10), (2, 0), (3, 0)]);
        let other = numbered([(2, 9), (3, 9), (1, 10)]);
        assert_eq!(equal(&one, &other), (2, 0));
    }

    #[test]
    fn long_runs_are_aligned_too() {
        let one: Vec<NumberedCall> = (0..3000)
            .map(|at| NumberedCall {
                tool: at % 7,
                args: at as u128,
            })
            .collect();
        let other: Vec<NumberedCall> = (0..3000)
            .map(|at| NumberedCall {
                tool: at % 5,
                args: at as u128,
            })
            .collect();
        let names = |calls: &[NumberedCall]| calls.iter().map(|call| call.tool).collect::<Vec<_>>();
        let length = lcs_length(&names(&one), &names(&other));
        assert_eq!(equal(&one, &other).0, length);
    }

    /// The best by trying everything.
    fn by_trying(one: &[NumberedCall], other: &[NumberedCall]) -> (usize, usize) {
        let ([a, one_rest @ ..], [b, other_rest @ ..]) = (one, other) else {
            return (0, 0);
        };
        let skipped = by_trying(one_rest, other).max(by_trying(one, other_rest));
        if a.tool != b.tool {
            return skipped;
        }
        let (pairs, equal) = by_trying(one_rest, other_rest);
        skipped.max((pairs + 1, equal + usize::from(a.args == b.args)))
    }

    fn any_call() -> impl Strategy<Value = NumberedCall> {
        (0_usize..3, 0_u128..3).prop_map(|(tool, args)| NumberedCall { tool, args })
    }

    proptest! {
        #[test]
        fn no_other_choice_has_more_pairs_or_more_equal_arguments(
            one in prop::collection::vec(any_call(), 0..8),
            other in prop::collection::vec(any_call(), 0..8),
        ) {
            prop_assert_eq!(equal(&one, &other), by_trying(&one, &other));
            prop_assert_eq!(equal(&other, &one), by_trying(&one, &other));
            let pairs = together(&one, &other);
            prop_assert!(pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1));
            prop_assert!(pairs.iter().all(|(a, b)| one[*a].tool == other[*b].tool));
        }
    }
}
