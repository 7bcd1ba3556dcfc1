//! What may recording still cost?

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What was spent, and what may be.
#[derive(Debug, Default)]
pub(super) struct Spending {
    max_cost_usd: Option<f64>,
    spent: Mutex<Spent>,
}

#[derive(Debug, Default)]
struct Spent {
    total_usd: f64,
    by_suite: BTreeMap<PathBuf, f64>,
    by_row: BTreeMap<usize, f64>,
    tokens: u64,
    stopped: Option<String>,
}

/// What one row may cost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budgets<'a> {
    pub(super) row: usize,
    pub(super) suite: &'a Path,
    pub(super) per_test_usd: Option<f64>,
    pub(super) per_suite_usd: Option<f64>,
    pub(super) per_run_tokens: Option<u64>,
}

impl Budgets<'_> {
    /// Whether a price is needed to hold to these limits.
    pub(super) fn is_in_dollars(&self, spending: &Spending) -> bool {
        self.per_test_usd.is_some() || self.per_suite_usd.is_some() || spending.max_cost_usd.is_some()
    }
}

impl Spending {
    pub(super) fn new(max_cost_usd: Option<f64>) -> Self {
        Self { max_cost_usd, ..Self::default() }
    }

    /// Whether the next call may be made; else which budget is used up, and what was spent.
    pub(super) fn may_spend(&self, budgets: Budgets<'_>, run_tokens: u64) -> Result<(), String> {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let of_suite = spent.by_suite.get(budgets.suite).copied().unwrap_or_default();
        let of_row = spent.by_row.get(&budgets.row).copied().unwrap_or_default();
        // Sums of prices are off by far less than a price.
        let over = |limit: Option<f64>, spent: f64| limit.filter(|limit| spent >= *limit - 1e-9);
        let dollars = |name: &str, limit: f64, spent: f64| {
            format!("{name} of ${} is used up: ${} was spent", usd(limit), usd(spent))
        };
        let why = if let Some(limit) = over(self.max_cost_usd, spent.total_usd) {
            dollars("--max-cost", limit, spent.total_usd)
        } else if let Some(limit) = over(budgets.per_suite_usd, of_suite) {
            dollars("`budget: per_suite_usd`", limit, of_suite)
        } else if let Some(limit) = over(budgets.per_test_usd, of_row) {
            dollars("`budget: per_test_usd`", limit, of_row)
        } else if let Some(limit) = budgets.per_run_tokens.filter(|limit| run_tokens >= *limit) {
            format!("`budget: per_run_tokens` of {limit} is used up: this run used {run_tokens} tokens")
        } else {
            return Ok(());
        };
        spent.stopped.get_or_insert_with(|| why.clone());
        Err(why)
    }

    pub(super) fn spend(&self, budgets: Budgets<'_>, tokens: u64, cost_usd: Option<f64>) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let cost = cost_usd.unwrap_or_default();
        spent.total_usd += cost;
        spent.tokens += tokens;
        *spent.by_suite.entry(budgets.suite.to_owned()).or_default() += cost;
        *spent.by_row.entry(budgets.row).or_default() += cost;
    }

    /// Which budget ended the recording, when one did.
    pub(super) fn stopped(&self) -> Option<String> {
        let spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let why = spent.stopped.as_ref()?;
        Some(format!("{why} (${} and {} tokens in all)", usd(spent.total_usd), spent.tokens))
    }
}

/// Dollars with as many digits as say something.
pub(super) fn usd(dollars: f64) -> String {
    let text = if dollars != 0.0 && dollars.abs() < 0.01 {
        format!("{dollars:.6}")
    } else {
        format!("{dollars:.4}")
    };
    let short = text.trim_end_matches('0').trim_end_matches('.');
    if short.is_empty() { "0".to_owned() } else { short.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budgets(row: usize, per_test: Option<f64>, per_suite: Option<f64>) -> Budgets<'static> {
        Budgets {
            row,
            suite: Path::new("s.yml"),
            per_test_usd: per_test,
            per_suite_usd: per_suite,
            per_run_tokens: Some(1000),
        }
    }

    #[test]
    fn the_call_after_the_one_that_reached_a_budget_is_not_made() {
        let spending = Spending::new(Some(0.10));
        let (one, other) = (budgets(0, Some(0.05), None), budgets(1, None, Some(0.08)));
        assert_eq!(spending.may_spend(one, 0), Ok(()));
        spending.spend(one, 100, Some(0.06));
        assert_eq!(
            spending.may_spend(one, 0).unwrap_err(),
            "`budget: per_test_usd` of $0.05 is used up: $0.06 was spent"
        );
        assert_eq!(spending.may_spend(other, 0), Ok(()), "the other test goes on");
        spending.spend(other, 100, Some(0.03));
        assert!(spending.may_spend(other, 0).unwrap_err().starts_with("`budget: per_suite_usd` of $0.08"));
        spending.spend(other, 100, Some(0.01));
        assert!(spending.may_spend(other, 0).unwrap_err().starts_with("--max-cost of $0.1"));
        let stopped = spending.stopped().unwrap();
        assert!(
            stopped.starts_with("`budget: per_test_usd`")
                && stopped.ends_with("($0.1 and 300 tokens in all)")
        );
    }

    #[test]
    fn a_run_has_a_budget_of_tokens_of_its_own() {
        let spending = Spending::new(None);
        let one = budgets(0, None, None);
        assert_eq!(spending.may_spend(one, 999), Ok(()));
        assert!(spending.may_spend(one, 1000).is_err());
        assert!(!one.is_in_dollars(&spending));
    }
}
