//! Which pass rate can be promised, and how many runs does a promise take?

use super::interval::exact_lower;
use super::plan::first_false;
use super::special::binomial_at_least;
use super::{ROUNDING, Result, StatsError, check_inside, check_sample};

/// The one-sided exact lower bound: the root p of `P(X >= c | n, p) = 1 - confidence`
/// (Clopper and Pearson, <https://doi.org/10.1093/biomet/26.4.404>).
pub fn certified_lower(passes: u64, runs: u64, confidence: f64) -> Result<f64> {
    check_sample(passes, runs, confidence)?;
    Ok(exact_lower(passes, runs, 1.0 - confidence))
}

/// The best floor that this many runs can certify, if all pass: `(1 - confidence)^(1/n)`.
pub fn max_certifiable_floor(runs: u64, confidence: f64) -> Result<f64> {
    certified_lower(runs, runs, confidence)
}

/// The fewest runs that certify `floor` if `failures` of them fail.
pub fn min_runs_for_floor(floor: f64, failures: u64, confidence: f64) -> Result<u64> {
    check_inside("floor", floor)?;
    check_inside("confidence", confidence)?;
    let allowed = (1.0 - confidence) * (1.0 + ROUNDING);
    let certifies = |runs: u64| binomial_at_least(runs - failures, runs, floor) <= allowed;
    let mut too_few = failures;
    let mut enough = failures.checked_add(1).ok_or(StatsError::TooLarge)?;
    while !certifies(enough) {
        too_few = enough;
        enough = enough
            .checked_mul(2)
            .filter(|&runs| runs <= 1 << 50)
            .ok_or(StatsError::TooLarge)?;
    }
    Ok(too_few + first_false(enough - too_few, |more| !certifies(too_few + more)))
}

/// A fraction in whole percent, floored, with an exact tie kept.
pub fn percent_of(fraction: f64) -> u32 {
    (100.0 * fraction + 100.0 * ROUNDING)
        .floor()
        .clamp(0.0, 100.0) as u32
}

#[cfg(test)]
mod tests {
    use super::super::{CONFIDENCE, assert_close};
    use super::*;

    #[test]
    fn one_perfect_run_certifies_five_percent() {
        let lower = certified_lower(1, 1, CONFIDENCE).unwrap();
        assert_close(lower, 0.05);
        assert_eq!(percent_of(lower), 5);
    }

    #[test]
    fn a_floor_needs_more_runs_the_higher_it_is() {
        for (floor, runs) in [
            (0.8, 14),
            (0.9, 29),
            (0.95, 59),
            (0.99, 299),
            (0.999_999, 2_995_731),
        ] {
            assert_eq!(
                min_runs_for_floor(floor, 0, CONFIDENCE),
                Ok(runs),
                "{floor}"
            );
            assert!(max_certifiable_floor(runs, CONFIDENCE).unwrap() >= floor);
            assert!(max_certifiable_floor(runs - 1, CONFIDENCE).unwrap() < floor);
        }
        assert_eq!(min_runs_for_floor(0.05, 0, CONFIDENCE), Ok(1));
        assert_eq!(min_runs_for_floor(0.9, 2, CONFIDENCE), Ok(61));
    }

    #[test]
    fn an_exact_tie_is_a_whole_percent() {
        assert_eq!(percent_of(0.57), 57);
        assert_eq!(percent_of(0.29), 29);
        assert_eq!(percent_of(certified_lower(2, 2, 0.91).unwrap()), 30);
        assert_eq!(percent_of(1.0), 100);
    }

    #[test]
    fn a_floor_that_nothing_reaches_is_refused() {
        for floor in [0.0, 1.0, 1.5, -0.5, f64::NAN] {
            assert!(min_runs_for_floor(floor, 0, CONFIDENCE).is_err(), "{floor}");
        }
        assert_eq!(
            min_runs_for_floor(1.0 - 1e-16, 0, CONFIDENCE),
            Err(StatsError::TooLarge)
        );
        assert!(certified_lower(0, 0, CONFIDENCE).is_err());
    }
}
