//! A tool's result as a person wants to read it.

use crate::command::json_order::indented;
use mcptest_core::json::Members;
use serde_json::Value;
use serde_json::value::RawValue;

/// Prints texts verbatim, structured content as JSON, and other content in one line each.
pub(super) fn render(result: &RawValue) -> String {
    let members = Members::read(result.get());
    let content = members.get("content").map_or("null", RawValue::get);
    let blocks: Vec<&RawValue> = serde_json::from_str(content).unwrap_or_default();
    let structured = members
        .get("structuredContent")
        .filter(|value| value.get() != "null");
    let structured_value = structured.map(value_of);
    let says_the_same = |block: &Value| {
        let text = block["text"].as_str().unwrap_or_default();
        structured_value.as_ref().is_some_and(|value| {
            serde_json::from_str::<Value>(text).is_ok_and(|said| said == *value)
        })
    };
    let mut text = String::new();
    for raw in blocks {
        let block = value_of(raw);
        if !says_the_same(&block) {
            text.push_str(&shown(&of_block(&block, raw)));
        }
    }
    if let Some(value) = structured {
        text.push_str(&shown(&indented(value.get())));
    }
    if text.is_empty() {
        let is_foreign = !content.starts_with('[');
        return if is_foreign {
            shown(result.get())
        } else {
            "[no content]\n".to_owned()
        };
    }
    text
}

fn value_of(raw: &RawValue) -> Value {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

/// The text with one newline at its end.
fn shown(text: &str) -> String {
    if text.ends_with('\n') {
        text.to_owned()
    } else {
        format!("{text}\n")
    }
}

fn of_block(block: &Value, raw: &RawValue) -> String {
    let text = |key: &str| block[key].as_str().unwrap_or("?");
    match text("type") {
        "text" => block["text"].as_str().unwrap_or(raw.get()).to_owned(),
        kind @ ("image" | "audio") => {
            format!(
                "[{kind} {} {} bytes]",
                text("mimeType"),
                decoded(text("data"))
            )
        }
        "resource" => {
            let resource = &block["resource"];
            let field = |key: &str| resource[key].as_str();
            let about = [field("uri"), field("mimeType")]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(" ");
            match (field("text"), field("blob")) {
                (Some(content), _) => format!("[resource {about}]\n{content}"),
                (None, Some(blob)) => format!("[resource {about} {} bytes]", decoded(blob)),
                (None, None) => format!("[resource {about}]"),
            }
        }
        "resource_link" => format!("[link {} {}]", text("uri"), text("name")),
        _ => raw.get().to_owned(),
    }
}

/// The number of bytes in a base64 text.
fn decoded(base64: &str) -> usize {
    let digits = base64
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=')
        .count();
    digits * 3 / 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn render(result: &Value) -> String {
        super::render(&RawValue::from_string(result.to_string()).unwrap())
    }

    #[test]
    fn each_kind_of_content_is_readable() {
        let result = json!({"content": [
            {"type": "text", "text": "sunny\n"},
            {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "file:///a", "mimeType": "text/plain", "text": "hi"}},
            {"type": "resource_link", "uri": "file:///b", "name": "b"},
        ]});
        assert_eq!(
            render(&result),
            "sunny\n[image image/png 5 bytes]\n[resource file:///a text/plain]\nhi\n[link file:///b b]\n"
        );
        assert_eq!(render(&json!({"content": []})), "[no content]\n");
        assert_eq!(render(&json!({"odd": 1})), "{\"odd\":1}\n");
    }

    #[test]
    fn structured_content_is_not_shown_twice() {
        let result = json!({"content": [{"type": "text", "text": "{\"a\": 1}"}], "structuredContent": {"a": 1}});
        assert_eq!(render(&result), "{\n  \"a\": 1\n}\n");
    }

    #[test]
    fn structured_content_keeps_its_order_and_a_text_that_is_missing_is_no_question_mark() {
        let result = r#"{"content": [{"type":"text"}], "structuredContent": {"z": 1, "a": 2.0}}"#;
        let result = RawValue::from_string(result.to_owned()).unwrap();
        let text = super::render(&result);
        assert_eq!(
            text,
            "{\"type\":\"text\"}\n{\n  \"z\": 1,\n  \"a\": 2.0\n}\n"
        );
    }
}
