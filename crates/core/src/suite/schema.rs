//! Which JSON Schema describes a suite? The code that loads a suite describes it.

use super::load::read_suite;
use super::read::Reading;
use super::variables::Scope;
use crate::eval::Gates;
use serde_json::{Value, json};

/// The schema that editors complete and check suites of these gates with.
pub fn json_schema(gates: Gates) -> Value {
    let mut schema = Reading::new(Scope::default(), &|_| None, gates).describe(read_suite);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("mcptest suite");
    schema["type"] = json!("object");
    schema
}

/// A YAML text as JSON, as suites are read before their variables are filled in: for tests of the schemas.
#[doc(hidden)]
pub fn yaml_to_json(text: &str) -> Option<Value> {
    serde_json::to_value(crate::yaml::parse(text, 0, &mut Vec::new())?).ok()
}
