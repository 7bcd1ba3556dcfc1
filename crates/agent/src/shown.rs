//! How much of a result does a model read, and what replaces parts that it cannot read?

use crate::dialect::Part;
use serde_json::Value;

/// The parts up to this number of characters of text, with a note on the cut. Images are not text.
pub(crate) fn cut(parts: Vec<Part>, most: usize) -> Vec<Part> {
    let length = |part: &Part| match part {
        Part::Text(text) => text.chars().count(),
        Part::Image { .. } => 0,
    };
    let total: usize = parts.iter().map(length).sum();
    if total <= most {
        return parts;
    }
    let (mut left, mut shown) = (Some(most), Vec::new());
    for part in parts {
        let Part::Text(text) = &part else {
            shown.push(part);
            continue;
        };
        let Some(room) = left else { continue };
        match text.char_indices().nth(room) {
            None => {
                left = Some(room - text.chars().count());
                shown.push(part);
            }
            Some((end, _)) => {
                let note = format!(
                    "[cut off: {} of {total} characters are not shown]",
                    total - most
                );
                let gap = if end == 0 { "" } else { "\n" };
                shown.push(Part::Text(format!("{}{gap}{note}", &text[..end])));
                left = None;
            }
        }
    }
    shown
}

/// A block of content as the model sees it.
pub(crate) fn part_of(block: &Value) -> Part {
    let text = |key: &str| block.get(key).and_then(Value::as_str);
    match text("type") {
        Some("text") => Part::Text(text("text").unwrap_or_default().to_owned()),
        Some("image") => match (text("mimeType"), text("data")) {
            (Some(media_type), Some(data)) => Part::Image {
                media_type: media_type.to_owned(),
                data: data.to_owned(),
            },
            _ => Part::Text(block.to_string()),
        },
        Some("audio") => match text("data") {
            Some(data) => Part::Text(format!("[audio: {}]", size_of(text("mimeType"), data))),
            None => Part::Text(block.to_string()),
        },
        Some("resource") => Part::Text(
            block
                .get("resource")
                .and_then(resource)
                .unwrap_or_else(|| block.to_string()),
        ),
        Some("resource_link") => Part::Text(link(block).unwrap_or_else(|| block.to_string())),
        _ => Part::Text(block.to_string()),
    }
}

/// An embedded resource, after its address.
fn resource(resource: &Value) -> Option<String> {
    let text = |key: &str| resource.get(key).and_then(Value::as_str);
    let uri = text("uri").unwrap_or("without a uri");
    if let Some(content) = text("text") {
        return Some(format!("[resource {uri}]\n{content}"));
    }
    Some(format!(
        "[resource {uri}: {}]",
        size_of(text("mimeType"), text("blob")?)
    ))
}

/// A resource that is only named.
fn link(block: &Value) -> Option<String> {
    let text = |key: &str| block.get(key).and_then(Value::as_str);
    let size = block
        .get("size")
        .and_then(Value::as_u64)
        .map(|size| format!("{size} bytes"));
    let about: Vec<String> = text("mimeType")
        .map(str::to_owned)
        .into_iter()
        .chain(size)
        .collect();
    let about = if about.is_empty() {
        String::new()
    } else {
        format!(" ({})", about.join(", "))
    };
    let description = text("description")
        .map(|said| format!(": {said}"))
        .unwrap_or_default();
    let name = text("title").or_else(|| text("name")).unwrap_or_default();
    Some(format!(
        "[link to the resource {name} at {}{about}{description}]",
        text("uri")?
    ))
}

/// The kind of data, and its size before base64.
fn size_of(media_type: Option<&str>, base64: &str) -> String {
    let digits = base64
        .bytes()
        .filter(|byte| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte))
        .count();
    format!(
        "{}, {} bytes",
        media_type.unwrap_or("of an unknown type"),
        digits * 3 / 4
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(block: &Value) -> String {
        match part_of(block) {
            Part::Text(text) => text,
            Part::Image { media_type, .. } => format!("a picture: {media_type}"),
        }
    }

    #[test]
    fn what_a_model_cannot_be_shown_is_named_with_its_type_and_size() {
        for (block, told) in [
            (
                json!({"type": "audio", "mimeType": "audio/wav", "data": "aGVsbG8="}),
                "[audio: audio/wav, 5 bytes]",
            ),
            (
                json!({"type": "resource", "resource": {"uri": "a:b", "mimeType": "application/pdf", "blob": "aGk="}}),
                "[resource a:b: application/pdf, 2 bytes]",
            ),
            (
                json!({"type": "resource", "resource": {"uri": "a:b", "text": "Hi."}}),
                "[resource a:b]\nHi.",
            ),
            (
                json!({"type": "resource_link", "uri": "a:b", "name": "b"}),
                "[link to the resource b at a:b]",
            ),
            (
                json!({"type": "resource_link", "uri": "a:b", "name": "b", "title": "Notes", "mimeType": "text/plain", "size": 7, "description": "Of today"}),
                "[link to the resource Notes at a:b (text/plain, 7 bytes): Of today]",
            ),
            (
                json!({"type": "image", "mimeType": "image/png", "data": "x"}),
                "a picture: image/png",
            ),
            (
                json!({"type": "resource", "resource": {"uri": "a:b"}}),
                r#"{"resource":{"uri":"a:b"},"type":"resource"}"#,
            ),
        ] {
            assert_eq!(said(&block), told);
        }
    }

    #[test]
    fn a_long_result_is_cut_between_characters_and_says_by_how_much() {
        let text = |text: &str| Part::Text(text.to_owned());
        let picture = Part::Image {
            media_type: "image/png".to_owned(),
            data: "x".repeat(99),
        };
        let parts = || vec![text("ééé"), picture.clone(), text("12345"), text("678")];
        assert_eq!(cut(parts(), 11), parts());
        let cut_off = "[cut off: 6 of 11 characters are not shown]";
        assert_eq!(
            cut(parts(), 5),
            [
                text("ééé"),
                picture.clone(),
                text(&format!("12\n{cut_off}"))
            ]
        );
        let cut_off = "[cut off: 10 of 11 characters are not shown]";
        assert_eq!(
            cut(parts(), 1),
            [text(&format!("é\n{cut_off}")), picture.clone()]
        );
        assert_eq!(
            cut(parts(), 3)[2],
            text("[cut off: 8 of 11 characters are not shown]")
        );
    }
}
