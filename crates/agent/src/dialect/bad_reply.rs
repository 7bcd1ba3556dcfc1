//! Which answers contain no message of the model?

use mcptest_core::words::cut;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use thiserror::Error;

const GIST_CHARACTERS: usize = 200;
const MESSAGE_CHARACTERS: usize = 500;

/// An answer without a usable message.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BadReply {
    /// A page for people.
    #[error("an HTML page arrived instead of JSON: {0}")]
    Html(String),
    /// The body is empty.
    #[error("the answer is empty")]
    Empty,
    /// JSON that was cut off.
    #[error("the JSON of the answer is cut off: {0}")]
    CutOff(String),
    /// Some other text.
    #[error("the answer is not JSON: {0}")]
    NotJson(String),
    /// JSON of another shape.
    #[error("the answer is not what this kind of provider sends ({why}): {gist}")]
    Shape {
        /// The problem.
        why: String,
        /// The beginning of the answer.
        gist: String,
    },
    /// An error under a status that promises success.
    #[error("the provider reports an error: {0}")]
    Failed(String),
    /// The prompt was blocked before it reached the model.
    #[error("the provider refused the prompt: {0}")]
    Blocked(String),
}

#[derive(Deserialize)]
struct Probe<'a> {
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// Parses a body, or reports its actual contents.
pub(super) fn open<'a, T: Deserialize<'a>>(body: &'a str) -> Result<T, BadReply> {
    if body.trim().is_empty() {
        return Err(BadReply::Empty);
    }
    if is_html(body) {
        return Err(BadReply::Html(gist(body)));
    }
    let probe: Probe<'_> = serde_json::from_str(body).map_err(|error| match error.classify() {
        serde_json::error::Category::Eof => BadReply::CutOff(gist(body)),
        serde_json::error::Category::Data => shape("it is not an object", body),
        _ => BadReply::NotJson(gist(body)),
    })?;
    if probe.error.is_some_and(|error| error.get() != "null") {
        return Err(BadReply::Failed(error_message(body)));
    }
    serde_json::from_str(body).map_err(|error| shape(&error.to_string(), body))
}

/// JSON of an unexpected shape.
pub(super) fn shape(why: &str, body: &str) -> BadReply {
    BadReply::Shape {
        why: why.to_owned(),
        gist: gist(body),
    }
}

/// The beginning of a string, on one line.
pub(crate) fn gist(text: &str) -> String {
    folded(text, GIST_CHARACTERS)
}

fn folded(text: &str, most: usize) -> String {
    cut(&text.split_whitespace().collect::<Vec<_>>().join(" "), most)
}

/// The message of an error body, in any provider's shape, otherwise its beginning.
pub(crate) fn error_message(body: &str) -> String {
    let parsed: Option<Value> = serde_json::from_str(body).ok();
    let said = parsed
        .as_ref()
        .and_then(|value| message_in(value.get(0).unwrap_or(value)));
    said.filter(|said| !said.trim().is_empty())
        .map_or_else(|| gist(body), |said| folded(&said, MESSAGE_CHARACTERS))
}

fn message_in(value: &Value) -> Option<String> {
    let error = value.get("error").filter(|error| !error.is_null());
    let places = [
        error.and_then(|error| error.get("message")),
        error,
        value.get("message"),
        value.get("detail"),
        value
            .get("message")
            .and_then(|message| message.get("detail")),
    ];
    places.into_iter().flatten().find_map(|place| match place {
        Value::String(text) => Some(text.clone()),
        Value::Array(details) => {
            let said = details
                .iter()
                .filter_map(|detail| detail.get("msg")?.as_str());
            let said = said.collect::<Vec<_>>().join("; ");
            (!said.is_empty()).then_some(said)
        }
        _ => None,
    })
}

fn is_html(body: &str) -> bool {
    let start = body
        .trim_start()
        .get(..9)
        .unwrap_or_default()
        .to_ascii_lowercase();
    start.starts_with("<!doctype") || start.starts_with("<html") || start.starts_with("<head")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(body: &str) -> String {
        open::<Value>(body).unwrap_err().to_string()
    }

    #[test]
    fn what_is_not_a_message_is_named_with_how_it_begins() {
        assert_eq!(
            refusal("<html>\n <body>502   Bad Gateway</body></html>"),
            "an HTML page arrived instead of JSON: <html> <body>502 Bad Gateway</body></html>"
        );
        assert_eq!(
            refusal(r#"{"a": [1,"#),
            r#"the JSON of the answer is cut off: {"a": [1,"#
        );
        assert_eq!(
            refusal("upstream connect error"),
            "the answer is not JSON: upstream connect error"
        );
        assert_eq!(refusal(" \n"), "the answer is empty");
        assert_eq!(
            refusal(r#"{"error": {"message": "out of cheese"}}"#),
            "the provider reports an error: out of cheese"
        );
        assert_eq!(gist(&"é".repeat(300)), format!("{}…", "é".repeat(200)));
    }

    #[test]
    fn the_message_is_found_in_every_shape_of_error() {
        for (body, said) in [
            (
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                "Overloaded",
            ),
            (r#"{"error":"model 'x' not found"}"#, "model 'x' not found"),
            (
                r#"{"object":"error","message":"No such model","type":"invalid_model"}"#,
                "No such model",
            ),
            (
                r#"{"detail":[{"loc":["body"],"msg":"Field required"},{"msg":"Too long"}]}"#,
                "Field required; Too long",
            ),
            (r#"{"message":{"detail":"nope"}}"#, "nope"),
            (
                r#"[{"error":{"code":400,"message":"API key not valid."}}]"#,
                "API key not valid.",
            ),
            (r#"{"weird": 1}"#, r#"{"weird": 1}"#),
        ] {
            assert_eq!(error_message(body), said);
        }
    }
}
