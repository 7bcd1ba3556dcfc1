//! What does an attribute say, however OTLP wraps it?

use crate::json::{Fields, Json, Misfit, object_of, on_one_line};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The attributes of a span or an event, each as the JSON that it means.
#[derive(Debug, Default)]
pub(super) struct Attributes(BTreeMap<String, String>);

impl Attributes {
    /// Reads `[{"key": "a", "value": {"stringValue": "b"}}]` as in OTLP, a plain object, or keys of
    /// the span that begin with `attributes.`, as in a table of spans.
    pub(super) fn read(owner: &Fields<'_>) -> Result<Self, Misfit> {
        let mut attributes = BTreeMap::new();
        for (key, value) in owner.entries() {
            if let Some(key) = key.strip_prefix("attributes.") {
                flatten(key, value, &mut attributes);
            }
        }
        let Some(value) = owner.get("attributes") else {
            return Ok(Self(attributes));
        };
        if let Some(fields) = value.object() {
            fields
                .entries()
                .for_each(|(key, value)| flatten(key, value, &mut attributes));
            return Ok(Self(attributes));
        }
        for entry in owner.list("attributes")?.unwrap_or_default() {
            let entry = object_of(entry, "an attribute")?;
            let key = entry.required_string("key", "an attribute")?.into_owned();
            if let Some(value) = entry.get("value") {
                attributes.insert(key, plain(value));
            }
        }
        Ok(Self(attributes))
    }

    /// Adds the keys of a body that is an object, and returns the body as JSON.
    pub(super) fn add_body(&mut self, body: Json<'_>) -> String {
        let body = if body.object().is_some_and(|body| is_any_value(&body)) {
            plain(body)
        } else {
            body.text().to_owned()
        };
        let raw: Result<&RawValue, _> = serde_json::from_str(&body);
        if let Some(fields) = raw.ok().and_then(|raw| Json::new(raw).object()) {
            for (key, value) in fields.entries() {
                if value.text() != "null" {
                    self.insert(key, value.text().to_owned());
                }
            }
        }
        body
    }

    /// Adds an attribute unless it exists.
    pub(super) fn insert(&mut self, key: impl Into<String>, json: String) {
        self.0.entry(key.into()).or_insert(json);
    }

    /// Every attribute whose key begins with this prefix: the rest of the key, and the value as
    /// JSON text.
    pub(super) fn under(&self, prefix: &str) -> impl Iterator<Item = (&str, &str)> {
        let all = self.0.range(prefix.to_owned()..);
        all.map_while(move |(key, value)| Some((key.strip_prefix(prefix)?, value.as_str())))
    }

    /// Adds attributes of a span's event that the span itself lacks.
    pub(super) fn add_missing(&mut self, others: Self) {
        others
            .0
            .into_iter()
            .for_each(|(key, value)| self.insert(key, value));
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// Returns true if any key begins with this prefix.
    pub(super) fn has_under(&self, prefix: &str) -> bool {
        self.under(prefix).next().is_some()
    }

    /// The first existing value as text. JSON that is not a string is returned verbatim.
    pub(super) fn text(&self, keys: &[&str]) -> Option<String> {
        let found = keys.iter().find_map(|key| self.0.get(*key))?;
        Some(serde_json::from_str::<String>(found).unwrap_or_else(|_| found.clone()))
            .filter(|text| !text.is_empty() && text != "null")
    }

    pub(super) fn count(&self, keys: &[&str]) -> Option<u64> {
        let text = self.text(keys)?;
        text.strip_suffix(".0").unwrap_or(&text).parse().ok()
    }

    /// The first of these that is present, as JSON text. A string is read as JSON if it is.
    pub(super) fn json(&self, keys: &[&str]) -> Option<String> {
        let found = keys.iter().find_map(|key| self.0.get(*key))?;
        let inner = serde_json::from_str::<String>(found).ok();
        let inner = inner.filter(|text| Json::inside(text).is_some());
        Some(inner.unwrap_or_else(|| found.clone()))
    }

    /// The first existing value, verbatim: a string stays a string, whatever it contains.
    pub(super) fn as_it_stands(&self, keys: &[&str]) -> Option<Box<RawValue>> {
        keys.iter()
            .find_map(|key| self.0.get(*key))
            .map(|text| on_one_line(text))
    }
}

/// Adds one attribute. Messages and tools, written as `llm.tools.0.name` or as lists, give one
/// attribute per value.
fn flatten(key: &str, value: Json<'_>, into: &mut BTreeMap<String, String>) {
    let is_written_out = key.starts_with("llm.");
    if let Some(fields) = value.object().filter(|_| is_written_out) {
        fields
            .entries()
            .for_each(|(inner, value)| flatten(&format!("{key}.{inner}"), value, into));
    } else if let Some(list) = value.list().filter(|_| is_written_out) {
        list.iter()
            .enumerate()
            .for_each(|(at, value)| flatten(&format!("{key}.{at}"), *value, into));
    } else if value.text() != "null" {
        into.insert(key.to_owned(), value.text().to_owned());
    }
}

/// Returns true if OTLP wraps a value in these fields.
fn is_any_value(fields: &Fields<'_>) -> bool {
    let mut keys = fields.keys();
    matches!((keys.next(), keys.next()), (Some(key), None) if key.ends_with("Value"))
}

/// The JSON that an OTLP `AnyValue` means.
fn plain(value: Json<'_>) -> String {
    let Some(fields) = value.object() else {
        return value.text().to_owned();
    };
    let Some((kind, inner)) = fields.entries().next() else {
        return "null".to_owned();
    };
    match kind {
        "intValue" => inner
            .string()
            .map_or_else(|| inner.text().to_owned(), |digits| number(&digits)),
        "arrayValue" => {
            let items: Vec<String> = values(inner).into_iter().map(plain).collect();
            format!("[{}]", items.join(","))
        }
        "kvlistValue" => {
            let entries: Vec<String> = values(inner).into_iter().filter_map(entry).collect();
            format!("{{{}}}", entries.join(","))
        }
        "stringValue" | "boolValue" | "doubleValue" | "bytesValue" => inner.text().to_owned(),
        _ => value.text().to_owned(),
    }
}

/// The values of an OTLP list.
fn values(list: Json<'_>) -> Vec<Json<'_>> {
    list.object()
        .and_then(|list| list.get("values"))
        .and_then(Json::list)
        .unwrap_or_default()
}

/// One key of an OTLP map with its value.
fn entry(item: Json<'_>) -> Option<String> {
    let item = item.object()?;
    let value = item.get("value").map_or_else(|| "null".to_owned(), plain);
    Some(format!("{}:{value}", item.get("key")?.text()))
}

/// 64-bit integers are written as strings.
fn number(digits: &str) -> String {
    match digits.parse::<i128>() {
        Ok(number) => number.to_string(),
        Err(_) => serde_json::to_string(digits).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Attributes {
        let raw: &serde_json::value::RawValue = serde_json::from_str(text).unwrap();
        Attributes::read(&Json::new(raw).object().unwrap()).unwrap()
    }

    #[test]
    fn every_kind_of_value_becomes_the_json_it_means() {
        let attributes = read(
            r#"{"attributes":[
                {"key":"a","value":{"stringValue":"{\"q\": [1]}"}},
                {"key":"b","value":{"intValue":"-12"}},
                {"key":"c","value":{"kvlistValue":{"values":[
                    {"key":"x","value":{"arrayValue":{"values":[{"boolValue":true},{"doubleValue":1.5}]}}},
                    {"key":"y","value":{}}]}}}]}"#,
        );
        assert_eq!(attributes.json(&["a"]).unwrap(), r#"{"q": [1]}"#);
        assert_eq!(attributes.text(&["b"]).unwrap(), "-12");
        assert_eq!(
            attributes.json(&["none", "c"]).unwrap(),
            r#"{"x":[true,1.5],"y":null}"#
        );
        assert!(attributes.has_under("a") && !attributes.has_under("d"));
    }
}
