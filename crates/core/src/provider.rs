//! Which model providers are known, how does a suite name them, and which parameters do they
//! refuse?

mod model_id;
mod own_keys;
mod refusals;
#[cfg(test)]
mod tests;

pub use model_id::{has_thinking_levels, is_reasoning, thinks_adaptively};
pub use own_keys::taken_keys;
pub use refusals::{Parameters, Refusal, refusals};

/// A provider that is recognised by the ids of its models.
#[derive(Debug)]
pub struct Family {
    /// Its name in messages and cassettes.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// The [`Kind`] of its own models.
    pub kind: &'static str,
    /// The prefixes of its models' ids. `#` means a digit.
    pub prefixes: &'static [&'static str],
    /// The variables for the key, by precedence.
    pub keys: &'static [&'static str],
    /// The variables for another base URL, by precedence.
    pub base_urls: &'static [&'static str],
    /// The address.
    pub base_url: &'static str,
    /// A model to begin with.
    pub model: &'static str,
}

/// A `type:` under `providers:`.
#[derive(Debug)]
pub struct Kind {
    /// Its spelling in suites.
    pub name: &'static str,
    /// The family with the default address and key.
    pub family: &'static str,
    /// The API.
    pub dialect: &'static str,
    /// The path of requests, after the base URL.
    pub path: &'static str,
}

/// Every family. The first is the default.
pub const FAMILIES: &[Family] = &[
    Family {
        name: "anthropic",
        title: "Anthropic",
        kind: "anthropic",
        prefixes: &["claude-"],
        keys: &["ANTHROPIC_API_KEY"],
        base_urls: &["ANTHROPIC_BASE_URL"],
        base_url: "https://api.anthropic.com",
        model: "claude-sonnet-4-5",
    },
    Family {
        name: "openai",
        title: "OpenAI",
        kind: "openai-responses",
        prefixes: &["gpt-", "chatgpt-", "o#", "text-embedding-3-"],
        keys: &["OPENAI_API_KEY"],
        base_urls: &["OPENAI_BASE_URL"],
        base_url: "https://api.openai.com",
        model: "gpt-5",
    },
    Family {
        name: "gemini",
        title: "Gemini",
        kind: "gemini",
        prefixes: &["gemini-"],
        keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        base_urls: &["GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"],
        base_url: "https://generativelanguage.googleapis.com",
        model: "gemini-2.5-pro",
    },
    Family {
        name: "mistral",
        title: "Mistral",
        kind: "mistral",
        prefixes: &[
            "mistral-",
            "codestral-",
            "magistral-",
            "ministral-",
            "devstral-",
            "pixtral-",
            "open-mistral-",
        ],
        keys: &["MISTRAL_API_KEY"],
        base_urls: &["MISTRAL_BASE_URL"],
        base_url: "https://api.mistral.ai",
        model: "mistral-large-latest",
    },
];

/// Every `type:`.
pub const KINDS: &[Kind] = &[
    kind(
        "openai",
        "openai",
        "Chat Completions: ollama, vLLM, llama.cpp, most gateways",
        "/v1/chat/completions",
    ),
    kind("openai-responses", "openai", "Responses", "/v1/responses"),
    kind("anthropic", "anthropic", "Messages", "/v1/messages"),
    kind(
        "gemini",
        "gemini",
        "`generateContent`",
        "/v1beta/models/{id}:generateContent",
    ),
    kind(
        "mistral",
        "mistral",
        "Chat Completions with Mistral's rules",
        "/v1/chat/completions",
    ),
];

/// The variables for keys. Their values must not be written anywhere.
pub fn key_variables() -> impl Iterator<Item = &'static str> {
    FAMILIES
        .iter()
        .flat_map(|family| family.keys.iter().copied())
}

/// The models that can call tools from code that their provider runs, for messages.
pub const WITH_CODE: &str = "Anthropic's models from Opus 4.5, Sonnet 4.5 and Haiku 5.5 on (`type: anthropic`), and \
                             OpenAI's from gpt-5.6 on (`type: openai-responses`)";

/// Models of Anthropic from before it.
const CLAUDE_WITHOUT_CODE: [&str; 9] = [
    "instant",
    "2",
    "3",
    "haiku-4",
    "opus-4-0",
    "opus-4-1",
    "opus-4-2",
    "sonnet-4-0",
    "sonnet-4-2",
];

/// Returns true if a provider of this kind runs code for a model. An unrecognised id is accepted.
pub fn runs_code(kind: &str, model: &str) -> bool {
    match kind {
        "anthropic" => {
            let name = model.strip_prefix("claude-").unwrap_or_default();
            !CLAUDE_WITHOUT_CODE
                .iter()
                .any(|prefix| name.starts_with(prefix))
        }
        "openai-responses" => match model.strip_prefix("gpt-") {
            Some(version) => {
                let mut numbers = version
                    .split(|c: char| !c.is_ascii_digit())
                    .map(str::parse::<u32>);
                let mut next = || numbers.next().and_then(Result::ok).unwrap_or_default();
                let is_point = version
                    .trim_start_matches(|c: char| c.is_ascii_digit())
                    .starts_with('.');
                (next(), if is_point { next() } else { 0 }) >= (5, 6)
            }
            None => !begins(model, "o#") && !model.starts_with("chatgpt-"),
        },
        _ => false,
    }
}

const fn kind(
    name: &'static str,
    family: &'static str,
    dialect: &'static str,
    path: &'static str,
) -> Kind {
    Kind {
        name,
        family,
        dialect,
        path,
    }
}

impl Kind {
    /// The kind of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        KINDS.iter().find(|kind| kind.name == name)
    }
}

impl Family {
    /// The family of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        FAMILIES.iter().find(|family| family.name == name)
    }

    /// The family of a model.
    pub fn of_model(id: &str) -> Option<&'static Self> {
        FAMILIES
            .iter()
            .find(|family| family.prefixes.iter().any(|prefix| begins(id, prefix)))
    }

    /// The prefixes, for display.
    pub fn shown_prefixes(&self) -> String {
        let shown = self
            .prefixes
            .iter()
            .map(|prefix| match prefix.strip_suffix('#') {
                Some(letters) => format!("`{letters}<digit>`"),
                None => format!("`{prefix}`"),
            });
        shown.collect::<Vec<_>>().join(", ")
    }
}

fn begins(id: &str, prefix: &str) -> bool {
    match prefix.strip_suffix('#') {
        Some(letters) => id
            .strip_prefix(letters)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())),
        None => id.starts_with(prefix),
    }
}
