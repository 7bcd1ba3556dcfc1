//! JSON Schema 2020-12, compiled when a suite is loaded: no network, linear-time patterns.

use crate::report::AssertionDiff;
use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

const MAX_DIFFS: usize = 20;

/// A compiled schema and how it was written.
#[derive(Debug, Clone)]
pub(crate) struct JsonSchema {
    written: Value,
    validator: Validator,
}

impl JsonSchema {
    /// Compiles a schema; the error says what is malformed.
    pub(crate) fn compile(written: &Value) -> Result<Self, String> {
        if !matches!(written, Value::Object(_) | Value::Bool(_)) {
            return Err("a JSON Schema is a map, or `true` or `false`".to_owned());
        }
        let validator = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .offline()
            .with_pattern_options(PatternOptions::regex())
            .build(written)
            .map_err(|error| match error.instance_path().as_str() {
                "" => error.to_string(),
                pointer => format!("{error} (at {pointer})"),
            })?;
        Ok(Self { written: written.clone(), validator })
    }

    /// Whether the value validates.
    pub(crate) fn is_valid(&self, value: &Value) -> bool {
        self.validator.is_valid(value)
    }

    /// Where the value does not validate; empty when it does.
    pub(crate) fn check(&self, value: &Value) -> Vec<AssertionDiff> {
        self.validator
            .iter_errors(value)
            .take(MAX_DIFFS)
            .map(|error| AssertionDiff {
                pointer: error.instance_path().to_string(),
                expected: self.rule(error.schema_path().as_str()),
                actual: error.instance().clone().into_owned(),
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
