//! Chat Completions, from the provider's side.

use super::parameters::{self, CHAT};
use super::{
    Answering, ProviderAnswer, ProviderRequest, Seen, Wire, Wrong, is_name, only, signature,
    text_of,
};
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
    only(body, "", CHAT)?;
    let mut seen = Seen {
        model: body["model"].as_str().unwrap_or_default().to_owned(),
        ..Seen::default()
    };
    if seen.model.is_empty() {
        return Err(Wrong::request("you must provide a model parameter"));
    }
    for (at, tool) in body["tools"].as_array().into_iter().flatten().enumerate() {
        if tool["type"] != "function" {
            return Err(Wrong::request(format!(
                "Invalid value for 'tools[{at}].type'."
            )));
        }
        let place = format!("tools[{at}].function");
        seen.tool(&place, &tool["function"], "parameters", false)?;
    }
    parameters::chat(&seen, body)?;
    check_messages(body, &mut seen)?;
    Ok(seen)
}

fn check_messages(body: &Value, seen: &mut Seen) -> Result<(), Wrong> {
    let messages = body["messages"]
        .as_array()
        .filter(|messages| !messages.is_empty())
        .ok_or_else(|| Wrong::request("[] is too short - 'messages'"))?;
    let is_mistral = seen.model.contains("stral");
    let mut open = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        let after_tool = at > 0 && messages[at - 1]["role"] == "tool";
        if is_mistral && after_tool && message["role"] == "user" {
            return Err(Wrong::request("Unexpected role 'user' after role 'tool'"));
        }
        check_message(at, message, &mut open, seen)?;
        if message["role"] == "assistant" {
            is_taken_back(at, message, is_mistral, &seen.model)?;
        }
        seen.of_model.push(message["role"] == "assistant");
        seen.conversation.push(message.clone());
    }
    unanswered(&open)
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
            check_assistant(at, message, open)
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
        role => Err(Wrong::request(format!(
            "Invalid value: {role:?} in 'messages[{at}].role'."
        ))),
    }
}

/// Notes the calls of a message as open.
fn check_assistant(at: usize, message: &Value, open: &mut BTreeSet<String>) -> Result<(), Wrong> {
    let calls = message["tool_calls"].as_array();
    if message["content"].is_null() && calls.is_none() {
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
        if !open.insert(id.to_owned()) {
            return Err(Wrong::request(format!(
                "Duplicate value for 'tool_call_id' of '{id}' in 'messages[{at}].tool_calls'."
            )));
        }
    }
    Ok(())
}

/// Refuses everything that the strictest servers of this dialect refuse: Groq fields, `OpenAI` names, vLLM arguments,
/// Mistral ids.
fn is_taken_back(at: usize, message: &Value, is_mistral: bool, model: &str) -> Result<(), Wrong> {
    let wants_thoughts = wants_thoughts(model);
    let known = ["role", "content", "tool_calls"];
    let is_known =
        |key: &str| known.contains(&key) || (wants_thoughts && key == "reasoning_content");
    if let Some(key) = message
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, _)| key)
        .find(|key| !is_known(key))
    {
        return Err(Wrong::request(format!(
            "'messages.{at}' : for 'role:assistant' the following must be satisfied[('messages.{at}' : property '{key}' is unsupported)]"
        )));
    }
    let Some(calls) = message["tool_calls"].as_array() else {
        return Ok(());
    };
    if calls.is_empty() {
        return Err(Wrong::request(format!(
            "Invalid 'messages[{at}].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead."
        )));
    }
    if wants_thoughts && message["reasoning_content"].is_null() {
        return Err(Wrong::request(format!(
            "thinking is enabled but reasoning_content is missing in assistant tool call message at index {at}"
        )));
    }
    for (number, call) in calls.iter().enumerate() {
        let place = format!("messages[{at}].tool_calls[{number}]");
        only(call, &format!("{place}."), &["id", "type", "function"])?;
        is_call(&place, call, is_mistral)?;
    }
    Ok(())
}

/// Models that always think, and require their thoughts in later requests.
fn wants_thoughts(model: &str) -> bool {
    model.contains("deepseek") || model.contains("kimi")
}

fn is_call(place: &str, call: &Value, is_mistral: bool) -> Result<(), Wrong> {
    let id = call["id"].as_str().unwrap_or_default();
    let name = call["function"]["name"].as_str().unwrap_or_default();
    if is_mistral {
        fits_mistral(id, name)?;
    }
    let wrong = if id.len() > 40 {
        format!("Invalid '{place}.id': string too long. Expected a string with maximum length 40.")
    } else if !is_name(name) {
        format!(
            "Invalid '{place}.function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
        )
    } else if name.len() > 64 {
        format!(
            "Invalid '{place}.function.name': string too long. Expected a string with maximum length 64."
        )
    } else {
        return are_arguments(place, &call["function"]["arguments"]);
    };
    Err(Wrong::request(wrong))
}

fn fits_mistral(id: &str, name: &str) -> Result<(), Wrong> {
    if id.len() != 9 || !id.chars().all(|c| c.is_ascii_alphanumeric()) {
        return Err(Wrong::request(format!(
            "Tool call id was {id} but must be a-z, A-Z, 0-9, with a length of 9."
        )));
    }
    if !is_name(name) || name.len() > 64 {
        return Err(Wrong::request(format!(
            "Function name was {name} but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64."
        )));
    }
    Ok(())
}

fn are_arguments(place: &str, arguments: &Value) -> Result<(), Wrong> {
    let Some(text) = arguments.as_str() else {
        return Err(Wrong::request(format!(
            "Invalid type for '{place}.function.arguments': expected a string, but got an object instead."
        )));
    };
    match serde_json::from_str::<serde_json::Map<String, Value>>(text) {
        Ok(_) => Ok(()),
        Err(error) => Err(Wrong::request(format!(
            "Expecting value: line {} column {}",
            error.line(),
            error.column()
        ))),
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
    let step = answering.step;
    let answer = message(answering);
    let reason = match step.stop.as_deref() {
        Some("max_tokens") => "length",
        Some("context_window") => "model_length",
        Some("end_turn" | "refusal") => "stop",
        Some("tool_use") => "tool_calls",
        Some(word) => word,
        None if step.calls.is_empty() => "stop",
        None => "tool_calls",
    };
    let tokens = answering.tokens();
    let body = json!({
        "id": format!("chatcmpl-{}", answering.serial),
        "object": "chat.completion",
        "created": 0,
        "model": answering.model,
        "choices": [{ "index": 0, "message": answer, "logprobs": null, "finish_reason": reason }],
        "usage": {
            "prompt_tokens": tokens.prompt,
            "completion_tokens": tokens.completion,
            "total_tokens": tokens.prompt + tokens.completion,
            "prompt_tokens_details": { "cached_tokens": tokens.cached },
            "completion_tokens_details": { "reasoning_tokens": tokens.thoughts },
        },
    });
    let returned = taken_back(&answer, answering.model);
    let is_empty = returned["content"].is_null() && step.calls.is_empty();
    ProviderAnswer {
        body,
        message: if is_empty { Vec::new() } else { vec![returned] },
    }
}

fn message(answering: &Answering<'_>) -> Value {
    let step = answering.step;
    let text = step.text.as_ref().map_or(Value::Null, |text| json!(text));
    let mut message = json!({ "role": "assistant", "content": text });
    if step.stop.as_deref() == Some("refusal") {
        message = json!({ "role": "assistant", "content": null, "refusal": text });
    } else if !answering.model.contains("stral") {
        message["refusal"] = Value::Null;
        message["annotations"] = json!([]);
        message["tool_calls"] = json!([]);
    }
    let thinking = step
        .thinking
        .as_deref()
        .or(wants_thoughts(answering.model).then_some("Hm."));
    if let Some(thinking) = thinking {
        message["reasoning_content"] = json!(thinking);
    }
    if !step.calls.is_empty() {
        let calls: Vec<Value> = (0..step.calls.len())
            .map(|at| call(answering, at))
            .collect();
        message["tool_calls"] = json!(calls);
    }
    message
}

fn call(answering: &Answering<'_>, at: usize) -> Value {
    let is_mistral = answering.model.contains("stral");
    let call = &answering.step.calls[at];
    let mut id = answering.id("call_", at);
    // Mistral's ids have nine letters and digits.
    if is_mistral && call.id.is_none() {
        id = String::from(&signature(&id)[3..12]);
    }
    // Mistral may send an object.
    let arguments = if is_mistral && call.args_text.is_none() {
        call.json()
    } else {
        json!(call.written())
    };
    let mut shown = json!({
        "id": id, "type": "function", "function": { "name": call.name, "arguments": arguments },
    });
    if let Some(caller) = &call.caller {
        shown["caller"] = caller.clone();
    }
    shown
}

/// The form in which a careful client returns an answer.
fn taken_back(answer: &Value, model: &str) -> Value {
    let mut message = json!({ "role": "assistant", "content": answer["content"] });
    if let Some(refusal) = answer["refusal"].as_str() {
        message["content"] = json!(refusal);
    }
    if message["content"]
        .as_str()
        .is_some_and(|text| text.trim().is_empty())
    {
        message["content"] = Value::Null;
    }
    if wants_thoughts(model) {
        message["reasoning_content"] = answer["reasoning_content"].clone();
    }
    let mut calls = answer["tool_calls"].as_array().cloned().unwrap_or_default();
    for call in &mut calls {
        call.as_object_mut().map(|call| call.remove("caller"));
        let arguments = &mut call["function"]["arguments"];
        if !arguments.is_string() {
            *arguments = json!(arguments.to_string());
        }
    }
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    message
}
