//! Are two JSON texts or values equal, is one part of the other, and is a string safe to read?

#[cfg(test)]
pub(crate) mod arbitrary;
mod check;
mod compare;
pub mod document;
mod doubtful;
mod hash;
mod key;
mod layout;
mod members;
mod number;
mod subset;
mod twice;

pub use check::{JsonFault, JsonProblem, MAX_DEPTH, check, check_within};
pub use compare::{difference, values_equal};
pub use doubtful::doubtful_number;
pub use hash::{equal, hash, hash_of_bags, hash_value};
pub(crate) use key::Key;
pub use layout::{Layout, write};
pub use members::Members;
pub use number::compare_numbers;
pub use subset::{difference_of_bags, is_part_of, is_subset};
pub use twice::key_written_twice;

use serde_json::Value;

/// A key as a JSON pointer writes it.
pub fn pointer_key(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// The type of a value, as JSON Schema names it.
pub fn type_word(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
