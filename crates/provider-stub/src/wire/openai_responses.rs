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
        if tool["type"] == "programmatic_tool_calling" {
            only(tool, &format!("tools[{at}]."), &["type"])?;
            seen.code_tool(WIRE.name, &format!("tools[{at}]"))?;
            continue;
        }
        if tool["type"] != "function" {
            return Err(Wrong::request(format!(
                "Invalid value for 'tools[{at}].type'."
            )));
        }
        let known = [
            "type",
            "name",
            "description",
            "parameters",
            "strict",
            "allowed_callers",
        ];
        only(tool, &format!("tools[{at}]."), &known)?;
        seen.callers(&format!("tools[{at}]"), tool, "programmatic")?;
        seen.tool(&format!("tools[{at}]"), tool, "parameters", false)?;
    }
    parameters::responses(&seen, body)?;
    let items = body["input"].as_array().filter(|items| !items.is_empty());
    let items = items.ok_or_else(|| Wrong::request("Missing required parameter: 'input'."))?;
    let mut open = BTreeSet::new();
    for (at, item) in items.iter().enumerate() {
        let of_model = check_item(at, item, items, &mut open, &mut seen)?;
        seen.of_model.push(of_model);
        seen.conversation.push(item.clone());
    }
    match open.first() {
        Some(id) => Err(Wrong::request(format!(
            "No tool output found for function call {id}."
        ))),
        None => Ok(seen),
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
    item: &Value,
    items: &[Value],
    open: &mut BTreeSet<String>,
    seen: &mut Seen,
) -> Result<bool, Wrong> {
    let text = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
    match item["type"].as_str() {
        Some("function_call") => {
            let is_thought = text("id").ends_with("_r");
            if is_thought
                && (at == 0 || !items[..at].iter().any(|item| item["type"] == "reasoning"))
            {
                return Err(Wrong::request(format!(
                    "Item '{}' of type 'function_call' was provided without its required 'reasoning' item.",
                    text("id")
                )));
            }
            is_call(at, item)?;
            seen.caller(&format!("input[{at}]"), &item["caller"], "caller_id")?;
            if !item["arguments"].is_string() {
                return Err(Wrong::request(format!(
                    "Invalid type for 'input[{at}].arguments': expected a string."
                )));
            }
            open.insert(text("call_id"));
            Ok(true)
        }
        Some("function_call_output") => {
            if !open.remove(&text("call_id")) {
                return Err(Wrong::request(format!(
                    "No tool call found for function call output with call_id {}.",
                    text("call_id")
                )));
            }
            is_of_its_caller(at, item, items)?;
            seen.last_result = text_of(&item["output"]);
            Ok(false)
        }
        Some("program" | "program_output") => check_program(at, item, seen).map(|()| true),
        Some("reasoning") => {
            let summary = item["summary"][0]["text"].as_str().unwrap_or_default();
            if item["encrypted_content"] != signature(summary) {
                return Err(Wrong::request(format!(
                    "The encrypted content {} could not be verified.",
                    text("id")
                )));
            }
            let follower = items.get(at + 1).map(|item| &item["type"]);
            if !follower.is_some_and(|kind| {
                kind == "function_call" || kind == "message" || kind == "program"
            }) {
                return Err(Wrong::request(format!(
                    "Item '{}' of type 'reasoning' was provided without its required following item.",
                    text("id")
                )));
            }
            Ok(true)
        }
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
    let (step, serial) = (answering.step, &answering.serial);
    let is_refusal = step.stop.as_deref() == Some("refusal");
    let reasoning = step.thinking.as_ref().map(|text| {
        json!({
            "id": format!("rs_{serial}"), "type": "reasoning",
            "summary": [{ "type": "summary_text", "text": text }], "encrypted_content": signature(text),
        })
    });
    let message = step.text.as_ref().map(|text| {
        let content = if is_refusal {
            json!({ "type": "refusal", "refusal": text })
        } else {
            json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": [] })
        };
        json!({
            "id": format!("msg_{serial}"), "type": "message", "status": "completed", "role": "assistant",
            "content": [content],
        })
    });
    let id_of_code = step.code.as_ref().map(|_| format!("call_program_{serial}"));
    let ended = |id: &str| Some(program_output(id, serial, step.output.as_ref()?));
    let before = answering.pending().and_then(ended);
    let begun = id_of_code
        .as_ref()
        .zip(step.code.as_ref())
        .map(|(id, code)| program(id, serial, code));
    let at_once = id_of_code
        .as_deref()
        .filter(|_| step.calls.is_empty())
        .and_then(ended);
    let mark = if step.thinking.is_some() { "_r" } else { "" };
    let calls = step.calls.iter().enumerate().map(|(at, call)| {
        let mut item = json!({
            "id": format!("fc_{serial}_{at}{mark}"), "type": "function_call", "status": "completed",
            "call_id": answering.id("call_", at), "name": call.name, "arguments": call.written(),
        });
        let code = |id: &str| json!({ "type": "program", "caller_id": id });
        if let Some(caller) = answering.caller(at, id_of_code.as_deref(), &code) {
            item["caller"] = caller;
        }
        item
    });
    let before = before
        .into_iter()
        .chain(reasoning)
        .chain(message)
        .chain(begun);
    let output: Vec<Value> = before.chain(calls).chain(at_once).collect();
    let (status, details) = match step.stop.as_deref() {
        Some("max_tokens" | "max_output_tokens") => {
            ("incomplete", json!({ "reason": "max_output_tokens" }))
        }
        Some("content_filter") => ("incomplete", json!({ "reason": "content_filter" })),
        _ => ("completed", Value::Null),
    };
    let body = json!({
        "id": format!("resp_{serial}"),
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
