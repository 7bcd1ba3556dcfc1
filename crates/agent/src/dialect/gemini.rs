//! Gemini's `generateContent`: what is sent, and what comes back?

use super::bad_reply::{gist, open, shape};
use super::echo::{Ids, Rules, Turn, WireResult, conversation, is_blank, list};
use super::parameters::{filled, placed, put};
use super::piece::{MessageText, Piece, with_schema};
use super::{Arguments, Ask, BadReply, Dialect, Part, Reply, Stop, ToolChoice, Wanted};
use mcptest_core::provider::has_thinking_levels;
use mcptest_core::trace::usage;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// Gemini's `generateContent`.
pub const GEMINI: Dialect = Dialect {
    name: "gemini",
    version: "v1beta",
    path: |model| match model.split_once('/') {
        Some(_) => format!("{model}:generateContent"),
        None => format!("models/{model}:generateContent"),
    },
    key_header: |key| ("x-goog-api-key", key.to_owned()),
    headers: &[],
    body,
    read,
};

/// No blank text, unless it is signed. Each message has a role.
const RULES: Rules = Rules {
    calls: |message| {
        list(message, "parts")
            .iter_mut()
            .filter_map(|part| part.get_mut("functionCall"))
            .collect()
    },
    id: "id",
    name: "name",
    arguments: "args",
    ids: Ids::OrNone,
    name_marks: ".:",
    is_text: false,
    rest: |message, _| {
        let Some(content) = message.as_object_mut() else {
            return false;
        };
        content.insert("role".to_owned(), json!("model"));
        let Some(Value::Array(parts)) = content.get_mut("parts") else {
            return false;
        };
        let is_signed = |part: &Value| part.get("thoughtSignature").is_some();
        parts.retain(|part| is_signed(part) || part.get("text").is_none_or(|text| !is_blank(text)));
        !parts.is_empty()
    },
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GeminiBody<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Value>,
    contents: Vec<Piece<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<[Declarations; 1]>,
    #[serde(flatten)]
    parameters: Map<String, Value>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Declarations {
    function_declarations: Vec<Box<RawValue>>,
}

fn body(ask: &Ask<'_>) -> String {
    let system = ask.system.filter(|system| !system.is_empty());
    let declared: Vec<Box<RawValue>> = ask.tools.iter().map(declaration).collect();
    let body = GeminiBody {
        system_instruction: system.map(|text| json!({ "parts": [{ "text": text }] })),
        contents: contents(ask),
        tools: (!declared.is_empty()).then_some([Declarations {
            function_declarations: declared,
        }]),
        parameters: parameters(ask),
    };
    serde_json::to_string(&body).unwrap_or_default()
}

fn parameters(ask: &Ask<'_>) -> Map<String, Value> {
    let places = [
        ("temperature", "generationConfig.temperature"),
        ("top_p", "generationConfig.topP"),
        ("seed", "generationConfig.seed"),
    ];
    let mut entries = placed(ask, &places);
    if let Some(most) = ask.max_tokens {
        put(
            &mut entries,
            "generationConfig.maxOutputTokens",
            json!(most),
        );
    }
    if let Some(schema) = ask.answer_schema {
        put(
            &mut entries,
            "generationConfig.responseMimeType",
            json!("application/json"),
        );
        put(
            &mut entries,
            "generationConfig.responseJsonSchema",
            schema.clone(),
        );
    }
    if let Some(word) = ask.effort() {
        let (key, value) = thinking(ask.model, word);
        put(
            &mut entries,
            &format!("generationConfig.thinkingConfig.{key}"),
            value,
        );
    }
    if let Some(choice) = ask.tool_choice {
        put(
            &mut entries,
            "toolConfig.functionCallingConfig",
            function_calling(choice),
        );
    }
    filled(entries, ask.parameters)
}

fn function_calling(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!({ "mode": "AUTO" }),
        ToolChoice::Required => json!({ "mode": "ANY" }),
        ToolChoice::None => json!({ "mode": "NONE" }),
        ToolChoice::Tool(name) => json!({ "mode": "ANY", "allowedFunctionNames": [name] }),
    }
}

/// The thinking level, or for older models the token budget that Google uses for the same word.
fn thinking(model: &str, word: &str) -> (&'static str, Value) {
    let budget = match word {
        _ if has_thinking_levels(model) => return ("thinkingLevel", json!(word)),
        "none" => 0,
        "minimal" | "low" => 1024,
        "medium" => 8192,
        _ => 24_576,
    };
    ("thinkingBudget", json!(budget))
}

fn declaration(tool: &super::Offered) -> Box<RawValue> {
    with_schema(
        &tool.described(json!({ "name": tool.name })),
        "parametersJsonSchema",
        &tool.input_schema,
    )
}

fn contents<'a>(ask: &Ask<'a>) -> Vec<Piece<'a>> {
    let content = |turn: Turn<'a>| match turn {
        Turn::User(text) => Piece::Ours(json!({ "role": "user", "parts": [{ "text": text }] })),
        Turn::Model(message) => message,
        Turn::Results(told) => {
            let responses = told.iter().map(function_response);
            let pictures = told
                .iter()
                .flat_map(|told| &told.result.content)
                .filter_map(Part::picture);
            let pictures = pictures
                .map(|(media_type, data)| json!({ "inlineData": { "mimeType": media_type, "data": data } }));
            let parts: Vec<Value> = responses.chain(pictures).collect();
            Piece::Ours(json!({ "role": "user", "parts": parts }))
        }
    };
    conversation(ask, &RULES).into_iter().map(content).collect()
}

/// Sends an id only if the provider gave one.
fn function_response(told: &WireResult<'_>) -> Value {
    let key = if told.result.is_error {
        "error"
    } else {
        "output"
    };
    let mut response = json!({ "name": told.name, "response": { key: told.result.text() } });
    if let Some(id) = &told.id {
        response["id"] = json!(id);
    }
    json!({ "functionResponse": response })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiAnswer<'a> {
    #[serde(borrow)]
    candidates: Option<Vec<Candidate<'a>>>,
    #[serde(borrow)]
    prompt_feedback: Option<&'a RawValue>,
    usage_metadata: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    finish_reason: Option<String>,
    finish_message: Option<String>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    parts: Option<Vec<Spoken<'a>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spoken<'a> {
    text: Option<String>,
    thought: Option<bool>,
    #[serde(borrow)]
    function_call: Option<FunctionCall<'a>>,
}

#[derive(Deserialize)]
struct FunctionCall<'a> {
    id: Option<String>,
    name: Option<String>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
}

fn read(ask: &Ask<'_>, body: &str) -> Result<Reply, BadReply> {
    let answer: GeminiAnswer<'_> = open(body)?;
    let Some(candidate) = answer.candidates.into_iter().flatten().next() else {
        return Err(match answer.prompt_feedback {
            Some(feedback) => BadReply::Blocked(block_reason(feedback)),
            None => shape("`candidates` is empty", body),
        });
    };
    let content = candidate.content.map_or("{}", RawValue::get);
    let content: Content<'_> = serde_json::from_str(content)
        .map_err(|error| shape(&format!("`content`: {error}"), body))?;
    let (mut said, calls) = speak(ask, content);
    let stop = stop(candidate.finish_reason.as_deref(), !calls.is_empty());
    if let Some(message) = candidate
        .finish_message
        .filter(|_| stop == Stop::MalformedCall && said.is_empty())
    {
        said.push(&message);
    }
    Ok(Reply {
        message: candidate
            .content
            .map(RawValue::to_owned)
            .unwrap_or_default(),
        text: said.into_text(),
        calls,
        stop,
        usage: answer
            .usage_metadata
            .as_ref()
            .map(usage::gemini)
            .unwrap_or_default(),
        container: None,
    })
}

/// The text and the calls of an answer. Thoughts are not part of the text.
fn speak(ask: &Ask<'_>, content: Content<'_>) -> (MessageText, Vec<Wanted>) {
    let (mut said, mut calls) = (MessageText::default(), Vec::new());
    for part in content.parts.into_iter().flatten() {
        if let Some(call) = part.function_call {
            calls.push(Wanted {
                id: super::call_id(ask, call.id, calls.len()),
                name: call.name.unwrap_or_default(),
                arguments: Arguments::of_json(call.args),
                caller: None,
            });
        }
        match part.text.filter(|_| part.thought != Some(true)) {
            Some(text) => said.push(&text),
            None => said.part(),
        }
    }
    (said, calls)
}

fn block_reason(feedback: &RawValue) -> String {
    let value: Value = serde_json::from_str(feedback.get()).unwrap_or_default();
    let words = ["blockReason", "blockReasonMessage"]
        .into_iter()
        .filter_map(|key| value.get(key)?.as_str());
    let words = words.collect::<Vec<_>>().join(": ");
    if words.is_empty() {
        gist(feedback.get())
    } else {
        words
    }
}

fn stop(reason: Option<&str>, has_calls: bool) -> Stop {
    match reason {
        Some("STOP" | "FINISH_REASON_UNSPECIFIED") | None if has_calls => Stop::ToolUse,
        Some("STOP" | "FINISH_REASON_UNSPECIFIED") | None => Stop::EndTurn,
        Some("MAX_TOKENS") => Stop::MaxTokens,
        Some(
            "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "IMAGE_SAFETY",
        ) => Stop::Refusal,
        Some("MALFORMED_FUNCTION_CALL") => Stop::MalformedCall,
        Some(word) => Stop::Other(word.to_ascii_lowercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Message;
    use crate::dialect::tests::{assistant, read, refusal, result, sent, user};
    use mcptest_core::trace::Tokens;

    const CONTENT: &str = r#"{"parts":[{"text":"**Thinking**","thought":true},{"functionCall":{"name":"weather__get","args":{"city":"Paris"}},"thoughtSignature":"CiQBjz1rX="},{"functionCall":{"id":"fc-2","name":"weather__get","args":{}}}],"role":"model"}"#;

    #[test]
    fn calls_are_read_with_their_thoughts_left_out_and_kept_to_the_letter() {
        let body = format!(
            r#"{{"candidates":[{{"content":{CONTENT},"finishReason":"STOP","index":0}}],"usageMetadata":{{"promptTokenCount":54,"candidatesTokenCount":15,"thoughtsTokenCount":200,"totalTokenCount":269}},"modelVersion":"gemini-3-pro","responseId":"x"}}"#
        );
        let reply = read(&GEMINI, &body);
        assert_eq!(reply.message.get(), CONTENT);
        assert_eq!((reply.text.as_str(), reply.stop), ("", Stop::ToolUse));
        assert_eq!(
            reply.usage,
            Tokens {
                reasoning: Some(200),
                ..Tokens::without_total(Some(54), Some(215))
            }
        );
        let ids: Vec<&str> = reply.calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, ["call_0", "fc-2"]);
    }

    #[test]
    fn an_id_goes_back_only_where_one_came() {
        let results = Message::Results(vec![
            result("call_0", "sunny", false),
            result("fc-2", "no city", true),
        ]);
        let body = sent(
            &GEMINI,
            "gemini-3-pro",
            &[user("hi"), assistant(CONTENT), results],
        );
        assert_eq!(
            body["contents"][1],
            serde_json::from_str::<Value>(CONTENT).unwrap()
        );
        assert_eq!(
            body["contents"][2],
            json!({ "role": "user", "parts": [
                { "functionResponse": { "name": "weather__get", "response": { "output": "sunny" } } },
                { "functionResponse": { "id": "fc-2", "name": "weather__get", "response": { "error": "no city" } } },
            ]})
        );
        assert_eq!(
            body["tools"][0]["functionDeclarations"][0]["parametersJsonSchema"],
            json!({ "type": "object", "properties": { "city": { "type": "string" } } })
        );
        assert_eq!(
            body["generationConfig"],
            json!({ "maxOutputTokens": 64, "temperature": 0.5 })
        );
    }

    #[test]
    fn an_answer_without_content_has_its_reason() {
        let malformed = r#"{"candidates":[{"content":{},"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"Malformed function call: print(x","index":0}]}"#;
        let reply = read(&GEMINI, malformed);
        assert_eq!(
            (reply.text.as_str(), reply.stop),
            ("Malformed function call: print(x", Stop::MalformedCall)
        );
        let body = sent(
            &GEMINI,
            "gemini-3-pro",
            &[user("hi"), Message::Assistant(reply.message)],
        );
        assert_eq!(body["contents"].as_array().unwrap().len(), 1);
        let cut = r#"{"candidates":[{"finishReason":"MAX_TOKENS"}],"usageMetadata":{"promptTokenCount":5}}"#;
        assert_eq!(read(&GEMINI, cut).stop, Stop::MaxTokens);
        let filtered = r#"{"candidates":[{"finishReason":"SAFETY","safetyRatings":[]}]}"#;
        assert_eq!(read(&GEMINI, filtered).stop, Stop::Refusal);
    }

    #[test]
    fn arguments_that_are_no_object_are_not_sent_back() {
        let body = r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"get","args":"Oslo"},"thoughtSignature":"s"}]}}]}"#;
        let said = Message::Assistant(read(&GEMINI, body).message);
        let sent_back = &sent(&GEMINI, "gemini-3-pro", &[user("hi"), said])["contents"][1];
        let part =
            json!({ "functionCall": { "name": "get", "args": {} }, "thoughtSignature": "s" });
        assert_eq!(*sent_back, json!({ "role": "model", "parts": [part] }));
    }

    #[test]
    fn content_that_does_not_say_whose_it_is_is_the_models() {
        let reply = read(
            &GEMINI,
            r#"{"candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}]}"#,
        );
        let body = sent(
            &GEMINI,
            "gemini-3-pro",
            &[user("hi"), Message::Assistant(reply.message)],
        );
        assert_eq!(
            body["contents"][1],
            json!({ "role": "model", "parts": [{ "text": "hi" }] })
        );
    }

    #[test]
    fn a_prompt_that_was_held_back_is_told_why() {
        let blocked = r#"{"promptFeedback":{"blockReason":"SAFETY","safetyRatings":[]},"usageMetadata":{"promptTokenCount":8}}"#;
        assert_eq!(
            refusal(&GEMINI, blocked),
            "the provider refused the prompt: SAFETY"
        );
        assert!(refusal(&GEMINI, r#"{"candidates":[]}"#).contains("(`candidates` is empty)"));
    }
}
