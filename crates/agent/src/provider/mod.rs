//! Who is asked: a provider found by the model's id or named by the suite, and one way to ask it.

mod address;
mod answer;
mod ask;
mod ask_error;
mod family;
mod patience;
mod resolve;
mod retry_after;
mod tool_index;

pub use ask::Retry;
pub use ask_error::{AskError, AskErrorKind};
pub use patience::{Deadlines, Patience};
pub use resolve::{ProviderError, Providers};

use crate::dialect::{Ask, Dialect, GEMINI_EMBEDDINGS, OPENAI_EMBEDDINGS, Reply};
use mcptest_core::price::count_tokens;
use mcptest_core::provider::{FAMILIES, Family, Kind, Parameters, refusals};
use mcptest_core::suite::{Environment, Model, Suite};
use mcptest_core::trace::Tokens;
use parking_lot::Mutex;
use reqwest::Url;
use std::fmt;
use std::sync::Arc;
use tokio::time::Instant;

/// A provider of models. Clones share the connections, and the pauses that the provider asks for.
#[derive(Clone)]
pub struct Provider(Arc<Shared>);

struct Shared {
    name: String,
    dialect: &'static Dialect,
    base: Url,
    key: Option<Key>,
    client: reqwest::Client,
    patience: Patience,
    echo_reasoning: bool,
    paused_until: Mutex<Option<Instant>>,
}

/// A key, with the variable that holds it.
#[derive(Clone)]
struct Key {
    variable: String,
    value: String,
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Provider({} at {})", self.0.name, address::shown(&self.0.base))
    }
}

impl Provider {
    /// The provider of a model. Nothing is connected yet. To share pauses and connections between models of one
    /// provider, use [`Providers::resolve`].
    pub fn resolve(
        model: &Model,
        suite: &Suite,
        environment: Environment<'_>,
    ) -> Result<Self, ProviderError> {
        resolve::resolve(model, suite, environment)?.build()
    }

    /// About how many tokens a question has, by a tokenizer that is not the model's own.
    pub fn estimate_prompt(&self, ask: &Ask<'_>) -> u64 {
        about(&(self.0.dialect.body)(ask))
    }

    /// What a provider does not count, estimated.
    pub fn estimate(&self, ask: &Ask<'_>, reply: &Reply) -> Tokens {
        let Tokens { prompt, completion, .. } = reply.usage;
        Tokens {
            prompt: prompt.or_else(|| Some(self.estimate_prompt(ask))),
            completion: completion.or_else(|| Some(about(reply.message.get()))),
            ..reply.usage
        }
    }

    /// Whether one of its models may be told a temperature, as far as that is known.
    pub fn takes_temperature(&self, model: &str) -> bool {
        let cool = Parameters::from([("temperature".to_owned(), 0.into())]);
        Kind::named(self.0.dialect.name).is_none_or(|kind| refusals(kind, model, &cool).is_empty())
    }

    /// Its name: the suite's own, or the family's.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The family whose rules hold for it.
    pub fn family(&self) -> &'static Family {
        family::of_type(self.0.dialect.name).map_or(&FAMILIES[0], |(_, family)| family)
    }

    /// The key it is given, after the variable that holds it: what must be written nowhere.
    pub fn secret(&self) -> Option<(&str, &str)> {
        self.0.key.as_ref().map(|key| (key.variable.as_str(), key.value.as_str()))
    }

    /// Whether it wants its model's thoughts back.
    pub fn echoes_reasoning(&self) -> bool {
        self.0.echo_reasoning
    }

    /// Whether the two share connections and pauses.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The same provider, asked for vectors of texts; `None` where it has none.
    pub fn for_embeddings(&self) -> Option<Self> {
        let dialect = match self.family().name {
            "anthropic" => return None,
            "gemini" => &GEMINI_EMBEDDINGS,
            _ => &OPENAI_EMBEDDINGS,
        };
        Some(self.with(dialect, self.0.patience))
    }

    /// The same provider, with other limits to its tries.
    #[must_use]
    pub fn with_patience(self, patience: Patience) -> Self {
        self.with(self.0.dialect, patience)
    }

    fn with(&self, dialect: &'static Dialect, patience: Patience) -> Self {
        let Shared { name, base, key, client, echo_reasoning, .. } = &*self.0;
        Self(Arc::new(Shared {
            name: name.clone(),
            dialect,
            base: base.clone(),
            key: key.clone(),
            client: client.clone(),
            patience,
            echo_reasoning: *echo_reasoning,
            paused_until: Mutex::new(self.paused_until()),
        }))
    }

    fn paused_until(&self) -> Option<Instant> {
        *self.0.paused_until.lock()
    }

    /// Nobody asks before then.
    fn pause_until(&self, then: Instant) {
        let mut until = self.0.paused_until.lock();
        *until = Some(until.map_or(then, |until| until.max(then)));
    }
}

fn about(text: &str) -> u64 {
    count_tokens(text).unwrap_or(text.len() / 4) as u64
}
