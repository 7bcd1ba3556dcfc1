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
    let last = request.path.rsplit('/').next().unwrap_or_default();
    let mut seen = Seen {
        model: last.trim_end_matches(":generateContent").to_owned(),
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
    check_contents(body, &mut seen)?;
    Ok(seen)
}

/// A call of the model that waits for its response.
struct OpenCall {
    name: String,
    id: Value,
}

fn check_contents(body: &Value, seen: &mut Seen) -> Result<(), Wrong> {
    let contents = body["contents"]
        .as_array()
        .filter(|contents| !contents.is_empty())
        .ok_or_else(|| {
            Wrong::request("* GenerateContentRequest.contents: contents is not specified\n")
        })?;
    let mut open: Vec<OpenCall> = Vec::new();
    for (at, content) in contents.iter().enumerate() {
        only(content, "", &["role", "parts"])
            .map_err(|wrong| unknown(&format!("contents[{at}]"), &wrong))?;
        let parts = content["parts"]
            .as_array()
            .filter(|parts| !parts.is_empty())
            .ok_or_else(|| {
                Wrong::request(format!(
                    "* GenerateContentRequest.contents[{at}].parts: contents.parts must not be empty.\n"
                ))
            })?;
        match content["role"].as_str() {
            Some("user") => check_user(at, parts, std::mem::take(&mut open), seen)?,
            Some("model") => {
                answered(&open)?;
                open = check_model(at, parts, &seen.model)?;
            }
            _ => return Err(Wrong::request("Please use a valid role: user, model.")),
        }
        seen.of_model.push(content["role"] == "model");
        seen.conversation.push(content.clone());
    }
    answered(&open)
}

fn unknown(place: &str, wrong: &Wrong) -> Wrong {
    let key = wrong.message.split(':').next().unwrap_or_default();
    Wrong::request(format!(
        "Invalid JSON payload received. Unknown name \"{key}\" at '{place}': Cannot find field."
    ))
}

fn answered(open: &[OpenCall]) -> Result<(), Wrong> {
    if open.is_empty() {
        Ok(())
    } else {
        Err(parity())
    }
}

fn parity() -> Wrong {
    Wrong::request(
        "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
    )
}

fn check_user(
    at: usize,
    parts: &[Value],
    mut open: Vec<OpenCall>,
    seen: &mut Seen,
) -> Result<(), Wrong> {
    for (number, part) in parts.iter().enumerate() {
        if let Some(text) = part["text"].as_str() {
            seen.user(text);
        }
        let response = &part["functionResponse"];
        if response.is_null() {
            continue;
        }
        let Some(result) = response["response"].as_object() else {
            return Err(Wrong::request(
                "function_response.response must be an object.",
            ));
        };
        let name = response["name"].as_str().unwrap_or_default();
        is_name(
            &format!("contents[{at}].parts[{number}].function_response"),
            name,
        )?;
        let answered = open
            .iter()
            .position(|call| call.name == name && call.id == response["id"])
            .ok_or_else(parity)?;
        open.remove(answered);
        let said = result.values().next().and_then(Value::as_str);
        said.unwrap_or_default().clone_into(&mut seen.last_result);
    }
    answered(&open)
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

/// The calls of a content.
fn check_model(at: usize, parts: &[Value], model: &str) -> Result<Vec<OpenCall>, Wrong> {
    let mut calls: Vec<OpenCall> = Vec::new();
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
        let must_be_signed = calls.is_empty() && is_signed(model);
        check_signature(&part["thoughtSignature"], &name, must_be_signed)?;
        is_name(&format!("{place}.function_call"), &name)?;
        if !call["args"].is_object() {
            return Err(Wrong::request(format!(
                "Invalid value at '{place}.function_call.args' (type.googleapis.com/google.protobuf.Struct)"
            )));
        }
        let id = call["id"].clone();
        if !id.is_null() && calls.iter().any(|earlier| earlier.id == id) {
            return Err(Wrong::request(format!(
                "{place}.function_call.id: {id} is there twice."
            )));
        }
        calls.push(OpenCall { name, id });
    }
    Ok(calls)
}

fn check_signature(sent: &Value, name: &str, must_be_signed: bool) -> Result<(), Wrong> {
    match sent.as_str() {
        Some(sent) if sent != call_signature(name) && sent != signature("") => {
            Err(Wrong::request("Invalid thought signature."))
        }
        None if must_be_signed => Err(Wrong::request(format!(
            "Function call is missing a thought_signature in functionCall parts. Additional data, function call `default_api:{name}`."
        ))),
        _ => Ok(()),
    }
}

fn answer(answering: &Answering<'_>) -> ProviderAnswer {
    let parts = parts(answering);
    let reason = match answering.step.stop.as_deref() {
        Some("max_tokens") => "MAX_TOKENS",
        Some("refusal") => "SAFETY",
        Some("malformed_call") => "MALFORMED_FUNCTION_CALL",
        None | Some("end_turn" | "tool_use") => "STOP",
        Some(word) => word,
    };
    let mut candidate =
        json!({ "content": { "role": "model" }, "finishReason": reason, "index": 0 });
    if !parts.is_empty() {
        candidate["content"]["parts"] = json!(parts);
    }
    if reason == "MALFORMED_FUNCTION_CALL" {
        candidate["finishMessage"] = json!("Malformed function call: print(default_api.");
    }
    let body = json!({
        "candidates": [candidate],
        "usageMetadata": usage(answering),
        "modelVersion": answering.model,
        "responseId": answering.serial,
    });
    ProviderAnswer {
        body,
        message: taken_back(&parts),
    }
}

fn parts(answering: &Answering<'_>) -> Vec<Value> {
    let step = answering.step;
    let mut parts = Vec::new();
    if let Some(text) = &step.thinking {
        parts.push(json!({ "text": text, "thought": true }));
    }
    if let Some(text) = &step.text {
        parts.push(json!({ "text": text }));
    }
    for (at, call) in step.calls.iter().enumerate() {
        let mut shown = json!({ "name": call.name, "args": call.json() });
        // An id is not always given.
        if call.id.as_deref() != Some("") {
            shown["id"] = json!(answering.id("", at));
        }
        let mut part = json!({ "functionCall": shown });
        if at == 0 && (step.thinking.is_some() || is_signed(answering.model)) {
            part["thoughtSignature"] = json!(call_signature(&call.name));
        }
        parts.push(part);
    }
    parts
}

/// The form in which a careful client returns an answer: without empty texts.
fn taken_back(parts: &[Value]) -> Vec<Value> {
    let is_said = |part: &&Value| {
        part["text"]
            .as_str()
            .is_none_or(|text| !text.trim().is_empty())
    };
    let said: Vec<&Value> = parts.iter().filter(is_said).collect();
    if said.is_empty() {
        return Vec::new();
    }
    vec![json!({ "role": "model", "parts": said })]
}

fn usage(answering: &Answering<'_>) -> Value {
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
    usage
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
