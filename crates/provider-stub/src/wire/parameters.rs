//! Parameters of a request, from the provider's side: which are refused, in the provider's words?

use super::{Seen, Wrong, only};
use serde_json::Value;

const MESSAGES: &[&str] = &[
    "model",
    "max_tokens",
    "system",
    "temperature",
    "top_p",
    "top_k",
    "messages",
    "tools",
    "tool_choice",
    "thinking",
    "output_config",
    "metadata",
    "stop_sequences",
    "container",
];

pub(super) const CHAT: &[&str] = &[
    "model",
    "messages",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "top_k",
    "seed",
    "random_seed",
    "reasoning_effort",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "response_format",
    "stop",
];

const RESPONSES: &[&str] = &[
    "model",
    "instructions",
    "input",
    "max_output_tokens",
    "temperature",
    "top_p",
    "reasoning",
    "include",
    "tools",
    "tool_choice",
    "store",
    "service_tier",
    "text",
];

pub(super) const GENERATION_CONFIG: &[&str] = &[
    "maxOutputTokens",
    "temperature",
    "topP",
    "topK",
    "seed",
    "thinkingConfig",
    "responseMimeType",
    "responseJsonSchema",
];

fn refuse<T>(message: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong::request(message))
}

/// The number after a prefix of an id: 4.7 for `claude-opus-4-7` and `claude-opus-`.
fn generation(id: &str, prefix: &str) -> Option<f64> {
    let rest = id.strip_prefix(prefix)?;
    let mut pieces = rest
        .split(['-', '.'])
        .map(|piece| piece.parse::<f64>().ok().filter(|n| *n < 100.0));
    let major = pieces.next()??;
    Some(major + pieces.next().flatten().unwrap_or_default() / 10.0)
}

fn claude(id: &str) -> Option<f64> {
    ["claude-opus-", "claude-sonnet-", "claude-haiku-"]
        .iter()
        .find_map(|prefix| generation(id, prefix))
}

/// Anthropic's Messages.
pub(super) fn messages(seen: &Seen, body: &Value) -> Result<(), Wrong> {
    only(body, "", MESSAGES)?;
    cache_control(body)?;
    let version = claude(&seen.model).unwrap_or_default();
    sampling(body, version)?;
    effort(seen, body, version)?;
    thinking(body, version)?;
    tool_choice(seen, &body["tool_choice"])
}

fn sampling(body: &Value, version: f64) -> Result<(), Wrong> {
    let has = |key: &str| !body[key].is_null();
    for key in ["temperature", "top_p"] {
        if version >= 4.7 && has(key) {
            return refuse(format!("`{key}` is deprecated for this model."));
        }
    }
    if body["temperature"]
        .as_f64()
        .is_some_and(|temperature| temperature > 1.0)
    {
        return refuse("temperature: range: 0..1");
    }
    if version >= 4.1 && has("temperature") && has("top_p") {
        return refuse(
            "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
        );
    }
    Ok(())
}

fn effort(seen: &Seen, body: &Value, version: f64) -> Result<(), Wrong> {
    let Some(word) = body["output_config"]["effort"].as_str() else {
        return Ok(());
    };
    let first_version = if seen.model.contains("opus") {
        4.5
    } else {
        4.6
    };
    if version < first_version {
        return refuse("This model does not support the effort parameter.");
    }
    if !["low", "medium", "high", "xhigh", "max"].contains(&word) {
        return refuse(
            "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'",
        );
    }
    Ok(())
}

fn thinking(body: &Value, version: f64) -> Result<(), Wrong> {
    let kind = body["thinking"]["type"].as_str().unwrap_or("disabled");
    if kind == "disabled" {
        return Ok(());
    }
    if kind == "adaptive" && version < 4.6 {
        return refuse("adaptive thinking is not supported on this model");
    }
    if body["temperature"]
        .as_f64()
        .is_some_and(|temperature| temperature != 1.0)
    {
        return refuse(
            "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.",
        );
    }
    if matches!(body["tool_choice"]["type"].as_str(), Some("any" | "tool")) {
        return refuse("Thinking may not be enabled when tool_choice forces tool use.");
    }
    Ok(())
}

fn tool_choice(seen: &Seen, choice: &Value) -> Result<(), Wrong> {
    if choice.is_null() {
        return Ok(());
    }
    let Some(kind) = choice["type"].as_str() else {
        return refuse("tool_choice: Input should be an object");
    };
    let named = choice["name"].as_str().unwrap_or_default();
    if kind == "tool" && !seen.tools.iter().any(|tool| tool == named) {
        return refuse(format!("Tool '{named}' not found in provided tools"));
    }
    if seen.tools.is_empty() {
        return refuse("tool_choice may only be specified while providing tools.");
    }
    if !["auto", "any", "none", "tool"].contains(&kind) {
        return refuse(format!(
            "tool_choice: Input tag '{kind}' found using 'type' does not match any of the expected tags: 'auto', 'any', 'tool', 'none'"
        ));
    }
    Ok(())
}

/// Checks the number of cache marks, and their form.
fn cache_control(body: &Value) -> Result<(), Wrong> {
    let mut marks = Vec::new();
    find_marks(body, &mut marks);
    if marks.len() > 4 {
        return refuse(format!(
            "A maximum of 4 blocks with cache_control may be provided. Found {}.",
            marks.len()
        ));
    }
    match marks.iter().find(|mark| mark["type"] != "ephemeral") {
        Some(_) => {
            refuse("cache_control: Input tag does not match any of the expected tags: 'ephemeral'")
        }
        None => Ok(()),
    }
}

fn find_marks<'v>(value: &'v Value, marks: &mut Vec<&'v Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| find_marks(item, marks)),
        Value::Object(entries) => {
            marks.extend(entries.get("cache_control"));
            entries.values().for_each(|entry| find_marks(entry, marks));
        }
        _ => {}
    }
}

/// A message without its marks, which differ in the next request.
pub(super) fn without_cache_control(message: &Value) -> Value {
    let mut message = message.clone();
    for block in message["content"].as_array_mut().into_iter().flatten() {
        if let Some(block) = block.as_object_mut() {
            block.remove("cache_control");
        }
    }
    message
}

fn is_reasoning(model: &str) -> bool {
    let is_of_o_series = model
        .strip_prefix('o')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    is_of_o_series
        || (generation(model, "gpt-").is_some_and(|version| version >= 5.0)
            && !model.contains("-chat"))
}

/// Parameters that `OpenAI` models refuse while they reason, and parameters that only reasoning
/// models accept.
fn openai(seen: &Seen, body: &Value, effort: (&str, &Value)) -> Result<(), Wrong> {
    let (name, effort) = effort;
    let is_kept =
        effort == "none" && generation(&seen.model, "gpt-").is_some_and(|version| version >= 5.1);
    for key in ["temperature", "top_p"] {
        let is_default = body[key].as_f64().is_none_or(|value| value == 1.0);
        if is_reasoning(&seen.model) && !is_kept && !is_default {
            return refuse(format!(
                "Unsupported parameter: '{key}' is not supported with this model."
            ));
        }
    }
    if seen.model.starts_with("gpt-4") && !effort.is_null() {
        return refuse(format!(
            "Unsupported parameter: '{name}' is not supported with this model."
        ));
    }
    let is_word = ["none", "minimal", "low", "medium", "high", "xhigh", "max"]
        .iter()
        .any(|word| effort == word);
    if !effort.is_null() && (!is_word || (seen.model == "gpt-5" && effort == "none")) {
        return refuse(format!(
            "Unsupported value: '{name}' does not support {effort} with this model."
        ));
    }
    Ok(())
}

/// Checks the `tool_choice` of `OpenAI`, with a tool's name at this pointer.
fn openai_choice(seen: &Seen, choice: &Value, words: &[&str], named: &str) -> Result<(), Wrong> {
    if choice.is_null() {
        return Ok(());
    }
    if seen.tools.is_empty() {
        return refuse(
            "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
        );
    }
    match (
        choice.as_str(),
        choice.pointer(named).and_then(Value::as_str),
    ) {
        (Some(word), _) if words.contains(&word) => Ok(()),
        (None, Some(name)) if seen.tools.iter().any(|tool| tool == name) => Ok(()),
        (None, Some(name)) => refuse(format!(
            "Tool choice '{name}' not found in 'tools' parameter."
        )),
        _ => refuse(format!("Invalid value for 'tool_choice': {choice}.")),
    }
}

/// Chat Completions, as in `OpenAI` and Mistral.
pub(super) fn chat(seen: &Seen, body: &Value) -> Result<(), Wrong> {
    if seen.model.contains("stral") {
        return mistral(seen, body);
    }
    only(body, "", &chat_without("random_seed"))?;
    openai_choice(
        seen,
        &body["tool_choice"],
        &["auto", "required", "none"],
        "/function/name",
    )?;
    openai(seen, body, ("reasoning_effort", &body["reasoning_effort"]))
}

fn mistral(seen: &Seen, body: &Value) -> Result<(), Wrong> {
    only(body, "", &chat_without("seed"))?;
    openai_choice(
        seen,
        &body["tool_choice"],
        &["auto", "any", "none"],
        "/function/name",
    )?;
    if body["temperature"]
        .as_f64()
        .is_some_and(|temperature| temperature > 1.5)
    {
        return refuse("temperature: Input should be less than or equal to 1.5");
    }
    match body["reasoning_effort"].as_str() {
        None | Some("none" | "high") => Ok(()),
        Some(_) => refuse("reasoning_effort: Input should be 'none' or 'high'"),
    }
}

/// The entries of Chat Completions but one: `seed` has two names.
fn chat_without(other_name: &str) -> Vec<&'static str> {
    CHAT.iter()
        .copied()
        .filter(|key| *key != other_name)
        .collect()
}

/// The entries that Responses accept.
pub(super) fn known_to_responses(body: &Value) -> Result<(), Wrong> {
    let keys = body.as_object().into_iter().flatten().map(|(key, _)| key);
    match keys
        .into_iter()
        .find(|key| !RESPONSES.contains(&key.as_str()))
    {
        Some(key) => refuse(format!("Unknown parameter: '{key}'.")),
        None => Ok(()),
    }
}

pub(super) fn responses(seen: &Seen, body: &Value) -> Result<(), Wrong> {
    openai_choice(
        seen,
        &body["tool_choice"],
        &["auto", "required", "none"],
        "/name",
    )?;
    openai(
        seen,
        body,
        ("reasoning.effort", &body["reasoning"]["effort"]),
    )
}

/// Gemini's `generateContent`.
pub(super) fn gemini(seen: &Seen, body: &Value) -> Result<(), Wrong> {
    let thinking = &body["generationConfig"]["thinkingConfig"];
    let version = generation(&seen.model, "gemini-").unwrap_or(3.0);
    if !thinking.is_null() && version < 2.5 {
        return refuse("Thinking is not enabled for this model");
    }
    if !thinking["thinkingLevel"].is_null() && version < 3.0 {
        return refuse("Thinking level is not supported for this model.");
    }
    let level = thinking["thinkingLevel"].as_str();
    if level.is_some_and(|level| !["minimal", "low", "medium", "high"].contains(&level)) {
        return refuse("Invalid value at 'generation_config.thinking_config.thinking_level'");
    }
    if thinking["thinkingBudget"] == 0 && seen.model.contains("pro") {
        return refuse("Budget 0 is invalid. This model only works in thinking mode.");
    }
    let choice = &body["toolConfig"]["functionCallingConfig"];
    let names = choice["allowedFunctionNames"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    if let Some(unknown) = names
        .into_iter()
        .find(|name| !seen.tools.iter().any(|tool| tool == name))
    {
        return refuse(format!(
            "allowed_function_names: {unknown:?} is not declared."
        ));
    }
    match choice["mode"].as_str() {
        None if choice.is_null() => Ok(()),
        Some("AUTO" | "ANY" | "NONE") if !seen.tools.is_empty() => Ok(()),
        Some("AUTO" | "ANY" | "NONE") => {
            refuse("Function calling config is set without function_declarations.")
        }
        _ => refuse("Invalid value at 'tool_config.function_calling_config.mode'"),
    }
}
