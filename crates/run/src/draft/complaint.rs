//! Does an answer look like an error although it is not marked as one?

use serde_json::Value;

/// The number of characters of the first line to examine.
const START: usize = 80;
/// First words of an error.
const FIRST: [&str; 13] = [
    "error",
    "errors",
    "exception",
    "traceback",
    "fatal",
    "failure",
    "failed",
    "invalid",
    "unauthorized",
    "forbidden",
    "denied",
    "enoent",
    "eacces",
];
/// Words at the start of the first line that mean an error.
const BEGINS: [&str; 9] = [
    "unable to",
    "could not",
    "couldn't",
    "cannot",
    "can't",
    "missing required",
    "unknown tool",
    "bad request",
    "internal server error",
];
/// Words near the start of the first line that mean an error.
const NEAR_THE_START: [&str; 7] = [
    "not found",
    "does not exist",
    "doesn't exist",
    "no such",
    "access denied",
    "permission denied",
    "an error occurred",
];

/// The first line of a result that looks like an error.
pub(super) fn complaint(result: &Value) -> Option<String> {
    let texts = result["content"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|block| block["text"].as_str());
    let text = texts.into_iter().next().unwrap_or_default();
    let line = text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default();
    let structured = &result["structuredContent"];
    let read: Value = serde_json::from_str(text).unwrap_or_default();
    let is_bad = has_error(structured)
        || if read.is_object() {
            has_error(&read)
        } else {
            says_error(line)
        };
    is_bad.then(|| {
        if line.is_empty() {
            structured.to_string()
        } else {
            line.to_owned()
        }
    })
}

fn says_error(line: &str) -> bool {
    // Signs, quotes and marks of Markdown stand before it at times.
    let start: String = line.to_lowercase().chars().take(START).collect();
    let start = start.trim_start_matches(|c: char| !c.is_alphanumeric());
    let first = start
        .split(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default();
    let is_name = |word: &str| {
        ["error", "exception"]
            .iter()
            .any(|end| word.len() > 5 && word.ends_with(end))
    };
    FIRST.contains(&first)
        || is_name(first)
        || BEGINS.iter().any(|words| start.starts_with(words))
        || NEAR_THE_START.iter().any(|words| start.contains(words))
}

/// Returns true if an object contains an error, or reports a failure.
fn has_error(value: &Value) -> bool {
    let is_something = |value: &Value| match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
        _ => true,
    };
    ["error", "errors"]
        .iter()
        .any(|key| value.get(*key).is_some_and(is_something))
        || ["success", "ok"]
            .iter()
            .any(|key| value.get(*key) == Some(&Value::Bool(false)))
        || value.get("status").is_some_and(|status| status == "error")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn looks_bad(text: &str) -> bool {
        complaint(&json!({ "content": [{ "type": "text", "text": text }] })).is_some()
    }

    #[test]
    fn an_error_is_known_by_how_it_begins() {
        for text in [
            "Error: no repository",
            "❌ **Error** reading",
            "ValueError: bad",
            "Invalid timezone: text",
            "\n  City 'text' not found.",
            "Access denied - path outside",
            "Unable to connect",
            r#"{"error": "nope"}"#,
            r#"{"success": false, "items": []}"#,
        ] {
            assert!(looks_bad(text), "{text}");
        }
        for text in [
            "Sunny",
            "",
            "0 errors found",
            "No entities",
            r#"{"error": null, "items": []}"#,
            r#"{"errors": []}"#,
            "The page is long, says nothing for a while, and then tells of something that was once, long ago, not found",
        ] {
            assert!(!looks_bad(text), "{text}");
        }
        let structured = json!({ "content": [], "structuredContent": { "ok": false } });
        assert_eq!(complaint(&structured).unwrap(), r#"{"ok":false}"#);
    }
}
