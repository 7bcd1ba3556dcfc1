//! How is JSON printed for people in the order in which a server sent it?

use mcptest_core::json::Members;
use serde_json::json;
use serde_json::value::RawValue;

/// The JSON on several lines, with its members in order and verbatim numbers.
pub(super) fn indented(json: &str) -> String {
    at(json.trim(), "\n")
}

/// The JSON below a line with this indentation.
fn at(json: &str, line: &str) -> String {
    let inside = format!("{line}  ");
    let parts: Vec<String> = if json.starts_with('{') {
        let part = |(key, value): &(String, Box<RawValue>)| {
            format!("{}: {}", json!(key), at(value.get(), &inside))
        };
        Members::read(json).0.iter().map(part).collect()
    } else if json.starts_with('[') {
        let values: Vec<&RawValue> = serde_json::from_str(json).unwrap_or_default();
        values
            .iter()
            .map(|value| at(value.get(), &inside))
            .collect()
    } else {
        return json.to_owned();
    };
    let (open, close) = (&json[..1], &json[json.len() - 1..]);
    if parts.is_empty() {
        return format!("{open}{close}");
    }
    format!(
        "{open}{inside}{}{line}{close}",
        parts.join(&format!(",{inside}"))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indenting_changes_nothing_but_blanks() {
        let text = r#"{"z":1.50,"a" : [ ],"q\"}":{ },"l":[1,{"b":"x, {y}: é\\"}],"a":null}"#;
        let lines = "{\n  \"z\": 1.50,\n  \"a\": [],\n  \"q\\\"}\": {},\n  \"l\": [\n    1,\n    {\n      \"b\": \"x, {y}: é\\\\\"\n    }\n  ],\n  \"a\": null\n}";
        assert_eq!(indented(text), lines);
        assert_eq!(indented(lines), lines);
        assert_eq!(indented(" \"a b\" "), "\"a b\"");
    }
}
