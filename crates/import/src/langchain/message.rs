//! How is one LangChain message read, in any of its forms?

use crate::anthropic;
use crate::content::{Part, answer_of, call_of, part, text_of, unknown};
use crate::exchange::signed;
use crate::json::{Fields, Json, Misfit, object_of};
use crate::openai_chat;
use crate::sample::has_part;
use crate::transcript::{Dropped, Transcript};
use crate::usage;
use mcptest_core::trace::RecordedCall;
use std::borrow::Cow;

/// Parts without calls, and calls that providers ran themselves.
const HARMLESS: [&str; 6] = [
    "tool_call_chunk",
    "server_tool_call_chunk",
    "non_standard",
    "mcp_list_tools",
    "executable_code",
    "code_execution_result",
];

/// The speaker.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MessageKind {
    Human,
    Ai,
    System,
    Tool,
    /// A message with its speaker under `role`, as providers write it.
    Role,
    /// An instruction to a framework, which is not part of the conversation.
    Nobody,
}

/// A message's kind, and the object with its content.
fn unwrapped<'a>(fields: &Fields<'a>) -> Option<(MessageKind, Fields<'a>)> {
    if let Some(kwargs) = fields.part("kwargs").filter(|_| fields.has("lc")) {
        let class = fields.get("id")?.list()?.last()?.string()?;
        return Some((kind(&class)?, kwargs));
    }
    if fields.has("role") {
        return Some((MessageKind::Role, fields.clone()));
    }
    let kind = kind(&fields.string("type")?)?;
    Some((kind, fields.part("data").unwrap_or_else(|| fields.clone())))
}

fn kind(name: &str) -> Option<MessageKind> {
    let name = name.strip_suffix("Chunk").unwrap_or(name);
    match name.strip_suffix("Message").unwrap_or(name) {
        "human" | "user" | "Human" => Some(MessageKind::Human),
        "ai" | "assistant" | "AI" => Some(MessageKind::Ai),
        "system" | "developer" | "System" => Some(MessageKind::System),
        "tool" | "function" | "Tool" | "Function" => Some(MessageKind::Tool),
        "chat" | "Chat" => Some(MessageKind::Role),
        "remove" | "Remove" => Some(MessageKind::Nobody),
        _ => None,
    }
}

/// Returns true if an object is a message.
pub(super) fn is_message(fields: &Fields<'_>) -> bool {
    let has_content =
        |inner: &Fields<'_>| inner.has("content") || inner.has("tool_calls") || inner.has("role");
    unwrapped(fields)
        .is_some_and(|(kind, inner)| kind == MessageKind::Nobody || has_content(&inner))
}

/// The identity of a reply.
pub(super) fn signature(message: Json<'_>) -> Option<String> {
    let fields = message.object()?;
    let (kind, inner) = unwrapped(&fields)?;
    let is_ai = match kind {
        MessageKind::Ai => true,
        MessageKind::Role => inner.string("role").is_some_and(|role| role == "assistant"),
        _ => false,
    };
    let ids = inner
        .get("tool_calls")
        .map(|calls| calls.each("id"))
        .unwrap_or_default();
    let text = || {
        inner
            .get("content")
            .map(|content| content.text().to_owned())
    };
    is_ai.then(|| signed(&ids, text)).flatten()
}

pub(super) fn read_message(message: Json<'_>, transcript: &mut Transcript) -> Result<(), Misfit> {
    if let Some((role, text)) = pair(message) {
        return read_pair(message, &role, &text, transcript);
    }
    let fields = object_of(message, "a message")?;
    let Some((kind, inner)) = unwrapped(&fields) else {
        return Err(not_a_message(&fields));
    };
    match kind {
        MessageKind::Human => {
            let text = text_at(&inner, transcript)?;
            transcript.user(&text);
        }
        MessageKind::System => {
            let text = text_at(&inner, transcript)?;
            transcript.system(&text);
        }
        MessageKind::Ai => read_ai(&inner, transcript)?,
        MessageKind::Tool => read_tool(&inner, transcript)?,
        MessageKind::Role
            if has_part(&inner, |kind| kind == "tool_use" || kind == "tool_result") =>
        {
            transcript.marks_errors = true;
            anthropic::read_message(&inner, transcript)?;
            anthropic::read_end(&inner, transcript);
            transcript.answer_ended(inner.string("stop_reason").as_deref());
        }
        MessageKind::Role => openai_chat::read_message(&inner, transcript)?,
        MessageKind::Nobody => {}
    }
    Ok(())
}

fn not_a_message(fields: &Fields<'_>) -> Misfit {
    let found = match fields.string("type") {
        Some(kind) => format!("`type` is `{kind}`"),
        None => "it has no `type`".to_owned(),
    };
    fields.misfit(format!(
        "this is not a message: {found}; valid types are human, ai, system and tool"
    ))
}

/// `["human", "…"]`, the short form.
fn pair(message: Json<'_>) -> Option<(String, String)> {
    let [role, text] = &message.list()?[..] else {
        return None;
    };
    Some((role.string()?.into_owned(), text.string()?.into_owned()))
}

fn read_pair(
    message: Json<'_>,
    role: &str,
    text: &str,
    transcript: &mut Transcript,
) -> Result<(), Misfit> {
    match kind(role) {
        Some(MessageKind::Human) => transcript.user(text),
        Some(MessageKind::System) => transcript.system(text),
        Some(MessageKind::Ai) => {
            transcript.assistant();
            transcript.say(text);
        }
        _ => {
            let problem =
                format!("`{role}` is not a known speaker; valid ones are human, ai and system");
            return Err(Misfit::at(message, problem));
        }
    }
    Ok(())
}

fn text_at<'a>(fields: &Fields<'a>, transcript: &mut Transcript) -> Result<Cow<'a, str>, Misfit> {
    fields
        .get("content")
        .map_or(Ok(Cow::Borrowed("")), |content| {
            text_of(content, transcript)
        })
}

fn read_ai(fields: &Fields<'_>, transcript: &mut Transcript) -> Result<(), Misfit> {
    transcript.assistant();
    let calls = calls(fields)?;
    read_content(fields, calls.is_empty(), transcript)?;
    for call in calls {
        transcript.call(call);
    }
    let metadata = fields.part("response_metadata").unwrap_or_default();
    let counted = fields
        .part("usage_metadata")
        .or_else(|| metadata.part("token_usage"));
    if let Some(usage) = counted.or_else(|| metadata.part("usage")) {
        transcript.tokens.add(usage::tokens(&usage));
    }
    let first = |names: [&str; 2]| {
        names
            .iter()
            .find_map(|name| metadata.string(name))
            .map(Cow::into_owned)
    };
    transcript.set_model(first(["model_name", "model"]));
    let reason = first(["finish_reason", "stop_reason"]).or_else(|| metadata.owned("done_reason"));
    transcript.answer_ended(reason.as_deref());
    transcript.stop_reason = reason;
    Ok(())
}

/// Reads the texts. Call blocks repeat `tool_calls`, so they are read only if those are missing.
fn read_content(
    fields: &Fields<'_>,
    reads_calls: bool,
    transcript: &mut Transcript,
) -> Result<(), Misfit> {
    let Some(blocks) = fields.get("content").and_then(Json::list) else {
        let text = text_at(fields, transcript)?;
        transcript.say(&text);
        return Ok(());
    };
    for block in blocks {
        if let Some(text) = block.string() {
            transcript.say(&text);
        } else {
            let block = object_of(block, "a part of `content`")?;
            read_content_part(&block, reads_calls, transcript)?;
        }
    }
    Ok(())
}

fn read_content_part(
    block: &Fields<'_>,
    reads_calls: bool,
    transcript: &mut Transcript,
) -> Result<(), Misfit> {
    let kind = block.string("type").unwrap_or_default();
    match part(&kind, block) {
        Part::Text(text) => transcript.say(&text),
        Part::Dropped(what) => transcript.drop(what),
        Part::Other if is_call(&kind) && !reads_calls => {}
        Part::Other if is_call(&kind) || kind == "server_tool_call" => {
            transcript.call(read_call(block)?);
        }
        Part::Other if kind == "server_tool_result" => {
            let is_error = block
                .string("status")
                .is_some_and(|status| status == "error");
            let answer = answer_of(block.get("output"), is_error, transcript);
            transcript.answer(block, "tool_call_id", None, answer)?;
        }
        Part::Other if kind.ends_with("tool_use") || kind.ends_with("tool_result") => {
            anthropic::read_block(block, transcript)?;
        }
        Part::Other if kind == "input_json_delta" => {}
        Part::Other if kind.ends_with("_call") || HARMLESS.contains(&&*kind) => {
            transcript.drop(Dropped::Other);
        }
        Part::Other => return Err(unknown(block, "a part of `content`", &kind)),
    }
    Ok(())
}

fn is_call(kind: &str) -> bool {
    matches!(
        kind,
        "tool_use" | "tool_call" | "function_call" | "invalid_tool_call"
    )
}

/// The calls of a message, including calls whose arguments are not JSON, in the provider's order if it is known.
fn calls(fields: &Fields<'_>) -> Result<Vec<RecordedCall>, Misfit> {
    let valid = fields.list("tool_calls")?.unwrap_or_default();
    let invalid = fields.list("invalid_tool_calls")?.unwrap_or_default();
    let own = fields.part("additional_kwargs").unwrap_or_default();
    let raw = own.list("tool_calls")?.unwrap_or_default();
    let has_all = raw.len() == valid.len() + invalid.len() && !invalid.is_empty();
    if has_all || (valid.is_empty() && invalid.is_empty()) {
        let mut calls = Vec::new();
        for call in &raw {
            calls.push(openai_chat::read_call(&object_of(
                *call,
                "a call of `tool_calls`",
            )?)?);
        }
        if let Some(function) = own.object("function_call")?.filter(|_| raw.is_empty()) {
            calls.push(openai_chat::read_call(&function)?);
        }
        return Ok(calls);
    }
    valid
        .iter()
        .chain(&invalid)
        .map(|call| read_call(&object_of(*call, "a call of `tool_calls`")?))
        .collect()
}

fn read_call(call: &Fields<'_>) -> Result<RecordedCall, Misfit> {
    if call.has("function") {
        return openai_chat::read_call(call);
    }
    let id = call
        .optional_owned("call_id")?
        .or(call.optional_owned("id")?);
    let name = call.required_string("name", "a call")?.into_owned();
    let caller = call.get("caller").map(Json::compact);
    Ok(RecordedCall {
        caller,
        ..call_of(name, id, call.first(&["args", "input", "arguments"]))
    })
}

fn read_tool(fields: &Fields<'_>, transcript: &mut Transcript) -> Result<(), Misfit> {
    let status = fields.string("status");
    transcript.marks_errors |= status.is_some();
    let is_error = status.is_some_and(|status| status == "error");
    let answer = answer_of(fields.get("content"), is_error, transcript);
    transcript.answer(
        fields,
        "tool_call_id",
        fields.string("name").as_deref(),
        answer,
    )
}
