//! Which provider serves a model, found by its id or named by the suite, and how is it called?

mod address;
mod answer;
mod ask;
mod ask_error;
mod family;
mod resolve;
mod retry;
mod retry_after;
mod tool_index;

pub use ask::Retry;
pub use ask_error::{AskError, AskErrorKind};
pub use resolve::{ProviderError, Providers};
pub use retry::{Deadlines, RetryPolicy};

use crate::dialect::{Ask, Dialect, GEMINI_EMBEDDINGS, OPENAI_EMBEDDINGS, Reply};
use mcptest_core::price::count_tokens;
use mcptest_core::provider::{FAMILIES, Family, Kind, Parameters, refusals};
use mcptest_core::trace::Tokens;
use parking_lot::Mutex;
use reqwest::Url;
use std::fmt;
use std::sync::Arc;
use tokio::time::Instant;

/// A provider of models. Clones share connections and requested pauses.
#[derive(Clone)]
pub struct Provider {
    shared: Arc<Shared>,
    dialect: &'static Dialect,
    retry: RetryPolicy,
}

struct Shared {
    name: String,
    base: Url,
    key: Option<Key>,
    client: reqwest::Client,
    echo_reasoning: bool,
    paused_until: Mutex<Option<Instant>>,
}

/// A key, with the variable that holds it.
struct Key {
    variable: String,
    value: String,
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Provider({} at {})",
            self.shared.name,
            address::shown(&self.shared.base)
        )
    }
}

impl Provider {
    /// The approximate number of tokens of a question, by a tokenizer other than the model's.
    pub fn estimate_prompt(&self, ask: &Ask<'_>) -> u64 {
        about(&(self.dialect.body)(ask))
    }

    /// An estimate of the tokens that a provider does not count.
    pub fn estimate(&self, ask: &Ask<'_>, reply: &Reply) -> Tokens {
        let Tokens {
            prompt, completion, ..
        } = reply.usage;
        Tokens {
            prompt: prompt.or_else(|| Some(self.estimate_prompt(ask))),
            completion: completion.or_else(|| Some(about(reply.message.get()))),
            ..reply.usage
        }
    }

    /// Returns true if the model may accept a temperature.
    pub fn takes_temperature(&self, model: &str) -> bool {
        let cool = Parameters::from([("temperature".to_owned(), 0.into())]);
        Kind::named(self.dialect.name).is_none_or(|kind| refusals(kind, model, &cool).is_empty())
    }

    /// Its name: the suite's own, or the family's.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// The family whose rules apply.
    pub fn family(&self) -> &'static Family {
        family::of_type(self.dialect.name).map_or(&FAMILIES[0], |(_, family)| family)
    }

    /// The key and the variable that holds it. It must not be written anywhere.
    pub fn secret(&self) -> Option<(&str, &str)> {
        self.shared
            .key
            .as_ref()
            .map(|key| (key.variable.as_str(), key.value.as_str()))
    }

    /// Returns true if the provider wants its model's thoughts back.
    pub fn echoes_reasoning(&self) -> bool {
        self.shared.echo_reasoning
    }

    /// This provider for embeddings of texts. `None` if it has none.
    pub fn for_embeddings(&self) -> Option<Self> {
        let dialect = match self.family().name {
            "anthropic" => return None,
            "gemini" => &GEMINI_EMBEDDINGS,
            _ => &OPENAI_EMBEDDINGS,
        };
        Some(Self {
            dialect,
            ..self.clone()
        })
    }

    /// The provider with a different retry policy.
    #[must_use]
    pub fn with_retries(self, retry: RetryPolicy) -> Self {
        Self { retry, ..self }
    }

    fn paused_until(&self) -> Option<Instant> {
        *self.shared.paused_until.lock()
    }

    /// Pauses all requests until then.
    fn pause_until(&self, then: Instant) {
        let mut until = self.shared.paused_until.lock();
        *until = Some(until.map_or(then, |until| until.max(then)));
    }
}

fn about(text: &str) -> u64 {
    count_tokens(text).unwrap_or(text.len() / 4) as u64
}
