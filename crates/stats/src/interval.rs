//! Between which bounds does the true pass rate lie?

use super::normal::normal_quantile;
use super::special::beta_quantile;
use super::{Result, check_counts, check_sample};

/// A lower and an upper bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower bound.
    pub lower: f64,
    /// The upper bound.
    pub upper: f64,
}

/// A difference of two rates with its bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateDifference {
    /// The first rate less the second.
    pub difference: f64,
    /// The interval of the true difference.
    pub interval: Interval,
}

/// Wilson's score interval: `(p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n)`
/// (<https://doi.org/10.1080/01621459.1927.10502953>).
pub fn wilson(passes: u64, runs: u64, confidence: f64) -> Result<Interval> {
    check_sample(passes, runs, confidence)?;
    Ok(wilson_of_rate(
        passes as f64 / runs as f64,
        runs as f64,
        confidence,
    ))
}

/// [`wilson`] of a rate that is not a count of runs, such as a mean over tests.
pub(super) fn wilson_of_rate(p: f64, n: f64, confidence: f64) -> Interval {
    let z = normal_quantile(f64::midpoint(1.0, confidence));
    let per_run = z * z / n;
    let centre = p + per_run / 2.0;
    let reach = z * (p * (1.0 - p) / n + per_run / (4.0 * n)).sqrt();
    let bound = |value: f64| (value / (1.0 + per_run)).clamp(0.0, 1.0);
    Interval {
        lower: if p <= 0.0 { 0.0 } else { bound(centre - reach) },
        upper: if p >= 1.0 { 1.0 } else { bound(centre + reach) },
    }
}

/// The exact two-sided interval: quantiles of `Beta(c, n-c+1)` and `Beta(c+1, n-c)`
/// (Clopper and Pearson, <https://doi.org/10.1093/biomet/26.4.404>).
pub fn clopper_pearson(passes: u64, runs: u64, confidence: f64) -> Result<Interval> {
    check_sample(passes, runs, confidence)?;
    let tail = (1.0 - confidence) / 2.0;
    Ok(Interval {
        lower: exact_lower(passes, runs, tail),
        upper: exact_upper(passes, runs, tail),
    })
}

/// The rate at which `passes` or more have this probability; 0 if nothing passed.
pub(super) fn exact_lower(passes: u64, runs: u64, tail: f64) -> f64 {
    if passes == 0 {
        0.0
    } else if passes == runs {
        (tail.ln() / runs as f64).exp()
    } else {
        beta_quantile(tail, passes as f64, (runs - passes) as f64 + 1.0)
    }
}

/// The rate at which `passes` or fewer have this probability; 1 if all passed.
pub(super) fn exact_upper(passes: u64, runs: u64, tail: f64) -> f64 {
    if passes == 0 {
        -(tail.ln() / runs as f64).exp_m1()
    } else {
        1.0 - exact_lower(runs - passes, runs, tail)
    }
}

/// The equal-tailed interval of `Beta(c+1/2, n-c+1/2)`, closed at 0 and 1 if none or all passed
/// (Brown et al., <https://doi.org/10.1214/ss/1009213286>).
pub fn jeffreys(passes: u64, runs: u64, confidence: f64) -> Result<Interval> {
    check_sample(passes, runs, confidence)?;
    let tail = (1.0 - confidence) / 2.0;
    let (a, b) = (passes as f64 + 0.5, (runs - passes) as f64 + 0.5);
    Ok(Interval {
        lower: if passes == 0 {
            0.0
        } else {
            beta_quantile(tail, a, b)
        },
        upper: if passes == runs {
            1.0
        } else {
            1.0 - beta_quantile(tail, b, a)
        },
    })
}

/// The difference between two rates, with Newcombe's hybrid of two Wilson intervals, given as
/// (passes, runs) (method 10,
/// <https://doi.org/10.1002/(SICI)1097-0258(19980430)17:8%3C873::AID-SIM779%3E3.0.CO;2-I>).
pub fn newcombe_difference(
    first: (u64, u64),
    second: (u64, u64),
    confidence: f64,
) -> Result<RateDifference> {
    check_counts(first.0, first.1)?;
    check_sample(second.0, second.1, confidence)?;
    let rate = |(passes, runs): (u64, u64)| (passes as f64 / runs as f64, runs as f64);
    Ok(newcombe_of_rates(rate(first), rate(second), confidence))
}

/// [`newcombe_difference`] of rates that are not counts of runs, each with the number of runs that it rests on.
pub(super) fn newcombe_of_rates(
    (p, n): (f64, f64),
    (q, m): (f64, f64),
    confidence: f64,
) -> RateDifference {
    let (one, two) = (
        wilson_of_rate(p, n, confidence),
        wilson_of_rate(q, m, confidence),
    );
    let difference = p - q;
    let interval = Interval {
        lower: difference - (p - one.lower).hypot(two.upper - q),
        upper: difference + (one.upper - p).hypot(q - two.lower),
    };
    RateDifference {
        difference,
        interval,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CONFIDENCE, assert_close};
    use super::*;
    use crate::StatsError;
    use proptest::prelude::*;

    #[test]
    fn the_bounds_are_closed_when_none_or_all_passed() {
        for method in [wilson, clopper_pearson, jeffreys] {
            assert!(method(0, 10, CONFIDENCE).unwrap().lower <= 0.0);
            assert!(method(10, 10, CONFIDENCE).unwrap().upper >= 1.0);
        }
    }

    #[test]
    fn millions_of_runs_keep_their_digits() {
        let cases = [
            (
                300_000,
                1_000_000,
                0.299_101_911_933_582_15,
                0.299_102_411_504_436_3,
            ),
            (
                999_000,
                1_000_000,
                0.998_936_081_892_684_8,
                0.998_936_597_358_415,
            ),
            (
                3_000_000,
                10_000_000,
                0.299_715_982_165_424_33,
                0.299_716_032_151_884_8,
            ),
        ];
        for (passes, runs, exact, bayesian) in cases {
            let found = clopper_pearson(passes, runs, CONFIDENCE).unwrap();
            assert!((found.lower - exact).abs() < 1e-12, "{found:?}");
            let found = jeffreys(passes, runs, CONFIDENCE).unwrap();
            assert!((found.lower - bayesian).abs() < 1e-12, "{found:?}");
            let mirrored = jeffreys(runs - passes, runs, CONFIDENCE).unwrap();
            assert!(
                (found.lower + mirrored.upper - 1.0).abs() < 1e-12,
                "{mirrored:?}"
            );
        }
        assert_close(
            clopper_pearson(1, 1_000_000, CONFIDENCE).unwrap().upper * 1e6,
            5.571_630_655_172_244,
        );
    }

    #[test]
    fn impossible_counts_are_refused() {
        assert_eq!(wilson(0, 0, CONFIDENCE), Err(StatsError::NoRuns));
        assert_eq!(
            jeffreys(3, 2, CONFIDENCE),
            Err(StatsError::TooManyPasses { passes: 3, runs: 2 })
        );
        assert!(clopper_pearson(1, 2, 1.0).is_err());
        assert!(newcombe_difference((1, 2), (0, 0), CONFIDENCE).is_err());
    }

    proptest! {
        #[test]
        fn the_rate_lies_within_and_more_confidence_is_wider(runs in 1_u64..5000, share in 0.0_f64..1.0) {
            let passes = (runs as f64 * share) as u64;
            let rate = passes as f64 / runs as f64;
            for method in [wilson, clopper_pearson, jeffreys] {
                let (narrow, wide) = (method(passes, runs, 0.9).unwrap(), method(passes, runs, 0.99).unwrap());
                prop_assert!(0.0 <= wide.lower && wide.lower <= narrow.lower && narrow.lower <= rate);
                prop_assert!(rate <= narrow.upper && narrow.upper <= wide.upper && wide.upper <= 1.0);
            }
        }
    }
}
