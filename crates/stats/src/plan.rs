//! What will a gate of this size notice, before anything is run?

use super::special::{binomial_at_least, binomial_at_most};
use super::{Decimal, ROUNDING, Result, check_counts, check_inside, check_probability};

/// The behaviour of a gate on a pass rate, for an agent of a known rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GateCharacteristic {
    /// The required passes: `ceil(rate * n)`.
    pub required_passes: u64,
    /// The probability that the gate passes.
    pub pass_probability: f64,
}

/// The operating characteristic of a gate: `P(X >= ceil(rate * n))` for an agent that passes with `true_rate`.
pub fn gate_characteristic(
    runs: u64,
    min_rate: Decimal,
    true_rate: f64,
) -> Result<GateCharacteristic> {
    check_counts(0, runs)?;
    check_probability("min_rate", min_rate.as_f64())?;
    check_probability("true_p", true_rate)?;
    let required_passes = min_rate.ceil_times(runs);
    Ok(GateCharacteristic {
        required_passes,
        pass_probability: binomial_at_least(required_passes, runs, true_rate),
    })
}

/// The smallest drop below a baseline that a number of runs is likely to notice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MinimumDrop {
    /// The most passes at which the baseline is rejected; `None` if even 0 passes would not be
    /// unlikely enough.
    pub reject_at_or_below: Option<u64>,
    /// The smallest drop, in steps of 0.001, that is noticed with the wanted power.
    pub drop: Option<f64>,
}

/// The minimum detectable drop of an exact one-sided binomial test at level `alpha`: the smallest
/// drop on a grid of 0.001 that is detected with probability `power`.
pub fn minimum_detectable_drop(
    runs: u64,
    baseline: f64,
    alpha: f64,
    power: f64,
) -> Result<MinimumDrop> {
    check_counts(0, runs)?;
    check_probability("baseline", baseline)?;
    check_inside("alpha", alpha)?;
    check_inside("power", power)?;
    let is_unlikely = |passes: u64| binomial_at_most(passes, runs, baseline) <= alpha + ROUNDING;
    let Some(bound) = first_false(runs, is_unlikely).checked_sub(1) else {
        return Ok(MinimumDrop {
            reject_at_or_below: None,
            drop: None,
        });
    };
    let drop = smallest_drop(baseline, |rate| {
        binomial_at_most(bound, runs, rate) < power - ROUNDING
    });
    Ok(MinimumDrop {
        reject_at_or_below: Some(bound),
        drop,
    })
}

/// The smallest detected drop from a rate, in steps of 0.001.
pub(super) fn smallest_drop(from: f64, is_missed: impl Fn(f64) -> bool) -> Option<f64> {
    let thousandth = |steps: u64| steps as f64 / 1000.0;
    let steps = (1000.0 * from + ROUNDING).floor() as u64;
    let missed = first_false(steps, |steps| {
        is_missed((from - thousandth(steps + 1)).max(0.0))
    });
    (missed < steps).then(|| thousandth(missed + 1))
}

/// The first of `0..end` for which a monotonic condition is false, or `end`.
pub fn first_false(end: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, end);
    while low < high {
        let middle = u64::midpoint(low, high);
        if holds(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::super::assert_close;
    use super::*;

    fn drop(runs: u64, baseline: f64) -> (Option<u64>, Option<f64>) {
        let found = minimum_detectable_drop(runs, baseline, 0.05, 0.8).unwrap();
        (found.reject_at_or_below, found.drop)
    }

    #[test]
    fn a_gate_of_ten_runs_misses_a_lot() {
        let found = gate_characteristic(10, "0.8".parse().unwrap(), 0.7).unwrap();
        assert_eq!(found.required_passes, 8);
        assert_close(found.pass_probability, 0.382_782_786_4);
    }

    #[test]
    fn the_required_passes_are_exact_where_a_double_would_slip() {
        let found = gate_characteristic(100, "0.07".parse().unwrap(), 0.0).unwrap();
        assert_eq!(
            found,
            GateCharacteristic {
                required_passes: 7,
                pass_probability: 0.0
            }
        );
    }

    #[test]
    fn a_drop_is_found_on_the_grid() {
        assert_eq!(drop(20, 0.9), (Some(15), Some(0.214)));
        assert_eq!(drop(10, 0.99), (Some(8), Some(0.261)));
        assert_eq!(drop(3, 0.5), (None, None));
    }

    #[test]
    fn exact_ties_count() {
        assert_eq!(drop(1, 0.95), (Some(0), Some(0.75)));
    }

    #[test]
    fn the_ends_of_the_scale_are_fine() {
        assert_eq!(drop(5, 0.0), (None, None));
        assert_eq!(drop(2, 1.0), (Some(1), Some(0.553)));
        assert_eq!(drop(10_000_000, 0.0005).1, None);
        assert_eq!(drop(10_000_000, 0.9).1, Some(0.001));
    }

    #[test]
    fn what_is_no_probability_is_refused() {
        assert!(minimum_detectable_drop(0, 0.5, 0.05, 0.8).is_err());
        assert!(minimum_detectable_drop(5, 1.5, 0.05, 0.8).is_err());
        assert!(minimum_detectable_drop(5, 0.5, 0.0, 0.8).is_err());
        assert!(gate_characteristic(10, "1.1".parse().unwrap(), 0.5).is_err());
        assert!(gate_characteristic(0, "0.1".parse().unwrap(), 0.5).is_err());
    }
}
