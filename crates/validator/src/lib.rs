//! Does a value match a JSON Schema, in a bounded number of steps, without network and with
//! linear-time patterns?
//!
//! The only caller of the validator. It is a separate crate because the validator is generic: each
//! caller compiles all of it, and here that happens once, for size.

mod paths;
mod plain;
mod steps;

pub use steps::TOO_MUCH_WORK;

use jsonschema::{Draft, PatternOptions, ValidationError};
use serde_json::Value;
use std::sync::OnceLock;

/// A schema that is ready for use.
#[derive(Debug, Clone)]
pub struct Validator {
    rules: Rules,
    /// True if references form a cycle, so that no value has a verdict.
    is_endless: bool,
}

/// The compiled schema.
#[derive(Debug, Clone)]
enum Rules {
    Compiled(Box<jsonschema::Validator>),
    /// The schema certainly compiles, which happens when the first value is checked: a replay loads
    /// the schemas of mocks that it never starts.
    WhenNeeded {
        written: Box<Value>,
        draft: Option<Draft>,
        compiled: OnceLock<Option<Box<jsonschema::Validator>>>,
    },
}

impl Rules {
    fn get(&self) -> Option<&jsonschema::Validator> {
        match self {
            Self::Compiled(rules) => Some(rules),
            Self::WhenNeeded {
                written,
                draft,
                compiled,
            } => {
                let compile = || compile(*draft, written).ok().map(Box::new);
                compiled.get_or_init(compile).as_deref()
            }
        }
    }
}

/// Why a schema cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompileError {
    /// The check would take too many steps.
    TooMuchWork,
    /// A part of the schema is invalid.
    Malformed {
        /// The place in the schema, as a JSON pointer.
        pointer: String,
        /// The validator's message.
        reason: String,
    },
}

/// A rule of a schema that a value breaks.
#[derive(Debug, Clone, PartialEq)]
pub struct Broken {
    /// The place in the value, as a JSON pointer.
    pub pointer: String,
    /// The rule's place in the schema, as a JSON pointer.
    pub rule: String,
    /// The value at that place.
    pub actual: Value,
    /// The problem, in a sentence.
    pub reason: String,
}

impl Validator {
    /// A schema of draft 2020-12.
    pub fn compile(written: &Value) -> Result<Self, CompileError> {
        Self::compile_with(Some(Draft::Draft202012), written)
    }

    /// Compiles a schema of the draft in its `$schema`; 2020-12 by default.
    pub fn compile_as_declared(written: &Value) -> Result<Self, CompileError> {
        Self::compile_with(None, written)
    }

    fn compile_with(draft: Option<Draft>, written: &Value) -> Result<Self, CompileError> {
        if plain::is_plain(written) {
            return Ok(Self {
                rules: Rules::WhenNeeded {
                    written: Box::new(written.clone()),
                    draft,
                    compiled: OnceLock::new(),
                },
                is_endless: false,
            });
        }
        Ok(Self {
            rules: Rules::Compiled(Box::new(compile(draft, written)?)),
            is_endless: paths::are_endless(written),
        })
    }

    /// Returns true if the value is valid. `None` if the check takes too much work.
    pub fn verdict(&self, value: &Value) -> Option<bool> {
        if self.is_endless {
            return None;
        }
        let rules = self.rules.get()?;
        steps::evaluate(value, || rules.is_valid(value))
    }

    /// The first `most` rules that the value breaks; `None` if the check takes too much work.
    pub fn broken(&self, value: &Value, most: usize) -> Option<Vec<Broken>> {
        if self.is_endless {
            return None;
        }
        let rules = self.rules.get()?;
        steps::evaluate(value, || {
            rules
                .iter_errors(value)
                .take(most)
                .map(|error| Broken::from_error(&error))
                .collect()
        })
    }
}

#[expect(clippy::disallowed_methods, reason = "here is what limits the work")]
fn compile(draft: Option<Draft>, written: &Value) -> Result<jsonschema::Validator, CompileError> {
    let counted = steps::counted(written);
    let unlimited = match draft {
        Some(draft) => jsonschema::options().with_draft(draft),
        None => jsonschema::options(),
    };
    let options = unlimited
        .offline()
        .with_pattern_options(PatternOptions::regex())
        .with_keyword(steps::STEP, |_, _, _| Ok(steps::keyword()));
    let compiled = steps::compile(written, || options.build(&counted));
    compiled
        .ok_or(CompileError::TooMuchWork)?
        .map_err(|error| CompileError::Malformed {
            pointer: error.instance_path().to_string(),
            reason: error.to_string(),
        })
}

impl Broken {
    fn from_error(error: &ValidationError<'_>) -> Self {
        Self {
            pointer: error.instance_path().to_string(),
            rule: error.schema_path().to_string(),
            actual: error.instance().clone().into_owned(),
            reason: steps::without_step(&error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    /// Values of the right and of the wrong kind for a keyword.
    fn any_rule() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<bool>().prop_map(Value::from),
            (-3_i64..9).prop_map(Value::from),
            Just(json!(2.5)),
            Just(json!(null)),
            prop::sample::select(vec!["string", "object", "array", "text", "date", ""])
                .prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 4, |inner| {
            let keys = prop::sample::select(vec![
                "type",
                "properties",
                "items",
                "required",
                "enum",
                "minimum",
                "minLength",
                "title",
                "default",
                "const",
                "additionalProperties",
                "uniqueItems",
                "format",
                "examples",
                "$ref",
                "$id",
                "pattern",
                "anyOf",
                "name",
            ]);
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(keys, inner, 0..4).prop_map(|fields| json!(fields)),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_plain_schema_compiles(schema in any_rule(), value in any_rule()) {
            if !plain::is_plain(&schema) {
                return Ok(());
            }
            for draft in [None, Some(Draft::Draft202012)] {
                let compiled = compile(draft, &schema);
                prop_assert!(compiled.is_ok(), "{schema}: {compiled:?}");
            }
            let validator = Validator::compile(&schema).unwrap();
            prop_assert!(validator.verdict(&value).is_some(), "{schema} on {value}");
        }
    }

    #[test]
    fn a_schema_that_may_be_wrong_is_compiled_at_once() {
        for schema in [
            json!({"type": 12}),
            json!({"properties": {"a": {"type": "text"}}}),
            json!({"required": ["a", "a"]}),
            json!({"minLength": -1}),
            json!({"pattern": "("}),
            json!({"$ref": "#/nowhere"}),
        ] {
            assert!(Validator::compile(&schema).is_err(), "{schema}");
        }
    }

    #[test]
    fn a_schema_that_is_compiled_late_gives_the_verdicts_of_its_rules() {
        let schema = json!({"type": "object", "required": ["city"], "properties": {
            "city": {"type": "string", "minLength": 1}, "days": {"type": "integer", "maximum": 7}}});
        assert!(plain::is_plain(&schema));
        let validator = Validator::compile(&schema).unwrap();
        assert_eq!(validator.verdict(&json!({"city": "Oslo"})), Some(true));
        let broken = validator
            .clone()
            .broken(&json!({"city": "", "days": 9}), 9)
            .unwrap();
        assert_eq!(broken.len(), 2);
    }
}
