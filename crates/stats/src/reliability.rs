//! How far can N runs be trusted, and how many are needed?

use super::Decimal;
use super::plan::first_false;
use serde::Serialize;
use std::cmp::Ordering;
use thiserror::Error;

/// The results of N pass/fail outcomes of one test. All percents are floored whole numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ReliabilitySummary {
    /// The number of runs.
    pub runs: usize,
    /// 100 if at least one run passed, otherwise 0.
    pub pass_at_k: u32,
    /// `(c/n)^n` of all runs, in percent; the last entry of the curve.
    pub passhat_k: u32,
    /// `(c_k/k)^k` over the first k runs, in percent, for k = 1..=n.
    pub decay_curve: Vec<u32>,
    /// The standard deviation of the outcomes over its maximum 0.5, in percent.
    pub variance_amplification: u32,
    /// The share of passes when run i weighs i, in percent: a late failure costs more.
    pub graceful_degradation: u32,
}

/// Why runs cannot be planned.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ReliabilityError {
    /// A half-width that no number of runs reaches.
    #[error("the half-width must be a number of at least 0.00000001, not {0}")]
    HalfWidth(f64),
    /// A confidence without a critical value.
    #[error("the confidence must be 90, 95 or 99 percent, not {0}")]
    Confidence(u32),
    /// The list of runs is empty.
    #[error("no runs: at least one is needed")]
    NoRuns,
}

/// Folds the outcomes of one test, in run order.
pub fn summarize(outcomes: &[bool]) -> ReliabilitySummary {
    let passes = outcomes.iter().filter(|&&passed| passed).count();
    let decay_curve = decay_curve(outcomes);
    ReliabilitySummary {
        runs: outcomes.len(),
        pass_at_k: if passes > 0 { 100 } else { 0 },
        passhat_k: decay_curve.last().copied().unwrap_or(0),
        decay_curve,
        variance_amplification: variance_amplification(passes as u64, outcomes.len() as u64),
        graceful_degradation: graceful_degradation(outcomes),
    }
}

/// `floor(100 * (c_k/k)^k)` for k = 1..=n, with `c_k` the passes among the first k runs.
pub fn decay_curve(outcomes: &[bool]) -> Vec<u32> {
    let mut passes = 0;
    let so_far = outcomes.iter().zip(1..).map(|(&passed, runs)| {
        passes += u64::from(passed);
        power_percent(passes, runs, runs)
    });
    so_far.collect()
}

/// `floor(sqrt(40000 * c * (n - c) / n^2))`: the population standard deviation over 0.5, in percent.
pub fn variance_amplification(passes: u64, runs: u64) -> u32 {
    if runs == 0 {
        return 0;
    }
    let (passes, runs) = (u128::from(passes.min(runs)), u128::from(runs));
    // Beyond 2^56 the product would not fit; so many runs are not recorded, and fewer bits decide as well.
    let excess = (128 - runs.leading_zeros()).saturating_sub(56);
    let (passes, runs) = (passes >> excess, runs >> excess);
    (40_000 * passes * (runs - passes) / (runs * runs)).isqrt() as u32
}

/// `floor(100 * sum of i over the passed runs / (n(n+1)/2))`.
pub fn graceful_degradation(outcomes: &[bool]) -> u32 {
    let runs = outcomes.len() as u128;
    let weight: u128 = outcomes
        .iter()
        .zip(1..)
        .filter(|&(&passed, _)| passed)
        .map(|(_, run)| run)
        .sum();
    (200 * weight).checked_div(runs * (runs + 1)).unwrap_or(0) as u32
}

/// `floor(100 * (passes/runs)^k)` without floats; 0 for no runs.
pub fn power_percent(passes: u64, runs: u64, k: u64) -> u32 {
    if runs == 0 || passes >= runs || k == 0 {
        return if runs == 0 { 0 } else { 100 };
    }
    exact_power_percent(passes, runs, k).unwrap_or_else(|| fixed_power_percent(passes, runs, k))
}

fn exact_power_percent(passes: u64, runs: u64, k: u64) -> Option<u32> {
    let k = u32::try_from(k).ok()?;
    let whole = u128::from(runs).checked_pow(k)?;
    let part = u128::from(passes).checked_pow(k)?.checked_mul(100)?;
    Some((part / whole) as u32)
}

/// The power in binary fractions of 128 bits, rounded down at each step. An exact power that is too
/// large to store is never a whole percent, so only a power within `k * 2^-120` above a whole
/// percent would be rounded too low.
fn fixed_power_percent(passes: u64, runs: u64, mut k: u64) -> u32 {
    let mut base = fraction(passes, runs);
    let mut power = u128::MAX;
    while k > 0 && power > 0 {
        if k & 1 == 1 {
            power = multiply(power, base).0;
        }
        base = multiply(base, base).0;
        k >>= 1;
    }
    multiply(power, 100).0 as u32
}

/// `floor(2^128 * part / whole)` for `part < whole`.
fn fraction(part: u64, whole: u64) -> u128 {
    let whole = u128::from(whole);
    let high = u128::from(part) << 64;
    let low = (high % whole) << 64;
    ((high / whole) << 64) | (low / whole)
}

/// The upper and lower half of a product of 256 bits.
fn multiply(a: u128, b: u128) -> (u128, u128) {
    let split = |x: u128| (x >> 64, x & u128::from(u64::MAX));
    let ((a1, a0), (b1, b0)) = (split(a), split(b));
    let (low1, low0) = split(a0 * b0);
    let (middle1, middle0) = split(a1 * b0 + low1);
    let (upper, middle) = split(a0 * b1 + middle0);
    (a1 * b1 + middle1 + upper, middle << 64 | low0)
}

/// The fewest runs whose worst-case Wald interval is at most `half_width` wide on either side: `ceil((z /
/// half_width)^2 / 4)`, with the half-width read as a decimal.
pub fn recommend_runs(half_width: f64, confidence: u32) -> Result<u64, ReliabilityError> {
    let wrong = || ReliabilityError::HalfWidth(half_width);
    if !half_width.is_finite() {
        return Err(wrong());
    }
    let decimal = Decimal::try_from(half_width.min(2.0)).map_err(|_| wrong())?;
    recommend_runs_exactly(decimal, confidence)
}

/// The number of runs for a half-width given as a decimal.
pub fn recommend_runs_exactly(
    half_width: Decimal,
    confidence: u32,
) -> Result<u64, ReliabilityError> {
    let z = thousandths(confidence)?;
    let float = half_width.as_f64();
    if float < 1e-8 {
        return Err(ReliabilityError::HalfWidth(float));
    }
    if float >= 2.0 {
        return Ok(1);
    }
    let (digits, scale) = half_width.parts();
    // n * (2000 * digits)^2 >= (z * 10^scale)^2, as n * a * a >= b * b; n stays below 2^54 and a below 2^71.
    let a = 2000 * u128::from(digits.unsigned_abs());
    let b = u128::from(z) * 10_u128.pow(scale);
    let suffices =
        |runs: u64| multiply(u128::from(runs) * a, a).cmp(&multiply(b, b)) != Ordering::Less;
    Ok(first_false(1 << 54, |runs| !suffices(runs)))
}

/// The worst-case half-width of the Wald interval after this many runs: `z * sqrt(0.25 / runs)`.
pub fn confidence_band(runs: u64, confidence: u32) -> Result<f64, ReliabilityError> {
    let z = thousandths(confidence)?;
    if runs == 0 {
        return Err(ReliabilityError::NoRuns);
    }
    Ok(f64::from(z) / 1000.0 * (0.25 / runs as f64).sqrt())
}

/// The critical value of a confidence, in thousandths.
fn thousandths(confidence: u32) -> Result<u32, ReliabilityError> {
    match confidence {
        90 => Ok(1645),
        95 => Ok(1960),
        99 => Ok(2576),
        other => Err(ReliabilityError::Confidence(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn percents_are_floored() {
        let summary = summarize(&[true, true, true, false]);
        assert_eq!(summary.decay_curve, [100, 100, 100, 31]);
        assert_eq!((summary.pass_at_k, summary.passhat_k), (100, 31));
        assert_eq!(
            (summary.variance_amplification, summary.graceful_degradation),
            (86, 60)
        );
    }

    #[test]
    fn no_runs_are_worth_nothing() {
        assert_eq!(summarize(&[]), ReliabilitySummary::default());
    }

    #[test]
    fn whole_results_are_not_missed_by_rounding() {
        assert_eq!(variance_amplification(3, 30), 60);
        assert_eq!(variance_amplification(1, 50), 28);
        assert_eq!(power_percent(1, 2, 2), 25);
        assert_eq!(power_percent(7, 10, 2), 49);
    }

    #[test]
    fn a_long_curve_nears_the_limit_one_over_e() {
        let mut outcomes = vec![true; 5000];
        outcomes[0] = false;
        let curve = decay_curve(&outcomes);
        assert_eq!(curve[..5], [0, 25, 29, 31, 32]);
        assert_eq!(curve[4999], 36);
        assert_eq!(decay_curve(&vec![false; 3000]), vec![0; 3000]);
        assert_eq!(power_percent(999_999, 1_000_000, 1_000_000), 36);
        assert_eq!(power_percent(u64::MAX - 1, u64::MAX, u64::MAX), 36);
    }

    #[test]
    fn the_half_width_is_the_decimal_that_was_written() {
        for (half_width, runs) in [
            (0.05, 385),
            (0.01, 9604),
            (0.098, 100),
            (0.98, 1),
            (0.1, 97),
            (3.0, 1),
        ] {
            assert_eq!(recommend_runs(half_width, 95), Ok(runs), "{half_width}");
        }
        assert_eq!(recommend_runs(1e-8, 99), Ok(16_589_440_000_000_000));
        assert_eq!(recommend_runs(0.1 + 0.2, 95), Ok(11));
    }

    #[test]
    fn what_cannot_be_planned_is_refused() {
        for half_width in [0.0, -0.1, f64::NAN, f64::INFINITY, 1e-9] {
            assert!(recommend_runs(half_width, 95).is_err(), "{half_width}");
        }
        assert_eq!(
            recommend_runs(0.05, 80),
            Err(ReliabilityError::Confidence(80))
        );
        assert_eq!(confidence_band(0, 95), Err(ReliabilityError::NoRuns));
        assert_eq!(
            confidence_band(9, 42),
            Err(ReliabilityError::Confidence(42))
        );
    }

    #[test]
    fn the_products_of_256_bits_are_whole() {
        assert_eq!(multiply(u128::MAX, u128::MAX), (u128::MAX - 1, 1));
        assert_eq!(multiply(1 << 127, 6), (3, 0));
        assert_eq!(fraction(1, 3), u128::MAX / 3);
    }

    proptest! {
        #[test]
        fn the_power_in_fractions_is_the_exact_one(runs in 1_u64..400, share in 0_u64..400, k in 1_u64..15) {
            let passes = share.min(runs - 1);
            let exact = exact_power_percent(passes, runs, k).unwrap();
            let fixed = fixed_power_percent(passes, runs, k);
            let is_whole = 100 * u128::from(passes).pow(k as u32) % u128::from(runs).pow(k as u32) == 0;
            prop_assert!(fixed == exact || is_whole && fixed + 1 == exact);
        }

        #[test]
        fn recommended_runs_reach_the_half_width_and_fewer_do_not(width in 1_u32..20_000) {
            let half_width = f64::from(width) / 20_000.0;
            let runs = recommend_runs(half_width, 95).unwrap();
            prop_assert!(confidence_band(runs, 95).unwrap() <= half_width * (1.0 + 1e-12));
            prop_assert!(runs == 1 || confidence_band(runs - 1, 95).unwrap() > half_width * (1.0 - 1e-12));
        }
    }
}
