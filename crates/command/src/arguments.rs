//! `city=Oslo days:=3`: what is sent, and does it fit the tool's schema?

use mcptest_core::escape::escape;
use mcptest_core::json::type_word;
use mcptest_core::problem::nearest;
use mcptest_files as files;
use serde_json::{Map, Value};
use std::path::Path;
use thiserror::Error;

/// A problem with arguments, and the fix.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct ArgumentError(String);

/// The arguments in the order of the command line.
#[derive(Debug, Clone, Default)]
pub struct Given {
    whole: Map<String, Value>,
    texts: Vec<(String, String)>,
}

/// Reads `key=value`, `key:=JSON` and `--args`.
pub fn parse(written: &[String], whole: Option<&str>) -> Result<Given, ArgumentError> {
    let mut given = Given {
        whole: whole.map(object).transpose()?.unwrap_or_default(),
        texts: Vec::new(),
    };
    let mut seen: Vec<&str> = Vec::new();
    for one in written {
        let Some((key, value)) = one
            .split_once('=')
            .filter(|(key, _)| !matches!(*key, "" | ":"))
        else {
            return Err(ArgumentError(format!(
                "`{}` is not an argument\n  help: write `key=value`, or `key:=JSON` for a value as JSON; the command of a server follows `--`",
                escape(one)
            )));
        };
        let json = key.strip_suffix(':');
        let key = json.unwrap_or(key);
        if seen.contains(&key) {
            return Err(ArgumentError(format!(
                "the argument `{key}` is given twice"
            )));
        }
        seen.push(key);
        if json.is_some() {
            let value = serde_json::from_str(value).map_err(|error| {
                let (key, value) = (escape(key), escape(value));
                ArgumentError(format!(
                    "`{key}:={value}` is not JSON: {error}\n  help: `{key}={value}` sends a string"
                ))
            })?;
            given.whole.insert(key.to_owned(), value);
        } else {
            given.texts.push((key.to_owned(), value.to_owned()));
        }
    }
    Ok(given)
}

fn object(written: &str) -> Result<Map<String, Value>, ArgumentError> {
    let text = match written.strip_prefix('@') {
        None => written.to_owned(),
        Some(named) => {
            let (file, shown) = match named {
                "-" => (files::STDIN, "standard input"),
                file => (file, file),
            };
            files::read_named_text(Path::new(file), files::TEXT).map_err(|error| {
                ArgumentError(format!("cannot read {shown}: {}", files::reason(&error)))
            })?
        }
    };
    match serde_json::from_str(&text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(ArgumentError(
            "`--args` must be a JSON object, such as '{\"city\": \"Oslo\"}'".to_owned(),
        )),
        Err(error) => Err(ArgumentError(format!(
            "`--args` is not JSON: {error}\n  help: write `--args '{{\"city\": \"Oslo\"}}'` or `--args @file.json`"
        ))),
    }
}

impl Given {
    /// The arguments with the types of the tool's schema.
    pub fn typed(&self, schema: Option<&Value>) -> Result<Map<String, Value>, ArgumentError> {
        let mut arguments = self.whole.clone();
        for (key, text) in &self.texts {
            let property =
                schema.map_or(&Value::Null, |schema| &schema["properties"][key.as_str()]);
            let value = typed(text, property).ok_or_else(|| {
                let (key, text) = (escape(key), escape(text));
                ArgumentError(format!(
                    "`{key}` is declared as {}, which `{text}` is not\n  help: `{key}:=JSON` sends any JSON unchanged",
                    kind(property)
                ))
            })?;
            arguments.insert(key.clone(), value);
        }
        Ok(arguments)
    }
}

/// The text as a value of one of the property's types; `None` if it fits none.
fn typed(text: &str, property: &Value) -> Option<Value> {
    let types = types_of(property);
    let json: Option<Value> = serde_json::from_str(text).ok();
    if types.is_empty() {
        return Some(
            json.filter(|value| !value.is_string())
                .unwrap_or_else(|| text.into()),
        );
    }
    let fits = |value: &Value| types.iter().any(|name| is_of(value, name));
    match json.filter(|value| !value.is_string() && fits(value)) {
        Some(value) => Some(value),
        None => types.contains(&"string").then(|| text.into()),
    }
}

/// The types that a property allows; empty if it declares none.
fn types_of(property: &Value) -> Vec<&str> {
    if let Some(Value::Array(values)) = property.get("enum") {
        return values.iter().map(type_word).collect();
    }
    if let Some(Value::Array(choices)) = property.get("anyOf").or_else(|| property.get("oneOf")) {
        return choices.iter().flat_map(types_of).collect();
    }
    match &property["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn is_of(value: &Value, name: &str) -> bool {
    match name {
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        name => type_word(value) == name,
    }
}

/// `string`, `array of number`, `"metric" | "imperial"`.
pub fn kind(schema: &Value) -> String {
    const SHOWN: usize = 6;
    let joined = |values: &[Value], say: fn(&Value) -> String| {
        let mut said: Vec<String> = values.iter().take(SHOWN).map(say).collect();
        if values.len() > SHOWN {
            said.push("…".to_owned());
        }
        said.join(" | ")
    };
    if let Some(Value::Array(values)) = schema.get("enum") {
        return joined(values, |value| escape(&value.to_string()).into_owned());
    }
    if let Some(value) = schema.get("const") {
        return escape(&value.to_string()).into_owned();
    }
    match &schema["type"] {
        Value::String(name) if name == "array" => match kind(&schema["items"]).as_str() {
            "any" => "array".to_owned(),
            items => format!("array of {items}"),
        },
        Value::String(name) => escape(name).into_owned(),
        Value::Array(names) => joined(names, |name| {
            escape(name.as_str().unwrap_or("any")).into_owned()
        }),
        _ => match schema.get("anyOf").or_else(|| schema.get("oneOf")) {
            Some(Value::Array(choices)) => joined(choices, kind),
            _ => "any".to_owned(),
        },
    }
}

/// The suspicious arguments, a line each. They are sent anyway: the server's answer counts.
pub fn misfits(arguments: &Map<String, Value>, schema: &Value, tool: &str) -> String {
    let mut notes = String::new();
    for unknown in unknown(arguments, schema, tool) {
        notes.push_str(&format!("note: {unknown}\n"));
    }
    let required = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    let missing: Vec<String> = required
        .filter(|key| !arguments.contains_key(*key))
        .map(|key| format!("`{key}`"))
        .collect();
    if !missing.is_empty() && schema["properties"].is_object() {
        let note = format!("note: `{tool}` requires {}", missing.join(", "));
        notes.push_str(&format!("{}\n", escape(&note)));
    }
    notes
}

/// The arguments that the tool does not have, a sentence each.
/// A line for each argument that the schema does not name.
pub fn unknown(arguments: &Map<String, Value>, schema: &Value, tool: &str) -> Vec<String> {
    let Some(known) = schema["properties"].as_object() else {
        return Vec::new();
    };
    let is_open = schema
        .get("additionalProperties")
        .is_some_and(|rest| *rest != Value::Bool(false));
    let unknown = arguments
        .keys()
        .filter(|key| !known.contains_key(*key) && !is_open);
    let said = unknown.map(|key| {
        let near = nearest(key, known.keys().map(String::as_str));
        let help = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        escape(&format!("`{tool}` has no argument `{key}`{help}")).into_owned()
    });
    said.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn sent(written: &[&str], properties: &Value) -> Result<Value, String> {
        let written: Vec<String> = written.iter().map(|one| (*one).to_owned()).collect();
        let schema = json!({ "properties": properties });
        let given = parse(&written, None).map_err(|failure| failure.0)?;
        given
            .typed(Some(&schema))
            .map(Value::Object)
            .map_err(|failure| failure.0)
    }

    #[test]
    fn types_read_as_one_would_say_them() {
        for (schema, said) in [
            (json!({"type": "string"}), "string"),
            (
                json!({"type": "array", "items": {"type": "number"}}),
                "array of number",
            ),
            (json!({"type": "array"}), "array"),
            (json!({"type": ["string", "null"]}), "string | null"),
            (json!({"enum": ["a", "b"]}), r#""a" | "b""#),
            (
                json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}),
                "integer | null",
            ),
            (json!({}), "any"),
            (json!(true), "any"),
        ] {
            assert_eq!(kind(&schema), said);
        }
    }

    #[test]
    fn the_schema_gives_the_types() {
        let properties = json!({
            "zip": {"type": "string"}, "days": {"type": "integer"}, "deep": {"type": "boolean"},
            "list": {"type": "array"}, "maybe": {"type": ["string", "null"]}, "level": {"enum": [1, 2]},
            "either": {"anyOf": [{"type": "number"}, {"type": "null"}]},
        });
        let written = [
            "zip=0123",
            "days=3",
            "deep=true",
            "list=[1,2]",
            "maybe=null",
            "level=2",
            "either=1.5",
        ];
        assert_eq!(
            sent(&written, &properties).unwrap(),
            json!({"zip": "0123", "days": 3, "deep": true, "list": [1, 2], "maybe": null, "level": 2, "either": 1.5})
        );
        assert_eq!(
            sent(&["a=1", "b=x=y", "c=\"q\""], &json!({})).unwrap(),
            json!({"a": 1, "b": "x=y", "c": "\"q\""})
        );
    }

    #[test]
    fn json_is_sent_as_it_is_and_what_fits_no_type_is_refused() {
        let days = json!({"days": {"type": "integer"}});
        assert_eq!(
            sent(&["days:=\"three\""], &days).unwrap(),
            json!({"days": "three"})
        );
        assert!(
            sent(&["days=three"], &days)
                .unwrap_err()
                .starts_with("`days` is declared as integer, which `three` is not")
        );
        assert!(sent(&["days=1.5"], &days).is_err());
        assert!(
            sent(&["days:=nope"], &days)
                .unwrap_err()
                .contains("is not JSON")
        );
        assert!(
            sent(&["days"], &days)
                .unwrap_err()
                .contains("`days` is not an argument")
        );
        assert!(sent(&["a=1", "a:=2"], &days).unwrap_err().contains("twice"));
    }

    #[test]
    fn what_looks_wrong_is_named() {
        let schema = json!({"properties": {"city": {}, "days": {}}, "required": ["city"]});
        let arguments = json!({"citty": "Oslo"});
        assert_eq!(
            misfits(arguments.as_object().unwrap(), &schema, "get_weather"),
            "note: `get_weather` has no argument `citty`; did you mean `city`?\nnote: `get_weather` requires `city`\n"
        );
    }
}
