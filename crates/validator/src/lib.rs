//! Does a value match a JSON Schema, in a bounded number of steps, without network and with
//! linear-time patterns?
//!
//! The only caller of the validator. It is a separate crate because the validator is generic: each
//! caller compiles all of it, and here that happens once, for size.

mod paths;
mod steps;

pub use steps::TOO_MUCH_WORK;

use jsonschema::{Draft, PatternOptions, ValidationError};
use serde_json::Value;

/// A schema that is ready for use.
#[derive(Debug, Clone)]
pub struct Validator {
    rules: jsonschema::Validator,
    /// True if references form a cycle, so that no value has a verdict.
    is_endless: bool,
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

    #[expect(clippy::disallowed_methods, reason = "here is what limits the work")]
    fn compile_with(draft: Option<Draft>, written: &Value) -> Result<Self, CompileError> {
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
        let validator = compiled
            .ok_or(CompileError::TooMuchWork)?
            .map_err(|error| CompileError::Malformed {
                pointer: error.instance_path().to_string(),
                reason: error.to_string(),
            })?;
        Ok(Self {
            rules: validator,
            is_endless: paths::are_endless(written),
        })
    }

    /// Returns true if the value is valid. `None` if the check takes too much work.
    pub fn verdict(&self, value: &Value) -> Option<bool> {
        if self.is_endless {
            return None;
        }
        steps::evaluate(value, || self.rules.is_valid(value))
    }

    /// The first `most` rules that the value breaks; `None` if the check takes too much work.
    pub fn broken(&self, value: &Value, most: usize) -> Option<Vec<Broken>> {
        if self.is_endless {
            return None;
        }
        steps::evaluate(value, || {
            self.rules
                .iter_errors(value)
                .take(most)
                .map(|error| Broken::from_error(&error))
                .collect()
        })
    }
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
