//! JSON Schema 2020-12, compiled when a suite is loaded: no network, linear-time patterns.

use crate::report::AssertionDiff;
use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

const MAX_DIFFS: usize = 20;

/// A compiled schema and how it was written.
#[derive(Debug, Clone)]
pub struct JsonSchema {
    written: Value,
    validator: Validator,
}

impl JsonSchema {
    /// Compiles a schema; the error says what is malformed, and where.
    pub fn compile(written: &Value) -> Result<Self, SchemaFault> {
        Self::compile_with(jsonschema::options().with_draft(Draft::Draft202012), written)
    }

    /// Compiles a schema of the draft that its `$schema` names; 2020-12 when it names none.
    pub fn compile_as_declared(written: &Value) -> Result<Self, SchemaFault> {
        Self::compile_with(jsonschema::options(), written)
    }

    fn compile_with(
        options: jsonschema::ValidationOptions<'_>,
        written: &Value,
    ) -> Result<Self, SchemaFault> {
        if !matches!(written, Value::Object(_) | Value::Bool(_)) {
            let reason = "it is neither a map nor `true` nor `false`".to_owned();
            return Err(SchemaFault { pointer: String::new(), reason, help: None });
        }
        let validator = options
            .offline()
            .with_pattern_options(PatternOptions::regex())
            .build(written)
            .map_err(|error| SchemaFault::of(written, &error))?;
        Ok(Self { written: written.clone(), validator })
    }

    /// Whether the value validates.
    pub fn is_valid(&self, value: &Value) -> bool {
        self.validator.is_valid(value)
    }

    /// Where and why the value does not validate: pointers and sentences.
    pub fn reasons(&self, value: &Value) -> Vec<(String, String)> {
        let errors = self.validator.iter_errors(value).take(MAX_DIFFS);
        errors.map(|error| (error.instance_path().to_string(), error.to_string())).collect()
    }

    /// Where the value does not validate; empty when it does.
    pub fn check(&self, value: &Value) -> Vec<AssertionDiff> {
        self.validator
            .iter_errors(value)
            .take(MAX_DIFFS)
            .map(|error| AssertionDiff {
                pointer: error.instance_path().to_string(),
                expected: self.rule(error.schema_path().as_str()),
                actual: error.instance().clone().into_owned(),
                absent: None,
            })
            .collect()
    }

    /// The rule that was broken, as written: `{"minimum": 0.7}`.
    fn rule(&self, pointer: &str) -> Value {
        let keyword = pointer.rsplit('/').next().unwrap_or_default();
        let rule = self.written.pointer(pointer).cloned().unwrap_or(Value::Bool(false));
        if keyword.is_empty() { rule } else { serde_json::json!({ keyword: rule }) }
    }
}

/// Why a schema cannot be compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaFault {
    /// Where in the schema.
    pub pointer: String,
    /// What is wrong.
    pub reason: String,
    /// What to do.
    pub help: Option<String>,
}

impl From<SchemaFault> for String {
    fn from(fault: SchemaFault) -> Self {
        fault.reason
    }
}

const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

impl SchemaFault {
    fn of(written: &Value, error: &jsonschema::ValidationError<'_>) -> Self {
        let pointer = error.instance_path().to_string();
        if let Some((at, address)) = remote_reference(written, "") {
            return Self {
                pointer: at,
                reason: format!("`{address}` would have to be fetched, and nothing is"),
                help: Some("copy that schema under `$defs:` and refer to it as `#/$defs/name`".to_owned()),
            };
        }
        if pointer.ends_with("/type") {
            let found = written.pointer(&pointer).cloned().unwrap_or_default();
            let near = found.as_str().and_then(|word| crate::problem::nearest(word, TYPES));
            let help = near.map_or_else(
                || format!("the types are {}", TYPES.join(", ")),
                |near| format!("did you mean `{near}`?"),
            );
            return Self { pointer, reason: format!("{found} is not a type"), help: Some(help) };
        }
        let reason = match &pointer[..] {
            "" => error.to_string(),
            pointer => format!("{error} (at {pointer})"),
        };
        Self { pointer, reason, help: None }
    }
}

/// The first `$ref` that leads out of the schema, with its place.
fn remote_reference(schema: &Value, at: &str) -> Option<(String, String)> {
    match schema {
        Value::Object(map) => map.iter().find_map(|(key, value)| {
            let here = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
            match (key.as_str(), value) {
                ("$ref" | "$dynamicRef", Value::String(address)) if address.contains("://") => {
                    Some((here, address.clone()))
                }
                _ => remote_reference(value, &here),
            }
        }),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(index, item)| remote_reference(item, &format!("{at}/{index}"))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_broken_rule_is_shown_where_it_was_broken() {
        let schema = JsonSchema::compile(&json!({"properties": {"q": {"minLength": 3}}})).unwrap();
        let diffs = schema.check(&json!({"q": "x"}));
        assert_eq!(diffs[0].pointer, "/q");
        assert_eq!(diffs[0].expected, json!({"minLength": 3}));
        assert_eq!(diffs[0].actual, json!("x"));
        assert!(schema.is_valid(&json!({"q": "xyz"})));
    }

    #[test]
    fn what_is_malformed_remote_or_slow_is_refused() {
        assert!(JsonSchema::compile(&json!({"type": 12})).is_err());
        assert!(JsonSchema::compile(&json!("string")).is_err());
        assert!(JsonSchema::compile(&json!({"$ref": "https://example.com/x.json"})).is_err());
        assert!(JsonSchema::compile(&json!({"pattern": "(?=a)b"})).is_err());
        assert!(JsonSchema::compile(&json!({"pattern": "("})).is_err());
    }
}
