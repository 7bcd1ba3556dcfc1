//! How do requests and replies look in neutral words, independent of any provider?

mod anthropic;
mod bad_reply;
mod echo;
mod embeddings;
mod gemini;
mod openai_chat;
mod openai_responses;
mod parameters;
mod piece;
#[cfg(test)]
mod tests;

pub use anthropic::{ANTHROPIC, DEFAULT_MAX_TOKENS};
pub use bad_reply::BadReply;
pub(crate) use bad_reply::{error_message, gist};
pub(crate) use embeddings::{GEMINI_EMBEDDINGS, OPENAI_EMBEDDINGS};
pub use gemini::GEMINI;
pub use openai_chat::{MISTRAL, OPENAI_CHAT};
pub use openai_responses::OPENAI_RESPONSES;

use mcptest_core::provider::Parameters;
use mcptest_core::trace::Tokens;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The API of one kind of provider.
#[derive(Debug)]
pub struct Dialect {
    /// Its name, as `type:` has it in a suite.
    pub name: &'static str,
    /// The version that begins every path, unless the base URL has one.
    pub version: &'static str,
    /// Where to send a request, by the model, after the version.
    pub path: fn(&str) -> String,
    /// The header that carries the key.
    pub key_header: fn(&str) -> (&'static str, String),
    /// The headers of every request, besides the usual ones for JSON over HTTP.
    pub headers: &'static [(&'static str, &'static str)],
    /// The body of a request.
    pub body: fn(&Ask<'_>) -> String,
    /// The message in the body of an answer.
    pub read: fn(&Ask<'_>, &str) -> Result<Reply, BadReply>,
}

/// Every dialect, one for each `type:` of a provider.
pub const DIALECTS: &[&Dialect] = &[
    &OPENAI_CHAT,
    &OPENAI_RESPONSES,
    &ANTHROPIC,
    &GEMINI,
    &MISTRAL,
];

/// The dialect of this name.
pub(crate) fn find(name: &str) -> Option<&'static Dialect> {
    DIALECTS
        .iter()
        .copied()
        .find(|dialect| dialect.name == name)
}

/// The name of an answer with a required schema.
const ANSWER: &str = "answer";

/// One request for the model's next message.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// The provider's id of the model.
    pub model: &'a str,
    /// The instructions before the conversation.
    pub system: Option<&'a str>,
    /// The conversation, oldest message first.
    pub messages: &'a [Message],
    /// The tools that the model may call.
    pub tools: &'a [Offered],
    /// The most tokens of the answer.
    pub max_tokens: Option<u64>,
    /// Further parameters, by their names in a suite.
    pub parameters: &'a Parameters,
    /// The tool that the model must call, if any.
    pub tool_choice: Option<&'a ToolChoice>,
    /// True if the model may call the tools from code that its provider runs.
    pub code_execution: bool,
    /// The container that runs the model's code, once the provider has named it.
    pub container: Option<&'a str>,
    /// The JSON Schema of the answer, if it must be JSON.
    pub answer_schema: Option<&'a Value>,
    /// True if the provider wants its model's thoughts back in a field that its API does not define.
    pub echo_reasoning: bool,
}

impl<'a> Ask<'a> {
    /// A question that has only a conversation.
    pub fn new(model: &'a str, messages: &'a [Message]) -> Self {
        static NONE: Parameters = BTreeMap::new();
        Self {
            model,
            system: None,
            messages,
            tools: &[],
            max_tokens: None,
            parameters: &NONE,
            tool_choice: None,
            code_execution: false,
            container: None,
            answer_schema: None,
            echo_reasoning: false,
        }
    }
}

/// The rule for which tool the model must call, if any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model decides.
    Auto,
    /// Any.
    Required,
    /// No tool.
    None,
    /// This tool, by its name on the wire.
    Tool(String),
}

impl ToolChoice {
    /// A requirement applies until there are results. Otherwise, the model could never answer.
    pub(crate) fn after_results(&self) -> &Self {
        const AUTO: &ToolChoice = &ToolChoice::Auto;
        if *self == Self::None { self } else { AUTO }
    }
}

/// A tool as the model sees it.
#[derive(Debug, Clone)]
pub struct Offered {
    /// Its name on the wire: `<server>__<tool>`.
    pub name: String,
    /// Its name for people: `<server>.<tool>`, in the server's own words.
    pub full_name: String,
    /// The description.
    pub description: Option<String>,
    /// The JSON Schema of its arguments, as sent.
    pub input_schema: Box<RawValue>,
}

/// One message of the conversation.
#[derive(Debug, Clone)]
pub enum Message {
    /// A message of the user.
    User(String),
    /// A message of the model, in the provider's JSON. The parts that the provider accepts are sent back.
    Assistant(Box<RawValue>),
    /// The results of its calls, in the order of the calls.
    Results(Vec<Answered>),
}

/// The result of one call, as the model sees it.
#[derive(Debug, Clone)]
pub struct Answered {
    /// The provider's id of the call.
    pub call_id: String,
    /// The tool's name on the wire.
    pub name: String,
    /// The content.
    pub content: Vec<Part>,
    /// True for an error.
    pub is_error: bool,
}

/// A piece of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// A string.
    Text(String),
    /// A picture, in base64.
    Image {
        /// Its media type.
        media_type: String,
        /// The picture.
        data: String,
    },
}

/// The model's next message.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The provider's message, verbatim.
    pub message: Box<RawValue>,
    /// The text besides its calls.
    pub text: String,
    /// The tools it wants to be called, in order.
    pub calls: Vec<Wanted>,
    /// Why it stopped.
    pub stop: Stop,
    /// The token counts.
    pub usage: Tokens,
    /// The place where the model's code runs, if the next request must name it.
    pub container: Option<String>,
}

/// A call that the model wants.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The provider's id of the call.
    pub id: String,
    /// The name on the wire, as the model wrote it.
    pub name: String,
    /// The arguments.
    pub arguments: Arguments,
    /// The caller, if generated code makes the call.
    pub caller: Option<Box<RawValue>>,
}

/// The arguments of a call.
#[derive(Debug, Clone)]
pub enum Arguments {
    /// A JSON object, verbatim.
    Json(Box<RawValue>),
    /// A text instead of JSON.
    Text(String),
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The model is done.
    EndTurn,
    /// It waits for its calls.
    ToolUse,
    /// The answer reached its token limit.
    MaxTokens,
    /// The model wrote a stop word.
    StopSequence,
    /// It, or a filter, declined.
    Refusal,
    /// The request must be repeated unchanged.
    Pause,
    /// The conversation has outgrown the model.
    ContextWindow,
    /// It wrote a call that its provider could not read.
    MalformedCall,
    /// In the provider's own word.
    Other(String),
}

impl Stop {
    /// Returns true if the message may be incomplete, so that none of its calls are made.
    pub fn is_cut_off(&self) -> bool {
        matches!(self, Self::MaxTokens | Self::ContextWindow | Self::Refusal)
    }

    /// The word that a trace has.
    pub fn as_str(&self) -> &str {
        match self {
            Self::EndTurn => "end_turn",
            Self::ToolUse => "tool_use",
            Self::MaxTokens => "max_tokens",
            Self::StopSequence => "stop_sequence",
            Self::Refusal => "refusal",
            Self::Pause => "pause_turn",
            Self::ContextWindow => "context_window",
            Self::MalformedCall => "malformed_call",
            Self::Other(word) => word,
        }
    }
}

/// The id of a call. A call without an id is numbered by the calls before it in the conversation.
fn call_id(ask: &Ask<'_>, given: Option<String>, at: usize) -> String {
    let answered = |message: &Message| match message {
        Message::Results(results) => results.len(),
        _ => 0,
    };
    let before = || ask.messages.iter().map(answered).sum::<usize>() + at;
    given
        .filter(|id| !id.is_empty())
        .unwrap_or_else(|| format!("call_{}", before()))
}
