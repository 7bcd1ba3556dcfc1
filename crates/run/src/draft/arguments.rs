//! What can be sent to a tool of which only the schema is known?

use mcptest_mcp::manifest::sample_of;
use serde_json::{Value, json};

/// Names under which a tool expects a folder.
const FOLDER_NAMES: [&str; 6] = ["path", "dir", "directory", "folder", "root", "cwd"];
/// What stands before an example in a description.
const BEFORE_EXAMPLES: [&str; 6] = ["e.g.", "eg.", "for example", "for instance", "example:", "such as"];
const LONGEST_EXAMPLE: usize = 80;

/// Arguments that fit the schema: its defaults, examples and choices, what its descriptions give as an example, a
/// folder that the server was given, else the plainest there are. `None` when none of these fit.
pub(super) fn arguments(schema: &Value, folders: &[String]) -> Option<Value> {
    let hinted = with_hints(schema, folders);
    sample_of(&hinted).filter(Value::is_object).or_else(|| sample_of(schema).filter(Value::is_object))
}

fn with_hints(schema: &Value, folders: &[String]) -> Value {
    let mut schema = schema.clone();
    let required: Vec<String> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect();
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return schema };
    for (name, property) in properties.iter_mut().filter(|(name, _)| required.contains(name)) {
        let is_free = property["type"] == "string"
            && ["const", "default", "examples", "enum"].iter().all(|key| property.get(*key).is_none());
        let example = property["description"].as_str().and_then(example_in).map(str::to_owned);
        let folder =
            folders.first().filter(|_| FOLDER_NAMES.contains(&name.to_lowercase().as_str())).cloned();
        if let (true, Some(example)) = (is_free, example.or(folder)) {
            property["examples"] = json!([example]);
        }
    }
    schema
}

/// The first text in quotes that a description gives as an example.
fn example_in(description: &str) -> Option<&str> {
    let lower = description.to_ascii_lowercase();
    let start = BEFORE_EXAMPLES.iter().filter_map(|words| Some(lower.find(words)? + words.len())).min()?;
    let rest = &description[start..];
    // Not the one in `don't`.
    let open = rest
        .char_indices()
        .position(|(at, c)| matches!(c, '\'' | '"' | '`') && !rest[..at].ends_with(char::is_alphanumeric))?;
    let open = rest.char_indices().nth(open)?.0;
    let quote = rest[open..].chars().next()?;
    let inner = &rest[open + 1..];
    let example = &inner[..inner.find(quote)?];
    // What stands far away belongs to another sentence.
    (open < 20 && !example.is_empty() && example.len() <= LONGEST_EXAMPLE).then_some(example)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_and_folders_help_and_what_is_optional_is_left_out() {
        let schema = json!({"type": "object", "required": ["zone", "path", "kind"], "properties": {
            "zone": {"type": "string", "description": "IANA name (e.g., 'America/New_York', 'Europe/London')"},
            "path": {"type": "string"}, "kind": {"enum": ["a", "b"]}, "more": {"type": "string"}}});
        assert_eq!(
            arguments(&schema, &["/srv".to_owned()]),
            Some(json!({"zone": "America/New_York", "path": "/srv", "kind": "a"}))
        );
        assert_eq!(arguments(&schema, &[]).unwrap()["path"], "text");
    }

    #[test]
    fn an_example_that_does_not_fit_is_not_used() {
        let schema = json!({"type": "object", "required": ["at"], "properties":
            {"at": {"type": "string", "maxLength": 4, "description": "for example \"2026-01-01\""}}});
        assert_eq!(arguments(&schema, &[]), Some(json!({"at": "text"})));
        assert_eq!(example_in("It's a name, e.g. of a city. Don't use 'x'."), None);
    }

    #[test]
    fn what_cannot_be_guessed_has_no_arguments() {
        let schema = json!({"type": "object", "required": ["id"], "properties": {"id": {"type": "string", "pattern": "^[0-9]{9}$"}}});
        assert_eq!(arguments(&schema, &[]), None);
        assert_eq!(arguments(&json!({}), &[]), Some(json!({})));
        assert_eq!(arguments(&json!({"type": "array"}), &[]), None);
    }
}
