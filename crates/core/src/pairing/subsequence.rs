//! How much of one sequence is in another, in order?

use crate::pairing::assignment::Groups;
use std::hash::Hash;

/// The length of the longest common subsequence.
pub fn lcs_length<T: Hash + Eq>(a: &[T], b: &[T]) -> usize {
    let shorter = a.len().min(b.len());
    let prefix = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let suffix = a
        .iter()
        .rev()
        .zip(b.iter().rev())
        .take(shorter - prefix)
        .take_while(|(a, b)| a == b)
        .count();
    let (a, b) = (&a[prefix..a.len() - suffix], &b[prefix..b.len() - suffix]);
    let symbols = Groups::collapse(a.iter().chain(b));
    let recorded: Vec<usize> = (a.len()..a.len() + b.len())
        .map(|item| symbols.group_of(item))
        .collect();
    let middle = longest_order_keeping_match(a.len(), &recorded, |symbol| {
        symbols
            .members(symbol)
            .iter()
            .copied()
            .take_while(|&item| item < a.len())
    });
    prefix + middle + suffix
}

/// The longest common subsequence over the longer length; 1 if both are empty.
pub fn lcs_ratio<T: Hash + Eq>(a: &[T], b: &[T]) -> f64 {
    let longer = a.len().max(b.len());
    if longer == 0 {
        1.0
    } else {
        lcs_length(a, b) as f64 / longer as f64
    }
}

/// The largest number of reference positions that recorded items match in order, one item per
/// position, for any relation.
///
/// `recorded` is the class of each recorded item: small numbers, shared by items that match the
/// same positions. `matching` returns a class's reference positions below `reference` and is called
/// once per class. One pass of word-wide additions (Hyyrö, "Bit-Parallel LCS-length Computation
/// Revisited", 2004).
pub fn longest_order_keeping_match<P: IntoIterator<Item = usize>>(
    reference: usize,
    recorded: &[usize],
    matching: impl FnMut(usize) -> P,
) -> usize {
    let mut sweep = Sweep::new(reference, recorded, matching);
    let mut row = sweep.first_row();
    for &class in recorded {
        sweep.step(&mut row, class);
    }
    row.iter().map(|word| word.count_zeros() as usize).sum()
}

/// The match of [`longest_order_keeping_match`]: the recorded item of each reference position.
/// Prefers early positions and items.
///
/// Keeps every n-th row of the table, for n near the square root of the rows, and recomputes the
/// others while tracing back, so memory stays near linear.
pub fn order_keeping_partners<P: IntoIterator<Item = usize>>(
    reference: usize,
    recorded: &[usize],
    matching: impl FnMut(usize) -> P,
) -> Vec<Option<usize>> {
    let mut sweep = Sweep::new(reference, recorded, matching);
    let stride = recorded.len().isqrt().max(1);
    let mut row = sweep.first_row();
    let mut kept = Vec::new();
    for stretch in recorded.chunks(stride) {
        kept.push(row.clone());
        for &class in stretch {
            sweep.step(&mut row, class);
        }
    }
    let mut partners = vec![None; reference];
    let mut position = reference;
    for (at, first_row) in kept.into_iter().enumerate().rev() {
        let stretch = &recorded[at * stride..recorded.len().min((at + 1) * stride)];
        let rows = sweep.rows(first_row, stretch);
        for (item, pair) in rows.windows(2).enumerate().rev() {
            while position > 0 && !rises(&pair[1], position - 1) {
                position -= 1;
            }
            if position == 0 {
                return partners;
            }
            if !rises(&pair[0], position - 1) {
                position -= 1;
                partners[position] = Some(at * stride + item);
            }
        }
    }
    partners
}

fn rises(row: &[u64], position: usize) -> bool {
    row[position / 64] & (1 << (position % 64)) == 0
}

/// The table, row by row: a zero bit is a position where the row rises by one.
struct Sweep<M> {
    words: usize,
    masks: Vec<Option<Mask>>,
    scratch: Vec<u64>,
    matching: M,
}

impl<P: IntoIterator<Item = usize>, M: FnMut(usize) -> P> Sweep<M> {
    fn new(reference: usize, recorded: &[usize], matching: M) -> Self {
        let words = reference.div_ceil(64);
        let classes = recorded.iter().max().map_or(0, |&class| class + 1);
        let masks = (0..classes).map(|_| None).collect();
        Self {
            words,
            masks,
            scratch: vec![0; words],
            matching,
        }
    }

    fn first_row(&self) -> Vec<u64> {
        vec![u64::MAX; self.words]
    }

    fn step(&mut self, row: &mut [u64], class: usize) {
        let mask =
            self.masks[class].get_or_insert_with(|| Mask::new((self.matching)(class), self.words));
        match mask {
            Mask::Dense(bits) => advance(row, bits),
            Mask::Sparse(positions) if positions.is_empty() => {}
            Mask::Sparse(positions) => {
                set(&mut self.scratch, positions);
                advance(row, &self.scratch);
                for &position in &*positions {
                    self.scratch[position as usize / 64] = 0;
                }
            }
        }
    }

    fn rows(&mut self, first: Vec<u64>, stretch: &[usize]) -> Vec<Vec<u64>> {
        let mut row = first.clone();
        let later = stretch.iter().map(|&class| {
            self.step(&mut row, class);
            row.clone()
        });
        std::iter::once(first).chain(later).collect()
    }
}

/// The reference positions that a class matches; as bits if there are many, so that memory stays
/// linear.
enum Mask {
    Dense(Vec<u64>),
    Sparse(Vec<u32>),
}

impl Mask {
    fn new(positions: impl IntoIterator<Item = usize>, words: usize) -> Self {
        let positions: Vec<u32> = positions
            .into_iter()
            .map(|position| position as u32)
            .collect();
        if positions.len() <= words {
            return Self::Sparse(positions);
        }
        let mut bits = vec![0; words];
        set(&mut bits, &positions);
        Self::Dense(bits)
    }
}

fn set(bits: &mut [u64], positions: &[u32]) {
    for &position in positions {
        bits[position as usize / 64] |= 1 << (position % 64);
    }
}

fn advance(row: &mut [u64], mask: &[u64]) {
    let mut carry = false;
    for (word, mask) in row.iter_mut().zip(mask) {
        let rising = *word & mask;
        let (sum, first) = word.overflowing_add(rising);
        let (sum, second) = sum.overflowing_add(u64::from(carry));
        carry = first | second;
        *word = sum | (*word - rising);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_ratio_divides_by_the_longer_length() {
        assert_eq!(lcs_length(b"ABCBDAB", b"BDCABA"), 4);
        assert!((lcs_ratio(b"ABCBDAB", b"BDCABA") - 4.0 / 7.0).abs() < 1e-15);
        assert!((lcs_ratio::<u8>(&[], &[]) - 1.0).abs() < 1e-15);
        assert!(lcs_ratio(b"", b"a").abs() < 1e-15);
    }

    #[test]
    fn carries_cross_words() {
        let up: Vec<usize> = (0..1000).collect();
        let shifted: Vec<usize> = (500..1500).collect();
        assert_eq!(lcs_length(&up, &shifted), 500);
        assert_eq!(
            lcs_length(&up, &up.iter().rev().copied().collect::<Vec<_>>()),
            1
        );
        assert_eq!(lcs_length(&vec![7; 300], &vec![7; 200]), 200);
    }

    #[test]
    fn each_class_is_asked_once() {
        let mut asked = Vec::new();
        let length = longest_order_keeping_match(3, &[1, 0, 1, 0], |class| {
            asked.push(class);
            if class == 0 { vec![0, 2] } else { vec![1] }
        });
        assert_eq!((length, asked), (3, vec![1, 0]));
    }

    #[test]
    fn many_distinct_calls_need_little_memory() {
        let n = 20_000;
        let a: Vec<usize> = (0..n).collect();
        let b: Vec<usize> = (0..n).map(|item| item ^ 1).collect();
        assert_eq!(lcs_length(&a, &b), n / 2);
    }

    #[test]
    fn the_earliest_positions_and_items_are_paired() {
        let partners =
            order_keeping_partners(
                3,
                &[0, 1, 0, 1],
                |class| if class == 0 { 0..2 } else { 0..0 },
            );
        assert_eq!(partners, [Some(0), Some(2), None]);
        assert_eq!(order_keeping_partners(1, &[0, 0, 0], |_| 0..1), [Some(0)]);
        assert_eq!(order_keeping_partners(0, &[], |_| 0..0), []);
    }

    fn by_table(n: usize, m: usize, matches: impl Fn(usize, usize) -> bool) -> usize {
        let mut row = vec![0; n + 1];
        for j in 0..m {
            let mut diagonal = 0;
            for i in 0..n {
                let above = row[i + 1];
                row[i + 1] = if matches(i, j) {
                    diagonal + 1
                } else {
                    above.max(row[i])
                };
                diagonal = above;
            }
        }
        row[n]
    }

    proptest! {
        #[test]
        fn the_length_is_that_of_the_table(
            a in prop::collection::vec(0_u8..4, 0..150),
            b in prop::collection::vec(0_u8..4, 0..150),
        ) {
            prop_assert_eq!(lcs_length(&a, &b), by_table(a.len(), b.len(), |i, j| a[i] == b[j]));
        }

        #[test]
        fn any_relation_will_do(
            relation in prop::collection::vec(prop::bool::weighted(0.2), 8 * 100),
            recorded in prop::collection::vec(0_usize..8, 0..100),
            n in 0_usize..100,
        ) {
            let holds = |class: usize, position: usize| relation[class * 100 + position];
            let length = longest_order_keeping_match(n, &recorded, |class| {
                (0..n).filter(move |&position| holds(class, position)).collect::<Vec<_>>()
            });
            let mut expected = vec![0; n + 1];
            for &class in &recorded {
                for i in (0..n).rev() {
                    let taken = if holds(class, i) { expected[i] + 1 } else { 0 };
                    expected[i + 1] = expected[i + 1].max(taken);
                }
                for i in 0..n {
                    expected[i + 1] = expected[i + 1].max(expected[i]);
                }
            }
            prop_assert_eq!(length, expected[n]);
            let partners = order_keeping_partners(n, &recorded, |class| {
                (0..n).filter(move |&position| holds(class, position)).collect::<Vec<_>>()
            });
            prop_assert_eq!(partners.iter().flatten().count(), length);
            let items: Vec<usize> = partners.iter().flatten().copied().collect();
            prop_assert!(items.windows(2).all(|pair| pair[0] < pair[1]));
            for (position, item) in partners.iter().enumerate() {
                prop_assert!(item.is_none_or(|item| holds(recorded[item], position)));
            }
        }
    }
}
