//! Chat Completions of `OpenAI`, Mistral and most servers of one's own: what is sent, and what comes back?

use super::bad_reply::{open, shape};
use super::echo::{Ids, Rules, Turn, WireResult, conversation, is_blank, list};
use super::parameters::{filled, placed};
use super::piece::{MessageText, Piece, kept, with_schema};
use super::{ANSWER, Arguments, Ask, BadReply, Dialect, Reply, Stop, Wanted};
use mcptest_core::provider::is_reasoning;
use mcptest_core::trace::usage;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Chat Completions, as in `OpenAI`, ollama, vLLM and llama.cpp.
pub const OPENAI_CHAT: Dialect = Dialect {
    name: "openai",
    version: "v1",
    path: |_| "chat/completions".to_owned(),
    key_header: |key| ("authorization", format!("Bearer {key}")),
    headers: &[],
    body: |ask| body(ask, Flavour::OpenAi),
    read,
};

/// Chat Completions, as in Mistral.
pub const MISTRAL: Dialect = Dialect {
    name: "mistral",
    body: |ask| body(ask, Flavour::Mistral),
    ..OPENAI_CHAT
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flavour {
    OpenAi,
    /// Accepts images in results, but no user message directly after them.
    Mistral,
}

/// Only role, content and calls: servers of this dialect refuse the other fields of their own
/// messages.
const RULES: Rules = Rules {
    calls: |message| list(message, "tool_calls").iter_mut().collect(),
    id: "id",
    name: "function.name",
    arguments: "function.arguments",
    ids: Ids::UpTo(40),
    name_marks: "",
    is_text: true,
    rest: |message, ask| rest(message, ask, Flavour::OpenAi),
};

const MISTRAL_RULES: Rules = Rules {
    ids: Ids::Nine,
    rest: |message, ask| rest(message, ask, Flavour::Mistral),
    ..RULES
};

#[derive(Serialize)]
struct ChatBody<'a> {
    model: &'a str,
    messages: Vec<Piece<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Value>,
    #[serde(flatten)]
    parameters: Map<String, Value>,
}

fn body(ask: &Ask<'_>, flavour: Flavour) -> String {
    let tool = |tool: &super::Offered| {
        let function = tool.described(json!({ "name": tool.name }));
        let function = with_schema(&function, "parameters", &tool.input_schema);
        with_schema(&json!({ "type": "function" }), "function", &function)
    };
    let system = ask.system.filter(|system| !system.is_empty());
    let system = system.map(|text| Piece::Ours(json!({ "role": "system", "content": text })));
    let rules = if flavour == Flavour::Mistral {
        &MISTRAL_RULES
    } else {
        &RULES
    };
    let turns = conversation(ask, rules);
    let body = ChatBody {
        model: ask.model,
        messages: system
            .into_iter()
            .chain(turns.into_iter().flat_map(|turn| messages(turn, flavour)))
            .collect(),
        tools: ask.tools.iter().map(tool).collect(),
        response_format: ask.answer_schema.map(|schema| {
            let schema = json!({ "name": ANSWER, "strict": true, "schema": schema });
            json!({ "type": "json_schema", "json_schema": schema })
        }),
        parameters: parameters(ask, flavour),
    };
    serde_json::to_string(&body).unwrap_or_default()
}

fn parameters(ask: &Ask<'_>, flavour: Flavour) -> Map<String, Value> {
    let (seed, required) = if flavour == Flavour::Mistral {
        ("random_seed", "any")
    } else {
        ("seed", "required")
    };
    let places = [
        ("temperature", "temperature"),
        ("top_p", "top_p"),
        ("seed", seed),
        ("reasoning_effort", "reasoning_effort"),
    ];
    let mut entries = placed(ask, &places);
    let limit = if is_reasoning(ask.model) {
        "max_completion_tokens"
    } else {
        "max_tokens"
    };
    entries.extend(ask.max_tokens.map(|most| (limit.to_owned(), json!(most))));
    let named = |name: &str| json!({ "type": "function", "function": { "name": name } });
    entries.extend(
        ask.choice(required, named)
            .map(|choice| ("tool_choice".to_owned(), choice)),
    );
    filled(entries, ask.parameters)
}

fn messages(turn: Turn<'_>, flavour: Flavour) -> Vec<Piece<'_>> {
    match turn {
        Turn::User(text) => vec![Piece::Ours(json!({ "role": "user", "content": text }))],
        Turn::Model(message) => vec![message],
        Turn::Results(told) if flavour == Flavour::Mistral => told
            .iter()
            .map(|told| tool_message(told, &content_with_pictures(told)))
            .collect(),
        Turn::Results(told) => {
            let results = told
                .iter()
                .map(|told| tool_message(told, &json!(told.result.text_with_mark())));
            results.chain(pictures_of_user(&told)).collect()
        }
    }
}

/// Removes the parts of a message that are not accepted back.
fn rest(message: &mut Value, ask: &Ask<'_>, flavour: Flavour) -> bool {
    let taken = |from: &mut Value, keys: &[&str]| -> Value {
        let from = from.as_object_mut().map(std::mem::take).unwrap_or_default();
        let kept = from
            .into_iter()
            .filter(|(key, value)| keys.contains(&&**key) && !value.is_null());
        Value::Object(kept.collect())
    };
    if !message.is_object() {
        return true;
    }
    let mut content = said(message, flavour);
    if is_blank(&content) && !content.is_array() {
        content = Value::Null;
    }
    let mut calls = message["tool_calls"].take();
    for call in calls.as_array_mut().into_iter().flatten() {
        // `extra_content` is sent by Gemini alone, which signs its calls there.
        *call = taken(call, &["id", "function", "extra_content"]);
        call["type"] = json!("function");
        call["function"] = taken(&mut call["function"], &["name", "arguments"]);
    }
    let thoughts: &[&str] = if ask.echo_reasoning {
        &["reasoning_content", "reasoning", "reasoning_details"]
    } else {
        &[]
    };
    *message = taken(message, thoughts);
    let is_said = !content.is_null();
    let has_calls = calls.as_array().is_some_and(|calls| !calls.is_empty());
    (message["role"], message["content"]) = (json!("assistant"), content);
    if has_calls {
        message["tool_calls"] = calls;
    }
    is_said || has_calls
}

/// The text of a message, or the parts that replace it. Mistral accepts its chunks back.
fn said(message: &mut Value, flavour: Flavour) -> Value {
    match message["content"].take() {
        Value::Array(mut chunks) => {
            chunks.retain(|chunk| chunk["type"] != "text" || !is_blank(&chunk["text"]));
            if flavour == Flavour::Mistral && !chunks.is_empty() {
                return Value::Array(chunks);
            }
            let texts: Vec<&str> = chunks
                .iter()
                .filter_map(|chunk| chunk["text"].as_str())
                .collect();
            json!(texts.join("\n"))
        }
        content if is_blank(&content) => message["refusal"].take(),
        content => content,
    }
}

fn tool_message(told: &WireResult<'_>, content: &Value) -> Piece<'static> {
    Piece::Ours(json!({
        "role": "tool", "tool_call_id": told.id, "name": told.name, "content": content,
    }))
}

fn content_with_pictures(told: &WireResult<'_>) -> Value {
    let pictures = told.result.picture_urls();
    let text = told.result.text_with_mark();
    if pictures.is_empty() {
        return json!(text);
    }
    let mut content = Vec::new();
    if !text.is_empty() {
        content.push(json!({ "type": "text", "text": text }));
    }
    content.extend(pictures.iter().map(|url| image_url(url)));
    Value::Array(content)
}

/// A tool cannot show pictures here, so the user does.
fn pictures_of_user(told: &[WireResult<'_>]) -> Option<Piece<'static>> {
    let mut content = Vec::new();
    for told in told {
        let urls = told.result.picture_urls();
        if !urls.is_empty() {
            content.push(json!({ "type": "text", "text": format!("Returned by {}:", told.name) }));
            content.extend(urls.iter().map(|url| image_url(url)));
        }
    }
    (!content.is_empty()).then(|| Piece::Ours(json!({ "role": "user", "content": content })))
}

fn image_url(url: &str) -> Value {
    json!({ "type": "image_url", "image_url": { "url": url } })
}

#[derive(Deserialize)]
struct ChatAnswer<'a> {
    #[serde(borrow)]
    choices: Vec<Choice<'a>>,
    usage: Option<Value>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow)]
    message: &'a RawValue,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Spoken<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    refusal: Option<String>,
    #[serde(borrow)]
    tool_calls: Option<Vec<ToolCall<'a>>>,
}

#[derive(Deserialize)]
struct ToolCall<'a> {
    id: Option<String>,
    #[serde(borrow)]
    function: Option<Function<'a>>,
    #[serde(borrow)]
    caller: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct Function<'a> {
    name: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(rename = "type")]
    kind: Option<Cow<'a, str>>,
    text: Option<String>,
}

fn read(ask: &Ask<'_>, body: &str) -> Result<Reply, BadReply> {
    let answer: ChatAnswer<'_> = open(body)?;
    let choice = answer
        .choices
        .into_iter()
        .next()
        .ok_or_else(|| shape("`choices` is empty", body))?;
    let spoken: Spoken<'_> = serde_json::from_str(choice.message.get())
        .map_err(|error| shape(&format!("`message`: {error}"), body))?;
    let refusal = spoken.refusal.filter(|refusal| !refusal.is_empty());
    let mut text = text_of(spoken.content, body)?;
    if let Some(refusal) = refusal.as_ref().filter(|_| text.is_empty()) {
        text.clone_from(refusal);
    }
    let calls: Vec<Wanted> = spoken
        .tool_calls
        .unwrap_or_default()
        .into_iter()
        .enumerate()
        .map(|(at, call)| wanted(ask, call, at))
        .collect();
    let stop = stop(
        choice.finish_reason.as_deref(),
        refusal.is_some(),
        !calls.is_empty(),
    );
    let usage = answer
        .usage
        .as_ref()
        .map(usage::openai_chat)
        .unwrap_or_default();
    Ok(Reply {
        message: choice.message.to_owned(),
        text,
        calls,
        stop,
        usage,
        container: None,
    })
}

fn wanted(ask: &Ask<'_>, call: ToolCall<'_>, at: usize) -> Wanted {
    let function = call.function.unwrap_or_default();
    Wanted {
        id: super::call_id(ask, call.id, at),
        name: function.name.unwrap_or_default(),
        arguments: Arguments::of_json(function.arguments),
        caller: call.caller.and_then(kept),
    }
}

fn stop(reason: Option<&str>, is_refusal: bool, has_calls: bool) -> Stop {
    match reason {
        Some("length") => Stop::MaxTokens,
        Some("model_length") => Stop::ContextWindow,
        Some("content_filter") => Stop::Refusal,
        _ if is_refusal => Stop::Refusal,
        Some("tool_calls" | "function_call") => Stop::ToolUse,
        // Some servers say `stop` whatever it was.
        Some("stop" | "") | None if has_calls => Stop::ToolUse,
        Some("stop" | "") | None => Stop::EndTurn,
        Some(word) => Stop::Other(word.to_owned()),
    }
}

fn text_of(content: Option<&RawValue>, body: &str) -> Result<String, BadReply> {
    let Some(content) = content.filter(|content| content.get() != "null") else {
        return Ok(String::new());
    };
    if let Ok(text) = serde_json::from_str::<String>(content.get()) {
        return Ok(text);
    }
    let chunks: Vec<Chunk<'_>> = serde_json::from_str(content.get())
        .map_err(|error| shape(&format!("`message.content`: {error}"), body))?;
    let mut said = MessageText::default();
    for chunk in chunks {
        match chunk.text.filter(|_| chunk.kind.as_deref() == Some("text")) {
            Some(text) => said.push(&text),
            None => said.part(),
        }
    }
    Ok(said.into_text())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Message;
    use crate::dialect::tests::{assistant, read, read_after, refusal, result, sent, user};
    use mcptest_core::trace::Tokens;

    #[test]
    fn a_call_of_openai_is_read_and_its_message_kept_to_the_letter() {
        let message = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call_abc","type":"function","function":{"name":"weather__get","arguments":"{\n\"city\": \"Boston, MA\"\n}"}}],"refusal":null,"annotations":[]}"#;
        let body = format!(
            r#"{{"id":"chatcmpl-1","object":"chat.completion","created":1699896916,"model":"gpt-4o-mini","choices":[{{"index":0,"message":{message},"logprobs":null,"finish_reason":"tool_calls"}}],"usage":{{"prompt_tokens":82,"completion_tokens":17,"total_tokens":99,"completion_tokens_details":{{"reasoning_tokens":0}}}}}}"#
        );
        let reply = read(&OPENAI_CHAT, &body);
        assert_eq!(reply.message.get(), message);
        assert_eq!((reply.text.as_str(), reply.stop), ("", Stop::ToolUse));
        assert_eq!(
            reply.usage,
            Tokens {
                reasoning: Some(0),
                ..Tokens::without_total(Some(82), Some(17))
            }
        );
        assert!(
            matches!(&reply.calls[0].arguments, Arguments::Json(raw) if raw.get() == r#"{ "city": "Boston, MA" }"#)
        );
    }

    #[test]
    fn mistral_may_send_an_object_and_thoughts_in_chunks() {
        let body = r#"{"id":"cmpl-e5","object":"chat.completion","model":"magistral-medium","choices":[{"index":0,"message":{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm"}]},{"type":"text","text":"Looking."}],"tool_calls":[{"id":"D681PevKs","function":{"name":"weather__get","arguments":{"city":"Paris"}}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":16,"completion_tokens":34,"total_tokens":50}}"#;
        let reply = read(&MISTRAL, body);
        assert_eq!(
            (reply.text.as_str(), reply.calls[0].id.as_str()),
            ("Looking.", "D681PevKs")
        );
        assert!(
            matches!(&reply.calls[0].arguments, Arguments::Json(raw) if raw.get() == r#"{"city":"Paris"}"#)
        );
    }

    #[test]
    fn servers_of_ones_own_say_stop_beside_calls_and_leave_ids_out() {
        let body = r#"{"choices":[{"message":{"role":"assistant","content":"","reasoning_content":null,"tool_calls":[{"function":{"name":"a","arguments":""}},{"function":{"name":"b"}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":12.0,"completion_tokens":null}}"#;
        let before = [Message::Results(vec![result("call_0", "x", false)])];
        let reply = read_after(&OPENAI_CHAT, &before, body);
        assert_eq!(reply.stop, Stop::ToolUse);
        let ids: Vec<&str> = reply.calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, ["call_1", "call_2"]);
        assert!(
            reply
                .calls
                .iter()
                .all(|call| matches!(&call.arguments, Arguments::Json(raw) if raw.get() == "{}"))
        );
        assert_eq!(reply.usage, Tokens::without_total(Some(12), None));
    }

    #[test]
    fn what_was_filtered_or_declined_is_a_refusal_and_no_choice_is_none() {
        let filtered = r#"{"choices":[{"message":{"role":"assistant","content":""},"finish_reason":"content_filter"}]}"#;
        assert_eq!(read(&OPENAI_CHAT, filtered).stop, Stop::Refusal);
        let declined = r#"{"choices":[{"message":{"role":"assistant","content":null,"refusal":"No."},"finish_reason":"stop"}]}"#;
        let reply = read(&OPENAI_CHAT, declined);
        assert_eq!((reply.text.as_str(), reply.stop), ("No.", Stop::Refusal));
        assert!(refusal(&OPENAI_CHAT, r#"{"choices":[]}"#).contains("(`choices` is empty)"));
    }

    #[test]
    fn results_are_messages_of_their_own_and_limits_have_the_name_the_model_knows() {
        let raw = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"weather__get","arguments":"{"}}]}"#;
        let results = Message::Results(vec![result("a", "not JSON", true)]);
        let body = sent(
            &OPENAI_CHAT,
            "llama3",
            &[user("hi"), assistant(raw), results],
        );
        assert_eq!(
            body["messages"][0],
            json!({ "role": "system", "content": "Be brief." })
        );
        let mut sent_back: Value = serde_json::from_str(raw).unwrap();
        sent_back["tool_calls"][0]["function"]["arguments"] = json!("{}");
        assert_eq!(body["messages"][2], sent_back);
        assert_eq!(
            body["messages"][3],
            json!({ "role": "tool", "tool_call_id": "a", "name": "weather__get", "content": "Error: not JSON" })
        );
        assert_eq!(body["max_tokens"], json!(64));
        assert_eq!(
            sent(&OPENAI_CHAT, "o3", &[user("hi")])["max_completion_tokens"],
            json!(64)
        );
    }
}
