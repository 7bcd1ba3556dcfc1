//! Does the text of a result say that the call failed, where nothing marks it as an error?

use super::CallResult;

/// Words that open a report of failure.
const OPENINGS: [&str; 3] = ["Error", "Failed", "Traceback"];
/// The openings that need a colon, which shows that they are not part of a sentence.
const OPENINGS_BEFORE_COLON: [&str; 3] = ["error", "failed", "failure"];

impl CallResult<'_> {
    /// Returns true if nothing marks the call as failed, but its text begins with an error word, such as `Error: the
    /// order is not pending`. Such a call never supports a claim and by default never changes a world.
    pub fn reads_as_error(&self) -> bool {
        !self.is_failure()
            && self
                .text()
                .is_some_and(|text| begins_with_error_word(&text))
    }
}

/// Returns true if a text begins with an error word, after marks and symbols.
pub fn begins_with_error_word(text: &str) -> bool {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric() && !"{\"".contains(c));
    let end = text
        .find(|c: char| !c.is_alphanumeric())
        .unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    // `Error-free` and `Failed: 0` are no failures, and `"Error"` would be a value.
    let counts_none = rest
        .split(|c: char| !c.is_alphanumeric())
        .find(|part| !part.is_empty())
        == Some("0");
    if rest.starts_with(['-', '_']) || counts_none {
        return false;
    }
    let is_capital = |opening: &str| word == opening || word == opening.to_uppercase();
    OPENINGS.into_iter().any(is_capital)
        || (rest.trim_start_matches('*').starts_with(':')
            && OPENINGS_BEFORE_COLON.contains(&word.to_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_words_count_at_the_beginning_alone() {
        for text in [
            "Error: non-pending order cannot be cancelled",
            "error: no such file",
            "ERROR 404",
            "  Failed to send the mail",
            "**Error:** locked",
            "❌ Failed: the card was declined",
            "[Error] locked",
            "Failure: no space left",
            "Traceback (most recent call last):\n  File",
        ] {
            assert!(begins_with_error_word(text), "{text}");
        }
        for text in [
            "",
            "Errors: 0",
            "Error-free since May",
            "error handling in Rust",
            "Failed: 0, passed: 12",
            "No error: all is well",
            "The call failed",
            "{\"error\": null}",
            "Terror: a novel",
            "„…",
        ] {
            assert!(!begins_with_error_word(text), "{text}");
        }
    }
}
