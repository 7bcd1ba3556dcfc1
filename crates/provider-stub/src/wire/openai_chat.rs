//! Chat Completions, from the provider's side.

use super::{Answering, ProviderAnswer, ProviderRequest, Seen, Wire, Wrong, only, signature, text_of};
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub(super) const WIRE: Wire = Wire {
    name: "openai",
    key: ("authorization", "Bearer "),
    is_at: |path| path.ends_with("/chat/completions"),
    check,
    answer,
    error: super::openai_responses::error,
    blocked: |_| json!({ "id": "chatcmpl-stub", "object": "chat.completion", "choices": [] }),
};

fn check(request: &ProviderRequest<'_>) -> Result<Seen, Wrong> {
    let body = request.body;
    let known = ["model", "messages", "max_tokens", "max_completion_tokens", "temperature", "tools"];
    only(body, "", &known)?;
    let mut seen = Seen { model: body["model"].as_str().unwrap_or_default().to_owned(), ..Seen::default() };
    if seen.model.is_empty() {
        return Err(Wrong::request("you must provide a model parameter"));
    }
    for (at, tool) in body["tools"].as_array().into_iter().flatten().enumerate() {
        if tool["type"] != "function" {
            return Err(Wrong::request(format!("Invalid value for 'tools[{at}].type'.")));
        }
        seen.tool(&format!("tools[{at}].function"), &tool["function"], "parameters", false)?;
    }
    let messages = body["messages"].as_array().filter(|messages| !messages.is_empty());
    let messages = messages.ok_or_else(|| Wrong::request("[] is too short - 'messages'"))?;
    let is_mistral = seen.model.contains("stral");
    let mut open = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        let after_tool = at > 0 && messages[at - 1]["role"] == "tool";
        if is_mistral && after_tool && message["role"] == "user" {
            return Err(Wrong::request("Unexpected role 'user' after role 'tool'"));
        }
        check_message(at, message, &mut open, &mut seen)?;
        seen.of_model.push(message["role"] == "assistant");
        seen.conversation.push(message.clone());
    }
    unanswered(&open)?;
    Ok(seen)
}

fn check_message(
    at: usize,
    message: &Value,
    open: &mut BTreeSet<String>,
    seen: &mut Seen,
) -> Result<(), Wrong> {
    match message["role"].as_str() {
        Some("system") if at == 0 => Ok(()),
        Some("user") => {
            unanswered(open)?;
            seen.user(&text_of(&message["content"]));
            Ok(())
        }
        Some("assistant") => {
            unanswered(open)?;
            let calls = message["tool_calls"].as_array();
            if message["content"].is_null() && calls.is_none_or(Vec::is_empty) && message["refusal"].is_null()
            {
                return Err(Wrong::request(format!(
                    "Invalid value for 'messages[{at}].content': expected a string, got null."
                )));
            }
            for call in calls.into_iter().flatten() {
                let id = call["id"].as_str().unwrap_or_default();
                if id.is_empty() || call["type"] != "function" {
                    return Err(Wrong::request(format!(
                        "Missing required parameter: 'messages[{at}].tool_calls.id'."
                    )));
                }
                open.insert(id.to_owned());
            }
            Ok(())
        }
        Some("tool") => {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            if !open.remove(id) {
                return Err(Wrong::request(
                    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
                ));
            }
            seen.last_result = text_of(&message["content"]);
            Ok(())
        }
        role => Err(Wrong::request(format!("Invalid value: {role:?} in 'messages[{at}].role'."))),
    }
}

fn unanswered(open: &BTreeSet<String>) -> Result<(), Wrong> {
    if open.is_empty() {
        return Ok(());
    }
    let ids = open.iter().cloned().collect::<Vec<_>>().join(", ");
    Err(Wrong::request(format!(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: {ids}"
    )))
}

fn answer(answering: &Answering<'_>) -> ProviderAnswer {
    let (step, serial) = (answering.step, &answering.serial);
    let is_mistral = answering.model.contains("stral");
    let calls = step.calls.iter().enumerate().map(|(at, call)| {
        let id = answering.id("call_", at);
        // Mistral's ids have nine letters and digits.
        let is_own = call.id.is_some();
        let id = if is_mistral && !is_own { signature(&id)[3..12].to_owned() } else { id };
        // Mistral may send an object.
        let arguments = if is_mistral && call.args_text.is_none() { call.json() } else { json!(call.written()) };
        let mut shown =
            json!({ "id": id, "type": "function", "function": { "name": call.name, "arguments": arguments } });
        if let Some(caller) = &call.caller {
            shown["caller"] = caller.clone();
        }
        shown
    });
    let calls: Vec<Value> = calls.collect();
    let is_refusal = step.stop.as_deref() == Some("refusal");
    let said = step.text.as_ref().map_or(Value::Null, |text| json!(text));
    let mut message = json!({ "role": "assistant", "content": said });
    if is_refusal {
        message = json!({ "role": "assistant", "content": null, "refusal": said });
    } else if !is_mistral {
        message["refusal"] = Value::Null;
        message["annotations"] = json!([]);
    }
    if let Some(thinking) = &step.thinking {
        message["reasoning_content"] = json!(thinking);
    }
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    let reason = match step.stop.as_deref() {
        Some("max_tokens") => "length",
        Some("context_window") => "model_length",
        Some("end_turn" | "refusal") => "stop",
        Some("tool_use") => "tool_calls",
        Some(word) => word,
        None if calls.is_empty() => "stop",
        None => "tool_calls",
    };
    let tokens = answering.tokens();
    let body = json!({
        "id": format!("chatcmpl-{serial}"),
        "object": "chat.completion",
        "created": 0,
        "model": answering.model,
        "choices": [{ "index": 0, "message": message, "logprobs": null, "finish_reason": reason }],
        "usage": {
            "prompt_tokens": tokens.prompt,
            "completion_tokens": tokens.completion,
            "total_tokens": tokens.prompt + tokens.completion,
            "prompt_tokens_details": { "cached_tokens": tokens.cached },
            "completion_tokens_details": { "reasoning_tokens": tokens.thoughts },
        },
    });
    let is_empty = step.text.as_ref().is_none_or(String::is_empty) && step.calls.is_empty();
    ProviderAnswer { body, message: if is_empty { Vec::new() } else { vec![message] } }
}
