//! How much work may compiling a schema, or checking a value against it, take?
//!
//! A schema of a few lines can require 2^50 steps, and the validator cannot be stopped from
//! outside. So every schema in it gets an additional keyword that counts, and ends the work at the
//! limit. The count depends only on the schema and the value.
//!
//! The validator evaluates that keyword last, and skips it if another keyword fails. Therefore a
//! schema with alternatives or a reference also has it in its `allOf`, which comes first: repeated
//! work is counted before it begins.

use super::paths;
use jsonschema::{Keyword, ValidationError};
use serde_json::{Value, json};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The message for a schema that takes more work.
pub const TOO_MUCH_WORK: &str =
    "this takes too many steps, because parts of the schema refer to each other repeatedly";

const LEAST_STEPS: u64 = 1_000_000;
const STEPS_FOR_EACH_VALUE: u64 = 100;
const LEAST_COMPILED: u64 = 20_000;
const COMPILED_FOR_EACH_VALUE: u64 = 4;

/// The keyword that counts.
pub(super) const STEP: &str = "$mcptest-step";

/// Keywords with arbitrary names as keys, each with a schema.
pub(super) const MAPS: [&str; 6] = [
    "$defs",
    "definitions",
    "dependencies",
    "dependentSchemas",
    "patternProperties",
    "properties",
];

/// The part of a thread's two megabytes of stack that it may use.
const MOST_STACK: usize = 1 << 20;

/// Keywords that may evaluate a part more than once.
const REPEATING: [&str; 7] = [
    "$dynamicRef",
    "$recursiveRef",
    "$ref",
    "anyOf",
    "if",
    "not",
    "oneOf",
];

thread_local! {
    static LEFT: Cell<u64> = const { Cell::new(0) };
    /// The stack address at which the work began.
    static BEGAN: Cell<usize> = const { Cell::new(0) };
}

/// The approximate stack address. Inlined, it would be an address in the frame of its caller, which may be a different
/// function each time.
#[inline(never)]
fn place() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(&here) as usize
}

struct OutOfSteps;

/// Counts one step. The only way out of the validator is to unwind, without a panic hook or output.
fn step() {
    match LEFT.get().checked_sub(1) {
        Some(left) if place().abs_diff(BEGAN.get()) < MOST_STACK => LEFT.set(left),
        _ => resume_unwind(Box::new(OutOfSteps)),
    }
}

fn within<T>(steps: u64, work: impl FnOnce() -> T) -> Option<T> {
    LEFT.set(steps);
    BEGAN.set(place());
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => Some(done),
        Err(payload) if payload.is::<OutOfSteps>() => None,
        Err(payload) => resume_unwind(payload),
    }
}

/// Checks a value against a schema. `None` if it takes too much work.
pub(super) fn evaluate<T>(value: &Value, work: impl FnOnce() -> T) -> Option<T> {
    within(LEAST_STEPS + STEPS_FOR_EACH_VALUE * size(value), work)
}

/// Compiles a schema with [`counted`] parts; `None` if it takes too much work.
pub(super) fn compile<T>(written: &Value, work: impl FnOnce() -> T) -> Option<T> {
    if paths::are_too_many(written) {
        return None;
    }
    within(
        LEAST_COMPILED + COMPILED_FOR_EACH_VALUE * size(written),
        work,
    )
}

/// The number of values in this value, including itself.
fn size(value: &Value) -> u64 {
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<u64>(),
        Value::Object(fields) => 1 + fields.values().map(size).sum::<u64>(),
        _ => 1,
    }
}

/// The schema with the keyword that counts wherever a reference can lead.
pub(super) fn counted(written: &Value) -> Value {
    let mut schema = written.clone();
    count_in(&mut schema, false);
    schema
}

fn count_in(schema: &mut Value, is_map_of_schemas: bool) {
    // Data that is compared, and maps of something else.
    const LEFT_ALONE: [&str; 4] = ["$vocabulary", "const", "dependentRequired", "enum"];
    match schema {
        Value::Object(fields) => {
            for (key, value) in fields.iter_mut() {
                if is_map_of_schemas || !LEFT_ALONE.contains(&key.as_str()) {
                    count_in(value, !is_map_of_schemas && MAPS.contains(&key.as_str()));
                }
            }
            if !is_map_of_schemas {
                fields.insert(STEP.to_owned(), json!({}));
                if REPEATING.iter().any(|key| fields.contains_key(*key)) {
                    let all = fields.entry("allOf").or_insert_with(|| json!([]));
                    all.as_array_mut()
                        .into_iter()
                        .for_each(|all| all.push(json!({ STEP: {} })));
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| count_in(item, false)),
        _ => {}
    }
}

/// Removes the counting keyword from a schema in a message.
pub(super) fn without_step(message: &str) -> String {
    let step = format!("\"{STEP}\":{{}}");
    let alone = format!("\"allOf\":[{{{step}}}]");
    let mut message = message.replace(&format!(",{{{step}}}"), "");
    for entry in [alone, step] {
        message = message
            .replace(&format!("{entry},"), "")
            .replace(&format!(",{entry}"), "")
            .replace(&entry, "");
    }
    message
}

struct Step;

impl<'i> Keyword<'i> for Step {
    fn validate(&self, _: &'i Value) -> Result<(), ValidationError<'i>> {
        step();
        Ok(())
    }

    fn is_valid(&self, _: &'i Value) -> bool {
        step();
        true
    }
}

/// The keyword for one part of a schema. Creating it counts as a step of compiling.
pub(super) fn keyword() -> Box<dyn for<'i> Keyword<'i>> {
    step();
    Box::new(Step)
}
