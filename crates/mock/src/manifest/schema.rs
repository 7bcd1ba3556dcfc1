//! A JSON Schema in a manifest: its text for `tools/list`, and compiled for checking.

use super::fields::literal_json;
use super::json::Json;
use mcptest_core::schema::JsonSchema;
use mcptest_core::suite::read::Field;
use serde_json::Value;

/// A JSON Schema: its text, and its compiled form if values are checked against it.
#[derive(Debug, Clone)]
pub(super) struct WrittenSchema {
    pub(super) json: Json,
    pub(super) value: Value,
    pub(super) compiled: Option<JsonSchema>,
}

/// A schema. It may be invalid if no value is checked against it.
pub(super) fn read(field: &mut Field<'_>, is_held_to: bool) -> Option<WrittenSchema> {
    let json = literal_json(field)?;
    let value = field.value()?;
    if !is_held_to {
        return Some(WrittenSchema {
            json,
            value,
            compiled: None,
        });
    }
    match JsonSchema::compile_as_declared(&value) {
        Ok(compiled) => Some(WrittenSchema {
            json,
            value,
            compiled: Some(compiled),
        }),
        Err(fault) => {
            field.report(field.schema_problem(&fault));
            None
        }
    }
}
