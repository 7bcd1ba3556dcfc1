//! How many tokens did a run, or one answer of a model, take?

use serde::{Deserialize, Serialize};

/// Token counts, absent if unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "token counts, which are an object")]
pub struct Tokens {
    /// Tokens that the model read, including cached tokens.
    #[serde(
        default,
        alias = "promptTokens",
        skip_serializing_if = "Option::is_none"
    )]
    pub prompt: Option<u64>,
    /// Tokens that the model wrote, including its thoughts.
    #[serde(
        default,
        alias = "completionTokens",
        skip_serializing_if = "Option::is_none"
    )]
    pub completion: Option<u64>,
    /// Both together.
    #[serde(
        default,
        alias = "totalTokens",
        skip_serializing_if = "Option::is_none"
    )]
    pub total: Option<u64>,
    /// The part of the prompt that was read from a cache.
    #[serde(default, alias = "cacheRead", skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    /// The part of the prompt that was written to a cache.
    #[serde(default, alias = "cacheWrite", skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
    /// The part that was written to a cache for an hour.
    #[serde(
        default,
        alias = "cacheWrite1h",
        skip_serializing_if = "Option::is_none"
    )]
    pub cache_write_1h: Option<u64>,
    /// Tokens of the completion that are the model's thoughts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<u64>,
}

impl Tokens {
    /// Counts. If the total is absent, it is the sum of the known parts.
    pub fn new(prompt: Option<u64>, completion: Option<u64>, total: Option<u64>) -> Self {
        Self {
            total: total.or_else(|| either(prompt, completion)),
            ..Self::without_total(prompt, completion)
        }
    }

    /// Counts without a total.
    pub fn without_total(prompt: Option<u64>, completion: Option<u64>) -> Self {
        Self {
            prompt,
            completion,
            ..Self::default()
        }
    }

    /// Sets a missing total to the sum, if both parts are known.
    #[must_use]
    pub fn totalled(self) -> Self {
        let sum = || {
            self.prompt
                .zip(self.completion)
                .and_then(|(one, other)| one.checked_add(other))
        };
        Self {
            total: self.total.or_else(sum),
            ..self
        }
    }

    /// Adds other counts. A count that only one side has is kept.
    pub fn add(&mut self, other: Self) {
        self.prompt = either(self.prompt, other.prompt);
        self.completion = either(self.completion, other.completion);
        self.total = either(self.total, other.total);
        self.add_parts(other);
    }

    /// Adds the parts of the counts: from a cache, to a cache, thoughts.
    pub fn add_parts(&mut self, other: Self) {
        self.cache_read = either(self.cache_read, other.cache_read);
        self.cache_write = either(self.cache_write, other.cache_write);
        self.cache_write_1h = either(self.cache_write_1h, other.cache_write_1h);
        self.reasoning = either(self.reasoning, other.reasoning);
    }
}

/// The sum of the known values.
fn either(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.saturating_add(other)),
        (one, other) => one.or(other),
    }
}
