//! Whose model is this, going by its id?

use crate::dialect::{ANTHROPIC, Dialect, GEMINI, MISTRAL, OPENAI_CHAT, OPENAI_RESPONSES};

/// What is known of a provider before anyone says anything.
#[derive(Debug)]
pub(super) struct Family {
    pub(super) name: &'static str,
    pub(super) dialect: &'static Dialect,
    /// How the ids of its models begin; `#` stands for a digit.
    pub(super) prefixes: &'static [&'static str],
    /// The variables that may hold the key, the first one first.
    pub(super) keys: &'static [&'static str],
    /// The variables that may hold another base URL, the first one first.
    pub(super) base_urls: &'static [&'static str],
    pub(super) base_url: &'static str,
}

pub(super) const FAMILIES: [Family; 4] = [
    Family {
        name: "anthropic",
        dialect: &ANTHROPIC,
        prefixes: &["claude-"],
        keys: &["ANTHROPIC_API_KEY"],
        base_urls: &["ANTHROPIC_BASE_URL"],
        base_url: "https://api.anthropic.com",
    },
    Family {
        name: "openai",
        dialect: &OPENAI_RESPONSES,
        prefixes: &["gpt-", "chatgpt-", "o#"],
        keys: &["OPENAI_API_KEY"],
        base_urls: &["OPENAI_BASE_URL"],
        base_url: "https://api.openai.com",
    },
    Family {
        name: "gemini",
        dialect: &GEMINI,
        prefixes: &["gemini-"],
        keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        base_urls: &["GEMINI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"],
        base_url: "https://generativelanguage.googleapis.com",
    },
    Family {
        name: "mistral",
        dialect: &MISTRAL,
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
    },
];

/// The family of a model.
pub(super) fn of_model(id: &str) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| family.prefixes.iter().any(|prefix| begins(id, prefix)))
}

/// The dialect of a provider's `type:`, and the family whose address and key stand in for what is left out.
pub(super) fn of_type(kind: &str) -> Option<(&'static Dialect, &'static Family)> {
    let [anthropic, openai, gemini, mistral] = &FAMILIES;
    match kind {
        "anthropic" => Some((&ANTHROPIC, anthropic)),
        "openai" => Some((&OPENAI_CHAT, openai)),
        "openai-responses" => Some((&OPENAI_RESPONSES, openai)),
        "gemini" => Some((&GEMINI, gemini)),
        "mistral" => Some((&MISTRAL, mistral)),
        _ => None,
    }
}

/// All prefixes, as a person writes them.
pub(super) fn prefixes() -> String {
    let prefixes = FAMILIES.iter().flat_map(|family| family.prefixes);
    let shown = prefixes.map(|prefix| match prefix.strip_suffix('#') {
        Some(letters) => format!("`{letters}<digit>`"),
        None => format!("`{prefix}`"),
    });
    shown.collect::<Vec<_>>().join(", ")
}

fn begins(id: &str, prefix: &str) -> bool {
    match prefix.strip_suffix('#') {
        Some(letters) => {
            id.strip_prefix(letters).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        }
        None => id.starts_with(prefix),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_belongs_to_the_family_of_its_prefix() {
        for (id, name) in [
            ("claude-sonnet-4-5", Some("anthropic")),
            ("gpt-5", Some("openai")),
            ("chatgpt-4o-latest", Some("openai")),
            ("o3-mini", Some("openai")),
            ("gemini-3-pro", Some("gemini")),
            ("open-mistral-nemo", Some("mistral")),
            ("devstral-small", Some("mistral")),
            ("olmo-2", None),
            ("llama3", None),
        ] {
            assert_eq!(of_model(id).map(|family| family.name), name, "{id}");
        }
    }

    #[test]
    fn gpt_models_speak_responses_and_a_provider_of_type_openai_chat_completions() {
        assert_eq!(of_model("gpt-5").unwrap().dialect.name, "openai-responses");
        assert_eq!(of_type("openai").unwrap().0.name, "openai");
        assert_eq!(of_type("openai-responses").unwrap().0.name, "openai-responses");
    }
}
