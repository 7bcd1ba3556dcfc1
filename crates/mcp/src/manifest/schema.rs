//! The JSON Schema of a manifest, described by the same reading that loads one.

use super::context::Context;
use super::load::read_manifest;
use mcptest_core::suite::read::Reading;
use serde_json::{Value, json};
use std::path::Path;

/// The schema that editors complete and check manifests with.
pub fn json_schema() -> Value {
    let files = |_: &Path| Err(String::new());
    let context = Context::new(Path::new(""), &files);
    let mut schema = Reading::as_written("").describe(|field| read_manifest(field, &context));
    if let Value::Object(map) = &mut schema {
        map.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
        map.insert("title".to_owned(), json!("mcptest mock server manifest"));
    }
    schema
}
