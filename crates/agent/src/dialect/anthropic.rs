//! Anthropic's Messages: what is sent, and what comes back?

use super::bad_reply::{open, shape};
use super::piece::{Piece, Said, kept, object_schema};
use super::{Answered, Arguments, Ask, BadReply, Dialect, Message, Part, Reply, Stop, Usage, Wanted};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::borrow::Cow;

/// Anthropic's Messages.
pub const ANTHROPIC: Dialect = Dialect {
    name: "anthropic",
    version: "v1",
    path: |_| "messages".to_owned(),
    key_header: |key| ("x-api-key", key.to_owned()),
    headers: &[("anthropic-version", "2023-06-01")],
    body,
    read,
};

/// The limit of one answer where none is asked for: one is required, and every model takes this one.
pub const DEFAULT_MAX_TOKENS: u64 = 4096;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    messages: Vec<Piece<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
}

fn body(ask: &Ask<'_>) -> String {
    let tool = |tool: &super::Offered| {
        let mut shown = json!({ "name": tool.name, "input_schema": object_schema(&tool.input_schema) });
        if let Some(description) = &tool.description {
            shown["description"] = json!(description);
        }
        shown
    };
    let body = Body {
        model: ask.model,
        max_tokens: ask.max_tokens.unwrap_or(DEFAULT_MAX_TOKENS),
        system: ask.system.filter(|system| !system.is_empty()),
        temperature: ask.temperature,
        messages: messages(ask.messages),
        tools: ask.tools.iter().map(tool).collect(),
    };
    serde_json::to_string(&body).unwrap_or_default()
}

/// User and assistant take turns: what the user says after results goes into one message with them.
fn messages(conversation: &[Message]) -> Vec<Piece<'_>> {
    let mut messages = Vec::new();
    let mut of_user = Vec::new();
    for message in conversation {
        match message {
            Message::User(text) => of_user.push(json!({ "type": "text", "text": text })),
            Message::Results(results) => of_user.extend(results.iter().map(tool_result)),
            Message::Assistant(raw) if says_nothing(raw) => {}
            Message::Assistant(raw) => {
                take_turn(&mut messages, &mut of_user);
                messages.push(Piece::Echo(raw));
            }
        }
    }
    take_turn(&mut messages, &mut of_user);
    messages
}

fn take_turn(messages: &mut Vec<Piece<'_>>, of_user: &mut Vec<Value>) {
    if !of_user.is_empty() {
        let content = std::mem::take(of_user);
        messages.push(Piece::Ours(json!({ "role": "user", "content": content })));
    }
}

fn tool_result(result: &Answered) -> Value {
    let block = |part: &Part| match part.picture() {
        Some((media_type, data)) => Some(json!({
            "type": "image",
            "source": { "type": "base64", "media_type": media_type, "data": data },
        })),
        None => {
            part.text().filter(|text| !text.is_empty()).map(|text| json!({ "type": "text", "text": text }))
        }
    };
    let mut shown = json!({
        "type": "tool_result",
        "tool_use_id": result.call_id,
        "content": result.content.iter().filter_map(block).collect::<Vec<_>>(),
    });
    if result.is_error {
        shown["is_error"] = json!(true);
    }
    shown
}

#[derive(Deserialize)]
struct SentBack<'a> {
    #[serde(borrow)]
    content: Vec<&'a RawValue>,
}

/// Such a message must not be sent back.
fn says_nothing(raw: &RawValue) -> bool {
    serde_json::from_str::<SentBack<'_>>(raw.get()).is_ok_and(|message| message.content.is_empty())
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    content: &'a RawValue,
    stop_reason: Option<String>,
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Tokens {
    input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(rename = "type")]
    kind: Cow<'a, str>,
    text: Option<Cow<'a, str>>,
    id: Option<String>,
    name: Option<String>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    caller: Option<&'a RawValue>,
}

fn read(_: &Ask<'_>, body: &str) -> Result<Reply, BadReply> {
    let answer: Answer<'_> = open(body)?;
    let blocks: Vec<Block<'_>> = serde_json::from_str(answer.content.get())
        .map_err(|error| shape(&format!("`content`: {error}"), body))?;
    let (mut said, mut calls) = (Said::default(), Vec::new());
    for block in blocks {
        if block.kind == "text" {
            said.push(block.text.as_deref().unwrap_or_default());
            continue;
        }
        said.part();
        if block.kind == "tool_use" {
            calls.push(Wanted {
                id: block.id.ok_or_else(|| shape("a `tool_use` without an `id`", body))?,
                name: block.name.unwrap_or_default(),
                arguments: Arguments::of_json(block.input),
                caller: block.caller.and_then(kept),
            });
        }
    }
    let message = format!(r#"{{"role":"assistant","content":{}}}"#, answer.content);
    Ok(Reply {
        message: RawValue::from_string(message).map_err(|error| shape(&error.to_string(), body))?,
        text: said.into_text(),
        stop: stop(answer.stop_reason, !calls.is_empty()),
        calls,
        usage: answer.usage.map(usage).unwrap_or_default(),
    })
}

fn stop(reason: Option<String>, has_calls: bool) -> Stop {
    match reason.as_deref() {
        Some("end_turn") => Stop::EndTurn,
        Some("max_tokens") => Stop::MaxTokens,
        Some("stop_sequence") => Stop::StopSequence,
        Some("tool_use") => Stop::ToolUse,
        Some("pause_turn") => Stop::Pause,
        Some("refusal") => Stop::Refusal,
        Some("model_context_window_exceeded") => Stop::ContextWindow,
        Some(word) => Stop::Other(word.to_owned()),
        None if has_calls => Stop::ToolUse,
        None => Stop::EndTurn,
    }
}

fn usage(tokens: Tokens) -> Usage {
    let cached = tokens
        .cache_read_input_tokens
        .unwrap_or(0)
        .saturating_add(tokens.cache_creation_input_tokens.unwrap_or(0));
    Usage {
        prompt: tokens.input_tokens.map(|input| input.saturating_add(cached)),
        completion: tokens.output_tokens,
    }
}
