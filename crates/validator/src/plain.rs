//! Which schemas are certain to be valid, so that they need not be compiled before a value is checked?

use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The most parts of a schema to look at.
const MOST_PARTS: usize = 1_000;

const TYPES: [&str; 7] = [
    "array", "boolean", "integer", "null", "number", "object", "string",
];

/// Returns true if the schema has only common keywords with values of their kind, and refers to
/// nothing. Such a schema always compiles, and in a bounded number of steps.
pub(super) fn is_plain(schema: &Value) -> bool {
    let mut parts = MOST_PARTS;
    is_plain_part(schema, &mut parts)
}

fn is_plain_part(schema: &Value, parts: &mut usize) -> bool {
    let Some(fewer) = parts.checked_sub(1) else {
        return false;
    };
    *parts = fewer;
    match schema {
        Value::Bool(_) => true,
        Value::Object(rules) => rules
            .iter()
            .all(|(key, rule)| is_plain_rule(key, rule, parts)),
        _ => false,
    }
}

fn is_plain_rule(key: &str, rule: &Value, parts: &mut usize) -> bool {
    match key {
        "type" => is_type(rule),
        "title" | "description" | "format" => rule.is_string(),
        "default" | "const" => refers_to_nothing(rule),
        "enum" | "examples" => rule.is_array() && refers_to_nothing(rule),
        "required" => are_distinct_texts(rule),
        "properties" => rule.as_object().is_some_and(|rules: &Map<String, Value>| {
            rules.values().all(|schema| is_plain_part(schema, parts))
        }),
        "items" | "additionalProperties" => is_plain_part(rule, parts),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => rule.is_number(),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            rule.is_u64()
        }
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => rule.is_boolean(),
        _ => false,
    }
}

fn is_type(rule: &Value) -> bool {
    let is_known = |one: &Value| one.as_str().is_some_and(|one| TYPES.contains(&one));
    match rule {
        Value::Array(several) => {
            !several.is_empty() && several.iter().all(is_known) && are_distinct_texts(rule)
        }
        one => is_known(one),
    }
}

fn are_distinct_texts(rule: &Value) -> bool {
    let mut seen = BTreeSet::new();
    rule.as_array().is_some_and(|all| {
        let mut texts = all.iter().map(Value::as_str);
        texts.all(|text| text.is_some_and(|text| seen.insert(text)))
    })
}

/// Returns true if no object in the value has a key that could be a keyword of references.
fn refers_to_nothing(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().all(refers_to_nothing),
        Value::Object(fields) => fields
            .iter()
            .all(|(key, value)| !key.starts_with('$') && refers_to_nothing(value)),
        _ => true,
    }
}
