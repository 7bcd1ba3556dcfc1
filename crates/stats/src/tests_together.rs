//! What do the runs of several tests show together? Runs of one test resemble each other more than
//! runs of two.

use super::interval::{newcombe_of_rates, wilson_of_rate};
use super::normal::normal_quantile;
use super::special::beta_quantile;
use super::{Interval, RateDifference, Result, StatsError, check_counts, check_inside};

/// The passed runs of a test.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// The runs that passed.
    pub passed: u64,
    /// All that were judged.
    pub runs: u64,
}

impl Tally {
    /// The share that passed; none without runs.
    pub fn rate(self) -> Option<f64> {
        (self.runs > 0).then(|| self.passed as f64 / self.runs as f64)
    }

    /// Each run as a number: 1 for a run that passed, 0 for another.
    pub fn outcomes(self) -> Vec<f64> {
        let failed = self.runs.saturating_sub(self.passed);
        std::iter::repeat_n(1.0, self.passed as usize)
            .chain(std::iter::repeat_n(0.0, failed as usize))
            .collect()
    }
}

/// The pass rate over several tests with equal weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanRate {
    /// The mean of the tests' rates.
    pub rate: f64,
    /// The interval of the rate over similar tests.
    pub interval: Interval,
    /// The number of independent runs with the same evidence: at most all of them.
    pub effective_runs: f64,
}

/// The mean of the tests' pass rates. Its interval is Wilson's for the number of independent runs
/// that would vary as much as the tests do: `p(1-p) / (s²/T)`, reduced by Student's t for few tests
/// (Korn and Graubard, "Confidence intervals for proportions with small expected number of positive
/// counts", 1998). If all runs passed or none did, nothing shows how alike the runs of a test are,
/// and each test counts as one run. One test alone has the interval of its runs.
pub fn mean_rate(tests: &[Tally], confidence: f64) -> Result<MeanRate> {
    check_inside("confidence", confidence)?;
    tests
        .iter()
        .try_for_each(|test| check_counts(test.passed, test.runs))?;
    let rates: Vec<f64> = tests.iter().filter_map(|test| test.rate()).collect();
    let count = rates.len() as f64;
    let all: f64 = tests.iter().map(|test| test.runs as f64).sum();
    let rate = match rates.len() {
        0 => return Err(StatsError::NoTasks),
        _ => rates.iter().sum::<f64>() / count,
    };
    let effective_runs = if rates.len() == 1 {
        all
    } else if rate <= 0.0 || rate >= 1.0 {
        count
    } else {
        let variance = rates.iter().map(|one| (one - rate).powi(2)).sum::<f64>() / (count - 1.0);
        let shrunk =
            normal_quantile(f64::midpoint(1.0, confidence)) / student(confidence, count - 1.0);
        (rate * (1.0 - rate) / (variance / count) * shrunk * shrunk).min(all)
    };
    Ok(MeanRate {
        rate,
        interval: wilson_of_rate(rate, effective_runs, confidence),
        effective_runs,
    })
}

/// The two-sided quantile of Student's t.
fn student(confidence: f64, freedom: f64) -> f64 {
    let inside = beta_quantile(1.0 - confidence, freedom / 2.0, 0.5);
    (freedom * (1.0 / inside - 1.0)).sqrt()
}

/// The growth of the pass rate of the same tests, each test with equal weight, with Newcombe's interval. It describes
/// these tests, not similar ones. Differences between tests make it wider than necessary.
pub fn difference_over_tests(pairs: &[(Tally, Tally)], confidence: f64) -> Result<RateDifference> {
    check_inside("confidence", confidence)?;
    if pairs.is_empty() {
        return Err(StatsError::NoTasks);
    }
    let side = |of: fn(&(Tally, Tally)) -> Tally| {
        let tallies = pairs.iter().map(of);
        tallies
            .clone()
            .try_for_each(|tally| check_counts(tally.passed, tally.runs))?;
        let count = pairs.len() as f64;
        let rate = tallies.clone().filter_map(Tally::rate).sum::<f64>() / count;
        // The runs that vary as much as a mean of tests with so many runs each.
        let runs = count * count / tallies.map(|tally| 1.0 / tally.runs as f64).sum::<f64>();
        Ok((rate, runs))
    };
    Ok(newcombe_of_rates(
        side(|pair| pair.1)?,
        side(|pair| pair.0)?,
        confidence,
    ))
}

#[cfg(test)]
mod tests {
    use super::super::{CONFIDENCE, assert_close, newcombe_difference, wilson};
    use super::*;

    fn tally(passed: u64, runs: u64) -> Tally {
        Tally { passed, runs }
    }

    #[test]
    fn runs_that_are_all_alike_within_their_test_count_once_for_each_test() {
        let alike: Vec<Tally> = (0..20)
            .map(|at| tally(if at < 10 { 10 } else { 0 }, 10))
            .collect();
        let found = mean_rate(&alike, CONFIDENCE).unwrap();
        assert_close(found.rate, 0.5);
        assert!(
            found.effective_runs > 16.0 && found.effective_runs < 20.0,
            "{found:?}"
        );
        let apart = mean_rate(&[tally(5, 10); 20], CONFIDENCE).unwrap();
        assert_close(apart.effective_runs, 200.0);
        assert_eq!(apart.interval, wilson(100, 200, CONFIDENCE).unwrap());
    }

    #[test]
    fn nothing_but_passes_is_not_certainty() {
        let found = mean_rate(&[tally(9, 9); 4], CONFIDENCE).unwrap();
        assert_eq!(found.interval, wilson(4, 4, CONFIDENCE).unwrap());
        let alone = mean_rate(&[tally(9, 9)], CONFIDENCE).unwrap();
        assert_eq!(alone.interval, wilson(9, 9, CONFIDENCE).unwrap());
    }

    #[test]
    fn the_quantile_of_student_is_the_textbook_one() {
        assert!((student(0.95, 1.0) - 12.706_204_736).abs() < 1e-6);
        assert!((student(0.95, 30.0) - 2.042_272_456).abs() < 1e-6);
    }

    #[test]
    fn tests_with_as_many_runs_each_have_the_interval_of_all_their_runs() {
        let pairs = [(tally(9, 10), tally(4, 10)), (tally(7, 10), tally(6, 10))];
        let found = difference_over_tests(&pairs, CONFIDENCE).unwrap();
        let pooled = newcombe_difference((10, 20), (16, 20), CONFIDENCE).unwrap();
        assert_close(found.difference, pooled.difference);
        assert_close(found.interval.lower, pooled.interval.lower);
        assert!(difference_over_tests(&[], CONFIDENCE).is_err());
        assert!(difference_over_tests(&[(tally(0, 0), tally(1, 1))], CONFIDENCE).is_err());
        assert!(mean_rate(&[], CONFIDENCE).is_err());
    }
}
