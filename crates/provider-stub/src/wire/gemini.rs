//! Gemini's `generateContent`, from the provider's side.

use super::parameters::{self, GENERATION_CONFIG};
use super::{Answering, ProviderAnswer, ProviderRequest, Seen, Wire, Wrong, only, signature};
use serde_json::{Value, json};

pub(super) const WIRE: Wire = Wire {
    name: "gemini",
    key: ("x-goog-api-key", ""),
    is_at: |path| path.ends_with(":generateContent"),
    check,
    answer,
    error,
    blocked: |reason| {
        json!({
            "promptFeedback": { "blockReason": reason },
            "usageMetadata": { "promptTokenCount": 100, "totalTokenCount": 100 },
        })
    },
};

fn check(request: &ProviderRequest<'_>) -> Result<Seen, Wrong> {
    let body = request.body;
    let model = request.path.rsplit('/').next().unwrap_or_default();
    let model = model.trim_end_matches(":generateContent").to_owned();
    let mut seen = Seen {
        model,
        ..Seen::default()
    };
    only(
        body,
        "",
        &[
            "systemInstruction",
            "contents",
            "generationConfig",
            "tools",
            "toolConfig",
            "safetySettings",
        ],
    )
    .map_err(|wrong| unknown("", &wrong))?;
    only(&body["generationConfig"], "", GENERATION_CONFIG)
        .map_err(|wrong| unknown("generation_config", &wrong))?;
    let declared = body["tools"][0]["functionDeclarations"].as_array();
    for (at, tool) in declared.into_iter().flatten().enumerate() {
        let place = format!("tools[0].function_declarations[{at}]");
        only(tool, "", &["name", "description", "parametersJsonSchema"])
            .map_err(|wrong| unknown(&place, &wrong))?;
        seen.tool(&place, tool, "parametersJsonSchema", true)?;
    }
    parameters::gemini(&seen, body)?;
    let contents = body["contents"]
        .as_array()
        .filter(|contents| !contents.is_empty());
    let contents = contents.ok_or_else(|| {
        Wrong::request("* GenerateContentRequest.contents: contents is not specified\n")
    })?;
    let mut open: Option<Vec<(String, Value)>> = None;
    for (at, content) in contents.iter().enumerate() {
        only(content, "", &["role", "parts"])
            .map_err(|wrong| unknown(&format!("contents[{at}]"), &wrong))?;
        let parts = content["parts"]
            .as_array()
            .filter(|parts| !parts.is_empty());
        let parts = parts.ok_or_else(|| {
            Wrong::request(format!(
                "* GenerateContentRequest.contents[{at}].parts: contents.parts must not be empty.\n"
            ))
        })?;
        match content["role"].as_str() {
            Some("user") => of_user(at, parts, open.take(), &mut seen)?,
            Some("model") => {
                answered(open.as_ref())?;
                open = of_model(at, parts, &seen.model)?;
            }
            _ => return Err(Wrong::request("Please use a valid role: user, model.")),
        }
        seen.of_model.push(content["role"] == "model");
        seen.conversation.push(content.clone());
    }
    answered(open.as_ref())?;
    Ok(seen)
}

fn unknown(place: &str, wrong: &Wrong) -> Wrong {
    let key = wrong.message.split(':').next().unwrap_or_default();
    Wrong::request(format!(
        "Invalid JSON payload received. Unknown name \"{key}\" at '{place}': Cannot find field."
    ))
}

fn answered(open: Option<&Vec<(String, Value)>>) -> Result<(), Wrong> {
    match open {
        Some(calls) if !calls.is_empty() => Err(parity()),
        _ => Ok(()),
    }
}

fn parity() -> Wrong {
    Wrong::request(
        "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
    )
}

fn of_user(
    at: usize,
    parts: &[Value],
    open: Option<Vec<(String, Value)>>,
    seen: &mut Seen,
) -> Result<(), Wrong> {
    let mut open = open.unwrap_or_default();
    for (number, part) in parts.iter().enumerate() {
        if let Some(text) = part["text"].as_str() {
            seen.user(text);
        }
        let response = &part["functionResponse"];
        if response.is_null() {
            continue;
        }
        if !response["response"].is_object() {
            return Err(Wrong::request(
                "function_response.response must be an object.",
            ));
        }
        let name = response["name"].as_str().unwrap_or_default();
        is_name(
            &format!("contents[{at}].parts[{number}].function_response"),
            name,
        )?;
        let found = open
            .iter()
            .position(|(called, id)| called == name && *id == response["id"]);
        open.remove(found.ok_or_else(parity)?);
        let said = response["response"]
            .as_object()
            .into_iter()
            .flatten()
            .next();
        let said = said.and_then(|(_, said)| said.as_str());
        said.unwrap_or_default().clone_into(&mut seen.last_result);
    }
    answered(Some(&open))
}

/// From the third generation on, the first call of a step is signed.
fn is_signed(model: &str) -> bool {
    let digit = model
        .strip_prefix("gemini-")
        .and_then(|rest| rest.chars().next()?.to_digit(10));
    digit.is_some_and(|digit| digit >= 3)
}

fn is_name(place: &str, name: &str) -> Result<(), Wrong> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "_.:-".contains(c);
    let wrong = if name.is_empty() {
        "Name cannot be empty."
    } else if name.len() > 64
        || name.starts_with(|c: char| !c.is_ascii_alphabetic() && c != '_')
        || !name.chars().all(is_allowed)
    {
        "[FIELD_INVALID] Invalid function name. Must start with a letter or an underscore. Must be a-z, A-Z, 0-9, or contain underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64."
    } else {
        return Ok(());
    };
    Err(Wrong::request(format!(
        "* GenerateContentRequest.{place}.name: {wrong}\n"
    )))
}

/// The signature of a call. It omits a name that the provider would not accept again.
fn call_signature(name: &str) -> String {
    signature(if is_name("", name).is_ok() { name } else { "" })
}

fn of_model(
    at: usize,
    parts: &[Value],
    model: &str,
) -> Result<Option<Vec<(String, Value)>>, Wrong> {
    let mut calls: Vec<(String, Value)> = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        let place = format!("contents[{at}].parts[{number}]");
        if part["text"] == "" && part["thoughtSignature"].is_null() {
            return Err(Wrong::request(format!(
                "* GenerateContentRequest.{place}.data: required oneof field 'data' must have one initialized field\n"
            )));
        }
        let call = &part["functionCall"];
        if call.is_null() {
            continue;
        }
        let name = call["name"].as_str().unwrap_or_default().to_owned();
        match part["thoughtSignature"].as_str() {
            Some(sent) if sent != call_signature(&name) && sent != signature("") => {
                return Err(Wrong::request("Invalid thought signature."));
            }
            None if calls.is_empty() && is_signed(model) => {
                return Err(Wrong::request(format!(
                    "Function call is missing a thought_signature in functionCall parts. Additional data, function call `default_api:{name}`."
                )));
            }
            _ => {}
        }
        is_name(&format!("{place}.function_call"), &name)?;
        if !call["args"].is_object() {
            return Err(Wrong::request(format!(
                "Invalid value at '{place}.function_call.args' (type.googleapis.com/google.protobuf.Struct)"
            )));
        }
        if !call["id"].is_null() && calls.iter().any(|(_, id)| *id == call["id"]) {
            return Err(Wrong::request(format!(
                "{place}.function_call.id: {} is there twice.",
                call["id"]
            )));
        }
        calls.push((name, call["id"].clone()));
    }
    Ok(Some(calls))
}

fn answer(answering: &Answering<'_>) -> ProviderAnswer {
    let step = answering.step;
    let thought = step
        .thinking
        .as_ref()
        .map(|text| json!({ "text": text, "thought": true }));
    let text = step.text.as_ref().map(|text| json!({ "text": text }));
    let calls = step.calls.iter().enumerate().map(|(at, call)| {
        let mut shown = json!({ "name": call.name, "args": call.json() });
        // An id is not always given.
        if call.id.as_deref() != Some("") {
            shown["id"] = json!(answering.id("", at));
        }
        let mut part = json!({ "functionCall": shown });
        if at == 0 && (step.thinking.is_some() || is_signed(answering.model)) {
            part["thoughtSignature"] = json!(call_signature(&call.name));
        }
        part
    });
    let parts: Vec<Value> = thought.into_iter().chain(text).chain(calls).collect();
    let reason = match step.stop.as_deref() {
        Some("max_tokens") => "MAX_TOKENS",
        Some("refusal") => "SAFETY",
        Some("malformed_call") => "MALFORMED_FUNCTION_CALL",
        None | Some("end_turn" | "tool_use") => "STOP",
        Some(word) => word,
    };
    let mut candidate =
        json!({ "content": { "role": "model" }, "finishReason": reason, "index": 0 });
    let mut message = Vec::new();
    if !parts.is_empty() {
        candidate["content"]["parts"] = json!(parts);
        let is_said = |part: &&Value| {
            part["text"]
                .as_str()
                .is_none_or(|text| !text.trim().is_empty())
        };
        let said: Vec<&Value> = parts.iter().filter(is_said).collect();
        message.extend((!said.is_empty()).then(|| json!({ "role": "model", "parts": said })));
    }
    if reason == "MALFORMED_FUNCTION_CALL" {
        candidate["finishMessage"] = json!("Malformed function call: print(default_api.");
    }
    let tokens = answering.tokens();
    let mut usage = json!({
        "promptTokenCount": tokens.prompt,
        "candidatesTokenCount": tokens.completion - tokens.thoughts,
        "totalTokenCount": tokens.prompt + tokens.completion,
    });
    if tokens.cached > 0 {
        usage["cachedContentTokenCount"] = json!(tokens.cached);
    }
    if tokens.thoughts > 0 {
        usage["thoughtsTokenCount"] = json!(tokens.thoughts);
    }
    let body = json!({
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": answering.model,
        "responseId": answering.serial,
    });
    ProviderAnswer { body, message }
}

fn error(status: u16, message: &str) -> Value {
    let word = match status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        _ => "INTERNAL",
    };
    json!({ "error": { "code": status, "message": message, "status": word } })
}
