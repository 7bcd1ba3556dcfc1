//! Which keywords has JSON Schema, and does a schema ask for anything at all?

use super::JsonSchema;
use crate::json::pointer_key;
use crate::problem::nearest;
use serde_json::{Map, Value};
use std::cell::Cell;

/// Every keyword of every draft. An unknown one is ignored by all validators.
const KEYWORDS: &str = "$anchor $comment $defs $dynamicAnchor $dynamicRef $id $recursiveAnchor $recursiveRef $ref $schema \
    $vocabulary additionalItems additionalProperties allOf anyOf const contains contentEncoding \
    contentMediaType contentSchema default definitions dependencies dependentRequired dependentSchemas \
    deprecated description else enum examples exclusiveMaximum exclusiveMinimum format id if items \
    maxContains maxItems maxLength maxProperties maximum minContains minItems minLength minProperties \
    minimum multipleOf not oneOf pattern patternProperties prefixItems properties propertyNames readOnly \
    required then title type unevaluatedItems unevaluatedProperties uniqueItems";

/// The number of schemas to visit to find out whether one has requirements.
const MOST_LOOKS: usize = 1000;

/// A keyword that no validator knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownKeyword {
    /// Its place in the schema.
    pub pointer: String,
    /// The word.
    pub word: String,
    /// The keyword that was probably meant.
    pub near: Option<&'static str>,
}

impl JsonSchema {
    /// The keywords that check nothing because they do not exist. Names with `x-` are allowed.
    pub fn unknown_keywords(&self) -> Vec<UnknownKeyword> {
        let mut unknown = Vec::new();
        look(&self.written, "", &mut unknown);
        unknown
    }

    /// Returns true if every value validates.
    pub fn holds_for_all(&self) -> bool {
        Rules::new(&self.written).hold_for_all(&self.written)
    }

    /// Returns true if no value validates.
    pub fn holds_for_none(&self) -> bool {
        Rules::new(&self.written).hold_for_none(&self.written)
    }
}

fn look(schema: &Value, at: &str, unknown: &mut Vec<UnknownKeyword>) {
    for (key, value) in schema.as_object().into_iter().flatten() {
        let pointer = format!("{at}/{}", pointer_key(key));
        match (key.as_str(), value) {
            (
                "$defs" | "definitions" | "dependentSchemas" | "patternProperties" | "properties",
                Value::Object(schemas),
            ) => {
                for (name, schema) in schemas {
                    let name = pointer_key(name);
                    look(schema, &format!("{pointer}/{name}"), unknown);
                }
            }
            ("allOf" | "anyOf" | "items" | "oneOf" | "prefixItems", Value::Array(schemas)) => {
                for (index, schema) in schemas.iter().enumerate() {
                    look(schema, &format!("{pointer}/{index}"), unknown);
                }
            }
            (
                "const" | "default" | "enum" | "examples" | "dependentRequired" | "$vocabulary",
                _,
            ) => {}
            (word, _) if word.starts_with("x-") => {}
            (word, _) if KEYWORDS.split(' ').all(|known| known != word) => {
                unknown.push(UnknownKeyword {
                    pointer,
                    word: key.clone(),
                    near: nearest(word, KEYWORDS.split(' ')),
                });
            }
            _ => look(value, &pointer, unknown),
        }
    }
}

/// The schema around the current part, for its references.
struct Rules<'a> {
    root: &'a Value,
    looks: Cell<usize>,
}

impl<'a> Rules<'a> {
    fn new(root: &'a Value) -> Self {
        Self {
            root,
            looks: Cell::new(0),
        }
    }

    /// Returns false if the check takes too long.
    fn hold_for_all(&self, schema: &Value) -> bool {
        self.looks.set(self.looks.get() + 1);
        match schema {
            Value::Bool(holds) => *holds,
            Value::Object(rules) => {
                let asks_nothing =
                    |(key, rule): (&String, &Value)| self.asks_nothing(key, rule, rules);
                self.looks.get() < MOST_LOOKS && rules.iter().all(asks_nothing)
            }
            _ => false,
        }
    }

    fn hold_for_none(&self, schema: &Value) -> bool {
        match schema {
            Value::Bool(holds) => !holds,
            Value::Object(rules) => rules.get("not").is_some_and(|not| self.hold_for_all(not)),
            _ => false,
        }
    }

    /// Returns true if one keyword of a schema holds for every value.
    fn asks_nothing(&self, key: &str, rule: &Value, rules: &Map<String, Value>) -> bool {
        let all = |schema: &Value| self.hold_for_all(schema);
        let list = || rule.as_array().map_or(&[][..], Vec::as_slice);
        match key {
            "allOf" | "prefixItems" => list().iter().all(all),
            "anyOf" => list().iter().any(all),
            "oneOf" => list().len() == 1 && list().iter().all(all),
            "not" => self.hold_for_none(rule),
            "then" | "else" => !rules.contains_key("if") || all(rule),
            "properties" | "patternProperties" | "dependentSchemas" => rule
                .as_object()
                .is_some_and(|schemas| schemas.values().all(all)),
            "additionalItems"
            | "additionalProperties"
            | "items"
            | "propertyNames"
            | "unevaluatedItems"
            | "unevaluatedProperties" => all(rule),
            "contains" => {
                rules.get("minContains").is_some_and(is_zero) && !rules.contains_key("maxContains")
            }
            "required" => list().is_empty(),
            "dependentRequired" => rule
                .as_object()
                .is_some_and(|lists| lists.values().all(|list| list == &Value::Array(vec![]))),
            "minItems" | "minLength" | "minProperties" => is_zero(rule),
            "uniqueItems" => rule == &Value::Bool(false),
            "type" => {
                let names = |name: &str| list().iter().any(|one| one == name);
                ["array", "boolean", "null", "number", "object", "string"]
                    .into_iter()
                    .all(names)
            }
            "$ref" => {
                let target = rule.as_str().and_then(|name| name.strip_prefix('#'));
                target
                    .and_then(|pointer| self.root.pointer(pointer))
                    .is_some_and(all)
            }
            "$dynamicRef" | "$recursiveRef" | "const" | "dependencies" | "enum"
            | "exclusiveMaximum" | "exclusiveMinimum" | "maxItems" | "maxLength"
            | "maxProperties" | "maximum" | "minimum" | "multipleOf" | "pattern" => false,
            // What describes, what is unknown, and what counts for another keyword.
            _ => true,
        }
    }
}

fn is_zero(number: &Value) -> bool {
    number.as_f64() == Some(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_schema_that_asks_for_nothing_is_told_from_one_that_asks() {
        let holds_for_all = |schema: Value| JsonSchema::compile(&schema).unwrap().holds_for_all();
        for schema in [
            json!({}),
            json!(true),
            json!({"title": "T", "minimun": 3, "format": "email"}),
            json!({"allOf": [{}, {"properties": {"a": {}}}]}),
            json!({"anyOf": [{"type": "string"}, true]}),
            json!({"$ref": "#/$defs/any", "$defs": {"any": {"minLength": 0, "required": []}}}),
            json!({"not": false}),
            json!({"not": {"not": {}}}),
            json!({"type": ["array", "boolean", "null", "number", "object", "string"]}),
            json!({"contains": {"type": "string"}, "minContains": 0}),
            json!({"$ref": "#"}),
        ] {
            let is_a_loop = schema == json!({"$ref": "#"});
            assert_eq!(holds_for_all(schema.clone()), !is_a_loop, "{schema}");
        }
        for schema in [
            json!({"type": "object"}),
            json!(false),
            json!({"properties": {"a": {"type": "string"}}}),
            json!({"anyOf": [{"type": "string"}]}),
            json!({"contains": {}}),
            json!({"if": {"type": "string"}, "then": {"minLength": 1}}),
            json!({"not": {}}),
        ] {
            assert!(!holds_for_all(schema.clone()), "{schema}");
        }
    }

    #[test]
    fn unknown_keywords_are_found_at_every_depth_and_data_is_left_alone() {
        let schema = json!({"properties": {"minimun": {"minimun": 3}}, "const": {"typ": 1}, "x-own": {"typ": 1},
            "items": {"anyOf": [{"requird": ["a"]}, {"unheard": 1}]}, "enum": [{"typ": 1}]});
        let unknown = JsonSchema::compile(&schema).unwrap().unknown_keywords();
        let said: Vec<_> = unknown
            .iter()
            .map(|one| (one.pointer.as_str(), one.near))
            .collect();
        assert_eq!(
            said,
            [
                ("/items/anyOf/0/requird", Some("required")),
                ("/items/anyOf/1/unheard", None),
                ("/properties/minimun/minimun", Some("minimum")),
            ]
        );
    }
}
