//! Which parameters and values does a tool's schema name?

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The parameters of a tool by their paths, each with the values that its schema names.
pub type Parameters = BTreeMap<String, BTreeSet<String>>;

/// The tools of a server with their parameters and values. Lists, because recordings do not keep
/// values under a secret name, which a map key could be.
pub type Surface = Vec<(String, Vec<(String, BTreeSet<String>)>)>;

/// The number of parts of one schema to visit: references can make a short schema very large.
pub(super) const MOST_PARTS: usize = 4096;

/// The parameters of this schema. The parameters of a list's items have the list's path.
pub fn parameters(schema: &Value) -> Parameters {
    let mut walk = SurfaceWalk {
        root: schema,
        references: Vec::new(),
        parts: 0,
        found: Parameters::new(),
    };
    walk.part(schema, "");
    walk.found
}

struct SurfaceWalk<'s> {
    root: &'s Value,
    /// The references so far: a schema may refer to itself.
    references: Vec<&'s str>,
    parts: usize,
    found: Parameters,
}

impl<'s> SurfaceWalk<'s> {
    fn part(&mut self, schema: &'s Value, path: &str) {
        self.parts += 1;
        if self.parts > MOST_PARTS {
            return;
        }
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let referred = reference
                .strip_prefix('#')
                .and_then(|pointer| self.root.pointer(pointer));
            if let Some(referred) = referred.filter(|_| !self.references.contains(&reference)) {
                self.references.push(reference);
                self.part(referred, path);
                self.references.pop();
            }
        }
        for key in ["anyOf", "oneOf", "allOf"] {
            let branches = schema.get(key).and_then(Value::as_array);
            branches
                .into_iter()
                .flatten()
                .for_each(|branch| self.part(branch, path));
        }
        if let Some(items) = schema.get("items") {
            self.part(items, path);
        }
        for (name, property) in schema
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let path = joined(path, name);
            self.found.entry(path.clone()).or_default();
            self.part(property, &path);
        }
        if let Some(values) = self.found.get_mut(path) {
            values.extend(named_values(schema));
        }
    }
}

/// The values that this part of a schema names, except `null`.
fn named_values(schema: &Value) -> Vec<String> {
    let listed = schema
        .get("enum")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let mut values: Vec<String> = listed
        .chain(schema.get("const"))
        .filter_map(text_of)
        .collect();
    if values.is_empty() && schema.get("type").and_then(Value::as_str) == Some("boolean") {
        values = vec!["false".to_owned(), "true".to_owned()];
    }
    values
}

/// The text for a value: a string without quotes. `None` for a value that enumerations do not list.
pub(super) fn text_of(value: &Value) -> Option<String> {
    const LONGEST: usize = 256;
    let text = match value {
        Value::String(text) if text.len() <= LONGEST => text.clone(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        _ => return None,
    };
    Some(text)
}

/// `filter` and `city` are `filter.city`.
pub(super) fn joined(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}
