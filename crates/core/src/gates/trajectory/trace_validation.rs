//! Do the calls of a recorded run match the expected ones? The library's door to the `trajectory:` gate.
//!
//! ```
//! use mcptest_core::eval::{
//!     ExpectedArgs, ExpectedCall, ExpectedTrace, tool_calls_from_envelope, validate_trace,
//! };
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let cassette_value = serde_json::json!({ "trace": { "tool_calls": [
//! #     { "name": "login", "server": "docs", "args": {} },
//! #     { "name": "search", "server": "docs", "args": { "q": "rust", "page": 1 } },
//! #     { "name": "open", "server": "docs", "args": { "id": 7 } },
//! # ] } });
//!
//! let calls = tool_calls_from_envelope(&cassette_value);
//! let expected = ExpectedTrace::subsequence(vec![
//!     ExpectedCall {
//!         name: "search".into(),
//!         args: ExpectedArgs::Subset(serde_json::json!({"q": "rust"})),
//!     },
//!     ExpectedCall::by_name("open"),
//! ]);
//! let result = validate_trace(&calls, &expected)?;
//! assert!(result.passed);
//! # let result = validate_trace(&calls[..1], &expected)?;
//! # assert_eq!(result.mismatches.len(), 2);
//! # assert_eq!(result.mismatches[0].recorded_index, None);
//! # Ok(())
//! # }
//! ```

use super::comparison::Comparison;
use super::mismatch::mismatches;
use super::recorded::RecordedCall;
pub use super::reference::MatchMode;
use super::reference::{Reference, ReferenceCall};
use super::shape::ArgumentShape;
use super::verdict::TraceVerdict;
use crate::report::AssertionDiff;
use crate::schema::JsonSchema;
use serde_json::Value;
use thiserror::Error;

/// The maximum number of calls to compare for each mismatch, in search of the call that was meant.
const MOST_LOOKS: usize = 16;

/// Expected calls, and the mode of comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedTrace {
    /// The mode of comparison.
    pub mode: MatchMode,
    /// The expected calls, in order if the mode has one.
    pub calls: Vec<ExpectedCall>,
}

impl ExpectedTrace {
    /// Expects exactly these calls, in order.
    pub fn strict(calls: Vec<ExpectedCall>) -> Self {
        Self {
            mode: MatchMode::Strict,
            calls,
        }
    }

    /// The older name of [`ExpectedTrace::strict`].
    pub fn exact_sequence(calls: Vec<ExpectedCall>) -> Self {
        Self::strict(calls)
    }

    /// All calls in order, with other calls in between.
    pub fn subsequence(calls: Vec<ExpectedCall>) -> Self {
        Self {
            mode: MatchMode::Subsequence,
            calls,
        }
    }

    /// All calls in any order, among other calls.
    pub fn unordered(calls: Vec<ExpectedCall>) -> Self {
        Self {
            mode: MatchMode::Unordered,
            calls,
        }
    }

    /// At least these calls, in any order.
    pub fn superset(calls: Vec<ExpectedCall>) -> Self {
        Self {
            mode: MatchMode::Superset,
            calls,
        }
    }

    /// Exactly these calls, in any order; an empty list allows none.
    pub fn set(calls: Vec<ExpectedCall>) -> Self {
        Self {
            mode: MatchMode::Set,
            calls,
        }
    }

    /// At most these calls, in any order.
    pub fn subset(calls: Vec<ExpectedCall>) -> Self {
        Self {
            mode: MatchMode::Subset,
            calls,
        }
    }
}

/// One expected call.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedCall {
    /// The tool: bare, `server.tool` or `server__tool`.
    pub name: String,
    /// The shape of its arguments.
    pub args: ExpectedArgs,
}

impl ExpectedCall {
    /// A call to this tool with any arguments.
    pub fn by_name(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            args: ExpectedArgs::Any,
        }
    }
}

/// The shape of the arguments of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum ExpectedArgs {
    /// Anything, absent included.
    Any,
    /// Any arguments, explicitly ignored.
    Ignore,
    /// Equal to this by JSON value; absent arguments are null.
    Exact(Value),
    /// The value with every list as a bag: equal items in any order.
    ExactBags(Value),
    /// At least this: objects key by key, lists as multisets, scalars equal.
    Subset(Value),
    /// Valid against this JSON Schema.
    Schema(Value),
    /// Any of these.
    OneOf(Vec<ExpectedArgs>),
}

impl ExpectedArgs {
    fn compile(&self) -> Result<ArgumentShape, String> {
        Ok(match self {
            Self::Any | Self::Ignore => ArgumentShape::Any,
            Self::Exact(value) => ArgumentShape::exact(value.clone()),
            Self::ExactBags(value) => ArgumentShape::exact_bags(value.clone()),
            Self::Subset(part) => ArgumentShape::Subset(part.clone()),
            Self::Schema(written) => ArgumentShape::Schema {
                written: written.clone(),
                schema: Box::new(JsonSchema::compile(written)?),
            },
            Self::OneOf(shapes) => {
                ArgumentShape::OneOf(shapes.iter().map(Self::compile).collect::<Result<_, _>>()?)
            }
        })
    }
}

/// An expectation that cannot be checked against any run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("expected call {} `{name}` has a malformed JSON Schema: {problem}", expected_index + 1)]
pub struct MalformedSchema {
    /// The expected call, from 0.
    pub expected_index: usize,
    /// Its tool.
    pub name: String,
    /// The problem with the schema.
    pub problem: String,
}

/// The result of comparing a run with its expected calls.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceValidation {
    /// True if the run is as expected.
    pub passed: bool,
    /// The mismatches, `trajectory.mismatch_count` in total.
    pub mismatches: Vec<TraceMismatch>,
}

/// One difference between a run and the expected calls.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceMismatch {
    /// The expected call, from 0; the number of expected calls if a recorded one has no
    /// counterpart.
    pub expected_index: usize,
    /// The compared recorded call, from 0. `None` if the run has no such call.
    pub recorded_index: Option<usize>,
    /// The differences of that call: `/name`, or under `/args`.
    pub diffs: Vec<AssertionDiff>,
    /// The mismatch in one sentence that counts calls from 1.
    pub reason: String,
}

/// Holds recorded calls (objects with `name`, `server` and `args`) to the expected ones. Only a malformed
/// JSON Schema is an error, and it is one even where no call reaches it.
///
/// ```
/// use mcptest_core::eval::trace_validation::{ExpectedCall, ExpectedTrace, validate_trace};
/// use serde_json::json;
///
/// let expected = ExpectedTrace::strict(vec![ExpectedCall::by_name("open")]);
/// let result = validate_trace(&[json!({"name": "close"})], &expected)?;
/// assert!(!result.passed);
/// assert_eq!(result.mismatches[0].diffs[0].pointer, "/name");
/// assert_eq!(result.mismatches[0].reason, "call 1 is `close`, expected `open`");
/// # Ok::<(), mcptest_core::eval::MalformedSchema>(())
/// ```
pub fn validate_trace(
    calls: &[Value],
    expected: &ExpectedTrace,
) -> Result<TraceValidation, MalformedSchema> {
    let reference = compile(expected)?;
    let comparison = Comparison::new(
        &reference,
        calls.iter().enumerate().map(RecordedCall::from).collect(),
    );
    let verdict = TraceVerdict::new(&comparison);
    let mismatches: Vec<_> = mismatches(&comparison, &verdict, MOST_LOOKS).collect();
    Ok(TraceValidation {
        passed: mismatches.is_empty(),
        mismatches,
    })
}

pub(super) fn compile(expected: &ExpectedTrace) -> Result<Reference, MalformedSchema> {
    let compile = |(expected_index, call): (usize, &ExpectedCall)| {
        let name = call.name.clone();
        match call.args.compile() {
            Ok(shape) => Ok(ReferenceCall { name, shape }),
            Err(problem) => Err(MalformedSchema {
                expected_index,
                name,
                problem,
            }),
        }
    };
    let calls = expected
        .calls
        .iter()
        .enumerate()
        .map(compile)
        .collect::<Result<_, _>>()?;
    Ok(Reference::new(expected.mode, calls))
}

/// The calls of a cassette (`trace.tool_calls`) or of a trace envelope (`tool_calls`). Empty if it has neither key.
pub fn tool_calls_from_envelope(envelope: &Value) -> Vec<Value> {
    let nested = envelope
        .pointer("/trace/tool_calls")
        .and_then(Value::as_array);
    let at_root = || envelope.get("tool_calls").and_then(Value::as_array);
    nested.or_else(at_root).cloned().unwrap_or_default()
}
