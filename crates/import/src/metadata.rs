//! Which lines of a file hold no conversation, so that the others are read without them?

use crate::IMPORTERS;
use crate::json::Json;
use crate::sample::Sample;

/// Beginnings of keys under which messages, calls and results are, at any depth.
const TELLING: [&str; 18] = [
    "\"role\"",
    "\"content",
    "\"parts\"",
    "\"messages\"",
    "\"tool",
    "\"function",
    "\"arg",
    "\"call",
    "_call",
    "Call",
    "\"input\"",
    "\"inputs\"",
    "\"payload\"",
    "\"steps\"",
    "\"traj\"",
    "\"simulations\"",
    "\"events\"",
    "\"resourceMetrics\"",
];

/// Returns true for a line about the conversation, such as its settings, and not of it. A value
/// that could be a message, a call or a result is not such a line.
pub(crate) fn is_about(value: Json<'_>) -> bool {
    let text = value.text();
    if TELLING.iter().any(|key| text.contains(key)) {
        return false;
    }
    let Some(line) = value.object() else {
        return false;
    };
    // A call may have no more than a type and a name.
    let could_be_a_call = line.has("type") && line.has("name");
    !could_be_a_call && !is_of_a_format(value)
}

fn is_of_a_format(value: Json<'_>) -> bool {
    let samples = Sample::from_each(&[value]);
    samples
        .iter()
        .any(|sample| IMPORTERS.iter().any(|importer| (importer.sniff)(sample)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::value::RawValue;

    #[test]
    fn settings_are_about_a_conversation_and_a_possible_call_is_of_it() {
        let is_about = |text: &str| {
            let raw: &RawValue = serde_json::from_str(text).unwrap();
            is_about(Json::new(raw))
        };
        for text in [
            r#"{"model":"m","temperature":0}"#,
            r#"{"type":"session","version":3,"cwd":"/srv"}"#,
            r#"{"name":"nightly","created":"2026-01-01"}"#,
            r#"{"result":"12 of 14 tasks passed","score":0.86}"#,
            "{}",
        ] {
            assert!(is_about(text), "{text}");
        }
        for text in [
            r#"{"role":"user","content":"hi"}"#,
            r#"{"type":"hologram","name":"t"}"#,
            r#"{"type":"web_search_call","status":"completed"}"#,
            r#"{"toolInvocations":[]}"#,
            r#"{"messages":[]}"#,
            r#"{"resourceSpans":[]}"#,
            "[]",
            "3",
        ] {
            assert!(!is_about(text), "{text}");
        }
    }
}
