//! `store:` collections of records, so that created records can be read again.

use super::fields::any_json;
use super::json::Json;
use super::scope::Scope;
use mcptest_core::problem::Problem;
use mcptest_core::suite::read::Field;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// A record.
pub(super) type Record = Map<String, Value>;

/// A collection of the manifest.
#[derive(Debug)]
pub(super) struct Collection {
    pub(super) name: String,
    /// The field that identifies records.
    pub(super) key: String,
    /// The key of a record that is created without one.
    pub(super) id: Json,
    /// The initial records.
    pub(super) seed: Vec<Record>,
}

impl Collection {
    pub(super) fn read(name: &str, field: &mut Field<'_>) -> Option<Self> {
        field.block(|block| {
            let key = block
                .optional(
                    "key",
                    "The field that identifies records [default: `id`]",
                    |f| f.name(),
                )
                .unwrap_or_else(|| "id".to_owned());
            let id = block.optional(
                "id",
                "The key of a record that is created without one; `${next}` is 1, then 2, …",
                read_id,
            );
            let mut seen = BTreeSet::new();
            let seed = block.list("seed", "The initial records", |f| {
                read_seed(f, &key, &mut seen)
            });
            let id = id.unwrap_or_else(|| Json::value_of("next", &["next"]));
            Self {
                name: name.to_owned(),
                key,
                id,
                seed,
            }
        })
    }
}

/// Ids must differ, so that a second record can be created.
fn read_id(field: &mut Field<'_>) -> Option<Json> {
    let id = any_json(field, &Scope::new(&["next"]))?;
    if id.paths().is_empty() && !field.is_describing() {
        let problem = Problem::error("every record would get this same key, but keys are unique");
        field.report(problem.help("write `${next}` into it, such as `T-${next}`"));
        return None;
    }
    Some(id)
}

fn read_seed(field: &mut Field<'_>, key: &str, seen: &mut BTreeSet<String>) -> Option<Record> {
    let value = field.value();
    field.amend_schema("type", json!("object"));
    let problem = match value? {
        Value::Object(record) => match record.get(key).and_then(key_text) {
            Some(text) if seen.insert(text.clone()) => return Some(record),
            Some(text) => Problem::error(format!("another record has the {key} `{text}`")),
            None => Problem::error(format!(
                "this record has no `{key}`, the key of its collection"
            )),
        },
        _ => Problem::error("a record is a map"),
    };
    field.report(problem);
    None
}

/// A key for lookup: `1` and `"1"` are equal.
pub(super) fn key_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
