//! Do two versions differ, or is it chance?

use super::special::{binomial_at_most, binomial_point};
use super::{Decimal, Result, StatsError};

/// The `McNemar` test on the pairs that disagree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct McNemar {
    /// The exact two-sided p-value.
    pub exact_p: f64,
    /// The mid-p value, which is less conservative.
    pub mid_p: f64,
}

/// The exact `McNemar` test of `b` pairs that only the first passed against `c` that only the
/// second passed: `2 P(X <= min(b, c))` for X binomial with 1/2; mid-p subtracts `P(X = min)`
/// (<https://doi.org/10.1186/1471-2288-13-91>).
pub fn mcnemar(b: u64, c: u64) -> Result<McNemar> {
    let pairs = b.checked_add(c).ok_or(StatsError::TooLarge)?;
    if pairs == 0 {
        return Ok(McNemar {
            exact_p: 1.0,
            mid_p: 1.0,
        });
    }
    let fewer = b.min(c);
    let point = binomial_point(fewer as f64, pairs as f64, 0.5);
    if b == c {
        return Ok(McNemar {
            exact_p: 1.0,
            mid_p: 1.0 - point / 2.0,
        });
    }
    let exact_p = (2.0 * binomial_at_most(fewer, pairs, 0.5)).min(1.0);
    Ok(McNemar {
        exact_p,
        mid_p: (exact_p - point).max(0.0),
    })
}

/// A sign-flip test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignFlip {
    /// The share of sign patterns whose sum is at least as far from 0 as the observed one.
    pub p: f64,
    /// The number of patterns that were tried: all of them.
    pub enumerated: u64,
}

/// The exact paired permutation test: all `2^n` signs of the differences, by the size of their sum (Fisher 1935);
/// at most 20 differences.
pub fn sign_flip(differences: &[Decimal]) -> Result<SignFlip> {
    const MOST: usize = 20;
    if differences.len() > MOST {
        return Err(StatsError::TooManyPairs {
            pairs: differences.len(),
            most: MOST,
        });
    }
    let units = in_one_unit(differences).ok_or(StatsError::TooLarge)?;
    let observed = units.iter().sum::<i128>().abs();
    let enumerated = 1_u64 << units.len();
    let mut sum: i128 = units.iter().sum();
    let mut as_far = u64::from(sum.abs() >= observed);
    // In Gray code order each pattern differs from the one before in one sign.
    for pattern in 1..enumerated {
        let flipped = pattern.trailing_zeros();
        let is_negative = (pattern ^ pattern >> 1) >> flipped & 1 == 1;
        let change = 2 * units[flipped as usize];
        sum += if is_negative { -change } else { change };
        as_far += u64::from(sum.abs() >= observed);
    }
    Ok(SignFlip {
        p: as_far as f64 / enumerated as f64,
        enumerated,
    })
}

/// The decimals as whole multiples of their smallest unit.
fn in_one_unit(decimals: &[Decimal]) -> Option<Vec<i128>> {
    const ROOM: i128 = i128::MAX / 64;
    let finest = decimals
        .iter()
        .map(|decimal| decimal.parts().1)
        .max()
        .unwrap_or(0);
    let scaled = decimals.iter().map(|decimal| {
        let (digits, scale) = decimal.parts();
        if digits == 0 {
            return Some(0);
        }
        let units = i128::from(digits).checked_mul(10_i128.checked_pow(finest - scale)?)?;
        (units.abs() < ROOM).then_some(units)
    });
    scaled.collect()
}

/// Fisher's exact test on a table of counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fisher {
    /// The probability of tables that are no more likely than this one.
    pub p_two_sided: f64,
    /// The mid-p value, which counts equally likely tables half and is less conservative.
    pub mid_p: f64,
    /// The probability of a first cell this small or smaller.
    pub p_less: f64,
}

/// Fisher's exact test on the table `[[a, b], [c, d]]`, two-sided by point probability
/// (<https://doi.org/10.2307/2340521>).
pub fn fisher_exact(a: u64, b: u64, c: u64, d: u64) -> Result<Fisher> {
    /// Tables this close in probability are equally likely.
    const TIE: f64 = 1.0 + 1e-9;
    const LARGEST: u64 = 1 << 28;
    if [a, b, c, d].iter().any(|&cell| cell > LARGEST) {
        return Err(StatsError::TooLarge);
    }
    let (first, weights) = hypergeometric(a + b, a + c, a + b + c + d);
    let observed = weights[(a - first) as usize];
    let total: f64 = weights.iter().sum();
    let no_more_likely: f64 = weights
        .iter()
        .filter(|&&weight| weight <= observed * TIE)
        .sum();
    let less_likely: f64 = weights
        .iter()
        .filter(|&&weight| weight * TIE < observed)
        .sum();
    let up_to: f64 = weights.iter().take((a - first) as usize + 1).sum();
    Ok(Fisher {
        p_two_sided: (no_more_likely / total).min(1.0),
        mid_p: f64::midpoint(no_more_likely, less_likely) / total,
        p_less: (up_to / total).min(1.0),
    })
}

/// The distribution of the first cell for fixed sums of its row, its column and all cells: its smallest value, and
/// the probabilities from there on, relative to the likeliest.
fn hypergeometric(row: u64, column: u64, total: u64) -> (u64, Vec<f64>) {
    // How much likelier a cell is than the one before it.
    let step_to = |cell: u64| {
        let above = (row + 1 - cell) as f64 * (column + 1 - cell) as f64;
        let below = cell as f64 * (total + cell - row - column) as f64;
        above / below
    };
    let (first, last) = ((row + column).saturating_sub(total), row.min(column));
    let mode = u128::from(row + 1) * u128::from(column + 1) / (u128::from(total) + 2);
    let mode = (mode as u64).clamp(first, last);
    let mut all = vec![1.0; (last - first) as usize + 1];
    for cell in mode + 1..=last {
        all[(cell - first) as usize] = all[(cell - first) as usize - 1] * step_to(cell);
    }
    for cell in (first..mode).rev() {
        all[(cell - first) as usize] = all[(cell - first) as usize + 1] / step_to(cell + 1);
    }
    (first, all)
}

#[cfg(test)]
mod tests {
    use super::super::assert_close;
    use super::*;

    fn flip(differences: &[&str]) -> SignFlip {
        let differences: Vec<Decimal> = differences
            .iter()
            .map(|text| text.parse().unwrap())
            .collect();
        sign_flip(&differences).unwrap()
    }

    #[test]
    fn pairs_that_disagree_evenly_show_nothing() {
        assert_eq!(
            mcnemar(0, 0).unwrap(),
            McNemar {
                exact_p: 1.0,
                mid_p: 1.0
            }
        );
        assert_close(mcnemar(3, 3).unwrap().mid_p, 0.843_75);
        assert_close(mcnemar(1, 8).unwrap().exact_p, 0.039_062_5);
        assert_eq!(mcnemar(8, 1), mcnemar(1, 8));
        assert!(mcnemar(4_990_000, 5_010_000).unwrap().exact_p < 1e-8);
        assert_eq!(mcnemar(u64::MAX, 1), Err(StatsError::TooLarge));
    }

    #[test]
    fn every_sign_is_tried_in_exact_arithmetic() {
        assert_eq!(
            flip(&["0.1", "0.2", "0.05", "0.3", "-0.02", "0.15"]),
            SignFlip {
                p: 0.0625,
                enumerated: 64
            }
        );
        assert_eq!(
            flip(&["0.1", "0.2", "-0.3"]),
            SignFlip {
                p: 1.0,
                enumerated: 8
            }
        );
        assert_eq!(flip(&["0.1", "0.2", "0.3"]).p.to_bits(), 0.25_f64.to_bits());
        assert_eq!(
            flip(&[]),
            SignFlip {
                p: 1.0,
                enumerated: 1
            }
        );
        assert_eq!(flip(&["1"; 20]).enumerated, 1 << 20);
        assert!(sign_flip(&["1".parse().unwrap(); 21]).is_err());
        assert!(sign_flip(&["1e-300".parse().unwrap(), "1".parse().unwrap()]).is_err());
    }

    #[test]
    fn the_tea_tasting_table_has_its_textbook_value() {
        let tea = fisher_exact(3, 1, 1, 3).unwrap();
        assert_close(tea.p_two_sided, 0.485_714_285_714_285_7);
        assert_close(tea.mid_p, (2.0 + 16.0) / 70.0);
        assert_close(tea.p_less, 0.985_714_285_714_285_8);
    }

    #[test]
    fn tables_with_empty_sides_and_huge_ones_are_fine() {
        assert_eq!(
            fisher_exact(0, 0, 0, 0).unwrap(),
            Fisher {
                p_two_sided: 1.0,
                mid_p: 0.5,
                p_less: 1.0
            }
        );
        assert_eq!(
            fisher_exact(5, 0, 7, 0).unwrap(),
            Fisher {
                p_two_sided: 1.0,
                mid_p: 0.5,
                p_less: 1.0
            }
        );
        assert!(
            fisher_exact(1_000_000, 0, 0, 1_000_000)
                .unwrap()
                .p_two_sided
                < 1e-300
        );
        assert_close(
            fisher_exact(500_000, 500_000, 500_000, 500_000)
                .unwrap()
                .p_two_sided,
            1.0,
        );
        assert!(fisher_exact(u64::MAX, 1, 1, 1).is_err());
    }
}
