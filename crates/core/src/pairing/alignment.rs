//! How are the expected calls turned into the recorded ones with the fewest changes?

use std::ops::Range;

/// One step of an alignment, with indices into the expected and the recorded sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlignmentStep {
    /// The two match.
    Match(usize, usize),
    /// The second item replaces the first.
    Substitute(usize, usize),
    /// The expected item has no counterpart.
    Missing(usize),
    /// The recorded item has no counterpart.
    Extra(usize),
}

/// A minimum edit alignment, or an affordable part of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Alignment {
    /// The steps in order; around `unaligned`, if it is present.
    pub steps: Vec<AlignmentStep>,
    /// The expected and recorded ranges that are too long and too different to align.
    pub unaligned: Option<(Range<usize>, Range<usize>)>,
}

impl Alignment {
    /// The number of steps that are not matches: the edit distance, unless a part is unaligned.
    pub fn distance(&self) -> Option<usize> {
        let edits = self
            .steps
            .iter()
            .filter(|step| !matches!(step, AlignmentStep::Match(..)))
            .count();
        self.unaligned.is_none().then_some(edits)
    }
}

/// The most cells of the table that are filled in before giving up; memory is one byte for each.
const CELLS: usize = 4_000_000;

/// The alignment of least unit cost, traced back from the end, preferring match, substitute,
/// missing, extra.
///
/// Common ends are paired first. The table is filled in a band around the diagonal (Ukkonen,
/// <https://doi.org/10.1016/S0019-9958(85)80046-2>) that grows until it holds every optimal path,
/// so the result equals that of the whole table. If that is too expensive, the common beginning is
/// matched first; if that does not help, the middle stays unaligned.
pub fn align(
    expected: usize,
    recorded: usize,
    matches: impl Fn(usize, usize) -> bool,
) -> Alignment {
    align_by(expected, recorded, |expected, recorded| {
        u32::from(!matches(expected, recorded))
    })
}

/// Aligns with a separate price for each substitution. 0 is a match.
pub(crate) fn align_by(
    expected: usize,
    recorded: usize,
    price: impl Fn(usize, usize) -> u32,
) -> Alignment {
    let matches = |expected: usize, recorded: usize| price(expected, recorded) == 0;
    let shorter = expected.min(recorded);
    let suffix = (0..shorter)
        .take_while(|back| matches(expected - 1 - back, recorded - 1 - back))
        .count();
    let (expected_end, recorded_end) = (expected - suffix, recorded - suffix);
    let end =
        (0..suffix).map(|step| AlignmentStep::Match(expected_end + step, recorded_end + step));
    if let Some(mut steps) = align_in_bands(0, expected_end, recorded_end, &price) {
        steps.extend(end);
        return Alignment {
            steps,
            unaligned: None,
        };
    }
    let prefix = (0..shorter - suffix)
        .take_while(|&index| matches(index, index))
        .count();
    let mut steps: Vec<AlignmentStep> = (0..prefix)
        .map(|index| AlignmentStep::Match(index, index))
        .collect();
    let middle = if prefix > 0 {
        align_in_bands(prefix, expected_end, recorded_end, &price)
    } else {
        None
    };
    let unaligned = middle
        .is_none()
        .then_some((prefix..expected_end, prefix..recorded_end));
    steps.extend(middle.into_iter().flatten());
    steps.extend(end);
    Alignment { steps, unaligned }
}

/// Aligns both sequences from `start` on; `None` if no affordable band holds an optimal path.
fn align_in_bands(
    start: usize,
    expected_end: usize,
    recorded_end: usize,
    price: &impl Fn(usize, usize) -> u32,
) -> Option<Vec<AlignmentStep>> {
    let (rows, columns) = (expected_end - start, recorded_end - start);
    let mut reach = rows.abs_diff(columns).max(8);
    let mut budget = CELLS;
    loop {
        let band = Band::new(rows, columns, reach);
        budget = budget.checked_sub(band.cells())?;
        if let Some(steps) = band.align(reach, start, price) {
            return Some(steps);
        }
        reach *= 2;
    }
}

/// The part of the table that paths of a bounded cost can touch.
struct Band {
    rows: usize,
    columns: usize,
    /// The distance of the band below the diagonal (expected ahead).
    below: usize,
    /// The distance of the band above the diagonal (recorded ahead).
    above: usize,
}

const FAR: u32 = u32::MAX / 2;
const MATCH: u8 = 0;
const SUBSTITUTE: u8 = 1;
const MISSING: u8 = 2;
const EXTRA: u8 = 3;

impl Band {
    fn new(rows: usize, columns: usize, reach: usize) -> Self {
        let slack = (reach - rows.abs_diff(columns)) / 2;
        let below = (rows.saturating_sub(columns) + slack).min(rows);
        let above = (columns.saturating_sub(rows) + slack).min(columns);
        Self {
            rows,
            columns,
            below,
            above,
        }
    }

    fn width(&self) -> usize {
        self.below + self.above + 1
    }

    fn cells(&self) -> usize {
        (self.rows + 1).saturating_mul(self.width())
    }

    /// The columns of a row within the band, and the position of the first in the band.
    fn columns_of(&self, row: usize) -> (Range<usize>, usize) {
        let first = row.saturating_sub(self.below);
        (
            first..(row + self.above + 1).min(self.columns + 1),
            first + self.below - row,
        )
    }

    fn align(
        &self,
        reach: usize,
        start: usize,
        price: &impl Fn(usize, usize) -> u32,
    ) -> Option<Vec<AlignmentStep>> {
        let width = self.width();
        let mut choices = vec![MATCH; self.cells()];
        // Slot s of a row holds column row + s - below: the cell above is one slot on, the diagonal one the same.
        let mut previous = vec![FAR; width + 1];
        let mut current = vec![FAR; width + 1];
        for row in 0..=self.rows {
            current.fill(FAR);
            let (columns, first_slot) = self.columns_of(row);
            for (slot, column) in (first_slot..).zip(columns) {
                let missing = if row > 0 { previous[slot + 1] + 1 } else { FAR };
                let extra = if slot > 0 { current[slot - 1] + 1 } else { FAR };
                let (cost, choice) = if row > 0 && column > 0 {
                    let price = price(start + row - 1, start + column - 1);
                    choose(
                        previous[slot] + price,
                        if price == 0 { MATCH } else { SUBSTITUTE },
                        missing,
                        extra,
                    )
                } else if row + column == 0 {
                    (0, MATCH)
                } else {
                    choose(FAR, SUBSTITUTE, missing, extra)
                };
                current[slot] = cost;
                choices[row * width + slot] = choice;
            }
            std::mem::swap(&mut previous, &mut current);
        }
        let distance = previous[self.columns + self.below - self.rows] as usize;
        let is_whole = self.below == self.rows && self.above == self.columns;
        (distance <= reach || is_whole).then(|| self.trace_back(&choices, start))
    }

    fn trace_back(&self, choices: &[u8], start: usize) -> Vec<AlignmentStep> {
        let (mut row, mut column) = (self.rows, self.columns);
        let mut steps = Vec::with_capacity(row.max(column));
        while row + column > 0 {
            let choice = choices[row * self.width() + column + self.below - row];
            row -= usize::from(choice != EXTRA);
            column -= usize::from(choice != MISSING);
            steps.push(match choice {
                MATCH => AlignmentStep::Match(start + row, start + column),
                SUBSTITUTE => AlignmentStep::Substitute(start + row, start + column),
                MISSING => AlignmentStep::Missing(start + row),
                _ => AlignmentStep::Extra(start + column),
            });
        }
        steps.reverse();
        steps
    }
}

/// The least cost and, of the steps that reach it, the preferred one.
fn choose(diagonal: u32, diagonal_choice: u8, missing: u32, extra: u32) -> (u32, u8) {
    let least = diagonal.min(missing).min(extra);
    let choice = if least == diagonal {
        diagonal_choice
    } else if least == missing {
        MISSING
    } else {
        EXTRA
    };
    (least, choice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use AlignmentStep::{Extra, Match, Missing, Substitute};
    use proptest::prelude::*;

    fn align_texts(expected: &str, recorded: &str) -> Vec<AlignmentStep> {
        let (expected, recorded) = (expected.as_bytes(), recorded.as_bytes());
        let alignment = align(expected.len(), recorded.len(), |i, j| {
            expected[i] == recorded[j]
        });
        assert_eq!(alignment.unaligned, None);
        alignment.steps
    }

    #[test]
    fn the_fewest_changes_are_found() {
        assert_eq!(
            align_texts("abc", "ac"),
            [Match(0, 0), Missing(1), Match(2, 1)]
        );
        assert_eq!(
            align_texts("ab", "ba"),
            [Substitute(0, 0), Substitute(1, 1)]
        );
        assert_eq!(align_texts("a", "xay"), [Extra(0), Match(0, 1), Extra(2)]);
        assert_eq!(align_texts("", ""), []);
        assert_eq!(align_texts("", "x"), [Extra(0)]);
    }

    #[test]
    fn of_equal_choices_the_preferred_one_is_taken_from_the_end() {
        assert_eq!(
            align_texts("aab", "ac"),
            [Missing(0), Match(1, 0), Substitute(2, 1)]
        );
        assert_eq!(align_texts("aa", "a"), [Missing(0), Match(1, 0)]);
    }

    #[test]
    fn one_change_in_a_long_run_is_found_wherever_it_stands() {
        let n = 50_000;
        for place in [0, 1, n / 2, n - 1] {
            let missing = align(n, n - 1, |i, j| i == j + usize::from(j >= place));
            assert_eq!(missing.distance(), Some(1), "{place}");
            assert!(missing.steps.contains(&Missing(place)));
        }
    }

    #[test]
    fn what_is_too_different_to_align_is_said_to_be() {
        let n = 50_000;
        let alignment = align(n, n, |i, j| i == j && (i < 10 || i >= n - 5));
        assert_eq!(alignment.unaligned, Some((10..n - 5, 10..n - 5)));
        assert_eq!(alignment.distance(), None);
        assert_eq!(alignment.steps.len(), 15);
    }

    /// The plain table, traced back in the order of preference.
    fn align_plainly(
        n: usize,
        m: usize,
        matches: impl Fn(usize, usize) -> bool,
    ) -> Vec<AlignmentStep> {
        let mut table = vec![vec![0; m + 1]; n + 1];
        for i in 0..=n {
            for j in 0..=m {
                table[i][j] = match (i, j) {
                    (0, _) => j,
                    (_, 0) => i,
                    _ => (table[i - 1][j - 1] + usize::from(!matches(i - 1, j - 1)))
                        .min(table[i - 1][j] + 1)
                        .min(table[i][j - 1] + 1),
                };
            }
        }
        let (mut i, mut j, mut steps) = (n, m, Vec::new());
        while i + j > 0 {
            let diagonal = i > 0 && j > 0;
            if diagonal && matches(i - 1, j - 1) && table[i][j] == table[i - 1][j - 1] {
                (i, j) = (i - 1, j - 1);
                steps.push(Match(i, j));
            } else if diagonal && table[i][j] == table[i - 1][j - 1] + 1 {
                (i, j) = (i - 1, j - 1);
                steps.push(Substitute(i, j));
            } else if i > 0 && table[i][j] == table[i - 1][j] + 1 {
                i -= 1;
                steps.push(Missing(i));
            } else {
                j -= 1;
                steps.push(Extra(j));
            }
        }
        steps.reverse();
        steps
    }

    proptest! {
        #[test]
        fn the_choice_is_that_of_the_whole_table(
            relation in prop::collection::vec(prop::bool::weighted(0.3), 30 * 30),
            n in 0_usize..30,
            m in 0_usize..30,
        ) {
            let matches = |i: usize, j: usize| relation[i * 30 + j];
            prop_assert_eq!(align(n, m, matches).steps, align_plainly(n, m, matches));
        }

        #[test]
        fn the_choice_is_that_of_the_whole_table_for_similar_runs(
            expected in "[ab]{0,40}", cut in 0_usize..40, extra in "[abc]{0,3}",
        ) {
            let (from, to) = (cut.min(expected.len()), (cut + 2).min(expected.len()));
            let recorded = [&expected[..from], &extra, &expected[to..]].concat();
            let matches = |i: usize, j: usize| expected.as_bytes()[i] == recorded.as_bytes()[j];
            prop_assert_eq!(
                align(expected.len(), recorded.len(), matches).steps,
                align_plainly(expected.len(), recorded.len(), matches)
            );
        }
    }
}
