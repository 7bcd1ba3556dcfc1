//! How likely are k of k, or one of k, to pass?

use super::{Result, StatsError, check_counts, power_percent};

/// A plug-in estimate and its exact floored percent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlugIn {
    /// The fraction.
    pub value: f64,
    /// The fraction in whole percent, floored.
    pub percent: u32,
}

/// Unbiased pass^k, all of k drawn runs pass: `C(c,k) / C(n,k)` (arXiv:2406.12045).
pub fn pass_hat_k_unbiased(runs: u64, passes: u64, k: u64) -> Result<f64> {
    check_draw(runs, passes, k)?;
    Ok(share_of_draws(passes, runs, k))
}

/// Unbiased pass@k, at least one of k drawn runs passes: `1 - C(n-c,k) / C(n,k)` (arXiv:2107.03374).
pub fn pass_at_k_unbiased(runs: u64, passes: u64, k: u64) -> Result<f64> {
    check_draw(runs, passes, k)?;
    Ok(1.0 - share_of_draws(runs - passes, runs, k))
}

/// The mean of unbiased pass^k over tasks given as (runs, passes).
pub fn suite_pass_hat_k(tasks: &[(u64, u64)], k: u64) -> Result<f64> {
    mean_over(tasks, |runs, passes| pass_hat_k_unbiased(runs, passes, k))
}

/// The mean of unbiased pass@k over tasks given as (runs, passes).
pub fn suite_pass_at_k(tasks: &[(u64, u64)], k: u64) -> Result<f64> {
    mean_over(tasks, |runs, passes| pass_at_k_unbiased(runs, passes, k))
}

fn mean_over(tasks: &[(u64, u64)], of_task: impl Fn(u64, u64) -> Result<f64>) -> Result<f64> {
    if tasks.is_empty() {
        return Err(StatsError::NoTasks);
    }
    let sum = tasks
        .iter()
        .map(|&(runs, passes)| of_task(runs, passes))
        .sum::<Result<f64, _>>()?;
    Ok(sum / tasks.len() as f64)
}

/// The plug-in pass^k, `(c/n)^k`; biased upwards.
pub fn pass_hat_k_plugin(runs: u64, passes: u64, k: u64) -> Result<PlugIn> {
    check_plugin(runs, passes, k)?;
    let value = (passes as f64 / runs as f64).powf(k as f64);
    Ok(PlugIn {
        value,
        percent: power_percent(passes, runs, k),
    })
}

/// The plug-in pass@k, `1 - (1 - c/n)^k`; biased.
pub fn pass_at_k_plugin(runs: u64, passes: u64, k: u64) -> Result<f64> {
    check_plugin(runs, passes, k)?;
    Ok(1.0 - ((runs - passes) as f64 / runs as f64).powf(k as f64))
}

fn check_draw(runs: u64, passes: u64, k: u64) -> Result<()> {
    check_plugin(runs, passes, k)?;
    if k > runs {
        Err(StatsError::K { k, runs })
    } else {
        Ok(())
    }
}

fn check_plugin(runs: u64, passes: u64, k: u64) -> Result<()> {
    check_counts(passes, runs)?;
    if k == 0 {
        Err(StatsError::K { k, runs })
    } else {
        Ok(())
    }
}

/// `C(part,k) / C(whole,k)`, computed as the shorter of two equal products.
fn share_of_draws(part: u64, whole: u64, k: u64) -> f64 {
    if k > part {
        return 0.0;
    }
    let (above, factors) = if k <= whole - part {
        (part, k)
    } else {
        (whole - k, whole - part)
    };
    let mut product = 1.0;
    for index in 0..factors {
        product *= (above - index) as f64 / (whole - index) as f64;
        if product <= 0.0 {
            break;
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::super::assert_close;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_unbiased_estimate_is_below_the_plug_in() {
        assert_close(pass_hat_k_unbiased(10, 9, 2).unwrap(), 0.8);
        assert_close(pass_hat_k_plugin(10, 9, 2).unwrap().value, 0.81);
        assert_close(pass_hat_k_unbiased(10, 9, 10).unwrap(), 0.0);
        assert_eq!(pass_hat_k_plugin(10, 9, 10).unwrap().percent, 34);
    }

    #[test]
    fn more_draws_than_runs_are_refused() {
        assert_eq!(
            pass_hat_k_unbiased(3, 3, 4),
            Err(StatsError::K { k: 4, runs: 3 })
        );
        assert_eq!(
            pass_at_k_unbiased(3, 3, 0),
            Err(StatsError::K { k: 0, runs: 3 })
        );
        assert!(pass_hat_k_plugin(3, 3, 4).is_ok());
        assert_eq!(suite_pass_hat_k(&[], 1), Err(StatsError::NoTasks));
        assert_close(
            suite_pass_at_k(&[(4, 0), (4, 1), (4, 4)], 4).unwrap(),
            2.0 / 3.0,
        );
        assert_close(
            suite_pass_hat_k(&[(4, 0), (4, 1), (4, 4)], 4).unwrap(),
            1.0 / 3.0,
        );
    }

    #[test]
    fn ten_million_runs_are_fine() {
        assert_close(
            pass_hat_k_unbiased(10_000_000, 9_999_999, 5_000_000).unwrap(),
            0.5,
        );
        assert_close(
            pass_at_k_unbiased(10_000_000, 5_000_000, 5_000_000).unwrap(),
            1.0,
        );
    }

    proptest! {
        #[test]
        fn both_products_give_the_same(runs in 1_u64..60, passes in 0_u64..60, k in 1_u64..60) {
            let (passes, k) = (passes.min(runs), k.min(runs));
            let long: f64 = (0..k).map(|index| passes.saturating_sub(index) as f64 / (runs - index) as f64).product();
            prop_assert!((pass_hat_k_unbiased(runs, passes, k).unwrap() - long).abs() < 1e-13);
        }
    }
}
