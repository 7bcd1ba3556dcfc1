//! Which words of providers and frameworks mean that a model's answer was cut off?

/// In lower case, with `_` for `-`.
const WORDS: [&str; 17] = [
    "blocklist",
    "content_filter",
    "context_length_exceeded",
    "context_window",
    "image_safety",
    "incomplete",
    "length",
    "max_output_tokens",
    "max_tokens",
    "model_context_window_exceeded",
    "model_length",
    "prohibited_content",
    "recitation",
    "refusal",
    "safety",
    "spii",
    "token_limit",
];

/// Returns true if calls written before this stop reason are not made.
pub(crate) fn is_cut_off(stop_reason: &str) -> bool {
    let word = stop_reason.to_ascii_lowercase().replace('-', "_");
    WORDS.contains(&&*word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_and_a_filter_cut_an_answer_off_and_an_ordinary_end_does_not() {
        for word in ["length", "MAX_TOKENS", "content-filter", "SAFETY"] {
            assert!(is_cut_off(word), "{word}");
        }
        for word in ["stop", "tool_calls", "end_turn", "STOP", "tool-calls", ""] {
            assert!(!is_cut_off(word), "{word}");
        }
    }
}
