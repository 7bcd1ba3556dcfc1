//! Has a number shifted between two sets of runs, or is it chance?

use super::{Result, StatsError};
use std::collections::BTreeMap;

/// The values of one test's runs, before and after.
#[derive(Debug, Clone, Copy)]
pub struct Stratum<'v> {
    /// The values before.
    pub before: &'v [f64],
    /// The values after.
    pub after: &'v [f64],
}

/// A stratified permutation test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// The mean increase of the tests' means.
    pub difference: f64,
    /// The share of rearrangements whose difference is at least as far from 0.
    pub p: f64,
    /// The mid-p value, which counts rearrangements with an equal shift half and is less
    /// conservative. With one run on each side of every test and outcomes of 0 and 1, it is the
    /// mid-p of the `McNemar` test.
    pub mid_p: f64,
    /// The smallest `p` that any arrangement of these values could give.
    pub least_p: f64,
    /// True if every rearrangement was counted, false if a fixed sample was drawn.
    pub is_exact: bool,
}

/// The unit of sums, so that equal ones compare as equal.
const UNIT: f64 = 1e-9;
/// The most different sums that are kept apart.
const MOST_SUMS: usize = 1 << 12;
/// The number of rearrangements to draw if there are too many sums.
pub const DRAWS: u64 = 19_999;

/// The permutation test of a shift, stratified by test: within each test, every assignment of its
/// values to before and after is equally likely if nothing has changed. With one run on each side
/// of every test it is the sign-flip test of the pairs; with one test it is the two-sample
/// permutation test.
pub fn shift(strata: &[Stratum<'_>]) -> Result<Shift> {
    let is_filled =
        |stratum: &&Stratum<'_>| !stratum.before.is_empty() && !stratum.after.is_empty();
    let strata: Vec<Stratum<'_>> = strata.iter().filter(is_filled).copied().collect();
    if strata.is_empty() {
        return Err(StatsError::NoRuns);
    }
    let observed: i128 = strata
        .iter()
        .map(|stratum| units(stratum.difference()))
        .sum();
    let observed = ObservedShift {
        sum: observed,
        difference: strata.iter().map(Stratum::difference).sum::<f64>() / strata.len() as f64,
        // Rounding of each test's part must not tell equal sums apart.
        slack: strata.len() as i128 * 4,
    };
    if let Some(sums) = exact(&strata) {
        return Ok(observed.among_all(&sums));
    }
    let drawn: Vec<i128> = drawn(&strata).map(units).collect();
    Ok(observed.among_drawn(&drawn))
}

fn units(value: f64) -> i128 {
    (value / UNIT).round() as i128
}

/// The observed difference, to be compared with its rearrangements.
struct ObservedShift {
    /// The sum of the tests' differences, in units.
    sum: i128,
    difference: f64,
    /// Sums that differ by no more are equal.
    slack: i128,
}

impl ObservedShift {
    /// The sums that are at least as far from 0 begin here.
    fn as_far(&self) -> i128 {
        self.sum.abs() - self.slack
    }

    /// The sums that are further from 0 begin here.
    fn further(&self) -> i128 {
        self.sum.abs() + self.slack + 1
    }

    /// Counts every rearrangement.
    fn among_all(&self, sums: &BTreeMap<i128, f64>) -> Shift {
        let far = |least: i128| -> f64 {
            sums.iter()
                .filter(|(sum, _)| sum.abs() >= least)
                .map(|(_, p)| p)
                .sum::<f64>()
                .min(1.0)
        };
        let most = sums.keys().map(|sum| sum.abs()).max().unwrap_or_default();
        let p = far(self.as_far());
        let has_varied = most > self.slack;
        Shift {
            difference: self.difference,
            p,
            mid_p: if has_varied {
                f64::midpoint(p, far(self.further()))
            } else {
                1.0
            },
            least_p: far(most - self.slack),
            is_exact: true,
        }
    }

    /// Counts a fixed sample of the rearrangements.
    fn among_drawn(&self, sums: &[i128]) -> Shift {
        let far = |least: i128| sums.iter().filter(|sum| sum.abs() >= least).count() as f64;
        let of = (DRAWS + 1) as f64;
        let p = (far(self.as_far()) + 1.0) / of;
        Shift {
            difference: self.difference,
            p,
            mid_p: f64::midpoint(p, far(self.further()) / of),
            least_p: 1.0 / of,
            is_exact: false,
        }
    }
}

impl Stratum<'_> {
    fn difference(&self) -> f64 {
        mean(self.after) - mean(self.before)
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        self.before.iter().chain(self.after).copied()
    }

    /// The difference of means if the later values have this sum.
    fn difference_for(&self, after: f64) -> f64 {
        let before = self.values().sum::<f64>() - after;
        after / self.after.len() as f64 - before / self.before.len() as f64
    }

    /// The probability of each difference, in units. `None` if there are too many.
    fn differences(&self) -> Option<BTreeMap<i128, f64>> {
        // By how many values were taken for after: how many ways lead to each sum of them.
        let wanted = self.after.len();
        let mut ways: Vec<BTreeMap<i128, f64>> = vec![BTreeMap::new(); wanted + 1];
        ways[0].insert(0, 1.0);
        for value in self.values().map(|value| (value / UNIT).round() as i128) {
            for taken in (0..wanted).rev() {
                let next: Vec<(i128, f64)> = ways[taken]
                    .iter()
                    .map(|(sum, ways)| (sum + value, *ways))
                    .collect();
                for (sum, count) in next {
                    *ways[taken + 1].entry(sum).or_default() += count;
                }
            }
            if ways.iter().map(BTreeMap::len).sum::<usize>() > MOST_SUMS {
                return None;
            }
        }
        let sums = ways.pop()?;
        let all: f64 = sums.values().sum();
        let mut differences = BTreeMap::new();
        for (sum, count) in sums {
            let difference = (self.difference_for(sum as f64 * UNIT) / UNIT).round() as i128;
            *differences.entry(difference).or_default() += count / all;
        }
        all.is_finite().then_some(differences)
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The probability of each sum of the differences.
fn exact(strata: &[Stratum<'_>]) -> Option<BTreeMap<i128, f64>> {
    let mut sums = BTreeMap::from([(0, 1.0)]);
    for stratum in strata {
        let of_stratum = stratum.differences()?;
        if sums.len().checked_mul(of_stratum.len())? > MOST_SUMS * 16 {
            return None;
        }
        let mut next = BTreeMap::new();
        for (sum, p) in &sums {
            for (difference, q) in &of_stratum {
                *next.entry(sum + difference).or_default() += p * q;
            }
        }
        if next.len() > MOST_SUMS {
            return None;
        }
        sums = next;
    }
    Some(sums)
}

/// The sums of a fixed sample of rearrangements.
fn drawn<'s>(strata: &'s [Stratum<'s>]) -> impl Iterator<Item = f64> + 's {
    let mut values: Vec<Vec<f64>> = strata
        .iter()
        .map(|stratum| stratum.values().collect())
        .collect();
    let mut state = 0x6d63_7074_6573_7431_u64;
    (0..DRAWS).map(move |_| {
        let each = strata.iter().zip(&mut values).map(|(stratum, values)| {
            for taken in 0..stratum.after.len() {
                let left = (values.len() - taken) as u64;
                values.swap(taken, taken + (next(&mut state) % left) as usize);
            }
            stratum.difference_for(values[..stratum.after.len()].iter().sum())
        });
        each.sum()
    })
}

/// `SplitMix64`: equal numbers on every machine.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::super::{assert_close, mcnemar, sign_flip};
    use super::*;

    fn of(strata: &[(&[f64], &[f64])]) -> Shift {
        let strata: Vec<_> = strata
            .iter()
            .map(|(before, after)| Stratum { before, after })
            .collect();
        shift(&strata).unwrap()
    }

    #[test]
    fn one_run_a_side_is_the_sign_flip_test_of_the_pairs() {
        let texts = ["0.1", "0.2", "0.05", "0.3", "-0.02", "0.15"];
        let differences: Vec<f64> = texts.iter().map(|text| text.parse().unwrap()).collect();
        let pairs: Vec<([f64; 1], [f64; 1])> =
            differences.iter().map(|after| ([0.0], [*after])).collect();
        let strata: Vec<_> = pairs
            .iter()
            .map(|(a, b)| Stratum {
                before: a,
                after: b,
            })
            .collect();
        let flips: Vec<_> = texts.iter().map(|text| text.parse().unwrap()).collect();
        assert_close(shift(&strata).unwrap().p, sign_flip(&flips).unwrap().p);
        assert_close(shift(&strata).unwrap().least_p, 2.0 / 64.0);
    }

    #[test]
    fn one_test_is_the_two_sample_permutation_test() {
        let apart = of(&[(&[0.0; 4], &[1.0; 4])]);
        assert_close(apart.p, 2.0 / 70.0);
        assert_close(apart.difference, 1.0);
        let mixed = of(&[(&[0.1, 0.5, 0.3], &[0.2, 0.4, 0.6])]);
        // |sum - 1.05| of three of the six is at least 0.15 for all but four of the twenty choices.
        assert!(mixed.is_exact && mixed.p > 0.3, "{mixed:?}");
    }

    #[test]
    fn one_outcome_a_side_has_the_mid_p_of_mcnemar() {
        for (lost, won) in [(0, 0), (3, 3), (1, 8), (5, 0)] {
            let fell: (&[f64], &[f64]) = (&[1.0], &[0.0]);
            let rose: (&[f64], &[f64]) = (&[0.0], &[1.0]);
            let same: (&[f64], &[f64]) = (&[1.0], &[1.0]);
            let tests = [vec![fell; lost], vec![rose; won], vec![same; 2]].concat();
            let expected = mcnemar(lost as u64, won as u64).unwrap();
            assert_close(of(&tests).mid_p, expected.mid_p);
            assert_close(of(&tests).p, expected.exact_p);
        }
    }

    #[test]
    fn what_never_varied_can_show_nothing() {
        assert_close(of(&[(&[1.0; 9], &[1.0; 9])]).least_p, 1.0);
        assert_close(of(&[(&[1.0], &[0.0])]).least_p, 1.0);
        let steady: (&[f64], &[f64]) = (&[2.0; 3], &[2.0; 3]);
        assert_close(of(&[steady, (&[0.0; 5], &[3.0; 5])]).p, 2.0 / 252.0);
        assert!(shift(&[]).is_err());
    }

    #[test]
    fn too_many_sums_are_sampled_the_same_way_each_time() {
        let value = |at: u32| f64::from(at).sqrt();
        let before: Vec<f64> = (0..30).map(value).collect();
        let after: Vec<f64> = (0..30).map(|at| value(at) + 4.0).collect();
        let found = of(&[(&before, &after)]);
        assert!(!found.is_exact && found.p < 0.001, "{found:?}");
        assert_eq!(found, of(&[(&before, &after)]));
        let same = of(&[(&before, &before)]);
        assert!(same.p > 0.9, "{same:?}");
    }
}
