//! Did a run end by itself?

use super::Trace;
use serde_json::Value;

impl Trace<'_> {
    /// The message of the user's own program, if it crashed: evidence about the agent, not about
    /// its environment.
    pub fn crash(&self) -> Option<String> {
        let is_of_agent =
            |error: &Value| error.get("kind").and_then(Value::as_str) == Some("agent");
        let first = self
            .errors
            .first()
            .filter(|_| self.stop_reason.as_deref() == Some("error"))?;
        let parsed: Value = serde_json::from_str(first.get()).unwrap_or_default();
        is_of_agent(&parsed).then(|| {
            parsed
                .get("message")
                .and_then(Value::as_str)
                .map(str::to_owned)
        })?
    }

    /// The reason that the run never ended by itself, if so.
    pub fn fatal_error(&self) -> Option<String> {
        let has_answer = self
            .final_response
            .as_ref()
            .is_some_and(|answer| !answer.trim().is_empty());
        let stop = self.stop_reason.as_deref();
        // Who was done, or ran into a limit, has ended; errors beside that were overcome.
        let has_ended =
            has_answer || stop.is_some_and(|stop| !matches!(stop, "tool_use" | "tool_calls"));
        let never_ended = !has_ended && !self.errors.is_empty();
        if stop != Some("error") && !never_ended {
            return None;
        }
        let first = self.errors.first();
        Some(first.map_or_else(
            || "its cause is unknown".to_owned(),
            |error| error_in_words(error.get()),
        ))
    }
}

/// `provider: overloaded` for an error with a kind and a message that does not begin with it,
/// otherwise the recorded error.
pub fn error_in_words(error: &str) -> String {
    let parsed: Value = serde_json::from_str(error).unwrap_or_default();
    let text = |key: &str| parsed.get(key).and_then(Value::as_str);
    match (parsed.as_str(), text("kind"), text("message")) {
        (Some(message), ..) | (None, None, Some(message)) => message.to_owned(),
        (None, Some(kind), Some(message)) if message.starts_with(kind) => message.to_owned(),
        (None, Some(kind), Some(message)) => format!("{kind}: {message}"),
        _ => error.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fatal(rest: &str) -> Option<String> {
        let text =
            format!(r#"{{"errors": [{{"kind": "provider", "message": "overloaded"}}]{rest}}}"#);
        Trace::read(&text).unwrap().fatal_error()
    }

    #[test]
    fn an_error_is_fatal_unless_the_run_came_to_an_end() {
        assert_eq!(fatal("").as_deref(), Some("provider: overloaded"));
        assert!(fatal(r#", "stop_reason": "tool_use""#).is_some());
        assert!(fatal(r#", "stop_reason": "error", "final_response": "half""#).is_some());
        assert_eq!(fatal(r#", "stop_reason": "max_turns""#), None);
        assert_eq!(fatal(r#", "stop_reason": "end_turn""#), None);
        assert_eq!(fatal(r#", "final_response": "done""#), None);
    }
}
