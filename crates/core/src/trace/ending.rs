//! Did a run come to an end of its own?

use super::Trace;
use serde_json::Value;

impl Trace<'_> {
    /// Why the run never came to an end of its own, when it did not.
    pub fn fatal_error(&self) -> Option<String> {
        let has_answer = self.final_response.as_ref().is_some_and(|answer| !answer.trim().is_empty());
        let never_ended = !has_answer && !self.errors.is_empty();
        if self.stop_reason.as_deref() != Some("error") && !never_ended {
            return None;
        }
        let first = self.errors.first();
        Some(first.map_or_else(|| "it does not say which".to_owned(), |error| error_in_words(error.get())))
    }
}

/// `provider: overloaded` for an error with a kind and a message, else the error as recorded.
pub fn error_in_words(error: &str) -> String {
    let parsed: Value = serde_json::from_str(error).unwrap_or_default();
    let text = |key: &str| parsed.get(key).and_then(Value::as_str);
    match (parsed.as_str(), text("kind"), text("message")) {
        (Some(message), ..) | (None, None, Some(message)) => message.to_owned(),
        (None, Some(kind), Some(message)) => format!("{kind}: {message}"),
        _ => error.to_owned(),
    }
}
