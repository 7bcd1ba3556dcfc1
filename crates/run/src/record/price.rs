//! What does a row cost, and what may it?

use super::agent_job::{Actor, AgentJob};
use mcptest_agent::{Budgets, Spending};
use mcptest_core::eval::PRICES_HELP;
use mcptest_core::price::Price;
use mcptest_core::row::{Reason, ReasonKind};
use mcptest_core::suite::Model;
use mcptest_core::trace::Tokens;

impl AgentJob<'_> {
    /// Refuses a dollar budget without a known price.
    pub(super) fn refuse_unpriced(&self, spending: &Spending) -> Result<(), Reason> {
        let Some(label) = self.priced_as() else {
            return Ok(());
        };
        let is_known = self.price().is_some();
        if is_known || !self.budgets().is_in_dollars(spending) {
            return Ok(());
        }
        let message =
            format!("no price is known for `{label}`, so mcptest cannot enforce a dollar budget");
        let help =
            format!("{PRICES_HELP}, or limit tokens instead: `budget: {{per_run_tokens: 20000}}`");
        Err(Reason::new(ReasonKind::PriceUnknown, message).help(help))
    }

    pub(super) fn budgets(&self) -> Budgets<'_> {
        Budgets::new(self.row.suite, self.index)
    }

    pub(super) fn cost_usd(&self, usage: Tokens) -> Option<f64> {
        self.price()?.cost_usd(usage)
    }

    /// The maximum cost of this number of tokens.
    pub(super) fn most_usd(&self, tokens: Tokens) -> Option<f64> {
        Some(self.price()?.most_usd(tokens.prompt?, tokens.completion?))
    }

    fn price(&self) -> Option<Price> {
        let (label, environment) = (self.priced_as()?, mcptest_replay::host().environment);
        self.row.suite.price(self.row.agent, &label, environment)
    }

    /// The model in price tables. A provider declared in the suite has its own prices, not the prices of
    /// the model's family.
    fn priced_as(&self) -> Option<String> {
        self.row
            .model
            .filter(|_| matches!(self.actor, Actor::Model { .. }))
            .map(Model::label)
    }
}
