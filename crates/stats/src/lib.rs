//! Which conclusions does a number of runs allow: intervals, estimators, tests and plans?
//!
//! Probabilities are fractions; rates that are multiplied by a count are exact [`Decimal`]s.

mod agreement;
mod certify;
mod compare;
mod decimal;
mod detect;
mod estimate;
mod flakes;
mod interval;
mod multiple;
mod normal;
mod plan;
mod reliability;
mod separation;
mod sequential;
mod shift;
mod special;
mod tests_together;

pub use agreement::{Kappa, YesNo, cohen_kappa, krippendorff_alpha};
pub use certify::{certified_lower, max_certifiable_floor, min_runs_for_floor, percent_of};
pub use compare::{Fisher, McNemar, SignFlip, fisher_exact, mcnemar, sign_flip};
pub use decimal::{Decimal, NotDecimal};
pub use detect::{Detection, detectable_drop, runs_to_detect};
pub use estimate::{
    PlugIn, pass_at_k_plugin, pass_at_k_unbiased, pass_hat_k_plugin, pass_hat_k_unbiased,
    suite_pass_at_k, suite_pass_hat_k,
};
pub use flakes::{BudgetState, FlakeBudget, flake_budget};
pub use interval::{
    Interval, RateDifference, clopper_pearson, jeffreys, newcombe_difference, wilson,
};
pub use multiple::{benjamini_hochberg, holm};
pub use plan::{
    GateCharacteristic, MinimumDrop, first_false, gate_characteristic, minimum_detectable_drop,
};
pub use reliability::{
    ReliabilityError, ReliabilitySummary, confidence_band, decay_curve, graceful_degradation,
    power_percent, recommend_runs, recommend_runs_exactly, summarize, variance_amplification,
};
pub use separation::{Separation, Threshold, separation};
pub use sequential::{
    Curtailed, CurtailedVerdict, Sprt, SprtVerdict, confidence_sequence, curtailed, e_value_above,
    sprt,
};
pub use shift::{DRAWS, Shift, Stratum, shift};
pub use tests_together::{MeanRate, Tally, difference_over_tests, mean_rate};

use thiserror::Error;

/// The default confidence.
pub const CONFIDENCE: f64 = 0.95;

/// A number for reports: results of logarithms may differ between machines beyond six decimals.
pub fn six_decimals(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

/// The rounding tolerance of comparisons with a probability, so that exact ties count as ties.
const ROUNDING: f64 = 1e-12;

/// Why a statistic has no value for this input.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum StatsError {
    /// The list of runs is empty.
    #[error("no runs to judge: at least one is needed")]
    NoRuns,
    /// More passes than runs.
    #[error("{passes} passes cannot come from {runs} runs")]
    TooManyPasses {
        /// The passes claimed.
        passes: u64,
        /// The number of runs.
        runs: u64,
    },
    /// A `k` that cannot be drawn from the runs.
    #[error("k = {k} must be between 1 and the number of runs, {runs}")]
    K {
        /// The number of draws.
        k: u64,
        /// The number of runs.
        runs: u64,
    },
    /// A probability outside its range.
    #[error("{name} must be {range}, not {value}")]
    Probability {
        /// The parameter's name.
        name: &'static str,
        /// The allowed values.
        range: &'static str,
        /// The refused value.
        value: String,
    },
    /// A mean over no tasks.
    #[error("no tasks to average over")]
    NoTasks,
    /// A table that cannot be enumerated.
    #[error("{pairs} pairs are too many to try every sign: at most {most}")]
    TooManyPairs {
        /// The given pairs.
        pairs: usize,
        /// The most that are tried.
        most: usize,
    },
    /// A number is too large.
    #[error("the numbers are too large to work with exactly")]
    TooLarge,
}

type Result<T, E = StatsError> = std::result::Result<T, E>;

/// Refuses zero runs and more passes than runs.
fn check_counts(passes: u64, runs: u64) -> Result<()> {
    if runs == 0 {
        Err(StatsError::NoRuns)
    } else if passes > runs {
        Err(StatsError::TooManyPasses { passes, runs })
    } else {
        Ok(())
    }
}

/// Refuses meaningless counts of runs and confidences.
fn check_sample(passes: u64, runs: u64, confidence: f64) -> Result<()> {
    check_counts(passes, runs)?;
    check_inside("confidence", confidence)
}

/// Refuses a number that is not strictly between 0 and 1.
fn check_inside(name: &'static str, value: f64) -> Result<()> {
    if value > 0.0 && value < 1.0 {
        return Ok(());
    }
    Err(StatsError::Probability {
        name,
        range: "between 0 and 1, both excluded",
        value: value.to_string(),
    })
}

/// Refuses a number outside 0 to 1.
fn check_probability(name: &'static str, value: f64) -> Result<()> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(StatsError::Probability {
        name,
        range: "between 0 and 1",
        value: value.to_string(),
    })
}

#[cfg(test)]
fn assert_close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-9 * b.abs().max(1.0), "{a} is not {b}");
}
