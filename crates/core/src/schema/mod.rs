//! Which values does a JSON Schema refuse, where, and which problems does a schema itself have? Schemas are compiled
//! when a suite is loaded.

mod keywords;
mod sample;

pub use mcptest_validator::TOO_MUCH_WORK;
pub use sample::{sample, sample_of};

use crate::json::pointer_key;
use crate::problem::did_you_mean;
use crate::report::AssertionDiff;
use mcptest_validator::{Broken, CompileError, Validator};
use serde_json::Value;

const MAX_DIFFS: usize = 20;

/// A compiled schema and its source.
#[derive(Debug, Clone)]
pub struct JsonSchema {
    written: Value,
    validator: Validator,
}

impl JsonSchema {
    /// Compiles a schema of draft 2020-12. The error describes the malformed part and its place.
    pub fn compile(written: &Value) -> Result<Self, SchemaFault> {
        Self::compile_by(Validator::compile, written)
    }

    /// Compiles a schema of the draft in its `$schema`; 2020-12 by default.
    pub fn compile_as_declared(written: &Value) -> Result<Self, SchemaFault> {
        Self::compile_by(Validator::compile_as_declared, written)
    }

    fn compile_by(
        compile: fn(&Value) -> Result<Validator, CompileError>,
        written: &Value,
    ) -> Result<Self, SchemaFault> {
        if !matches!(written, Value::Object(_) | Value::Bool(_)) {
            let reason = "it is neither a map nor `true` nor `false`".to_owned();
            return Err(SchemaFault {
                pointer: String::new(),
                reason,
                help: None,
            });
        }
        let validator = compile(written).map_err(|error| SchemaFault::new(written, error))?;
        Ok(Self {
            written: written.clone(),
            validator,
        })
    }

    /// Returns true if the value validates, and false if that takes too much work.
    pub fn is_valid(&self, value: &Value) -> bool {
        self.verdict(value) == Some(true)
    }

    /// Returns true if the value validates. `None` if that takes too much work.
    pub fn verdict(&self, value: &Value) -> Option<bool> {
        self.validator.verdict(value)
    }

    /// The places and reasons of violations, as pointers and sentences.
    pub fn reasons(&self, value: &Value) -> Vec<(String, String)> {
        match self.broken(value) {
            Ok(broken) => broken
                .into_iter()
                .map(|broken| (broken.pointer, broken.reason))
                .collect(),
            Err(reason) => vec![(String::new(), reason.to_owned())],
        }
    }

    /// The violations of the value; empty if it is valid.
    pub fn check(&self, value: &Value) -> Vec<AssertionDiff> {
        let differ = |pointer, expected, actual| AssertionDiff {
            pointer,
            expected,
            actual,
            absent: None,
        };
        match self.broken(value) {
            Ok(broken) => broken
                .into_iter()
                .map(|broken| differ(broken.pointer, self.rule(&broken.rule), broken.actual))
                .collect(),
            Err(reason) => vec![differ(String::new(), reason.into(), value.clone())],
        }
    }

    /// The first violated rules, or a sentence if they cannot be computed.
    fn broken(&self, value: &Value) -> Result<Vec<Broken>, &'static str> {
        match self.verdict(value) {
            Some(true) => Ok(Vec::new()),
            None => Err(TOO_MUCH_WORK),
            Some(false) => self
                .validator
                .broken(value, MAX_DIFFS)
                .ok_or("the value does not match the schema"),
        }
    }

    /// The rule that was broken, as written: `{"minimum": 0.7}`.
    fn rule(&self, pointer: &str) -> Value {
        let keyword = pointer.rsplit('/').next().unwrap_or_default();
        let rule = self
            .written
            .pointer(pointer)
            .cloned()
            .unwrap_or(Value::Bool(false));
        if keyword.is_empty() {
            rule
        } else {
            serde_json::json!({ keyword: rule })
        }
    }
}

/// Why a schema cannot be compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaFault {
    /// The place in the schema.
    pub pointer: String,
    /// The problem.
    pub reason: String,
    /// The fix.
    pub help: Option<String>,
}

impl From<SchemaFault> for String {
    fn from(fault: SchemaFault) -> Self {
        fault.reason
    }
}

const TYPES: [&str; 7] = [
    "array", "boolean", "integer", "null", "number", "object", "string",
];

impl SchemaFault {
    fn new(written: &Value, error: CompileError) -> Self {
        let CompileError::Malformed { pointer, reason } = error else {
            return Self {
                pointer: String::new(),
                reason: TOO_MUCH_WORK.to_owned(),
                help: Some("refer to each part once".to_owned()),
            };
        };
        if let Some((at, address)) = remote_reference(written, "") {
            return Self {
                pointer: at,
                reason: format!("`{address}` is remote, and mcptest fetches nothing"),
                help: Some(
                    "copy that schema under `$defs:` and refer to it as `#/$defs/name`".to_owned(),
                ),
            };
        }
        if pointer.ends_with("/type") {
            let found = written.pointer(&pointer).cloned().unwrap_or_default();
            let word = found.as_str().unwrap_or_default();
            let help = did_you_mean(word, TYPES, || {
                format!("the types are {}", TYPES.join(", "))
            });
            return Self {
                pointer,
                reason: format!("{found} is not a type"),
                help: Some(help),
            };
        }
        let reason = match &pointer[..] {
            "" => reason,
            pointer => format!("{reason} (at {pointer})"),
        };
        Self {
            pointer,
            reason,
            help: None,
        }
    }
}

/// The first `$ref` that leads out of the schema, with its place.
fn remote_reference(schema: &Value, at: &str) -> Option<(String, String)> {
    match schema {
        Value::Object(map) => map.iter().find_map(|(key, value)| {
            let here = format!("{at}/{}", pointer_key(key));
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

    /// A schema in which each of `count` parts refers twice to the next. The first part has an
    /// extra rule.
    fn doubling(count: usize, rule: &str) -> Value {
        let mut parts: serde_json::Map<String, Value> = (0..count)
            .map(|part| {
                let next = json!({"$ref": format!("#/$defs/part{}", part + 1)});
                (format!("part{part}"), json!({"allOf": [next, next]}))
            })
            .collect();
        parts.insert(
            format!("part{count}"),
            json!({"properties": {"a": {"type": "string"}}}),
        );
        parts["part0"][rule] = json!(false);
        json!({"$ref": "#/$defs/part0", "$defs": parts})
    }

    #[test]
    fn a_schema_that_doubles_is_given_up_and_one_that_doubles_a_little_is_not() {
        let schema = JsonSchema::compile(&doubling(50, "deprecated")).unwrap();
        let value = json!({"a": "x"});
        assert_eq!(schema.verdict(&value), None);
        assert_eq!(
            schema.reasons(&value),
            [(String::new(), TOO_MUCH_WORK.to_owned())]
        );
        assert_eq!(schema.check(&value).len(), 1);
        let small = JsonSchema::compile(&doubling(10, "deprecated")).unwrap();
        assert_eq!(
            (small.verdict(&value), small.verdict(&json!({"a": 1}))),
            (Some(true), Some(false))
        );
        assert_eq!(schema.verdict(&value), None, "the count starts anew");
    }

    #[test]
    fn references_that_lead_to_each_other_are_no_verdict() {
        for schema in [
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}}),
            json!({"$ref": "#"}),
            json!({"$dynamicAnchor": "x", "$dynamicRef": "#x"}),
            json!({"$dynamicAnchor": "x", "allOf": [{"$dynamicRef": "#x"}]}),
        ] {
            let compiled = JsonSchema::compile(&schema);
            for value in [json!(1), json!({}), json!("x")] {
                let verdict = compiled
                    .as_ref()
                    .ok()
                    .and_then(|schema| schema.verdict(&value));
                assert_eq!(verdict, None, "{schema} on {value}");
            }
        }
    }

    #[test]
    fn references_to_parts_of_the_value_have_a_verdict() {
        let tree = json!({"type": "object", "properties": {"child": {"$ref": "#"}, "next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}});
        let schema = JsonSchema::compile(&tree).unwrap();
        assert_eq!(
            schema.verdict(&json!({"child": {"next": null}})),
            Some(true)
        );
        assert_eq!(schema.verdict(&json!({"child": 1})), Some(false));
    }

    #[test]
    fn alternatives_that_all_fail_are_counted_too() {
        for (key, draft) in [
            ("anyOf", "2020-12/schema"),
            ("oneOf", "2020-12/schema"),
            ("anyOf", "draft-07"),
        ] {
            let draft = match draft {
                "draft-07" => "http://json-schema.org/draft-07/schema#".to_owned(),
                newer => format!("https://json-schema.org/draft/{newer}"),
            };
            let mut parts = serde_json::Map::new();
            for part in 0..28 {
                let next = json!({"$ref": format!("#/$defs/part{}", part + 1)});
                parts.insert(format!("part{part}"), json!({key: [next, next]}));
            }
            parts.insert("part28".to_owned(), json!({"type": "string"}));
            let schema =
                json!({"$schema": draft, "items": {"$ref": "#/$defs/part0"}, "$defs": parts});
            let schema = JsonSchema::compile_as_declared(&schema);
            assert!(
                schema.is_err() || schema.is_ok_and(|schema| schema.verdict(&json!([1])).is_none()),
                "{key}"
            );
        }
        // Each list is looked at twice: in the list around it, and in the one around that.
        let twice = json!({"items": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}, "type": "array"});
        let deep = (0..40).fold(json!(1), |inner, _| json!([inner]));
        for draft in [
            "https://json-schema.org/draft/2020-12/schema",
            "http://json-schema.org/draft-07/schema#",
        ] {
            let mut schema = twice.clone();
            schema["$schema"] = json!(draft);
            let schema = JsonSchema::compile_as_declared(&schema).unwrap();
            assert_ne!(schema.verdict(&deep), Some(true), "{draft}");
        }
    }

    #[test]
    fn doubling_hidden_where_the_validator_looks_first_is_refused() {
        for rule in ["unevaluatedProperties", "unevaluatedItems"] {
            assert!(JsonSchema::compile(&doubling(50, rule)).is_err(), "{rule}");
            assert!(JsonSchema::compile(&doubling(5, rule)).is_ok(), "{rule}");
        }
        let mut with_addresses = serde_json::Map::new();
        for part in 0..40 {
            let to = |side: &str| json!({"$ref": format!("https://x.example/{}{side}", part + 1)});
            for side in ["a", "b"] {
                let id = format!("https://x.example/{part}{side}");
                with_addresses.insert(
                    format!("{part}{side}"),
                    json!({"$id": id, "allOf": [to("a"), to("b")]}),
                );
            }
        }
        for side in ["a", "b"] {
            with_addresses.insert(
                format!("40{side}"),
                json!({"$id": format!("https://x.example/40{side}")}),
            );
        }
        let schema = json!({"$ref": "https://x.example/0a", "$defs": with_addresses});
        assert_eq!(
            JsonSchema::compile(&schema).unwrap_err().reason,
            TOO_MUCH_WORK
        );
        let in_data =
            json!({"$ref": "#/const/%61", "const": {"a": {"allOf": [{"$ref": "#/const/a"}]}}});
        assert!(JsonSchema::compile(&in_data).is_err());
        let hidden = |place: &str| {
            let twice = json!({"$ref": format!("#/{place}/const")});
            let part = json!({"items": {"allOf": [twice, twice]}});
            JsonSchema::compile(
                &json!({"$ref": format!("#/{place}/const"), place: {"const": part}}),
            )
        };
        assert!(hidden("$defs").is_ok(), "a part may be named so");
        assert!(hidden("weird").is_err() && hidden("default").is_err());
        let map = json!({"$ref": "#/$defs", "$defs": {"not": {"$ref": "#/$defs"}, "if": {"$ref": "#/$defs"}}});
        assert!(JsonSchema::compile(&map).is_err());
    }

    #[test]
    fn a_chain_of_references_does_not_exhaust_the_stack() {
        for draft in [
            "https://json-schema.org/draft/2020-12/schema",
            "http://json-schema.org/draft-07/schema#",
        ] {
            for wrapped in [false, true] {
                let part = |at: usize| {
                    let next = json!({"$ref": format!("#/$defs/part{}", at + 1)});
                    (
                        format!("part{at}"),
                        if wrapped {
                            json!({"allOf": [next]})
                        } else {
                            next
                        },
                    )
                };
                let mut parts: serde_json::Map<String, Value> = (0..20_000).map(part).collect();
                parts.insert("part20000".to_owned(), json!({"type": "string"}));
                let schema = json!({"$schema": draft, "$ref": "#/$defs/part0", "$defs": parts});
                let verdict = JsonSchema::compile_as_declared(&schema)
                    .map(|schema| schema.verdict(&json!(1)));
                assert!(verdict.is_err() || verdict == Ok(None), "{draft} {wrapped}");
            }
        }
    }

    #[test]
    fn recursive_schemas_hold_deep_and_large_values() {
        let tree = json!({"$ref": "#/$defs/node", "$defs": {"node": {"type": "object", "required": ["name"],
            "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
            "additionalProperties": false}}});
        let schema = JsonSchema::compile(&tree).unwrap();
        let deep = (0..60).fold(
            json!({"name": "leaf"}),
            |inner, _| json!({"name": "n", "children": [inner]}),
        );
        let wide = json!({"name": "n", "children": vec![json!({"name": "leaf"}); 50_000]});
        assert!(schema.is_valid(&deep) && schema.is_valid(&wide));
        assert!(!schema.is_valid(&json!({"name": "n", "children": [{"nam": "x"}]})));
        for draft in [
            "https://json-schema.org/draft/2020-12/schema",
            "http://json-schema.org/draft-07/schema#",
        ] {
            let meta =
                JsonSchema::compile_as_declared(&json!({"$schema": draft, "$ref": draft})).unwrap();
            assert!(
                meta.is_valid(&tree)
                    && meta.is_valid(&crate::suite::json_schema(crate::gates::GATES)),
                "{draft}"
            );
            assert!(
                !meta.is_valid(&json!({"properties": {"a": {"type": 12}}})),
                "{draft}"
            );
        }
        let union = json!({"$ref": "#/$defs/e", "$defs": {"e": {"anyOf": [{"type": "number"},
            {"properties": {"op": {"const": "add"}, "args": {"items": {"$ref": "#/$defs/e"}}}, "required": ["op"], "type": "object"},
            {"properties": {"op": {"const": "mul"}, "args": {"items": {"$ref": "#/$defs/e"}}}, "required": ["op"], "type": "object"}]}}});
        let deep = (0..30).fold(json!(1), |inner, _| json!({"op": "mul", "args": [inner]}));
        assert!(JsonSchema::compile(&union).unwrap().is_valid(&deep));
    }

    #[test]
    fn a_message_does_not_show_how_work_is_counted() {
        let schema =
            JsonSchema::compile(&json!({"not": {"type": "string"}, "minLength": 3})).unwrap();
        for (_, reason) in schema.reasons(&json!("x")) {
            assert!(!reason.contains("mcptest"), "{reason}");
        }
        let empty = JsonSchema::compile(&json!({"not": {}})).unwrap();
        assert_eq!(empty.reasons(&json!(1))[0].1, "{} is not allowed for 1");
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
