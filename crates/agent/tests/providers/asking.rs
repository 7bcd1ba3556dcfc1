//! A suite, a provider and a question, in as few words as a test can have.

use mcptest_agent::dialect::{Answered, Ask, Message, Offered, Part, Reply};
use mcptest_agent::provider::{
    AskError, Deadlines, Provider, ProviderError, Providers, Retry, RetryPolicy,
};
use mcptest_core::provider::FAMILIES;
use mcptest_core::suite::{Host, Model, Suite, load};
use mcptest_provider_stub::{Script, Stub};
use serde_json::json;
use serde_json::value::to_raw_value;
use std::path::Path;
use std::time::Duration;
use tokio::time::Instant;

/// A model of each family, and a model on Chat Completions.
pub(crate) fn models() -> impl Iterator<Item = &'static str> {
    FAMILIES
        .iter()
        .map(|family| family.model)
        .chain(["local/llama3"])
}

pub(crate) fn suite(text: &str) -> Suite {
    let read = |path: &Path| {
        let is_suite = path.ends_with("suite.yml");
        is_suite
            .then(|| text.as_bytes().to_vec())
            .ok_or_else(|| "no such file".to_owned())
    };
    let loaded = load(Path::new("suite.yml"), &Host::new(&read, &|_| None));
    loaded
        .suite
        .unwrap_or_else(|| panic!("{:?}", loaded.problems))
}

/// `provider/id`, or an id alone.
pub(crate) fn model(text: &str) -> Model {
    let (provider, id) = text
        .split_once('/')
        .map_or((None, text), |(provider, id)| (Some(provider), id));
    Model {
        provider: provider.map(str::to_owned),
        id: id.to_owned(),
        ..Model::default()
    }
}

pub(crate) fn resolve(
    text: &str,
    model_id: &str,
    environment: &[(&str, &str)],
) -> Result<Provider, ProviderError> {
    let find = |name: &str| {
        environment
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| (*value).to_owned())
    };
    Providers::default().resolve(&model(model_id), &suite(text), &find)
}

/// A stub, and a provider that has this model there.
pub(crate) struct Table {
    pub(crate) stub: Stub,
    pub(crate) provider: Provider,
    pub(crate) model: String,
}

impl Table {
    pub(crate) fn new(model_id: &str, script: Script) -> Self {
        let stub = Stub::start(script).unwrap();
        let environment = stub.environment();
        let text = format!(
            "providers:\n  local: {{type: openai, base_url: \"{}/v1/\"}}\nagents: []\n",
            stub.url()
        );
        let find = |name: &str| environment.get(name).cloned();
        let model = model(model_id);
        let provider = Providers::default()
            .resolve(&model, &suite(&text), &find)
            .unwrap();
        let retry = RetryPolicy {
            first_wait: Duration::from_millis(1),
            longest_wait: Duration::from_millis(4),
            tries: 5,
        };
        Self {
            stub,
            provider: provider.with_retries(retry),
            model: model.id,
        }
    }

    pub(crate) async fn ask(&self, messages: &[Message]) -> Result<Reply, AskError> {
        self.watch(messages, Duration::from_secs(30)).await.0
    }

    /// A question with default settings.
    pub(crate) fn question<'a>(&'a self, messages: &'a [Message], tools: &'a [Offered]) -> Ask<'a> {
        let system = Some("You are terse.");
        Ask {
            system,
            tools,
            max_tokens: Some(1000),
            ..Ask::new(&self.model, messages)
        }
    }

    pub(crate) async fn watch(
        &self,
        messages: &[Message],
        retry: Duration,
    ) -> (Result<Reply, AskError>, Vec<Retry>) {
        let tools = [tool("weather__get_forecast"), tool("weather__get_alerts")];
        let ask = self.question(messages, &tools);
        let mut retries = Vec::new();
        let deadlines = Deadlines {
            run: Instant::now() + retry,
            answer: Duration::from_secs(60),
        };
        let reply = self
            .provider
            .ask(&ask, deadlines, &mut |retry| retries.push(retry))
            .await;
        (reply, retries)
    }
}

pub(crate) fn tool(name: &str) -> Offered {
    Offered {
        name: name.to_owned(),
        full_name: name.to_owned(),
        description: Some("About the weather".to_owned()),
        input_schema: to_raw_value(&json!({
            "type": "object",
            "properties": { "city": { "type": ["string", "null"] } },
            "additionalProperties": false,
        }))
        .unwrap(),
    }
}

pub(crate) fn user(text: &str) -> Message {
    Message::User(text.to_owned())
}

/// A result for each of the calls, in order.
pub(crate) fn results(reply: &Reply, texts: &[&str]) -> Message {
    assert_eq!(reply.calls.len(), texts.len());
    let answered = reply.calls.iter().zip(texts).map(|(call, text)| Answered {
        call_id: call.id.clone(),
        name: call.name.clone(),
        content: vec![Part::Text((*text).to_owned())],
        is_error: text.starts_with("no "),
    });
    Message::Results(answered.collect())
}
