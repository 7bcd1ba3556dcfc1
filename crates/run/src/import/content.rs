//! Which text is in a message's content, and which parts have no place in a trace?

use super::json::{Json, Misfit, object_of, raw};
use super::transcript::{Answer, Dropped, Transcript, text_block, text_content};
use mcptest_core::trace::RecordedCall;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// What a part of a message is, by its `type`.
pub(super) enum Part<'a> {
    Text(Cow<'a, str>),
    Dropped(Dropped),
    Other,
}

/// Parts that every format shares; `Other` is for the format to know.
pub(super) fn part<'a>(kind: &str, fields: &super::json::Fields<'a>) -> Part<'a> {
    let text = |key: &str| Part::Text(fields.string(key).unwrap_or_default());
    match kind {
        "text" | "input_text" | "output_text" | "summary_text" if fields.has("text") => text("text"),
        "text" if fields.has("content") => text("content"),
        "refusal" => text("refusal"),
        "image" | "image_url" | "input_image" | "computer_screenshot" => Part::Dropped(Dropped::Image),
        "audio" | "input_audio" | "output_audio" | "audio_url" => Part::Dropped(Dropped::Audio),
        "file" | "input_file" | "document" | "container_upload" | "media" | "video" | "video_url"
        | "blob" | "uri" => Part::Dropped(Dropped::File),
        "thinking" | "redacted_thinking" | "reasoning" | "reasoning_content" => {
            Part::Dropped(Dropped::Reasoning)
        }
        _ => Part::Other,
    }
}

/// The text of a content: a string, or parts of which the texts are put together and the others counted.
pub(super) fn text_of<'a>(content: Json<'a>, transcript: &mut Transcript) -> Result<Cow<'a, str>, Misfit> {
    if let Some(text) = content.string() {
        return Ok(text);
    }
    let Some(parts) = content.list() else {
        return Err(Misfit::at(
            content,
            format!("`content` is {}, not a string or a list of parts", content.kind()),
        ));
    };
    let mut whole = Cow::Borrowed("");
    for value in parts {
        if let Some(text) = value.string() {
            whole += text;
            continue;
        }
        let fields = object_of(value, "a part of `content`")?;
        match part(&fields.string("type").unwrap_or_default(), &fields) {
            Part::Text(text) => whole += text,
            Part::Dropped(what) => transcript.drop(what),
            Part::Other => transcript.drop(Dropped::Other),
        }
    }
    Ok(whole)
}

/// What a tool answered: a string, content blocks, or any JSON.
pub(super) fn answer_of(content: Option<Json<'_>>, is_error: bool, transcript: &mut Transcript) -> Answer {
    let Some(content) = content else { return Answer { is_error, ..Answer::default() } };
    if let Some(text) = content.string() {
        return Answer::of_text(text, is_error);
    }
    let blocks = content.list().filter(|blocks| blocks.iter().all(|block| is_block(*block)));
    let Some(blocks) = blocks else {
        let json = content.compact();
        let text = json.get().to_owned();
        let structured = text.starts_with('{').then_some(json);
        return Answer { is_error, content: Some(text_content(&text)), structured, text };
    };
    let (mut kept, mut whole): (Vec<Box<RawValue>>, String) = (Vec::new(), String::new());
    for block in blocks {
        let Some(fields) = block.object() else { continue };
        match part(&fields.string("type").unwrap_or_default(), &fields) {
            Part::Text(text) => {
                whole.push_str(&text);
                kept.push(text_block(&text));
            }
            Part::Dropped(what) => transcript.drop(what),
            Part::Other => {
                whole.push_str(block.text());
                kept.push(block.compact());
            }
        }
    }
    Answer { is_error, content: Some(raw(&kept)), structured: None, text: whole }
}

fn is_block(value: Json<'_>) -> bool {
    value.object().is_some_and(|fields| fields.string("type").is_some())
}

/// The arguments of a call: JSON, or a string that holds JSON, or a string that does not.
pub(super) fn with_arguments(mut call: RecordedCall, arguments: Option<Json<'_>>) -> RecordedCall {
    let Some(arguments) = arguments else { return call };
    let Some(text) = arguments.string() else {
        call.args = Some(arguments.compact());
        return call;
    };
    match Json::inside(&text) {
        Some(inner) => call.args = Some(inner.compact()),
        // Models write nothing at all for a tool without arguments.
        None if text.trim().is_empty() => {}
        None => call.args_text = Some(text.into_owned()),
    }
    call
}
