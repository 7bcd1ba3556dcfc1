//! Which drop between two sides can a number of runs show, and how many runs does a drop need?

use super::plan::{first_false, smallest_drop};
use super::special::{binomial_at_most, binomial_point};
use super::{ROUNDING, Result, check_counts, check_inside, check_probability, fisher_exact};

/// The requirements on a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Detection {
    /// The accepted rate of false drops or rises.
    pub alpha: f64,
    /// The required rate of detecting a real drop.
    pub power: f64,
}

/// Above this number of runs a side, the result for this number is returned: more runs detect smaller drops.
const MOST_RUNS: u64 = 2000;

/// The smallest drop from a pass rate, on a grid of 0.001, that a two-sided comparison of this many runs before and
/// after detects with the wanted power: Fisher's exact test with mid-p, both sides varying by chance. `None` if even
/// a drop to 0 is not detected.
pub fn detectable_drop(
    rate: f64,
    (before, after): (u64, u64),
    wanted: Detection,
) -> Result<Option<f64>> {
    check_probability("rate", rate)?;
    check_counts(0, before)?;
    check_counts(0, after)?;
    let bounds = bounds(rate, before.min(MOST_RUNS), after.min(MOST_RUNS), wanted)?;
    Ok(smallest_drop(rate, |rate| {
        bounds.power(rate) < wanted.power - ROUNDING
    }))
}

/// The fewest runs of each test, on each side, that detect a drop of this size with the wanted power. `None` if
/// thousands are too few.
pub fn runs_to_detect(rate: f64, drop: f64, tests: u64, wanted: Detection) -> Result<Option<u64>> {
    check_probability("rate", rate)?;
    check_probability("drop", drop)?;
    check_counts(0, tests)?;
    let most = MOST_RUNS / tests;
    let is_missed = |runs: u64| {
        let all = (runs + 1) * tests;
        bounds(rate, all, all, wanted)
            .is_ok_and(|bounds| bounds.power((rate - drop).max(0.0)) < wanted.power)
    };
    let missed = first_false(most, is_missed);
    Ok((missed < most).then_some(missed + 1))
}

/// For each number of passes before, with its probability: the most passes after that show a drop.
struct Bounds {
    after: u64,
    each: Vec<(f64, Option<u64>)>,
}

impl Bounds {
    /// The probability of detecting a drop to this rate.
    fn power(&self, rate: f64) -> f64 {
        let shown =
            |bound: Option<u64>| bound.map_or(0.0, |most| binomial_at_most(most, self.after, rate));
        self.each
            .iter()
            .map(|&(probability, bound)| probability * shown(bound))
            .sum()
    }
}

fn bounds(rate: f64, before: u64, after: u64, wanted: Detection) -> Result<Bounds> {
    /// Counts with a lower probability are ignored.
    const NEVER: f64 = 1e-10;
    check_inside("alpha", wanted.alpha)?;
    check_inside("power", wanted.power)?;
    let mut each = Vec::new();
    for passes in 0..=before {
        let probability = binomial_point(passes as f64, before as f64, rate);
        if probability < NEVER {
            continue;
        }
        let is_shown = |now: u64| {
            let table = fisher_exact(now, after - now, passes, before - passes);
            table.is_ok_and(|table| table.mid_p <= wanted.alpha + ROUNDING)
        };
        // From the same rate on it would be a rise.
        let same = (passes * after).div_ceil(before);
        each.push((probability, first_false(same, is_shown).checked_sub(1)));
    }
    Ok(Bounds { after, each })
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Detection = Detection {
        alpha: 0.05,
        power: 0.8,
    };

    fn drop(rate: f64, runs: u64) -> Option<f64> {
        detectable_drop(rate, (runs, runs), USUAL).unwrap()
    }

    #[test]
    fn more_runs_show_smaller_drops() {
        assert_eq!(drop(1.0, 2), None);
        // Three of three against none of three is all that three runs can show.
        let of_three = drop(1.0, 3).unwrap();
        assert!((of_three - 0.8_f64.cbrt()).abs() < 0.002, "{of_three}");
        let of = [5, 10, 20, 50, 200].map(|runs| drop(0.9, runs).unwrap());
        assert!(of.windows(2).all(|pair| pair[1] < pair[0]), "{of:?}");
        // Two proportions of 0.9 and 0.8 take 199 runs a side by the normal approximation.
        assert!((of[4] - 0.1).abs() < 0.01, "{of:?}");
    }

    #[test]
    fn as_many_runs_as_are_asked_for_show_the_drop() {
        let runs = runs_to_detect(0.9, 0.4, 1, USUAL).unwrap().unwrap();
        assert!(
            drop(0.9, runs).unwrap() <= 0.4 && drop(0.9, runs - 1).unwrap() > 0.4,
            "{runs}"
        );
        let each = runs_to_detect(0.9, 0.4, 5, USUAL).unwrap().unwrap();
        assert!(each * 5 >= runs && (each - 1) * 5 < runs, "{each}");
        assert_eq!(runs_to_detect(0.9, 0.001, 1, USUAL).unwrap(), None);
        assert_eq!(runs_to_detect(1.0, 1.0, 1, USUAL).unwrap(), Some(3));
    }

    #[test]
    fn what_cannot_be_asked_is_refused() {
        assert!(detectable_drop(1.5, (5, 5), USUAL).is_err());
        assert!(detectable_drop(0.5, (0, 5), USUAL).is_err());
        assert!(runs_to_detect(0.5, 0.5, 0, USUAL).is_err());
        assert!(
            detectable_drop(
                0.5,
                (5, 5),
                Detection {
                    alpha: 0.0,
                    power: 0.8
                }
            )
            .is_err()
        );
    }
}
