//! Is every schema that a real server lists compiled and evaluated within the limits?

#![allow(clippy::unwrap_used, clippy::disallowed_methods, missing_docs)]

use mcptest_core::schema::{JsonSchema, TOO_MUCH_WORK};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else if path
            .extension()
            .is_some_and(|ending| ending == "json" || ending == "jsonl")
        {
            found.push(path);
        }
    }
}

fn schemas(value: Value, found: &mut Vec<Value>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                match key.as_str() {
                    "inputSchema" | "input_schema" | "outputSchema" | "parameters"
                        if value.is_object() =>
                    {
                        found.push(value);
                    }
                    _ => schemas(value, found),
                }
            }
        }
        Value::Array(items) => items.into_iter().for_each(|item| schemas(item, found)),
        _ => {}
    }
}

#[test]
fn no_schema_of_a_recorded_catalogue_is_too_much_work() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut recordings, mut found) = (Vec::new(), Vec::new());
    for folder in ["examples", "tests", "fuzz/corpus", "docs/schema"] {
        files(&root.join(folder), &mut recordings);
    }
    for recording in recordings {
        let text = String::from_utf8_lossy(&std::fs::read(&recording).unwrap()).into_owned();
        for value in serde_json::from_str(&text).ok().into_iter().chain(
            text.lines()
                .filter_map(|line| serde_json::from_str(line).ok()),
        ) {
            schemas(value, &mut found);
        }
    }
    // The largest schemas that we write ourselves.
    found.extend([
        mcptest_core::suite::json_schema(mcptest_core::eval::GATES),
        mcptest_core::trace::fields::json_schema(),
    ]);
    assert!(found.len() > 100, "only {} schemas were found", found.len());
    for schema in &found {
        match JsonSchema::compile_as_declared(schema) {
            Ok(compiled) => {
                for value in [json!({}), json!({"a": [1, {"b": "c"}]}), schema.clone()] {
                    assert!(compiled.verdict(&value).is_some(), "{schema}");
                }
            }
            Err(fault) => assert_ne!(fault.reason, TOO_MUCH_WORK, "{schema}"),
        }
    }
}
