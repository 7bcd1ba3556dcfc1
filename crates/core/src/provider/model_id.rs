//! What does the id of a model say about it?

/// The id without the vendor that gateways write before it.
pub(super) fn bare(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or(id)
}

/// The generation that an id names: of `claude-sonnet-4-5-20250929` it is 4.5.
pub(super) fn version(id: &str) -> Option<(u32, u32)> {
    let number = |piece: &&str| piece.parse::<u32>().ok().filter(|_| piece.len() <= 2);
    let mut pieces = bare(id)
        .split(['-', '.'])
        .skip_while(|piece| number(piece).is_none());
    let major = pieces.next().as_ref().and_then(number)?;
    Some((
        major,
        pieces.next().as_ref().and_then(number).unwrap_or_default(),
    ))
}

/// The generation of a Claude.
pub(super) fn claude(id: &str) -> Option<(u32, u32)> {
    version(id).filter(|_| bare(id).contains("claude"))
}

/// Returns true for a Claude model that decides how much to think.
pub fn thinks_adaptively(id: &str) -> bool {
    claude(id).is_some_and(|version| version >= (4, 6))
}

/// Returns true for a Gemini model with thinking levels. Older models have a budget.
pub fn has_thinking_levels(id: &str) -> bool {
    version(id).is_none_or(|version| version >= (3, 0))
}

/// Returns true for the id of a model of `OpenAI` that thinks before it answers.
pub fn is_reasoning(id: &str) -> bool {
    let digit_after = |prefix: &str| id.strip_prefix(prefix)?.chars().next()?.to_digit(10);
    digit_after("o").is_some()
        || (digit_after("gpt-").is_some_and(|n| n >= 5) && !id.contains("-chat"))
}

/// Returns true for the id of a model of `OpenAI` that does not think.
pub(super) fn is_unreasoning(id: &str) -> bool {
    let is_of_openai =
        id.starts_with("chatgpt-") || (id.starts_with("gpt-") && !id.starts_with("gpt-oss"));
    is_of_openai && !is_reasoning(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_that_think_are_known_by_their_id() {
        for model in ["o3", "o4-mini", "gpt-5", "gpt-5.2-mini", "gpt-6"] {
            assert!(is_reasoning(model), "{model}");
        }
        for model in [
            "gpt-4o",
            "gpt-5-chat-latest",
            "gpt-oss-120b",
            "olmo",
            "chatgpt-4o-latest",
        ] {
            assert!(!is_reasoning(model), "{model}");
        }
        assert!(
            is_unreasoning("gpt-4.1")
                && !is_unreasoning("gpt-oss-120b")
                && !is_unreasoning("llama3")
        );
    }

    #[test]
    fn a_date_is_no_part_of_a_generation() {
        for (id, expected) in [
            ("claude-opus-4-20250514", Some((4, 0))),
            ("claude-sonnet-4-5-20250929", Some((4, 5))),
            ("anthropic/claude-opus-4.7", Some((4, 7))),
            ("claude-3-5-sonnet-20241022", Some((3, 5))),
            ("claude-opus-5", Some((5, 0))),
            ("gpt-5-2025-08-07", Some((5, 0))),
            ("gpt-5.2-mini", Some((5, 2))),
            ("gemini-2.5-flash-preview-04-17", Some((2, 5))),
            ("o3-mini", None),
            ("claude-mythos-preview", None),
        ] {
            assert_eq!(version(id), expected, "{id}");
        }
    }
}
