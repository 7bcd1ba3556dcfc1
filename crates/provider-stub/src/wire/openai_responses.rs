//! The Responses of `OpenAI`, from the provider's side.

use super::parameters;
use super::{
    Answering, ProviderAnswer, ProviderRequest, Seen, Wire, Wrong, is_name, only, signature,
    text_of,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub(super) const WIRE: Wire = Wire {
    name: "openai-responses",
    key: ("authorization", "Bearer "),
    is_at: |path| path.ends_with("/responses"),
    check,
    answer,
    error,
    blocked: |reason| {
        json!({
            "id": "resp_stub", "object": "response", "status": "failed", "output": [],
            "error": { "code": "invalid_prompt", "message": reason },
        })
    },
};

fn check(request: &ProviderRequest<'_>) -> Result<Seen, Wrong> {
    let body = request.body;
    parameters::known_to_responses(body)?;
    let mut seen = Seen {
        model: body["model"].as_str().unwrap_or_default().to_owned(),
        ..Seen::default()
    };
    if seen.model.is_empty() {
        return Err(Wrong::request("you must provide a model parameter"));
    }
    if !body["include"].is_null() && seen.model.starts_with("gpt-4") {
        return Err(Wrong::request(
            "Encrypted content is not supported with this model.",
        ));
    }
    if body["max_output_tokens"]
        .as_u64()
        .is_some_and(|most| most < 16)
    {
        return Err(Wrong::request(
            "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16.",
        ));
    }
    for (at, tool) in body["tools"].as_array().into_iter().flatten().enumerate() {
        check_tool(&format!("tools[{at}]"), tool, &mut seen)?;
    }
    parameters::responses(&seen, body)?;
    check_items(body, &mut seen)?;
    Ok(seen)
}

fn check_tool(place: &str, tool: &Value, seen: &mut Seen) -> Result<(), Wrong> {
    if tool["type"] == "programmatic_tool_calling" {
        only(tool, &format!("{place}."), &["type"])?;
        return seen.code_tool(WIRE.name, place);
    }
    if tool["type"] != "function" {
        return Err(Wrong::request(format!("Invalid value for '{place}.type'.")));
    }
    let known = [
        "type",
        "name",
        "description",
        "parameters",
        "strict",
        "allowed_callers",
    ];
    only(tool, &format!("{place}."), &known)?;
    seen.callers(place, tool, "programmatic")?;
    seen.tool(place, tool, "parameters", false)
}

fn check_items(body: &Value, seen: &mut Seen) -> Result<(), Wrong> {
    let items = body["input"]
        .as_array()
        .filter(|items| !items.is_empty())
        .ok_or_else(|| Wrong::request("Missing required parameter: 'input'."))?;
    let mut open = BTreeSet::new();
    for (at, item) in items.iter().enumerate() {
        let is_of_model = check_item(at, items, &mut open, seen)?;
        seen.of_model.push(is_of_model);
        seen.conversation.push(item.clone());
    }
    match open.first() {
        Some(id) => Err(Wrong::request(format!(
            "No tool output found for function call {id}."
        ))),
        None => Ok(()),
    }
}

fn is_call(at: usize, item: &Value) -> Result<(), Wrong> {
    let text = |key: &str| item[key].as_str().unwrap_or_default();
    let wrong = if !is_name(text("name")) {
        "name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
    } else if text("name").len() > 64 {
        "name': string too long. Expected a string with maximum length 64."
    } else if text("call_id").is_empty() {
        "call_id': empty string. Expected a string with minimum length 1, but got an empty string instead."
    } else if text("call_id").len() > 64 {
        "call_id': string too long. Expected a string with maximum length 64."
    } else {
        return Ok(());
    };
    Err(Wrong::request(format!("Invalid 'input[{at}].{wrong}")))
}

/// Returns true if the item is from the model.
fn check_item(
    at: usize,
    items: &[Value],
    open: &mut BTreeSet<String>,
    seen: &mut Seen,
) -> Result<bool, Wrong> {
    let item = &items[at];
    match item["type"].as_str() {
        Some("function_call") => {
            check_call(at, items, seen)?;
            open.insert(text_at(item, "call_id").to_owned());
            Ok(true)
        }
        Some("function_call_output") => {
            let id = text_at(item, "call_id");
            if !open.remove(id) {
                return Err(Wrong::request(format!(
                    "No tool call found for function call output with call_id {id}."
                )));
            }
            is_of_its_caller(at, item, items)?;
            seen.last_result = text_of(&item["output"]);
            Ok(false)
        }
        Some("program" | "program_output") => check_program(at, item, seen).map(|()| true),
        Some("reasoning") => check_reasoning(item, items.get(at + 1)).map(|()| true),
        Some("message") | None if item["role"] == "assistant" => Ok(true),
        Some("message") | None if item["role"] == "user" => {
            seen.user(&text_of(&item["content"]));
            Ok(false)
        }
        kind => Err(Wrong::request(format!(
            "Invalid value for 'input[{at}].type': {kind:?}."
        ))),
    }
}

fn text_at<'v>(item: &'v Value, key: &str) -> &'v str {
    item[key].as_str().unwrap_or_default()
}

fn check_call(at: usize, items: &[Value], seen: &Seen) -> Result<(), Wrong> {
    let item = &items[at];
    let id = text_at(item, "id");
    let is_thought = id.ends_with("_r");
    if is_thought && !items[..at].iter().any(|item| item["type"] == "reasoning") {
        return Err(Wrong::request(format!(
            "Item '{id}' of type 'function_call' was provided without its required 'reasoning' item."
        )));
    }
    is_call(at, item)?;
    seen.caller(&format!("input[{at}]"), &item["caller"], "caller_id")?;
    if !item["arguments"].is_string() {
        return Err(Wrong::request(format!(
            "Invalid type for 'input[{at}].arguments': expected a string."
        )));
    }
    Ok(())
}

fn check_reasoning(item: &Value, follower: Option<&Value>) -> Result<(), Wrong> {
    let id = text_at(item, "id");
    let summary = item["summary"][0]["text"].as_str().unwrap_or_default();
    if item["encrypted_content"] != signature(summary) {
        return Err(Wrong::request(format!(
            "The encrypted content {id} could not be verified."
        )));
    }
    let is_followed = follower.is_some_and(|item| {
        matches!(
            item["type"].as_str(),
            Some("function_call" | "message" | "program")
        )
    });
    if !is_followed {
        return Err(Wrong::request(format!(
            "Item '{id}' of type 'reasoning' was provided without its required following item."
        )));
    }
    Ok(())
}

fn is_of_its_caller(at: usize, output: &Value, items: &[Value]) -> Result<(), Wrong> {
    let is_its =
        |call: &&Value| call["type"] == "function_call" && call["call_id"] == output["call_id"];
    let caller = items[..at].iter().rfind(is_its).map(|call| &call["caller"]);
    match &output["caller"] {
        Value::Null => Ok(()),
        said if Some(said) == caller => Ok(()),
        _ => Err(Wrong::request(format!(
            "input[{at}].caller: it is not that of the call."
        ))),
    }
}

fn check_program(at: usize, item: &Value, seen: &mut Seen) -> Result<(), Wrong> {
    let text = |key: &str| item[key].as_str().unwrap_or_default();
    if item["type"] == "program_output" {
        return seen.code_ends(&format!("input[{at}]"), text("call_id"));
    }
    if item["fingerprint"] != signature(text("code")) {
        return Err(Wrong::request(format!(
            "Invalid 'input[{at}].fingerprint'."
        )));
    }
    seen.code_begins(text("call_id"));
    Ok(())
}

fn program(id: &str, serial: &str, code: &str) -> Value {
    json!({
        "id": format!("prog_{serial}"), "type": "program", "call_id": id, "code": code,
        "fingerprint": signature(code),
    })
}

fn program_output(id: &str, serial: &str, result: &str) -> Value {
    json!({
        "id": format!("po_{serial}"), "type": "program_output", "call_id": id, "result": result,
        "status": "completed",
    })
}

fn usage(answering: &Answering<'_>) -> Value {
    let tokens = answering.tokens();
    json!({
        "input_tokens": tokens.prompt,
        "input_tokens_details": { "cached_tokens": tokens.cached },
        "output_tokens": tokens.completion,
        "output_tokens_details": { "reasoning_tokens": tokens.thoughts },
        "total_tokens": tokens.prompt + tokens.completion,
    })
}

fn answer(answering: &Answering<'_>) -> ProviderAnswer {
    let output = output(answering);
    let (status, details) = match answering.step.stop.as_deref() {
        Some("max_tokens" | "max_output_tokens") => {
            ("incomplete", json!({ "reason": "max_output_tokens" }))
        }
        Some("content_filter") => ("incomplete", json!({ "reason": "content_filter" })),
        _ => ("completed", Value::Null),
    };
    let body = json!({
        "id": format!("resp_{}", answering.serial),
        "object": "response",
        "created_at": 0,
        "status": status,
        "error": null,
        "incomplete_details": details,
        "model": answering.model,
        "output": output,
        "usage": usage(answering),
    });
    let is_followed = output
        .last()
        .is_some_and(|item| item["type"] != "reasoning");
    ProviderAnswer {
        body,
        message: if is_followed { output } else { Vec::new() },
    }
}

/// The items of an answer: the result of an earlier program first, then thoughts, text and calls.
fn output(answering: &Answering<'_>) -> Vec<Value> {
    let (step, serial) = (answering.step, &answering.serial);
    let mut output = Vec::new();
    if let (Some(id), Some(result)) = (answering.pending(), &step.output) {
        output.push(program_output(id, serial, result));
    }
    if let Some(text) = &step.thinking {
        output.push(json!({
            "id": format!("rs_{serial}"), "type": "reasoning",
            "summary": [{ "type": "summary_text", "text": text }], "encrypted_content": signature(text),
        }));
    }
    if let Some(text) = &step.text {
        let content = if step.stop.as_deref() == Some("refusal") {
            json!({ "type": "refusal", "refusal": text })
        } else {
            json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": [] })
        };
        output.push(json!({
            "id": format!("msg_{serial}"), "type": "message", "status": "completed", "role": "assistant",
            "content": [content],
        }));
    }
    let id_of_code = step.code.as_ref().map(|_| format!("call_program_{serial}"));
    if let (Some(id), Some(code)) = (&id_of_code, &step.code) {
        output.push(program(id, serial, code));
    }
    for at in 0..step.calls.len() {
        output.push(function_call(answering, at, id_of_code.as_deref()));
    }
    // A program without calls ends at once.
    if let (Some(id), Some(result), true) = (&id_of_code, &step.output, step.calls.is_empty()) {
        output.push(program_output(id, serial, result));
    }
    output
}

fn function_call(answering: &Answering<'_>, at: usize, id_of_code: Option<&str>) -> Value {
    let (step, serial) = (answering.step, &answering.serial);
    let mark = if step.thinking.is_some() { "_r" } else { "" };
    let call = &step.calls[at];
    let mut item = json!({
        "id": format!("fc_{serial}_{at}{mark}"), "type": "function_call", "status": "completed",
        "call_id": answering.id("call_", at), "name": call.name, "arguments": call.written(),
    });
    let code = |id: &str| json!({ "type": "program", "caller_id": id });
    if let Some(caller) = answering.caller(at, id_of_code, &code) {
        item["caller"] = caller;
    }
    item
}

pub(super) fn error(status: u16, message: &str) -> Value {
    let (kind, code) = match status {
        401 => ("invalid_request_error", json!("invalid_api_key")),
        404 => ("invalid_request_error", json!("model_not_found")),
        429 => ("tokens", json!("rate_limit_exceeded")),
        500.. => ("server_error", Value::Null),
        _ => ("invalid_request_error", Value::Null),
    };
    json!({ "error": { "message": message, "type": kind, "param": null, "code": code } })
}
