//! Which arguments of a tool are repeated as HTTP headers (`x-mcp-header`), and how are their
//! values encoded?

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::collections::BTreeSet;
use thiserror::Error;

/// An argument that is repeated as a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ParamHeader {
    path: Vec<String>,
    name: String,
}

/// Why the annotations of a schema break the rules.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum BadParamHeader {
    #[error("`x-mcp-header` must be on a property, not on the schema itself")]
    OnSchema,
    #[error("`x-mcp-header` must be on a property that is reached through `properties` alone")]
    Misplaced,
    #[error("the `x-mcp-header` of `{path}` {why}")]
    OfProperty { path: String, why: &'static str },
}

/// The arguments of a schema that are repeated, or why its annotations break the rules.
pub(super) fn read(schema: &Value) -> Result<Vec<ParamHeader>, BadParamHeader> {
    if schema.get("x-mcp-header").is_some() {
        return Err(BadParamHeader::OnSchema);
    }
    if is_misplaced(schema, true) {
        return Err(BadParamHeader::Misplaced);
    }
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    collect(schema, &mut Vec::new(), &mut seen, &mut found)?;
    Ok(found)
}

fn collect(
    schema: &Value,
    path: &mut Vec<String>,
    seen: &mut BTreeSet<String>,
    found: &mut Vec<ParamHeader>,
) -> Result<(), BadParamHeader> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Ok(());
    };
    for (name, property) in properties {
        path.push(name.clone());
        if let Some(header) = property.get("x-mcp-header") {
            let wrong = |why| {
                Err(BadParamHeader::OfProperty {
                    path: path.join("."),
                    why,
                })
            };
            let Some(header) = header.as_str() else {
                return wrong("is not a string");
            };
            if header.is_empty() || http::HeaderName::from_bytes(header.as_bytes()).is_err() {
                return wrong("is not a valid header name");
            }
            if !seen.insert(header.to_ascii_lowercase()) {
                return wrong("appears twice");
            }
            if !matches!(
                property.get("type").and_then(Value::as_str),
                Some("string" | "integer" | "boolean")
            ) {
                return wrong("is on a property whose type is not string, integer or boolean");
            }
            found.push(ParamHeader {
                path: path.clone(),
                name: format!("Mcp-Param-{header}"),
            });
        }
        collect(property, path, seen, found)?;
        path.pop();
    }
    Ok(())
}

fn is_misplaced(schema: &Value, on_path: bool) -> bool {
    match schema {
        Value::Object(schema) => schema.iter().any(|(key, value)| match key.as_str() {
            "x-mcp-header" => !on_path,
            "properties" => any_is_misplaced(value, on_path),
            "$defs" | "definitions" | "dependentSchemas" | "patternProperties" => {
                any_is_misplaced(value, false)
            }
            "default" | "const" | "enum" | "examples" => false,
            _ => is_misplaced(value, false),
        }),
        Value::Array(items) => items.iter().any(|item| is_misplaced(item, false)),
        _ => false,
    }
}

fn any_is_misplaced(schemas: &Value, on_path: bool) -> bool {
    schemas
        .as_object()
        .is_some_and(|schemas| schemas.values().any(|schema| is_misplaced(schema, on_path)))
}

/// The headers of these arguments. Absent and null arguments have none.
pub(super) fn headers_of(wanted: &[ParamHeader], arguments: &Value) -> Vec<(String, String)> {
    wanted
        .iter()
        .filter_map(|header| {
            let value = header
                .path
                .iter()
                .try_fold(arguments, |value, key| value.get(key))?;
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Bool(_) | Value::Number(_) => value.to_string(),
                _ => return None,
            };
            Some((header.name.clone(), encode(&text)))
        })
        .collect()
}

/// A string as a header's value: in base64 if HTTP would change it.
pub(super) fn encode(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| (0x20..=0x7e).contains(&byte))
        && text.trim_matches(' ') == text
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    if is_plain {
        text.to_owned()
    } else {
        format!("=?base64?{}?=", STANDARD.encode(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn annotated_arguments_become_headers() {
        let schema = json!({"properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "deep": {"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
            "absent": {"type": "boolean", "x-mcp-header": "Absent"},
        }});
        let headers = headers_of(
            &read(&schema).unwrap(),
            &json!({"region": "Zürich", "deep": {"n": 3}}),
        );
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            headers,
            [
                header("Mcp-Param-N", "3"),
                header("Mcp-Param-Region", "=?base64?WsO8cmljaA==?=")
            ]
        );
    }

    #[test]
    fn an_annotation_out_of_place_is_refused() {
        let refused = |schema: Value| read(&schema).is_err();
        assert!(refused(
            json!({"properties": {"a": {"type": "number", "x-mcp-header": "A"}}})
        ));
        assert!(refused(
            json!({"properties": {"a": {"items": {"x-mcp-header": "A"}}}})
        ));
        assert!(refused(
            json!({"properties": {"a": {"type": "string", "x-mcp-header": "a b"}}})
        ));
        assert!(!refused(
            json!({"properties": {"a": {"type": "string", "default": "x"}}})
        ));
    }

    #[test]
    fn a_value_that_looks_encoded_is_encoded() {
        assert_eq!(encode("plain text"), "plain text");
        assert_eq!(encode(" x"), "=?base64?IHg=?=");
        assert_eq!(encode("=?base64?eA==?="), "=?base64?PT9iYXNlNjQ/ZUE9PT89?=");
    }
}
