//! Which budgets limit what recording and grading cost, and is one of them used up?

use mcptest_core::suite::{Budget, Suite};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use thiserror::Error;
use tokio::sync::Notify;

/// The spent amounts and the limits.
#[derive(Debug, Default)]
pub struct Spending {
    max_cost_usd: Option<f64>,
    spent: Mutex<Spent>,
    /// Notifies waiting calls that a call has ended.
    ended: Notify,
}

#[derive(Debug, Default)]
struct Spent {
    total: Amount,
    by_suite: BTreeMap<PathBuf, Amount>,
    by_row: BTreeMap<usize, Amount>,
    tokens: u64,
    is_estimated: bool,
    stopped: Option<String>,
}

/// Dollars: spent, and reserved for calls in progress.
#[derive(Debug, Clone, Copy, Default)]
struct Amount {
    spent: f64,
    reserved: f64,
}

/// One budget in dollars.
struct DollarBudget {
    name: &'static str,
    limit_usd: f64,
    amount: Amount,
}

impl DollarBudget {
    fn is_used_up(&self) -> bool {
        self.amount.spent >= self.limit_usd - ROUNDING
    }

    /// Returns true if calls in progress may use it up.
    fn may_be_used_up(&self) -> bool {
        let Amount { spent, reserved } = self.amount;
        reserved > ROUNDING && spent + reserved >= self.limit_usd - ROUNDING
    }
}

/// Sums of prices are off by far less than a price.
const ROUNDING: f64 = 1e-9;

/// A budget that is used up.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum OverBudget {
    /// A budget in dollars.
    #[error(
        "{budget} of ${} is used up: ${} was spent{}",
        usd(*limit_usd), usd(*spent_usd), in_part(*is_estimated)
    )]
    Dollars {
        /// The budget's key, as in the suite.
        budget: &'static str,
        /// The limit.
        limit_usd: f64,
        /// The amount that was spent.
        spent_usd: f64,
        /// True if part of the amount is an estimate.
        is_estimated: bool,
    },
    /// The tokens of one run.
    #[error(
        "`budget: per_run_tokens` of {limit} is used up: this run used {used} tokens{}",
        in_part(*is_estimated)
    )]
    RunTokens {
        /// The limit.
        limit: u64,
        /// The tokens that the run used.
        used: u64,
        /// True if part of the count is an estimate.
        is_estimated: bool,
    },
}

fn in_part(is_estimated: bool) -> &'static str {
    if is_estimated {
        ", partly estimated because a provider reports no token counts"
    } else {
        ""
    }
}

impl Spent {
    /// The dollar budgets of a row, with their use so far.
    fn dollar_budgets(&self, budgets: Budgets<'_>, max_cost_usd: Option<f64>) -> Vec<DollarBudget> {
        let of_suite = self
            .by_suite
            .get(budgets.suite)
            .copied()
            .unwrap_or_default();
        let of_row = self.by_row.get(&budgets.row).copied().unwrap_or_default();
        let all = [
            ("--max-cost", max_cost_usd, self.total),
            (
                "`budget: per_suite_usd`",
                budgets.said.per_suite_usd,
                of_suite,
            ),
            ("`budget: per_test_usd`", budgets.said.per_test_usd, of_row),
        ];
        all.into_iter()
            .filter_map(|(name, limit_usd, amount)| {
                Some(DollarBudget {
                    name,
                    limit_usd: limit_usd?,
                    amount,
                })
            })
            .collect()
    }

    fn over_budget(
        &self,
        budgets: Budgets<'_>,
        max_cost_usd: Option<f64>,
        run_tokens: u64,
    ) -> Option<OverBudget> {
        let is_estimated = self.is_estimated;
        let dollars = self.dollar_budgets(budgets, max_cost_usd);
        if let Some(budget) = dollars.iter().find(|budget| budget.is_used_up()) {
            return Some(OverBudget::Dollars {
                budget: budget.name,
                limit_usd: budget.limit_usd,
                spent_usd: budget.amount.spent,
                is_estimated,
            });
        }
        let limit = budgets.said.per_run_tokens?;
        (run_tokens >= limit).then_some(OverBudget::RunTokens {
            limit,
            used: run_tokens,
            is_estimated,
        })
    }

    fn change(&mut self, budgets: Budgets<'_>, change: impl Fn(&mut Amount)) {
        change(&mut self.total);
        change(self.by_suite.entry(budgets.suite.to_owned()).or_default());
        change(self.by_row.entry(budgets.row).or_default());
    }
}

/// The usage of a call, or of a program with its own calls.
#[derive(Debug, Clone, Copy)]
pub struct Used {
    /// Tokens, of prompts and completions together.
    pub tokens: u64,
    /// The cost, if a price is known.
    pub cost_usd: Option<f64>,
    /// True if the provider counts no tokens.
    pub is_estimated: bool,
}

/// A call with reserved budget. Settle it, or drop it to release the reservation.
#[derive(Debug)]
pub struct ReservedCall<'s> {
    spending: &'s Spending,
    budgets: Budgets<'s>,
    most_usd: f64,
}

impl ReservedCall<'_> {
    /// Replaces the reserved amount with the call's usage.
    pub fn pay(self, used: Used) {
        self.spending.spend(self.budgets, used);
    }
}

impl Drop for ReservedCall<'_> {
    fn drop(&mut self) {
        if self.most_usd > 0.0 {
            self.spending
                .spent
                .lock()
                .change(self.budgets, |amount| amount.reserved -= self.most_usd);
            self.spending.ended.notify_waiters();
        }
    }
}

/// The budget of one row.
#[derive(Debug, Clone, Copy)]
pub struct Budgets<'a> {
    row: usize,
    suite: &'a Path,
    /// The suite's limits.
    pub said: Budget,
}

impl<'a> Budgets<'a> {
    /// The suite's limits for a row.
    pub fn new(suite: &'a Suite, row: usize) -> Self {
        Self {
            row,
            suite: &suite.path,
            said: suite.budget,
        }
    }

    /// Returns true if these limits need a price.
    pub fn is_in_dollars(&self, spending: &Spending) -> bool {
        [
            self.said.per_test_usd,
            self.said.per_suite_usd,
            spending.max_cost_usd,
        ]
        .iter()
        .any(Option::is_some)
    }
}

impl Spending {
    /// With a limit in dollars for everything together.
    pub fn new(max_cost_usd: Option<f64>) -> Self {
        Self {
            max_cost_usd,
            ..Self::default()
        }
    }

    /// Checks that the next call may be made. The error names the exhausted budget and the spent amount.
    pub fn may_spend(&self, budgets: Budgets<'_>, run_tokens: u64) -> Result<(), OverBudget> {
        let mut spent = self.spent.lock();
        let Some(over) = spent.over_budget(budgets, self.max_cost_usd, run_tokens) else {
            return Ok(());
        };
        spent.stopped.get_or_insert_with(|| over.to_string());
        Err(over)
    }

    /// Reserves the highest possible cost of the next call. Waits while calls in progress could use
    /// up a budget, so at most one call exceeds it.
    pub async fn reserve<'s>(
        &'s self,
        budgets: Budgets<'s>,
        run_tokens: u64,
        most_usd: f64,
    ) -> Result<ReservedCall<'s>, OverBudget> {
        loop {
            let ended = self.ended.notified();
            tokio::pin!(ended);
            ended.as_mut().enable();
            self.may_spend(budgets, run_tokens)?;
            if self.set_aside(budgets, most_usd) {
                return Ok(ReservedCall {
                    spending: self,
                    budgets,
                    most_usd,
                });
            }
            ended.await;
        }
    }

    /// Reserves the amount, unless calls in progress may use up a budget.
    fn set_aside(&self, budgets: Budgets<'_>, most_usd: f64) -> bool {
        let mut spent = self.spent.lock();
        let must_wait = spent
            .dollar_budgets(budgets, self.max_cost_usd)
            .iter()
            .any(DollarBudget::may_be_used_up);
        if !must_wait {
            spent.change(budgets, |amount| amount.reserved += most_usd);
        }
        !must_wait
    }

    /// Counts what was used.
    pub fn spend(&self, budgets: Budgets<'_>, used: Used) {
        let mut spent = self.spent.lock();
        spent.tokens += used.tokens;
        spent.is_estimated |= used.is_estimated;
        spent.change(budgets, |amount| {
            amount.spent += used.cost_usd.unwrap_or_default();
        });
    }

    /// Records that a limit outside these budgets ended the recording.
    pub fn stop(&self, why: &str) {
        self.spent
            .lock()
            .stopped
            .get_or_insert_with(|| why.to_owned());
    }

    /// The budget that ended the recording, if any.
    pub fn stopped(&self) -> Option<String> {
        let spent = self.spent.lock();
        let why = spent.stopped.as_ref()?;
        Some(format!(
            "{why} (${} and {} tokens in all)",
            usd(spent.total.spent),
            spent.tokens
        ))
    }
}

/// Formats dollars with only significant digits.
pub fn usd(dollars: f64) -> String {
    let text = if dollars != 0.0 && dollars.abs() < 0.01 {
        format!("{dollars:.6}")
    } else {
        format!("{dollars:.4}")
    };
    let short = text.trim_end_matches('0').trim_end_matches('.');
    if short.is_empty() {
        "0".to_owned()
    } else {
        short.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budgets(row: usize, per_test: Option<f64>, per_suite: Option<f64>) -> Budgets<'static> {
        let said = Budget {
            per_test_usd: per_test,
            per_suite_usd: per_suite,
            per_run_tokens: Some(1000),
        };
        Budgets {
            row,
            suite: Path::new("s.yml"),
            said,
        }
    }

    fn used(tokens: u64, cost_usd: f64) -> Used {
        Used {
            tokens,
            cost_usd: Some(cost_usd),
            is_estimated: false,
        }
    }

    #[test]
    fn the_call_after_the_one_that_reached_a_budget_is_not_made() {
        let spending = Spending::new(Some(0.10));
        let (one, other) = (budgets(0, Some(0.05), None), budgets(1, None, Some(0.08)));
        assert_eq!(spending.may_spend(one, 0), Ok(()));
        spending.spend(one, used(100, 0.06));
        assert_eq!(
            spending.may_spend(one, 0).unwrap_err().to_string(),
            "`budget: per_test_usd` of $0.05 is used up: $0.06 was spent"
        );
        assert_eq!(
            spending.may_spend(other, 0),
            Ok(()),
            "the other test goes on"
        );
        spending.spend(other, used(100, 0.03));
        assert!(
            spending
                .may_spend(other, 0)
                .unwrap_err()
                .to_string()
                .starts_with("`budget: per_suite_usd` of $0.08")
        );
        spending.spend(other, used(100, 0.01));
        assert!(
            spending
                .may_spend(other, 0)
                .unwrap_err()
                .to_string()
                .starts_with("--max-cost of $0.1")
        );
        let stopped = spending.stopped().unwrap();
        assert!(
            stopped.starts_with("`budget: per_test_usd`")
                && stopped.ends_with("($0.1 and 300 tokens in all)")
        );
    }

    #[tokio::test]
    async fn a_call_waits_while_others_may_use_up_the_budget() {
        let spending = Spending::new(Some(0.10));
        let (one, other) = (budgets(0, None, None), budgets(1, None, None));
        let first = spending.reserve(one, 0, 0.20).await.unwrap();
        let mut waiting = std::pin::pin!(spending.reserve(other, 0, 0.20));
        let is_held = tokio::time::timeout(std::time::Duration::from_millis(20), waiting.as_mut())
            .await
            .is_err();
        assert!(is_held, "the first call may use up everything");
        first.pay(used(10, 0.04));
        waiting.await.unwrap().pay(used(10, 0.07));
        let why = spending
            .reserve(one, 0, 0.20)
            .await
            .unwrap_err()
            .to_string();
        assert!(
            why.starts_with("--max-cost of $0.1 is used up: $0.11"),
            "{why}"
        );
    }

    #[tokio::test]
    async fn a_call_that_was_given_up_holds_nothing() {
        let spending = Spending::new(Some(0.10));
        let one = budgets(0, None, None);
        drop(spending.reserve(one, 0, 0.20).await.unwrap());
        let next = spending.reserve(one, 0, 0.20);
        assert!(
            tokio::time::timeout(std::time::Duration::from_secs(5), next)
                .await
                .is_ok()
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
