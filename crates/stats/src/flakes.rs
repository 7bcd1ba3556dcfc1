//! Is the share of flaky runs over what was agreed to tolerate?

use super::interval::{exact_lower, exact_upper};
use super::{Decimal, Result, check_counts, check_inside, check_probability};
use serde::Serialize;

/// A window of runs checked against a flake budget.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlakeBudget {
    /// The flakes the window allows: `floor(rate * window)`.
    pub allowed: u64,
    /// The number of further flakes allowed. Negative if the budget is exceeded.
    pub remaining: i64,
    /// The one-sided exact lower bound of the flake rate.
    pub rate_lower: f64,
    /// The one-sided exact upper bound of the flake rate.
    pub rate_upper: f64,
    /// The verdict of the bounds.
    pub state: BudgetState,
}

/// The true flake rate, compared with the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetState {
    /// The lower bound is above the budget.
    Over,
    /// The upper bound is below the budget.
    Under,
    /// The budget lies between the bounds.
    Undecided,
}

/// Checks `flakes` of `window` runs against a tolerated rate, with one-sided Clopper-Pearson
/// bounds.
pub fn flake_budget(
    window: u64,
    flakes: u64,
    rate: Decimal,
    confidence: f64,
) -> Result<FlakeBudget> {
    check_counts(flakes, window)?;
    check_probability("budget_rate", rate.as_f64())?;
    check_inside("confidence", confidence)?;
    let tail = 1.0 - confidence;
    let (rate_lower, rate_upper) = (
        exact_lower(flakes, window, tail),
        exact_upper(flakes, window, tail),
    );
    let allowed = rate.floor_times(window);
    let state = if rate_lower > rate.as_f64() {
        BudgetState::Over
    } else if rate_upper < rate.as_f64() {
        BudgetState::Under
    } else {
        BudgetState::Undecided
    };
    Ok(FlakeBudget {
        allowed,
        remaining: allowed as i64 - flakes as i64,
        rate_lower,
        rate_upper,
        state,
    })
}

#[cfg(test)]
mod tests {
    use super::super::CONFIDENCE;
    use super::*;

    fn budget(window: u64, flakes: u64, rate: &str) -> FlakeBudget {
        flake_budget(window, flakes, rate.parse().unwrap(), CONFIDENCE).unwrap()
    }

    #[test]
    fn a_budget_is_over_only_when_that_is_certain() {
        assert_eq!(budget(1000, 2, "0.01").state, BudgetState::Under);
        assert_eq!(budget(200, 5, "0.01").state, BudgetState::Undecided);
        let over = budget(200, 8, "0.01");
        assert_eq!(
            (over.state, over.allowed, over.remaining),
            (BudgetState::Over, 2, -6)
        );
    }

    #[test]
    fn the_allowance_is_exact_where_a_double_would_slip() {
        assert_eq!(budget(100, 0, "0.29").allowed, 29);
    }

    #[test]
    fn a_window_without_runs_or_with_too_many_flakes_is_refused() {
        let rate: Decimal = "0.01".parse().unwrap();
        assert!(flake_budget(0, 0, rate, CONFIDENCE).is_err());
        assert!(flake_budget(3, 4, rate, CONFIDENCE).is_err());
    }
}
