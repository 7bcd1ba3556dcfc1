//! The provider's side of a dialect: which requests are accepted, and how are they answered?

mod anthropic;
mod code;
mod embeddings;
mod gemini;
mod openai_chat;
mod openai_responses;
mod parameters;
mod tool_schema;

use crate::active_runs;
use crate::script::{Step, Tokens};
use serde_json::Value;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The provider's side of one dialect.
pub(crate) struct Wire {
    pub(crate) name: &'static str,
    /// The header of the key, and the text before the key in it.
    pub(crate) key: (&'static str, &'static str),
    pub(crate) is_at: fn(&str) -> bool,
    pub(crate) check: fn(&ProviderRequest<'_>) -> Result<Seen, Wrong>,
    pub(crate) answer: fn(&Answering<'_>) -> ProviderAnswer,
    pub(crate) error: fn(u16, &str) -> Value,
    /// The answer to a blocked prompt.
    pub(crate) blocked: fn(&str) -> Value,
}

pub(crate) const WIRES: [Wire; 6] = [
    anthropic::WIRE,
    openai_responses::WIRE,
    openai_chat::WIRE,
    gemini::WIRE,
    embeddings::OPENAI,
    embeddings::GEMINI,
];

/// A received request.
pub(crate) struct ProviderRequest<'a> {
    pub(crate) path: &'a str,
    pub(crate) headers: &'a BTreeMap<String, String>,
    pub(crate) body: &'a Value,
}

/// Why a request is not let in.
pub(crate) struct Wrong {
    pub(crate) status: u16,
    pub(crate) message: String,
}

impl Wrong {
    pub(crate) fn request(message: impl Into<String>) -> Self {
        Self {
            status: 400,
            message: message.into(),
        }
    }
}

/// The parts of an answer.
pub(crate) struct Answering<'a> {
    pub(crate) model: &'a str,
    pub(crate) seen: &'a Seen,
    pub(crate) step: &'a Step,
    /// Unique among the answers of the conversation.
    pub(crate) serial: String,
}

/// An answer: the body, and the parts that the next request returns.
pub(crate) struct ProviderAnswer {
    pub(crate) body: Value,
    pub(crate) message: Vec<Value>,
}

/// The parts of a request that the stub understands.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) model: String,
    /// The user's first message.
    pub(crate) prompt: String,
    /// The user's last message.
    pub(crate) last_user: String,
    pub(crate) last_result: String,
    pub(crate) tools: Vec<String>,
    /// The tool that must be called.
    pub(crate) forced: Option<String>,
    pub(crate) conversation: Vec<Value>,
    /// For each message, whether it is the model's.
    pub(crate) of_model: Vec<bool>,
    pub(crate) code: code::Code,
}

impl Seen {
    pub(crate) fn is_opening(&self) -> bool {
        !self.of_model.contains(&true)
    }

    /// The number of the model's answers.
    pub(crate) fn answers(&self) -> usize {
        let starts = |at: usize| self.of_model[at] && !(at > 0 && self.of_model[at - 1]);
        (0..self.of_model.len()).filter(|at| starts(*at)).count()
    }

    /// The conversation up to the model's last message, as a number.
    pub(crate) fn key(&self) -> u64 {
        let end = self
            .of_model
            .iter()
            .rposition(|of_model| *of_model)
            .map_or(0, |at| at + 1);
        active_runs::key(&self.model, &self.prompt, &self.conversation[..end])
    }

    /// The key of the conversation including this message.
    pub(crate) fn key_after(&self, message: &[Value]) -> u64 {
        if message.is_empty() {
            return self.key();
        }
        active_runs::key(
            &self.model,
            &self.prompt,
            &[&self.conversation[..], message].concat(),
        )
    }

    pub(crate) fn user(&mut self, text: &str) {
        if self.prompt.is_empty() && self.is_opening() {
            text.clone_into(&mut self.prompt);
        }
        text.clone_into(&mut self.last_user);
    }

    /// A tool, by its name or by the end of its name.
    pub(crate) fn offered(&self, name: &str) -> String {
        let end = format!("__{name}");
        let mut ends = self.tools.iter().filter(|tool| tool.ends_with(&end));
        match (
            self.tools.iter().any(|tool| tool == name),
            ends.next(),
            ends.next(),
        ) {
            (false, Some(only), None) => only.clone(),
            _ => name.to_owned(),
        }
    }

    /// Checks a tool like its provider does.
    pub(crate) fn tool(
        &mut self,
        at: &str,
        tool: &Value,
        schema: &str,
        has_dots: bool,
    ) -> Result<(), Wrong> {
        let name = tool["name"].as_str().unwrap_or_default();
        check_name(at, name, has_dots)?;
        if self.tools.iter().any(|known| known == name) {
            return Err(Wrong::request(format!(
                "tools: Tool names must be unique, {name:?} is there twice."
            )));
        }
        if tool[schema]["type"] != "object" {
            return Err(Wrong::request(format!(
                "{at}.{schema}.type: Input should be 'object'"
            )));
        }
        let provider = self.rules_of(schema);
        tool_schema::check(&provider, at, name, &tool[schema])?;
        self.tools.push(name.to_owned());
        if provider
            .most_tools
            .is_some_and(|most| self.tools.len() > most)
        {
            return Err(tool_schema::too_many(self.tools.len()));
        }
        Ok(())
    }

    /// The rules for tools of the provider that writes their schema under this key.
    fn rules_of(&self, schema: &str) -> tool_schema::Provider {
        match schema {
            "input_schema" => tool_schema::ANTHROPIC,
            "parametersJsonSchema" => tool_schema::GEMINI,
            _ if self.model.contains("stral") => tool_schema::MISTRAL,
            _ => tool_schema::OPENAI,
        }
    }
}

fn check_name(at: &str, name: &str, has_dots: bool) -> Result<(), Wrong> {
    let is_allowed = |c: char| {
        c.is_ascii_alphanumeric() || c == '_' || c == '-' || (has_dots && (c == '.' || c == ':'))
    };
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_allowed) {
        return Err(Wrong::request(format!(
            "{at}.name: {name:?} does not match '^[a-zA-Z0-9_-]{{1,64}}$'"
        )));
    }
    Ok(())
}

impl Answering<'_> {
    /// The id of a call: the script's, or one made up.
    pub(crate) fn id(&self, prefix: &str, at: usize) -> String {
        self.step.calls[at]
            .id
            .clone()
            .unwrap_or_else(|| format!("{prefix}{}_{at}", self.serial))
    }

    pub(crate) fn tokens(&self) -> Tokens {
        self.step.usage.unwrap_or_default()
    }
}

/// Refuses keys that the provider does not know.
pub(crate) fn only(value: &Value, place: &str, known: &[&str]) -> Result<(), Wrong> {
    let unknown = value
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, _)| key)
        .find(|key| !known.contains(&&***key));
    match unknown {
        Some(key) => Err(Wrong::request(format!(
            "{place}{key}: Extra inputs are not permitted"
        ))),
        None => Ok(()),
    }
}

/// Returns true if every provider accepts this name of a function.
pub(crate) fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

pub(crate) fn signature(thought: &str) -> String {
    let mut hasher = DefaultHasher::new();
    thought.hash(&mut hasher);
    format!("sig{:016x}", hasher.finish())
}

/// The texts of content that is one text or blocks with texts.
pub(crate) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks
            .iter()
            .filter_map(|block| block["text"].as_str())
            .collect::<Vec<_>>()
            .join("\n"),
        _ => String::new(),
    }
}
