//! When can recording stop, with the verdict already certain or the error still bounded?

use super::interval::Interval;
use super::special::{beta_tail, bisect, ln_binomial_point};
use super::{
    Decimal, Result, StatsError, check_counts, check_inside, check_probability, check_sample,
};
use serde::Serialize;

/// A gate judged while its runs arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Curtailed {
    /// The certain verdict, if any.
    pub verdict: CurtailedVerdict,
    /// The number of runs at which it was certain.
    pub stopped_at: u64,
    /// The number of runs that are unnecessary.
    pub saved: u64,
}

/// The verdict that the runs so far make certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CurtailedVerdict {
    /// Enough have passed.
    Pass,
    /// Too many have failed.
    Fail,
    /// Both verdicts are still possible.
    Undecided,
}

/// Stops a gate of `runs` runs as soon as its verdict is certain: pass at `ceil(rate * n)` passes, fail once more
/// than the rest have failed.
pub fn curtailed(runs: u64, min_rate: Decimal, outcomes: &[bool]) -> Result<Curtailed> {
    check_counts(0, runs)?;
    check_probability("min_rate", min_rate.as_f64())?;
    let required = min_rate.ceil_times(runs);
    let (mut passes, mut failures) = (0, 0);
    for outcome in outcomes.iter().map(Some).chain([None]) {
        let verdict = if passes >= required {
            CurtailedVerdict::Pass
        } else if failures > runs - required {
            CurtailedVerdict::Fail
        } else {
            passes += u64::from(outcome == Some(&true));
            failures += u64::from(outcome == Some(&false));
            continue;
        };
        let stopped_at = passes + failures;
        return Ok(Curtailed {
            verdict,
            stopped_at,
            saved: runs - stopped_at,
        });
    }
    Ok(Curtailed {
        verdict: CurtailedVerdict::Undecided,
        stopped_at: passes + failures,
        saved: 0,
    })
}

/// A sequential probability ratio test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sprt {
    /// The accepted hypothesis, if any.
    pub verdict: SprtVerdict,
    /// The number of runs.
    pub stopped_at: u64,
    /// The log-likelihood ratio at that point.
    pub log_ratio: f64,
    /// The bound at which the higher rate is accepted.
    pub upper: f64,
    /// The bound at which the lower rate is accepted.
    pub lower: f64,
}

/// The state of a sequential test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SprtVerdict {
    /// The higher rate.
    AcceptH1,
    /// The lower rate.
    AcceptH0,
    /// No hypothesis is accepted yet.
    Continue,
}

/// Wald's test of rate `p0` against the higher `p1`: `+ln(p1/p0)` on a pass, `+ln((1-p1)/(1-p0))` on a failure, until
/// `ln((1-beta)/alpha)` or `ln(beta/(1-alpha))` (<https://doi.org/10.1214/aoms/1177731118>).
pub fn sprt(p0: f64, p1: f64, alpha: f64, beta: f64, outcomes: &[bool]) -> Result<Sprt> {
    check_hypotheses(p0, p1, alpha, beta)?;
    let (on_pass, on_failure) = ((p1 / p0).ln(), ((1.0 - p1) / (1.0 - p0)).ln());
    let (upper, lower) = (((1.0 - beta) / alpha).ln(), (beta / (1.0 - alpha)).ln());
    let (mut passes, mut failures) = (0_u64, 0_u64);
    let mut test = Sprt {
        verdict: SprtVerdict::Continue,
        stopped_at: 0,
        log_ratio: 0.0,
        upper,
        lower,
    };
    for &passed in outcomes {
        passes += u64::from(passed);
        failures += u64::from(!passed);
        test.stopped_at += 1;
        test.log_ratio = passes as f64 * on_pass + failures as f64 * on_failure;
        if test.log_ratio >= upper {
            test.verdict = SprtVerdict::AcceptH1;
            break;
        }
        if test.log_ratio <= lower {
            test.verdict = SprtVerdict::AcceptH0;
            break;
        }
    }
    Ok(test)
}

fn check_hypotheses(p0: f64, p1: f64, alpha: f64, beta: f64) -> Result<()> {
    for (name, value) in [("p0", p0), ("p1", p1), ("alpha", alpha), ("beta", beta)] {
        check_inside(name, value)?;
    }
    if p1 <= p0 {
        return Err(StatsError::Probability {
            name: "p1",
            range: "above p0",
            value: p1.to_string(),
        });
    }
    if alpha + beta >= 1.0 {
        let value = beta.to_string();
        return Err(StatsError::Probability {
            name: "beta",
            range: "below 1 - alpha",
            value,
        });
    }
    Ok(())
}

/// Bounds that hold at every number of runs at once: `{p : (n+1) Binom(c; n, p) > 1 - confidence}`
/// (Robbins, <https://doi.org/10.1214/aoms/1177696786>).
pub fn confidence_sequence(passes: u64, runs: u64, confidence: f64) -> Result<Interval> {
    check_sample(passes, runs, confidence)?;
    let (c, n) = (passes as f64, runs as f64);
    let bound = (1.0 - confidence).ln() - (n + 1.0).ln();
    let is_in = |p: f64| ln_binomial_point(c, n, p) > bound;
    Ok(Interval {
        lower: if passes == 0 {
            0.0
        } else {
            bisect(|p| !is_in(p), 0.0, c / n)
        },
        upper: if passes == runs {
            1.0
        } else {
            bisect(is_in, c / n, 1.0)
        },
    })
}

/// Evidence against a pass rate of at most `p0`, valid at any stopping time: the likelihood ratio to `p0`, averaged
/// over rates uniform on `(p0, 1]`; 20 or more rejects at 5% (Ville's inequality).
pub fn e_value_above(p0: f64, outcomes: &[bool]) -> Result<f64> {
    check_inside("p0", p0)?;
    let passes = outcomes.iter().filter(|&&passed| passed).count() as f64;
    let failures = outcomes.len() as f64 - passes;
    let (a, b) = (passes + 1.0, failures + 1.0);
    // The mean is (1 - I_p0(a, b)) * p0 / density, with the density p0^a (1-p0)^b / B(a, b): it cancels in the upper tail.
    let tail = beta_tail(p0, a, b);
    let above = if tail.is_below {
        (-tail.ln_density).exp() - tail.factor
    } else {
        tail.factor
    };
    Ok((p0 * above).min(f64::MAX))
}

#[cfg(test)]
mod tests {
    use super::super::{CONFIDENCE, assert_close};
    use super::*;
    use proptest::prelude::*;

    fn rate(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    #[test]
    fn a_gate_stops_as_soon_as_it_is_decided() {
        let stop = |outcomes: &[bool]| {
            let found = curtailed(10, rate("0.8"), outcomes).unwrap();
            (found.verdict, found.stopped_at, found.saved)
        };
        assert_eq!(stop(&[true; 9]), (CurtailedVerdict::Pass, 8, 2));
        assert_eq!(stop(&[false; 5]), (CurtailedVerdict::Fail, 3, 7));
        assert_eq!(
            stop(&[true, false, true]),
            (CurtailedVerdict::Undecided, 3, 0)
        );
        assert_eq!(stop(&[]), (CurtailedVerdict::Undecided, 0, 0));
    }

    #[test]
    fn a_gate_that_asks_for_nothing_is_decided_before_any_run() {
        let found = curtailed(10, rate("0"), &[false]).unwrap();
        assert_eq!((found.verdict, found.saved), (CurtailedVerdict::Pass, 10));
    }

    #[test]
    fn the_sequential_test_stops_at_its_bounds() {
        let test = sprt(0.8, 0.95, 0.05, 0.05, &[true; 30]).unwrap();
        assert_eq!((test.verdict, test.stopped_at), (SprtVerdict::AcceptH1, 18));
        assert_close(test.log_ratio, 3.093_304_624_679_866);
        let test = sprt(0.8, 0.95, 0.05, 0.05, &[false; 30]).unwrap();
        assert_eq!((test.verdict, test.stopped_at), (SprtVerdict::AcceptH0, 3));
        assert_eq!(
            sprt(0.8, 0.95, 0.05, 0.05, &[]).unwrap().verdict,
            SprtVerdict::Continue
        );
    }

    #[test]
    fn hypotheses_that_cannot_be_told_apart_are_refused() {
        assert!(sprt(0.9, 0.9, 0.05, 0.05, &[]).is_err());
        assert!(sprt(0.8, 1.0, 0.05, 0.05, &[]).is_err());
        assert!(sprt(0.8, 0.9, 0.5, 0.5, &[]).is_err());
        assert!(e_value_above(0.0, &[]).is_err());
        assert!(curtailed(10, rate("1.5"), &[]).is_err());
        assert!(confidence_sequence(0, 0, CONFIDENCE).is_err());
    }

    #[test]
    fn a_confidence_sequence_is_wider_than_one_interval() {
        let found = confidence_sequence(9, 10, CONFIDENCE).unwrap();
        assert_close(found.lower, 0.454_881_747_286_810_8);
        assert_close(found.upper, 0.999_543_583_117_322_6);
        let large = confidence_sequence(5_000_000, 10_000_000, CONFIDENCE).unwrap();
        assert!(large.lower > 0.499 && large.upper < 0.501, "{large:?}");
    }

    #[test]
    fn evidence_is_finite_and_never_lost() {
        assert_close(e_value_above(0.8, &[]).unwrap(), 1.0);
        assert_close(
            e_value_above(0.8, &[true; 20]).unwrap(),
            20.460_993_761_628_657,
        );
        assert_close(
            e_value_above(0.5, &vec![false; 10_000]).unwrap(),
            1.0 / 10_001.0,
        );
        assert!((e_value_above(0.5, &vec![true; 10_000]).unwrap() - f64::MAX).abs() <= 0.0);
    }

    proptest! {
        #[test]
        fn the_evidence_is_the_average_of_the_ratios(p0 in 0.05_f64..0.95, outcomes in prop::collection::vec(any::<bool>(), 0..12)) {
            let steps = 20_000;
            let ratio = |p: f64| -> f64 {
                outcomes.iter().map(|&passed| if passed { p / p0 } else { (1.0 - p) / (1.0 - p0) }).product()
            };
            let sum: f64 = (0..steps).map(|step| ratio(p0 + (1.0 - p0) * (f64::from(step) + 0.5) / f64::from(steps))).sum();
            let mean = sum / f64::from(steps);
            prop_assert!((e_value_above(p0, &outcomes).unwrap() - mean).abs() < 1e-5 * mean.max(1.0));
        }
    }
}
