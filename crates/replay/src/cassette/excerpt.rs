//! Where do two texts differ, in few words?

use mcptest_core::escape::clipped;

const SHOWN: usize = 60;
const CONTEXT: usize = 12;

/// Both texts, cut to the part where they begin to differ.
pub(super) fn differing(one: &str, other: &str) -> (String, String) {
    let shared: usize = one
        .chars()
        .zip(other.chars())
        .take_while(|(a, b)| a == b)
        .map(|(a, _)| a.len_utf8())
        .sum();
    let is_long = |text: &str| text.chars().nth(SHOWN).is_some();
    let start = if is_long(one) || is_long(other) {
        back(&one[..shared], CONTEXT)
    } else {
        0
    };
    let cut = |text: &str| {
        let lead = if start == 0 { "" } else { "…" };
        format!("{lead}{}", clipped(&text[start..], SHOWN))
    };
    (cut(one), cut(other))
}

fn back(text: &str, characters: usize) -> usize {
    text.char_indices()
        .rev()
        .take(characters)
        .last()
        .map_or(text.len(), |(start, _)| start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn short_texts_are_shown_whole() {
        let (one, other) = differing("What is rain?", "Tell me of rain.");
        assert_eq!(
            (one.as_str(), other.as_str()),
            ("What is rain?", "Tell me of rain.")
        );
    }

    #[test]
    fn long_texts_are_shown_where_they_begin_to_differ() {
        let one = format!(
            "{} in Oslo today? {}",
            "Weather ".repeat(30),
            "x".repeat(100)
        );
        let other = one.replace("Oslo", "東京");
        let (one, other) = differing(&one, &other);
        assert!(
            one.starts_with("…Weather  in Oslo today?") && one.ends_with("x…"),
            "{one}"
        );
        assert!(other.starts_with("…Weather  in 東京 today?"), "{other}");
    }

    proptest! {
        #[test]
        fn excerpts_of_different_texts_differ(one in "[ab天]{0,150}", other in "[ab天]{0,150}") {
            let (shown_one, shown_other) = differing(&one, &other);
            prop_assert_eq!(one == other, shown_one == shown_other);
        }
    }
}
