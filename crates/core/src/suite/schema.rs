//! The JSON Schema of a suite, described by the same reading that loads one.

use super::load::read_suite;
use super::read::Reading;
use super::variables::Scope;
use serde_json::{Value, json};

/// The schema that editors complete and check suites with.
pub fn json_schema() -> Value {
    let mut schema = Reading::new(Scope::default(), &|_| None).describe(read_suite);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("mcptest suite");
    schema["type"] = json!("object");
    schema
}
