//! What does a model's token cost?

mod surface;
mod tokens;

pub(crate) use surface::tool_surface_tokens;
pub use surface::tool_text;
pub use tokens::count_tokens;

use crate::problem::Problem;
use crate::suite::read::{Block, Field};
use crate::trace::Tokens;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The built-in prices, and their date.
#[derive(Debug, Deserialize)]
struct Shipped {
    as_of: String,
    usd_per_million_tokens: BTreeMap<String, Price>,
}

static SHIPPED: LazyLock<Option<Shipped>> =
    LazyLock::new(|| serde_json::from_str(include_str!("prices.json")).ok());

/// The prices of a model's tokens, in USD per million.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Price {
    prompt: f64,
    completion: f64,
    /// For tokens that are read from a cache [default: the price of the prompt].
    cache_read: Option<f64>,
    cache_write: Option<f64>,
    /// For tokens that a cache keeps for an hour [default: the price of a shorter time].
    cache_write_1h: Option<f64>,
}

impl Price {
    /// The price of a model that runs on the user's own machine.
    pub const FREE: Self = Self {
        prompt: 0.0,
        completion: 0.0,
        cache_read: None,
        cache_write: None,
        cache_write_1h: None,
    };

    /// The cost of these tokens in USD; `None` unless both the prompt and the completion are counted.
    pub fn cost_usd(self, tokens: Tokens) -> Option<f64> {
        let (prompt, completion) = (tokens.prompt?, tokens.completion?);
        let read = tokens.cache_read.unwrap_or_default().min(prompt);
        let written = tokens.cache_write.unwrap_or_default().min(prompt - read);
        let for_an_hour = tokens.cache_write_1h.unwrap_or_default().min(written);
        let cost = |count: u64, price: f64| count as f64 * price;
        let all = cost(prompt - read - written, self.prompt)
            + cost(read, self.cache_read.unwrap_or(self.prompt))
            + cost(written - for_an_hour, self.writing())
            + cost(for_an_hour, self.writing_for_an_hour())
            + cost(completion, self.completion);
        Some(all / 1e6)
    }

    /// The highest possible cost of these tokens in USD, with or without a cache.
    pub fn most_usd(self, prompt_tokens: u64, completion_tokens: u64) -> f64 {
        let prompt = self
            .prompt
            .max(self.writing())
            .max(self.writing_for_an_hour());
        (prompt_tokens as f64 * prompt + completion_tokens as f64 * self.completion) / 1e6
    }

    fn writing(self) -> f64 {
        self.cache_write.unwrap_or(self.prompt)
    }

    fn writing_for_an_hour(self) -> f64 {
        self.cache_write_1h.unwrap_or_else(|| self.writing())
    }

    fn read(block: &mut Block<'_>) -> Option<Self> {
        let usd = |field: &mut Field<'_>| field.number(0.0..=1e9);
        let prompt = block.required(
            "prompt_usd_per_million",
            "USD for a million prompt tokens",
            usd,
        );
        let completion = block.required(
            "completion_usd_per_million",
            "USD for a million completion tokens",
            usd,
        );
        let doc =
            "USD for a million prompt tokens from a cache [default: the price of prompt tokens]";
        let cache_read = block.optional("cache_read_usd_per_million", doc, usd);
        let doc = "USD for a million prompt tokens written to a cache [default: the price of prompt tokens]";
        let cache_write = block.optional("cache_write_usd_per_million", doc, usd);
        let (prompt, completion) = (prompt?, completion?);
        Some(Self {
            prompt,
            completion,
            cache_read,
            cache_write,
            cache_write_1h: None,
        })
    }
}

/// The price of a model in the table that comes with mcptest.
pub fn shipped_price(model: &str) -> Option<Price> {
    SHIPPED.as_ref()?.usd_per_million_tokens.get(model).copied()
}

/// The day of that table.
pub(crate) fn shipped_as_of() -> &'static str {
    SHIPPED.as_ref().map_or("", |table| table.as_of.as_str())
}

/// The prices in a suite, by the models' ids.
#[derive(Debug, Default)]
pub struct Prices(BTreeMap<String, Price>);

impl Prices {
    pub(crate) fn read(field: &mut Field<'_>) -> Option<Self> {
        let own = field.entries(|model, span, field| {
            if model.trim().is_empty() && !field.is_describing() {
                field.report(Problem::error("a price needs the model's id").at(span));
            }
            field.try_block(Price::read)
        })?;
        Some(Self(own.into_iter().collect()))
    }

    /// The models that have a price here.
    pub(crate) fn models(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub(crate) fn get(&self, model: &str) -> Option<Price> {
        self.0.get(model).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_table_is_dated_and_has_the_known_families() {
        let table = SHIPPED.as_ref().unwrap();
        assert_eq!(table.as_of.len(), "2026-11-15".len());
        for family in crate::provider::FAMILIES {
            let models = table.usd_per_million_tokens.keys();
            let models = models.filter(|model| model.starts_with(family.prefixes[0]));
            assert!(models.count() >= 5, "{}", family.name);
        }
        for (model, price) in &table.usd_per_million_tokens {
            // An embedding has no tokens that a model wrote.
            let is_embedding = model.contains("embedding") && price.completion == 0.0;
            assert!(
                price.prompt > 0.0 && (is_embedding || price.prompt <= price.completion),
                "{model}"
            );
            assert!(
                price.cache_read.is_none_or(|read| read < price.prompt),
                "{model}"
            );
            assert!(
                price.cache_write.is_none_or(|write| write > price.prompt),
                "{model}"
            );
        }
    }
}
