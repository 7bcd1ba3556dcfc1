//! Which schemas of tools does a provider refuse, and in which words?

use super::Wrong;
use serde_json::Value;

/// The rules of a provider, with its words for each refusal.
pub(super) struct Provider {
    /// The refusal of a top-level choice.
    no_choice: Option<fn(&Place<'_>) -> String>,
    /// The refusal of an object without `properties`.
    no_properties: Option<fn(&Place<'_>) -> String>,
    /// The refusal of a property with an unusual name.
    odd_key: Option<fn(&Place<'_>) -> String>,
    /// The refusal of an array without `items`.
    no_items: Option<fn(&Place<'_>) -> String>,
    /// The refusal of `$schema`.
    dialect: Option<fn(&Place<'_>) -> String>,
    /// The refusal of a word with a value of the wrong type, with the found and the expected type.
    wrong_type: fn(&Place<'_>, &str, &str) -> String,
    /// The most tools of a request.
    pub(super) most_tools: Option<usize>,
}

/// A part of a tool's schema.
pub(super) struct Place<'a> {
    /// The tool, in the provider's numbering.
    at: &'a str,
    name: &'a str,
    path: Vec<String>,
}

impl Place<'_> {
    fn context(&self) -> String {
        let keys: Vec<String> = self.path.iter().map(|key| format!("'{key}'")).collect();
        match keys.len() {
            1 => format!("({},)", keys[0]),
            _ => format!("({})", keys.join(", ")),
        }
    }
}

pub(super) const ANTHROPIC: Provider = Provider {
    no_choice: Some(|place| {
        format!(
            "{}.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level",
            place.at
        )
    }),
    no_properties: None,
    odd_key: Some(|place| {
        format!(
            "{}.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{{1,64}}$'",
            place.at
        )
    }),
    no_items: None,
    dialect: None,
    wrong_type: |place, _, _| {
        format!(
            "{}.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12). Learn more about tool use at https://docs.claude.com/en/docs/tool-use.",
            place.at
        )
    },
    most_tools: None,
};

pub(super) const OPENAI: Provider = Provider {
    no_choice: Some(|place| {
        format!(
            "Invalid schema for function '{}': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.",
            place.name
        )
    }),
    no_properties: Some(|place| {
        format!(
            "Invalid schema for function '{}': In context=(), object schema missing properties.",
            place.name
        )
    }),
    odd_key: None,
    no_items: Some(|place| {
        format!(
            "Invalid schema for function '{}': In context={}, array schema missing items.",
            place.name,
            place.context()
        )
    }),
    dialect: None,
    wrong_type: |place, value, kind| {
        format!(
            "Invalid schema for function '{}': {value} is not of type {kind}.",
            place.name
        )
    },
    most_tools: Some(128),
};

pub(super) const MISTRAL: Provider = Provider {
    no_choice: None,
    no_properties: None,
    odd_key: None,
    no_items: None,
    dialect: None,
    wrong_type: |_, value, kind| format!("Invalid tool schema: {value} is not of type {kind}"),
    most_tools: None,
};

pub(super) const GEMINI: Provider = Provider {
    no_items: Some(|place| {
        format!(
            "* GenerateContentRequest.{}.parameters.{}.items: missing field.\n",
            place.at,
            place.path.join(".")
        )
    }),
    dialect: Some(|place| {
        format!(
            "Invalid JSON payload received. Unknown name \"$schema\" at '{}': Cannot find field.",
            place.at
        )
    }),
    wrong_type: |place, value, _| {
        format!(
            "Invalid value at '{}.parameters_json_schema.{}', {value}",
            place.at,
            place.path.join(".")
        )
    },
    ..MISTRAL
};

pub(super) fn too_many(count: usize) -> Wrong {
    Wrong::request(format!(
        "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length {count} instead."
    ))
}

pub(super) fn check(
    provider: &Provider,
    at: &str,
    name: &str,
    schema: &Value,
) -> Result<(), Wrong> {
    let mut place = Place {
        at,
        name,
        path: Vec::new(),
    };
    let says =
        |said: Option<fn(&Place<'_>) -> String>, is_wrong: bool, place: &Place<'_>| match said {
            Some(said) if is_wrong => Err(Wrong::request(said(place))),
            _ => Ok(()),
        };
    let has_choice = ["anyOf", "oneOf", "allOf"]
        .iter()
        .any(|key| schema.get(*key).is_some());
    says(provider.no_choice, has_choice, &place)?;
    says(
        provider.no_properties,
        !schema["properties"].is_object(),
        &place,
    )?;
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    let is_odd = |key: &String| key.is_empty() || key.len() > 64 || !key.chars().all(is_allowed);
    let is_odd = schema["properties"]
        .as_object()
        .is_some_and(|all| all.keys().any(is_odd));
    says(provider.odd_key, is_odd, &place)?;
    part(provider, &mut place, schema)
}

fn part(provider: &Provider, place: &mut Place<'_>, schema: &Value) -> Result<(), Wrong> {
    if !schema.is_object() {
        return Ok(());
    }
    if let Some(refusal) = provider.dialect.filter(|_| schema["$schema"].is_string()) {
        return Err(Wrong::request(refusal(place)));
    }
    if let Some(wrong) = WrongType::find(schema) {
        place.path.push(wrong.key.to_owned());
        let message = (provider.wrong_type)(place, &wrong.found, wrong.expected);
        return Err(Wrong::request(message));
    }
    let kinds = schema["type"]
        .as_array()
        .map_or(std::slice::from_ref(&schema["type"]), Vec::as_slice);
    let lacks_items = schema["items"].is_null() && kinds.iter().any(|kind| kind == "array");
    if let Some(refusal) = provider.no_items.filter(|_| lacks_items) {
        return Err(Wrong::request(refusal(place)));
    }
    for key in ["properties", "$defs", "definitions"] {
        for (name, one) in schema[key].as_object().into_iter().flatten() {
            inside(provider, place, &[key, name], one)?;
        }
    }
    for key in ["items", "additionalProperties", "not"] {
        inside(provider, place, &[key], &schema[key])?;
    }
    for key in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        for (at, one) in schema[key].as_array().into_iter().flatten().enumerate() {
            inside(provider, place, &[key, &at.to_string()], one)?;
        }
    }
    Ok(())
}

/// A word of a schema with a value of the wrong type, in the notation of Python.
struct WrongType {
    key: &'static str,
    found: String,
    expected: &'static str,
}

impl WrongType {
    fn find(schema: &Value) -> Option<Self> {
        for key in ["exclusiveMinimum", "exclusiveMaximum"] {
            if let Some(flag) = schema[key].as_bool() {
                return Some(Self {
                    key,
                    found: in_python(flag).to_owned(),
                    expected: "'number'",
                });
            }
        }
        let found = match schema.get("required") {
            None | Some(Value::Array(_)) => None,
            Some(Value::Bool(flag)) => Some(in_python(*flag).to_owned()),
            Some(Value::Null) => Some("None".to_owned()),
            Some(other) => Some(other.to_string()),
        };
        if let Some(found) = found {
            return Some(Self {
                key: "required",
                found,
                expected: "'array'",
            });
        }
        schema["items"].is_array().then(|| Self {
            key: "items",
            found: schema["items"].to_string(),
            expected: "'object', 'boolean'",
        })
    }
}

fn in_python(flag: bool) -> &'static str {
    if flag { "True" } else { "False" }
}

fn inside(
    provider: &Provider,
    place: &mut Place<'_>,
    keys: &[&str],
    schema: &Value,
) -> Result<(), Wrong> {
    let depth = place.path.len();
    place.path.extend(keys.iter().map(|key| (*key).to_owned()));
    part(provider, place, schema)?;
    place.path.truncate(depth);
    Ok(())
}
