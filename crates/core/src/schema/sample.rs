//! What could a tool answer that says only which schema its answers fit?

use super::JsonSchema;
use serde_json::{Map, Value, json};

const MAX_DEPTH: usize = 16;

/// A small value that matches the schema; `None` if no simple value does.
pub fn sample(written: &Value, schema: &JsonSchema) -> Option<Value> {
    let value = sample_at(written, written, 0)?;
    schema.is_valid(&value).then_some(value)
}

/// A small value that matches a schema.
pub fn sample_of(written: &Value) -> Option<Value> {
    sample(written, &JsonSchema::compile(written).ok()?)
}

fn sample_at(schema: &Value, root: &Value, depth: usize) -> Option<Value> {
    if depth > MAX_DEPTH {
        return None;
    }
    if let Some(value) = written_value(schema) {
        return Some(value);
    }
    if let Some(pointer) = schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|at| at.strip_prefix('#'))
    {
        return sample_at(root.pointer(pointer)?, root, depth + 1);
    }
    if let Some(option) = ["anyOf", "oneOf"]
        .iter()
        .find_map(|key| schema.get(*key)?.get(0))
    {
        return sample_at(option, root, depth + 1);
    }
    match first_type(schema) {
        Some("string") => Some(text(schema)),
        Some("integer" | "number") => Some(number(schema)),
        Some("boolean") => Some(json!(false)),
        Some("null") => Some(Value::Null),
        Some("array") => list(schema, root, depth),
        _ => object(schema, root, depth),
    }
}

/// A value that the schema itself contains.
fn written_value(schema: &Value) -> Option<Value> {
    let first = |key: &str| schema.get(key).and_then(|list| list.get(0));
    schema
        .get("const")
        .or_else(|| schema.get("default"))
        .or_else(|| first("examples"))
        .or_else(|| first("enum"))
        .cloned()
}

fn first_type(schema: &Value) -> Option<&str> {
    match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str),
        kind => kind.and_then(Value::as_str),
    }
}

fn number(schema: &Value) -> Value {
    ["minimum", "maximum"]
        .iter()
        .find_map(|key| schema.get(*key))
        .cloned()
        .unwrap_or(json!(0))
}

/// A list with the fewest items that the schema allows.
fn list(schema: &Value, root: &Value, depth: usize) -> Option<Value> {
    let count = schema
        .get("minItems")
        .and_then(Value::as_u64)
        .unwrap_or(0)
        .min(100);
    if count == 0 {
        return Some(json!([]));
    }
    let item = match schema.get("items") {
        Some(items) => sample_at(items, root, depth + 1)?,
        None => Value::Null,
    };
    Some(Value::Array(vec![item; count as usize]))
}

fn text(schema: &Value) -> Value {
    let written = match schema.get("format").and_then(Value::as_str) {
        Some("date-time") => "2026-01-01T00:00:00Z",
        Some("date") => "2026-01-01",
        Some("uri") => "https://example.com/",
        Some("email") => "someone@example.com",
        Some("time") => "12:00:00Z",
        Some("duration") => "PT1H",
        Some("uuid") => "00000000-0000-4000-8000-000000000000",
        Some("hostname") => "example.com",
        Some("ipv4") => "127.0.0.1",
        Some("ipv6") => "::1",
        _ => "text",
    };
    let least = schema
        .get("minLength")
        .and_then(Value::as_u64)
        .unwrap_or(0)
        .min(1000) as usize;
    let most = schema
        .get("maxLength")
        .and_then(Value::as_u64)
        .unwrap_or(1000) as usize;
    let padded = format!(
        "{written}{}",
        "x".repeat(least.saturating_sub(written.len()))
    );
    padded.chars().take(most).collect::<String>().into()
}

/// An object with the members it must have, in the order of the schema.
fn object(schema: &Value, root: &Value, depth: usize) -> Option<Value> {
    let required = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let mut object = Map::new();
    for name in required.filter_map(Value::as_str) {
        let member = schema
            .get("properties")
            .and_then(|properties| properties.get(name));
        object.insert(
            name.to_owned(),
            member.map_or(Some(Value::Null), |member| {
                sample_at(member, root, depth + 1)
            })?,
        );
    }
    Some(Value::Object(object))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(schema: &Value) -> Option<Value> {
        sample(schema, &JsonSchema::compile(schema).unwrap())
    }

    #[test]
    fn a_sample_has_what_is_required_and_fits() {
        let schema = json!({"type": "object", "required": ["city", "days", "tags", "at", "kind", "more"],
            "$defs": {"at": {"type": "object", "required": ["lat"], "properties": {"lat": {"type": "number", "minimum": -90}}}},
            "properties": {
                "city": {"type": "string", "minLength": 6}, "days": {"type": "integer", "minimum": 1},
                "tags": {"type": "array", "minItems": 2, "items": {"type": "string", "maxLength": 3}},
                "at": {"$ref": "#/$defs/at"}, "kind": {"enum": ["a", "b"]}, "more": {"anyOf": [{"type": "null"}, {}]}}});
        assert_eq!(
            sampled(&schema).unwrap(),
            json!({"city": "textxx", "days": 1, "tags": ["tex", "tex"], "at": {"lat": -90}, "kind": "a", "more": null})
        );
    }

    #[test]
    fn what_cannot_be_guessed_or_never_ends_has_no_sample() {
        assert_eq!(
            sampled(&json!({"type": "string", "pattern": "^[0-9]+$"})),
            None
        );
        let endless = json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/$defs/a"}}}}});
        assert_eq!(sampled(&endless), None);
    }
}
