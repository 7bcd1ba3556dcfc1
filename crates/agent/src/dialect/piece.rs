//! What do the bodies of all dialects have in common?

use super::{Answered, Arguments, Offered, Part};
use mcptest_core::trace::unkeepable;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// A piece of a conversation: as the provider wrote it, or as we do.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Piece<'a> {
    Echo(&'a RawValue),
    Ours(Value),
}

/// The image types that every provider with vision accepts.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

impl Part {
    /// The image, if models accept its type.
    pub(super) fn picture(&self) -> Option<(&str, &str)> {
        match self {
            Self::Image { media_type, data } if PICTURES.contains(&media_type.as_str()) => {
                Some((media_type, data))
            }
            _ => None,
        }
    }

    /// The text, or a description of an image that cannot be shown. `None` for an image that can.
    pub(super) fn text(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Image { .. } if self.picture().is_some() => None,
            Self::Image { media_type, data } => Some(format!(
                "[{media_type}, {} characters of base64]",
                data.len()
            )),
        }
    }
}

impl Offered {
    /// The description of the tool, with its own text if it has one.
    pub(super) fn described(&self, mut said: Value) -> Value {
        if let Some(description) = &self.description {
            said["description"] = description.as_str().into();
        }
        said
    }
}

impl Answered {
    /// All texts of the result.
    pub(super) fn text(&self) -> String {
        self.content
            .iter()
            .filter_map(Part::text)
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// All texts of the result, for a dialect that cannot mark an error otherwise.
    pub(super) fn text_with_mark(&self) -> String {
        let text = self.text();
        let says_so = text
            .get(..5)
            .is_some_and(|start| start.eq_ignore_ascii_case("error"));
        if self.is_error && !says_so {
            format!("Error: {text}").trim_end().to_owned()
        } else {
            text
        }
    }

    /// The images as data URLs.
    pub(super) fn picture_urls(&self) -> Vec<String> {
        let pictures = self.content.iter().filter_map(Part::picture);
        pictures
            .map(|(media_type, data)| format!("data:{media_type};base64,{data}"))
            .collect()
    }
}

impl Arguments {
    /// No arguments at all.
    pub fn none() -> Self {
        Self::Json(RawValue::from_string("{}".to_owned()).unwrap_or_default())
    }

    /// Arguments from a string that should contain an object. An empty string means no arguments.
    pub fn of_text(text: &str) -> Self {
        let written = text.trim();
        if written.is_empty() {
            return Self::none();
        }
        let is_object = serde_json::from_str::<Map<String, Value>>(written).is_ok()
            && unkeepable(written).is_none();
        match RawValue::from_string(one_line(written)) {
            Ok(raw) if is_object => Self::Json(raw),
            _ => Self::Text(text.to_owned()),
        }
    }

    /// Arguments from JSON that should be an object. A string is parsed as JSON.
    pub(super) fn of_json(raw: Option<&RawValue>) -> Self {
        let Some(raw) = raw.filter(|raw| raw.get() != "null") else {
            return Self::none();
        };
        match serde_json::from_str::<String>(raw.get()) {
            Ok(text) => Self::of_text(&text),
            Err(_) => Self::of_text(raw.get()),
        }
    }
}

/// JSON without line breaks, which can occur only between its tokens: traces have one line each.
pub(super) fn one_line(json: &str) -> String {
    json.replace(['\n', '\r'], " ")
}

pub(super) fn kept(raw: &RawValue) -> Option<Box<RawValue>> {
    RawValue::from_string(one_line(raw.get()))
        .ok()
        .filter(|raw| raw.get() != "null")
}

/// The description of a tool with its verbatim schema: a `Value` would sort the properties.
pub(super) fn with_schema(said: &Value, key: &str, schema: &RawValue) -> Box<RawValue> {
    let said = said.to_string();
    let open = said.strip_suffix('}').unwrap_or_default();
    RawValue::from_string(format!(r#"{open},"{key}":{schema}}}"#)).unwrap_or_default()
}

/// JSON written by mcptest, for use among verbatim JSON.
pub(super) fn ours(value: &Value) -> Box<RawValue> {
    RawValue::from_string(value.to_string()).unwrap_or_default()
}

/// Joins the pieces of a message's text. Pieces without a break between them are joined directly.
#[derive(Debug, Default)]
pub(super) struct MessageText {
    text: String,
    is_broken: bool,
}

impl MessageText {
    pub(super) fn push(&mut self, text: &str) {
        if self.is_broken && !self.text.is_empty() && !text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
        self.is_broken = false;
    }

    /// Records a part that is not text.
    pub(super) fn part(&mut self) {
        self.is_broken = true;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(arguments: &Arguments) -> String {
        match arguments {
            Arguments::Json(raw) => format!("json {raw}"),
            Arguments::Text(text) => format!("text {text}"),
        }
    }

    #[test]
    fn arguments_are_an_object_or_the_text_that_was_written() {
        let of = |text: &str| shown(&Arguments::of_text(text));
        assert_eq!(of(""), "json {}");
        assert_eq!(
            of(" {\"b\": 1,\n \"a\": 2.50} "),
            "json {\"b\": 1,  \"a\": 2.50}"
        );
        assert_eq!(of("{\"city\": \"Os"), "text {\"city\": \"Os");
        assert_eq!(of("[1]"), "text [1]");
        assert_eq!(of("null"), "text null");
        assert_eq!(
            of(&format!(
                "{{\"a\":{}1{}}}",
                "[".repeat(500),
                "]".repeat(500)
            ))
            .get(..4),
            Some("text")
        );
    }

    #[test]
    fn arguments_in_json_may_be_missing_or_a_text() {
        let of = |json: &str| {
            let raw: Box<RawValue> = serde_json::from_str(json).unwrap();
            shown(&Arguments::of_json(Some(&raw)))
        };
        assert_eq!(shown(&Arguments::of_json(None)), "json {}");
        assert_eq!(of("null"), "json {}");
        assert_eq!(of(r#"{"a":1}"#), r#"json {"a":1}"#);
        assert_eq!(of(r#""{\"a\":1}""#), r#"json {"a":1}"#);
        assert_eq!(of("7"), "text 7");
    }

    #[test]
    fn a_schema_is_sent_to_the_letter() {
        let schema =
            RawValue::from_string(r#"{"type":"object","properties":{"z":{},"a":1.50}}"#.to_owned())
                .unwrap();
        let sent = with_schema(&json!({ "name": "a" }), "parameters", &schema);
        assert_eq!(
            sent.get(),
            format!(r#"{{"name":"a","parameters":{schema}}}"#)
        );
    }
}
