//! The page with every key of a suite, from the schema that editors use.

use mcptest::GATES;
use serde_json::Value;

/// Parts of the schema with a separate page.
const ELSEWHERE: [(&str, &str); 3] = [
    ("matcher", "matchers.md"),
    ("run_matcher", "matchers.md"),
    ("tool_expectation", "matchers.md"),
];

/// Every key of a suite with its values and its meaning.
pub(crate) fn page(schema: &Value) -> String {
    let mut text = String::from(
        "# Every key of a suite\n\nMade from the schema that editors use (`mcptest schema`); [how a suite is \
         written](../suites.md). In keys `_` and `-` are the same, and a key that begins with `x-` is yours.\n",
    );
    text.push_str(&section("A suite", schema));
    let defs = schema["$defs"].as_object().into_iter().flatten();
    for (name, part) in defs.filter(|(name, _)| page_of(name).is_none()) {
        text.push_str(&section(name, part));
    }
    text
}

fn section(title: &str, part: &Value) -> String {
    let mut rows = Vec::new();
    list(part, "", &mut rows);
    if rows.is_empty() {
        return format!("\n## {title}\n\n{}\n", kind(part));
    }
    format!(
        "\n## {title}\n\n| Key | Value | Meaning |\n|---|---|---|\n{}",
        rows.concat()
    )
}

/// Adds a row for each key, and for the keys within it.
fn list(part: &Value, path: &str, rows: &mut Vec<String>) {
    let required: Vec<&str> = part["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for (key, field) in part["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() {
            key.clone()
        } else {
            format!("{path}.{key}")
        };
        let doc = field["description"]
            .as_str()
            .unwrap_or_default()
            .replace('|', "\\|");
        let needed = if required.contains(&key.as_str()) {
            ", required"
        } else {
            ""
        };
        let is_gate = !path.contains('.') && GATES.iter().any(|gate| gate.key == key);
        let value = if is_gate {
            format!("[block]({key}.md)")
        } else {
            kind(field)
        };
        rows.push(format!("| `{path}` | {value}{needed} | {doc} |\n"));
        if !is_gate {
            within(field, &path, rows);
        }
    }
}

/// The keys of a block, of the items of a list, or of an alternative.
fn within(field: &Value, path: &str, rows: &mut Vec<String>) {
    list(field, path, rows);
    if field["items"].is_object() {
        within(&field["items"], &format!("{path}[]"), rows);
    }
    if field["additionalProperties"].is_object() {
        within(
            &field["additionalProperties"],
            &format!("{path}.NAME"),
            rows,
        );
    }
    for other in field["anyOf"].as_array().into_iter().flatten() {
        within(other, path, rows);
    }
}

/// The values of a key, in words.
fn kind(field: &Value) -> String {
    if let Some(name) = field["$ref"]
        .as_str()
        .and_then(|place| place.rsplit('/').next())
    {
        return match page_of(name) {
            Some(page) => format!("[{name}]({page})"),
            None => format!("[{name}](#{name})"),
        };
    }
    if let Some(values) = field["enum"].as_array() {
        return listed(
            values
                .iter()
                .map(|value| format!("`{}`", value.as_str().unwrap_or_default())),
        );
    }
    if let Some(others) = field["anyOf"].as_array() {
        // A variable may stand for any value: that is told once, on the page about suites.
        return listed(
            others
                .iter()
                .filter(|other| other["pattern"] != "\\$\\{")
                .map(kind),
        );
    }
    let types = match &field["type"] {
        Value::String(one) => vec![one.as_str()],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    match types.first().copied() {
        Some("array") if field["items"].is_object() => {
            let items = kind(&field["items"]).replacen("list of ", "lists of ", 1);
            format!("list of {items}")
        }
        Some("array") => "list".to_owned(),
        Some("object") if field["additionalProperties"].is_object() => {
            format!("map of {}", kind(&field["additionalProperties"]))
        }
        Some("object") => "block".to_owned(),
        Some("string") => "text".to_owned(),
        Some("integer") => "whole number".to_owned(),
        Some("boolean") => "`true` or `false`".to_owned(),
        Some(other) => other.to_owned(),
        None => "any value".to_owned(),
    }
}

fn listed(values: impl Iterator<Item = String>) -> String {
    let mut seen: Vec<String> = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen.join(" or ")
}

fn page_of(name: &str) -> Option<&'static str> {
    ELSEWHERE
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, page)| *page)
}
