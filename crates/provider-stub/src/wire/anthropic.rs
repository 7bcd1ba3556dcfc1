//! Anthropic's Messages, from the provider's side.

use super::{
    Answering, ProviderAnswer, ProviderRequest, Seen, Wire, Wrong, is_name, only, signature, text_of,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub(super) const WIRE: Wire = Wire {
    name: "anthropic",
    key: ("x-api-key", ""),
    is_at: |path| path.ends_with("/v1/messages"),
    check,
    answer,
    error,
    blocked: |reason| {
        json!({
            "id": "msg_stub", "type": "message", "role": "assistant", "content": [],
            "stop_reason": "refusal", "stop_details": reason, "usage": { "input_tokens": 100, "output_tokens": 0 },
        })
    },
};

fn check(request: &ProviderRequest<'_>) -> Result<Seen, Wrong> {
    let body = request.body;
    if !request.headers.contains_key("anthropic-version") {
        return Err(Wrong::request("anthropic-version: header is required"));
    }
    only(body, "", &["model", "max_tokens", "system", "temperature", "messages", "tools"])?;
    let mut seen = Seen { model: body["model"].as_str().unwrap_or_default().to_owned(), ..Seen::default() };
    if seen.model.is_empty() {
        return Err(Wrong::request("model: Field required"));
    }
    if body["max_tokens"].as_u64().is_none_or(|most| most == 0) {
        return Err(Wrong::request("max_tokens: Field required"));
    }
    if body["temperature"].as_f64().is_some_and(|temperature| temperature > 1.0) {
        return Err(Wrong::request("temperature: range: 0..1"));
    }
    for (at, tool) in body["tools"].as_array().into_iter().flatten().enumerate() {
        only(tool, &format!("tools.{at}.custom."), &["name", "description", "input_schema"])?;
        seen.tool(&format!("tools.{at}.custom"), tool, "input_schema", false)?;
    }
    let messages = body["messages"].as_array().filter(|messages| !messages.is_empty());
    let messages = messages.ok_or_else(|| Wrong::request("messages: at least one message is required"))?;
    if messages[0]["role"] != "user" {
        return Err(Wrong::request("messages: first message must use the \"user\" role"));
    }
    let (mut open, mut ids) = (BTreeSet::new(), BTreeSet::new());
    for (at, message) in messages.iter().enumerate() {
        only(message, &format!("messages.{at}."), &["role", "content"])?;
        let of_model = message["role"] == "assistant";
        if of_model {
            unanswered(at.saturating_sub(1), &open)?;
            open = of_assistant(at, message, &mut ids)?;
        } else {
            if at > 0 && messages[at - 1]["role"] == "user" {
                return Err(Wrong::request(
                    "messages: roles must alternate between \"user\" and \"assistant\"",
                ));
            }
            of_user(at, message, &std::mem::take(&mut open), &mut seen)?;
        }
        seen.of_model.push(of_model);
        seen.conversation.push(message.clone());
    }
    unanswered(messages.len() - 1, &open)?;
    Ok(seen)
}

fn of_assistant(at: usize, message: &Value, ids: &mut BTreeSet<String>) -> Result<BTreeSet<String>, Wrong> {
    let blocks = message["content"].as_array().filter(|blocks| !blocks.is_empty());
    let blocks = blocks
        .ok_or_else(|| Wrong::request(format!("messages.{at}: all messages must have non-empty content")))?;
    let mut calls = BTreeSet::new();
    for (number, block) in blocks.iter().enumerate() {
        let place = format!("messages.{at}.content.{number}");
        match block["type"].as_str() {
            Some("text") => is_said(&block["text"])?,
            Some("thinking") => {
                if block["signature"] != signature(block["thinking"].as_str().unwrap_or_default()) {
                    return Err(Wrong::request(format!("{place}: Invalid `signature` in `thinking` block")));
                }
            }
            Some("tool_use") => {
                let id = is_tool_use(&place, block)?;
                if !ids.insert(id.clone()) {
                    return Err(Wrong::request(format!("{place}: `tool_use` ids must be unique")));
                }
                calls.insert(id);
            }
            kind => return Err(Wrong::request(format!("{place}: Input tag {kind:?} is not expected"))),
        }
    }
    Ok(calls)
}

/// The id of a call, if it is taken back.
fn is_tool_use(place: &str, block: &Value) -> Result<String, Wrong> {
    let text = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
    only(block, &format!("{place}.tool_use."), &["type", "id", "name", "input", "caller", "cache_control"])?;
    let wrong = if !is_name(&text("name")) || text("name").len() > 128 {
        "name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"
    } else if !is_name(&text("id")) {
        "id: String should match pattern '^[a-zA-Z0-9_-]+$'"
    } else if !block["input"].is_object() {
        "input: Input should be a valid dictionary"
    } else {
        return Ok(text("id"));
    };
    Err(Wrong::request(format!("{place}.tool_use.{wrong}")))
}

fn is_said(text: &Value) -> Result<(), Wrong> {
    let text = text.as_str().unwrap_or_default();
    match text.trim() {
        "" if text.is_empty() => Err(Wrong::request("messages: text content blocks must be non-empty")),
        "" => Err(Wrong::request("messages: text content blocks must contain non-whitespace text")),
        _ => Ok(()),
    }
}

fn is_result(place: &str, block: &Value) -> Result<(), Wrong> {
    let content = block["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    for part in content.iter().filter(|part| part["type"] == "text") {
        is_said(&part["text"])?;
    }
    let wrong = match block["is_error"] == true {
        true if content.is_empty() => "content cannot be empty if `is_error` is true",
        true if content.iter().any(|part| part["type"] != "text") => {
            "all content must be type \"text\" if `is_error` is true"
        }
        _ => return Ok(()),
    };
    Err(Wrong::request(format!("{place}.tool_result: {wrong}")))
}

fn of_user(at: usize, message: &Value, open: &BTreeSet<String>, seen: &mut Seen) -> Result<(), Wrong> {
    let mut answered = BTreeSet::new();
    if let Some(text) = message["content"].as_str() {
        seen.user(text);
    }
    let blocks = message["content"].as_array().into_iter().flatten();
    for (number, block) in blocks.enumerate() {
        let place = format!("messages.{at}.content.{number}");
        if block["type"] == "tool_result" {
            only(block, &place, &["type", "tool_use_id", "content", "is_error"])?;
            let id = block["tool_use_id"].as_str().unwrap_or_default().to_owned();
            if !open.contains(&id) {
                return Err(Wrong::request(format!(
                    "{place}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
                )));
            }
            is_result(&place, block)?;
            seen.last_result = text_of(&block["content"]);
            answered.insert(id);
        } else if block["type"] == "text" {
            let text = block["text"].as_str().unwrap_or_default();
            is_said(&block["text"])?;
            seen.user(text);
        }
    }
    unanswered(at.saturating_sub(1), &open.difference(&answered).cloned().collect())
}

fn unanswered(at: usize, open: &BTreeSet<String>) -> Result<(), Wrong> {
    if open.is_empty() {
        return Ok(());
    }
    let ids = open.iter().cloned().collect::<Vec<_>>().join(", ");
    Err(Wrong::request(format!(
        "messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}. Each `tool_use` block must have a corresponding `tool_result` block in the next message."
    )))
}

fn answer(answering: &Answering<'_>) -> ProviderAnswer {
    let step = answering.step;
    let thinking = step.thinking.as_ref();
    let thinking =
        thinking.map(|text| json!({ "type": "thinking", "thinking": text, "signature": signature(text) }));
    let text = step.text.as_ref().map(|text| json!({ "type": "text", "text": text }));
    let calls = step.calls.iter().enumerate().map(|(at, call)| {
        let mut block = json!({
            "type": "tool_use", "id": answering.id("toolu_", at), "name": call.name, "input": call.json(),
        });
        if let Some(caller) = &call.caller {
            block["caller"] = caller.clone();
        }
        block
    });
    let content: Vec<Value> = thinking.into_iter().chain(text).chain(calls).collect();
    let tokens = answering.tokens();
    let stop = match step.stop.as_deref() {
        Some("pause" | "pause_turn") => "pause_turn",
        Some("context_window") => "model_context_window_exceeded",
        Some(word) => word,
        None if step.calls.is_empty() => "end_turn",
        None => "tool_use",
    };
    let is_blank = |block: &Value| block["type"] == "text" && is_said(&block["text"]).is_err();
    let taken_back: Vec<&Value> = content.iter().filter(|block| !is_blank(block)).collect();
    let message = json!({ "role": "assistant", "content": taken_back });
    let body = json!({
        "id": format!("msg_{}", answering.serial),
        "type": "message",
        "role": "assistant",
        "model": answering.model,
        "content": content,
        "stop_reason": stop,
        "stop_sequence": if stop == "stop_sequence" { json!("END") } else { Value::Null },
        "usage": {
            "input_tokens": tokens.prompt - tokens.cached - tokens.cache_write,
            "cache_creation_input_tokens": tokens.cache_write,
            "cache_read_input_tokens": tokens.cached,
            "output_tokens": tokens.completion,
            "service_tier": "standard",
        },
    });
    let is_empty = taken_back.is_empty();
    ProviderAnswer { body, message: if is_empty { Vec::new() } else { vec![message] } }
}

fn error(status: u16, message: &str) -> Value {
    let kind = match status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        400..500 => "invalid_request_error",
        _ => "api_error",
    };
    json!({ "type": "error", "error": { "type": kind, "message": message }, "request_id": "req_stub" })
}
