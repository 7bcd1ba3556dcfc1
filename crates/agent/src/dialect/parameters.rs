//! Where does a body have what is asked of a model beside the conversation?

use super::{Ask, ToolChoice};
use mcptest_core::provider::Parameters;
use serde_json::{Map, Value, json};

/// A neutral name, and its place in a dialect.
pub(super) type Place = (&'static str, &'static str);

/// The parameters at their places in a body.
pub(super) fn placed(ask: &Ask<'_>, places: &[Place]) -> Map<String, Value> {
    let mut entries = Map::new();
    for (name, path) in places {
        if let Some(value) = ask.parameters.get(*name) {
            put(&mut entries, path, value.clone());
        }
    }
    entries
}

/// Writes a value at a path of keys.
pub(super) fn put(entries: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.') {
        Some((key, rest)) => {
            let inner = entries.entry(key).or_insert(Value::Null);
            if !inner.is_object() {
                *inner = json!({});
            }
            if let Value::Object(inner) = inner {
                put(inner, rest, value);
            }
        }
        None => drop(entries.insert(path.to_owned(), value)),
    }
}

/// Writes a value at a path of keys and merges in `extra`, which never replaces existing entries.
pub(super) fn filled(
    mut entries: Map<String, Value>,
    parameters: &Parameters,
) -> Map<String, Value> {
    if let Some(Value::Object(extra)) = parameters.get("extra") {
        fill(&mut entries, extra);
    }
    entries
}

fn fill(entries: &mut Map<String, Value>, extra: &Map<String, Value>) {
    for (key, value) in extra {
        match (entries.get_mut(key), value) {
            (Some(Value::Object(inner)), Value::Object(more)) => fill(inner, more),
            (Some(_), _) => {}
            (None, value) => drop(entries.insert(key.clone(), value.clone())),
        }
    }
}

impl Ask<'_> {
    /// The choice as a word, or as an object that names a tool.
    pub(super) fn choice(&self, required: &str, named: impl Fn(&str) -> Value) -> Option<Value> {
        self.tool_choice.map(|choice| match choice {
            ToolChoice::Auto => json!("auto"),
            ToolChoice::Required => json!(required),
            ToolChoice::None => json!("none"),
            ToolChoice::Tool(name) => named(name),
        })
    }

    /// The requested reasoning effort.
    pub(super) fn effort(&self) -> Option<&str> {
        self.parameters
            .get("reasoning_effort")
            .and_then(Value::as_str)
    }

    pub(super) fn caches(&self) -> bool {
        self.parameters.get("prompt_caching") != Some(&Value::Bool(false))
    }
}
