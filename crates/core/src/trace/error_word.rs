//! Does the text of a result report a failure, although the result is not marked as an error?

use super::CallResult;
use serde::Deserialize;
use serde_json::Value;

/// Words that open a report of failure.
const OPENINGS: [&str; 3] = ["Error", "Failed", "Traceback"];
/// Openings that count only before a colon, which shows that they are not part of a sentence.
const OPENINGS_BEFORE_COLON: [&str; 3] = ["error", "failed", "failure"];

impl CallResult<'_> {
    /// Returns true if the call is not marked as failed, but its text reports an error. Such a call
    /// never supports a claim and, by default, never changes a world.
    pub fn reads_as_error(&self) -> bool {
        !self.is_failure() && self.text().is_some_and(|text| reports_error(&text))
    }
}

/// Returns true if a text begins with an error word, as `Error: the order is not pending`, or is a JSON object with an
/// error, as `{"error": "not pending"}`.
pub fn reports_error(text: &str) -> bool {
    begins_with_error_word(text) || is_object_with_error(text)
}

/// The members of a JSON object that report the outcome of a call.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ReportedOutcome {
    error: Value,
    success: Option<Value>,
    ok: Option<Value>,
    #[serde(alias = "is_error", rename = "isError")]
    is_error: Option<Value>,
}

impl ReportedOutcome {
    fn is_error(&self) -> bool {
        let has_error = match &self.error {
            Value::Null | Value::Bool(false) => false,
            Value::String(text) => !text.is_empty(),
            Value::Array(items) => !items.is_empty(),
            Value::Object(members) => !members.is_empty(),
            Value::Number(code) => code.as_f64() != Some(0.0),
            Value::Bool(true) => true,
        };
        let is = |member: &Option<Value>, expected: bool| *member == Some(Value::Bool(expected));
        has_error || is(&self.success, false) || is(&self.ok, false) || is(&self.is_error, true)
    }
}

/// Returns true if a text is a JSON object that reports an error.
fn is_object_with_error(text: &str) -> bool {
    let text = text.trim();
    text.starts_with('{')
        && serde_json::from_str(text).is_ok_and(|outcome: ReportedOutcome| outcome.is_error())
}

/// Returns true if a text begins with an error word, after marks and symbols.
fn begins_with_error_word(text: &str) -> bool {
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
    fn a_json_object_reports_an_error_in_its_own_members() {
        for text in [
            r#"{"error": "order is not pending"}"#,
            r#" {"id": 7, "error": {"code": 5, "message": "no"}}"#,
            r#"{"success": false, "items": []}"#,
            r#"{"ok":false}"#,
            r#"{"isError": true}"#,
            r#"{"error": 404}"#,
        ] {
            assert!(reports_error(text), "{text}");
        }
        for text in [
            r#"{"error": null, "id": 7}"#,
            r#"{"error": "", "success": true}"#,
            r#"{"error": 0}"#,
            r#"{"item": {"error": "a field of the record"}}"#,
            r#"[{"error": "one of several"}]"#,
            r#"{"errors": ["one of several"], "created": 3}"#,
            r#"{"status": "error"}"#,
            r#"{"error": "cut off"#,
            "{}",
        ] {
            assert!(!reports_error(text), "{text}");
        }
    }

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
