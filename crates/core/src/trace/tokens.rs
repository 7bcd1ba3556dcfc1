//! How many tokens did a run, or one answer of a model, take?

use serde::{Deserialize, Serialize};

/// Token counts, absent where nobody counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(expecting = "token counts, which are an object")]
pub struct Tokens {
    /// Read by the model, those from a cache included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<u64>,
    /// Written by the model, its thoughts included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion: Option<u64>,
    /// Both together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

impl Tokens {
    /// Counts of which the total, where it is not told, is the sum of what is known.
    pub fn new(prompt: Option<u64>, completion: Option<u64>, total: Option<u64>) -> Self {
        Self { prompt, completion, total: total.or_else(|| either(prompt, completion)) }
    }

    /// Counts without a total.
    pub fn of(prompt: Option<u64>, completion: Option<u64>) -> Self {
        Self { prompt, completion, total: None }
    }

    /// The total is the sum where it is not counted and both parts are.
    #[must_use]
    pub fn totalled(self) -> Self {
        let sum = || self.prompt.zip(self.completion).and_then(|(one, other)| one.checked_add(other));
        Self { total: self.total.or_else(sum), ..self }
    }

    /// Both together; a count that one of them lacks is that of the other.
    pub fn add(&mut self, other: Self) {
        self.prompt = either(self.prompt, other.prompt);
        self.completion = either(self.completion, other.completion);
        self.total = either(self.total, other.total);
    }
}

/// The sum of what is known.
fn either(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.saturating_add(other)),
        (one, other) => one.or(other),
    }
}
