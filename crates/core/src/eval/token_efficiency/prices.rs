//! What does a run cost?

use crate::problem::Problem;
use crate::suite::read::Field;
use crate::trace::Run;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The prices that come with mcptest, and when they were noted.
#[derive(Debug, Deserialize)]
struct PriceTable {
    as_of: String,
    usd_per_million_tokens: BTreeMap<String, Price>,
}

static SHIPPED: LazyLock<Option<PriceTable>> =
    LazyLock::new(|| serde_json::from_str(include_str!("prices.json")).ok());

/// What a model's tokens cost, in USD per million.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub(super) struct Price {
    prompt: f64,
    completion: f64,
}

impl Price {
    fn of(self, prompt: u64, completion: u64) -> f64 {
        (prompt as f64 * self.prompt + completion as f64 * self.completion) / 1e6
    }
}

/// What so many tokens of a model cost in USD, by the prices that come with mcptest.
pub fn shipped_cost_usd(model: &str, prompt_tokens: u64, completion_tokens: u64) -> Option<f64> {
    let price = SHIPPED.as_ref()?.usd_per_million_tokens.get(model)?;
    Some(price.of(prompt_tokens, completion_tokens))
}

/// Prices by model: the block's own before the shipped ones.
#[derive(Debug, Default)]
pub(super) struct Prices {
    own: BTreeMap<String, Price>,
}

impl Prices {
    pub(super) fn read(field: &mut Field<'_>) -> Option<Self> {
        let own = field.entries(|model, span, field| {
            if model.trim().is_empty() && !field.is_describing() {
                field.report(Problem::error("a price needs the model's id").at(span));
            }
            field.block(read_price).flatten()
        })?;
        Some(Self { own: own.into_iter().collect() })
    }

    /// What so many tokens cost at the block's own price of the model.
    pub(super) fn own_cost_usd(&self, model: &str, prompt: u64, completion: u64) -> Option<f64> {
        self.own.get(model).map(|price| price.of(prompt, completion))
    }

    fn of(&self, model: &str) -> Option<Price> {
        let shipped = || SHIPPED.as_ref()?.usd_per_million_tokens.get(model).copied();
        self.own.get(model).copied().or_else(shipped)
    }

    /// What the run cost in USD: what the trace says, else its tokens at the model's price, else why not.
    pub(super) fn cost_of(&self, run: &Run<'_>) -> Result<f64, String> {
        let conversation = &run.trace.conversation;
        if let Some(cost) = conversation.cost_usd.filter(|cost| cost.is_finite() && *cost >= 0.0) {
            return Ok(cost);
        }
        let Some(model) = run.header.and_then(|header| header.model.as_deref()) else {
            return Err("the recording says neither the cost nor the model, so there is no cost".to_owned());
        };
        let Some(price) = self.of(model) else {
            let dated = SHIPPED.as_ref().map_or("", |table| table.as_of.as_str());
            return Err(format!(
                "there is no price for `{model}` in the table of {dated}, so there is no cost: give one under `prices:`"
            ));
        };
        match (conversation.tokens.prompt, conversation.tokens.completion) {
            (Some(prompt), Some(completion)) => Ok(price.of(prompt, completion)),
            _ => Err(
                "the trace records neither the cost nor prompt and completion tokens, so there is no cost"
                    .to_owned(),
            ),
        }
    }
}

fn read_price(block: &mut crate::suite::read::Block<'_>) -> Option<Price> {
    let usd = |field: &mut Field<'_>| field.number(0.0..=1e9);
    let prompt = block.required("prompt_usd_per_million", "USD for a million prompt tokens", usd);
    let completion = block.required("completion_usd_per_million", "USD for a million completion tokens", usd);
    Some(Price { prompt: prompt?, completion: completion? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Header, Trace};

    fn cost(model: Option<&str>, conversation: &str) -> Result<f64, String> {
        let text = format!(r#"{{"conversation": {conversation}}}"#);
        let trace = Trace::read(&text).unwrap();
        let header = Header { model: model.map(str::to_owned), ..Header::default() };
        Prices::default().cost_of(&Run { trace: &trace, header: Some(&header), passed: true })
    }

    #[test]
    fn the_shipped_table_is_dated_and_has_the_known_families() {
        let table = SHIPPED.as_ref().unwrap();
        assert_eq!(table.as_of.len(), "2026-11-15".len());
        for family in ["claude-", "gpt-", "gemini-", "mistral-"] {
            let models = table.usd_per_million_tokens.keys().filter(|model| model.starts_with(family));
            assert!(models.count() >= 5, "{family}");
        }
        for (model, price) in &table.usd_per_million_tokens {
            assert!(price.prompt > 0.0 && price.prompt <= price.completion, "{model}");
        }
    }

    #[test]
    fn a_recorded_cost_wins_over_the_table() {
        let tokens = r#""tokens": {"prompt": 1000000, "completion": 100000}"#;
        assert_eq!(cost(Some("claude-sonnet-4-5"), &format!("{{{tokens}}}")), Ok(4.5));
        assert_eq!(cost(Some("claude-sonnet-4-5"), &format!(r#"{{{tokens}, "cost_usd": 0.5}}"#)), Ok(0.5));
        assert_eq!(cost(None, r#"{"cost_usd": 0.25}"#), Ok(0.25));
    }

    #[test]
    fn what_is_not_known_has_no_cost() {
        let tokens = r#"{"tokens": {"prompt": 10, "completion": 1}}"#;
        let unknown = cost(Some("gateway/claude-sonnet-4-5"), tokens).unwrap_err();
        assert!(unknown.contains("no price for `gateway/claude-sonnet-4-5`"), "{unknown}");
        assert!(cost(Some("claude-sonnet-4-5-next"), tokens).is_err());
        assert!(cost(None, tokens).unwrap_err().contains("nor the model"));
        assert!(cost(Some("gpt-5"), r#"{"tokens": {"total": 11}}"#).unwrap_err().contains("nor prompt"));
    }
}
