//! Which text does a message contain, and which of its parts does a trace not store?

use crate::json::{Fields, Json, Misfit, object_of, raw};
use crate::transcript::{Dropped, ImportedAnswer, Transcript, text_block};
use mcptest_core::trace::RecordedCall;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The meaning of a part of a message, by its `type`.
pub(crate) enum Part<'a> {
    Text(Cow<'a, str>),
    Dropped(Dropped),
    Other,
}

/// Parts that every format shares; `Other` is for the format to know.
pub(crate) fn part<'a>(kind: &str, fields: &Fields<'a>) -> Part<'a> {
    let text = |key: &str| Part::Text(fields.string(key).unwrap_or_default());
    match kind {
        "text" | "input_text" | "output_text" | "summary_text" if fields.has("text") => {
            text("text")
        }
        "text" if fields.has("content") => text("content"),
        "refusal" => text("refusal"),
        "image"
        | "image_url"
        | "input_image"
        | "computer_screenshot"
        | "image-url"
        | "image-data"
        | "image-file-id"
        | "image-file-reference" => Part::Dropped(Dropped::Image),
        "audio" | "input_audio" | "output_audio" | "audio_url" | "audio-url" => {
            Part::Dropped(Dropped::Audio)
        }
        "file" | "input_file" | "document" | "container_upload" | "media" | "video"
        | "video_url" | "blob" | "uri" | "binary" | "video-url" | "document-url"
        | "uploaded-file" | "file-data" | "file-url" | "file-id" | "file-reference"
        | "reasoning-file" | "text-plain" | "search_result" => Part::Dropped(Dropped::File),
        "thinking" | "redacted_thinking" | "reasoning" | "reasoning_content" | "reasoning_text" => {
            Part::Dropped(Dropped::Reasoning)
        }
        _ => Part::Other,
    }
}

/// An error for a part of unknown kind: it could be a call, and an unread call would be missed without notice.
pub(crate) fn unknown(fields: &Fields<'_>, what: &str, kind: &str) -> Misfit {
    fields.misfit(match kind {
        "" => could_be_a_call(&format!("{what} has no `type`")),
        kind => could_be_a_call(&format!("{what} is of an unknown `type`, `{kind}`")),
    })
}

/// Adds to an unknown part's description that it could be a call.
pub(crate) fn could_be_a_call(told: &str) -> String {
    format!("{told}; it could be a call: if it is not, remove it")
}

/// Keys under which some format has calls, in lower case and without underscores.
const CALLS: [&str; 7] = [
    "toolcalls",
    "toolcall",
    "functioncall",
    "functioncalls",
    "toolinvocations",
    "tooluse",
    "parts",
];

/// Refuses calls in places that this format does not have, because they would be missed.
pub(crate) fn refuse_calls_of_others(message: &Fields<'_>, own: &[&str]) -> Result<(), Misfit> {
    for (key, value) in message.entries().filter(|(key, _)| !own.contains(key)) {
        let plain = key.replace('_', "").to_ascii_lowercase();
        if CALLS.contains(&&*plain) && !matches!(value.text(), "null" | "[]" | "{}") {
            let message =
                format!("messages of this format have no `{key}`; mcptest would miss calls in it");
            return Err(Misfit::at(value, message));
        }
    }
    Ok(())
}

/// The text of a content: a string, or joined text parts. Other parts are counted.
pub(crate) fn text_of<'a>(
    content: Json<'a>,
    transcript: &mut Transcript,
) -> Result<Cow<'a, str>, Misfit> {
    if let Some(text) = content.string() {
        return Ok(text);
    }
    let Some(parts) = content.list() else {
        let problem = format!(
            "`content` is {}, not a string or a list of parts",
            content.kind()
        );
        return Err(Misfit::at(content, problem));
    };
    let mut whole = Cow::Borrowed("");
    for value in parts {
        if let Some(text) = value.string() {
            whole += text;
            continue;
        }
        let fields = object_of(value, "a part of `content`")?;
        let kind = fields.string("type").unwrap_or_default();
        match part(&kind, &fields) {
            Part::Text(text) => whole += text,
            Part::Dropped(what) => transcript.drop(what),
            Part::Other => return Err(unknown(&fields, "a part of `content`", &kind)),
        }
    }
    Ok(whole)
}

/// A tool's answer: a string, content blocks, or any JSON.
pub(crate) fn answer_of(
    content: Option<Json<'_>>,
    is_error: bool,
    transcript: &mut Transcript,
) -> ImportedAnswer {
    let blocks = content
        .and_then(Json::list)
        .filter(|blocks| blocks.iter().all(|block| is_block(*block)));
    let Some(blocks) = blocks else {
        return value_of(content, is_error, transcript);
    };
    let (mut kept, mut whole): (Vec<Box<RawValue>>, String) = (Vec::new(), String::new());
    for block in blocks {
        let Some(fields) = block.object() else {
            continue;
        };
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
    ImportedAnswer {
        is_error,
        content: Some(raw(&kept)),
        text: whole,
        ..ImportedAnswer::default()
    }
}

/// A function's return value: nothing, a string, the result of an MCP call, or any JSON.
pub(crate) fn value_of(
    value: Option<Json<'_>>,
    is_error: bool,
    transcript: &mut Transcript,
) -> ImportedAnswer {
    let Some(value) = value else {
        return ImportedAnswer {
            is_error,
            ..ImportedAnswer::default()
        };
    };
    if let Some(text) = value.string() {
        return ImportedAnswer::from_text(text, is_error);
    }
    let of_mcp = value
        .object()
        .and_then(|result| mcp_answer(&result, is_error, transcript));
    of_mcp.unwrap_or_else(|| {
        let json = value.compact();
        let text = json.get().to_owned();
        let structured = text.starts_with('{').then_some(json);
        ImportedAnswer {
            is_error,
            content: Some(raw(&[text_block(&text)])),
            structured,
            text,
            ..ImportedAnswer::default()
        }
    })
}

/// The result of an MCP call as the protocol has it.
pub(crate) fn mcp_answer(
    result: &Fields<'_>,
    is_error: bool,
    transcript: &mut Transcript,
) -> Option<ImportedAnswer> {
    let content = result.get("content")?;
    let of_protocol = [
        "content",
        "isError",
        "structuredContent",
        "_meta",
        "resultType",
    ];
    result
        .keys()
        .all(|key| of_protocol.contains(&key))
        .then_some(())?;
    content
        .list()?
        .iter()
        .all(|block| is_block(*block))
        .then_some(())?;
    let is_marked = result
        .get("isError")
        .and_then(Json::flag)
        .unwrap_or_default();
    let answer = answer_of(Some(content), is_error || is_marked, transcript);
    let structured = result.get("structuredContent").map(Json::compact);
    Some(ImportedAnswer {
        structured: structured.or(answer.structured),
        ..answer
    })
}

fn is_block(value: Json<'_>) -> bool {
    value
        .object()
        .is_some_and(|fields| fields.string("type").is_some())
}

/// The call in these fields: its name at this key, its id at that key.
pub(crate) fn call_at(
    fields: &Fields<'_>,
    name: &str,
    id: &str,
    arguments: Option<Json<'_>>,
) -> Result<RecordedCall, Misfit> {
    let name = fields.required_string(name, "a call")?.into_owned();
    Ok(call_of(name, fields.optional_owned(id)?, arguments))
}

/// A call with its arguments: JSON, a string with JSON, or any other string.
pub(crate) fn call_of(
    name: String,
    id: Option<String>,
    arguments: Option<Json<'_>>,
) -> RecordedCall {
    let mut call = RecordedCall {
        name,
        id,
        ..RecordedCall::default()
    };
    let Some(arguments) = arguments else {
        return call;
    };
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
