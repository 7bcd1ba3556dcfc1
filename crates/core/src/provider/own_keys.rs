//! Which entries of a request does mcptest write itself, so that `extra:` cannot?

use super::Kind;
use super::refusals::Parameters;
use serde_json::{Map, Value};

/// An entry of a request: the kinds of provider that have it, its path, and the suite's key for it.
type OwnKey = (&'static [&'static str], &'static str, Instead);

#[derive(Clone, Copy)]
enum Instead {
    /// This key of the agent or the model.
    Key(&'static str),
    /// Set by this key of the agent; free without it.
    Beside(&'static str),
    /// No key sets it: mcptest would not understand the answer.
    Nothing(&'static str),
}

use Instead::{Beside, Key, Nothing};

const ANTHROPIC: &[&str] = &["anthropic"];
const CHAT: &[&str] = &["openai", "mistral"];
const RESPONSES: &[&str] = &["openai-responses"];
const GEMINI: &[&str] = &["gemini"];
/// All but Gemini.
const MOST: &[&str] = &["anthropic", "openai", "mistral", "openai-responses"];
const ALL: &[&str] = &[
    "anthropic",
    "openai",
    "mistral",
    "openai-responses",
    "gemini",
];

const WHOLE: &str = "mcptest reads one whole answer";
const CONVERSATION: &str = "mcptest sends the whole conversation with each request";

static OWN_KEYS: &[OwnKey] = &[
    (ALL, "model", Key("model")),
    (ALL, "tools", Key("servers")),
    (MOST, "stream", Nothing(WHOLE)),
    (MOST, "temperature", Key("temperature")),
    (MOST, "top_p", Key("top_p")),
    (MOST, "tool_choice", Key("tool_choice")),
    (
        &["anthropic", "openai", "mistral"],
        "messages",
        Key("prompt"),
    ),
    (
        &["anthropic", "openai", "mistral"],
        "max_tokens",
        Key("max_tokens"),
    ),
    (ANTHROPIC, "system", Key("system_prompt")),
    (ANTHROPIC, "output_config.effort", Key("reasoning_effort")),
    (ANTHROPIC, "thinking", Beside("reasoning_effort")),
    (CHAT, "max_completion_tokens", Key("max_tokens")),
    (CHAT, "n", Nothing(WHOLE)),
    (CHAT, "reasoning_effort", Key("reasoning_effort")),
    (&["openai"], "seed", Key("seed")),
    (&["mistral"], "random_seed", Key("seed")),
    (RESPONSES, "input", Key("prompt")),
    (RESPONSES, "instructions", Key("system_prompt")),
    (RESPONSES, "max_output_tokens", Key("max_tokens")),
    (RESPONSES, "reasoning.effort", Key("reasoning_effort")),
    (
        RESPONSES,
        "include",
        Nothing("mcptest needs the answers that it requests"),
    ),
    (RESPONSES, "background", Nothing(WHOLE)),
    (RESPONSES, "previous_response_id", Nothing(CONVERSATION)),
    (RESPONSES, "conversation", Nothing(CONVERSATION)),
    (GEMINI, "contents", Key("prompt")),
    (GEMINI, "systemInstruction", Key("system_prompt")),
    (
        GEMINI,
        "toolConfig.functionCallingConfig",
        Key("tool_choice"),
    ),
    (
        GEMINI,
        "generationConfig.maxOutputTokens",
        Key("max_tokens"),
    ),
    (GEMINI, "generationConfig.temperature", Key("temperature")),
    (GEMINI, "generationConfig.topP", Key("top_p")),
    (GEMINI, "generationConfig.seed", Key("seed")),
    (GEMINI, "generationConfig.candidateCount", Nothing(WHOLE)),
    (
        GEMINI,
        "generationConfig.thinkingConfig",
        Beside("reasoning_effort"),
    ),
];

/// The paths in the `extra:` of these parameters that mcptest writes itself for this kind of
/// provider, each with advice.
pub fn taken_keys(kind: &Kind, parameters: &Parameters) -> Vec<(&'static str, String)> {
    let Some(Value::Object(extra)) = parameters.get("extra") else {
        return Vec::new();
    };
    let is_free =
        |instead: Instead| matches!(instead, Beside(key) if !parameters.contains_key(key));
    let own = OWN_KEYS
        .iter()
        .filter(|(kinds, ..)| kinds.contains(&kind.name));
    let taken = own.filter(|(_, path, instead)| !is_free(*instead) && collides(extra, path));
    taken
        .map(|(_, path, instead)| (*path, instead.sentence()))
        .collect()
}

/// Returns true if the path, or a part on the way to it, is written.
fn collides(extra: &Map<String, Value>, path: &str) -> bool {
    let (key, rest) = path
        .split_once('.')
        .map_or((path, None), |(key, rest)| (key, Some(rest)));
    match (extra.get(key), rest) {
        (None, _) => false,
        (Some(Value::Object(inner)), Some(rest)) => collides(inner, rest),
        (Some(_), _) => true,
    }
}

impl Instead {
    fn sentence(self) -> String {
        match self {
            Key(key) => format!("write `{key}:` instead"),
            Beside(key) => format!("`{key}:` sets it: write one of the two"),
            Nothing(why) => format!("remove it: {why}"),
        }
    }
}
