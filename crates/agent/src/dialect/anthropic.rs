//! Anthropic's Messages: what is sent, and what comes back?

use super::bad_reply::{open, shape};
use super::echo::{Ids, Rules, Turn, WireResult, conversation, is_blank, list, of_kind};
use super::parameters::{filled, placed, put};
use super::piece::{MessageText, Piece, kept, ours, with_schema};
use super::{ANSWER, Arguments, Ask, BadReply, Dialect, Message, Part, Reply, Stop, Wanted};
use mcptest_core::provider::thinks_adaptively;
use mcptest_core::trace::usage;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Anthropic's Messages.
pub const ANTHROPIC: Dialect = Dialect {
    name: "anthropic",
    version: "v1",
    path: |_| "messages".to_owned(),
    key_header: |key| ("x-api-key", key.to_owned()),
    headers: &[("anthropic-version", "2023-06-01")],
    body,
    read,
};

/// No blank text, and no white space at the end of a message that the model continues.
const RULES: Rules = Rules {
    calls: |message| of_kind(list(message, "content"), "tool_use"),
    id: "id",
    name: "name",
    arguments: "input",
    ids: Ids::UpTo(64),
    name_marks: "",
    is_text: false,
    rest: |message, ask| {
        let Some(Value::Array(blocks)) = message.get_mut("content") else {
            return true;
        };
        blocks.retain(|block| block["type"] != "text" || !is_blank(&block["text"]));
        let is_last = matches!(ask.messages.last(), Some(Message::Assistant(_)));
        if let Some(Value::String(text)) = blocks
            .last_mut()
            .filter(|_| is_last)
            .and_then(|last| last.get_mut("text"))
        {
            text.truncate(text.trim_end().len());
        }
        !blocks.is_empty()
    },
};

/// The limit of one answer if the agent sets none. Anthropic requires a limit, and every model
/// accepts this one.
pub const DEFAULT_MAX_TOKENS: u64 = 4096;

/// The tool that runs a model's code, which is also the caller of the code's calls.
const CODE_EXECUTION: &str = "code_execution_20260120";

#[derive(Serialize)]
struct AnthropicBody<'a> {
    model: &'a str,
    max_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<Value>,
    messages: Vec<Piece<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    container: Option<&'a str>,
    #[serde(flatten)]
    parameters: Map<String, Value>,
}

fn body(ask: &Ask<'_>) -> String {
    let tool = |(at, tool): (usize, &super::Offered)| {
        let mut shown = tool.described(json!({ "name": tool.name }));
        if ask.code_execution {
            shown["allowed_callers"] = json!(["direct", CODE_EXECUTION]);
        }
        if ask.caches() && at + 1 == ask.tools.len() {
            cached_up_to(&mut shown);
        }
        with_schema(&shown, "input_schema", &tool.input_schema)
    };
    let code = ask
        .code_execution
        .then(|| ours(&json!({ "type": CODE_EXECUTION, "name": "code_execution" })));
    let answer = ask.answer_schema.map(answer_tool);
    let system = ask
        .system
        .filter(|system| !system.trim().is_empty())
        .map(|text| {
            let mut block = json!({ "type": "text", "text": text });
            if ask.caches() {
                cached_up_to(&mut block);
            }
            json!([block])
        });
    let body = AnthropicBody {
        model: ask.model,
        max_tokens: ask.max_tokens.unwrap_or(DEFAULT_MAX_TOKENS),
        system,
        messages: messages(ask),
        tools: code
            .into_iter()
            .chain(ask.tools.iter().enumerate().map(tool))
            .chain(answer)
            .collect(),
        container: ask.container,
        parameters: parameters(ask),
    };
    serde_json::to_string(&body).unwrap_or_default()
}

/// Forces a call of a tool with this schema, because every model supports that, but not every model
/// supports an answer format.
fn answer_tool(schema: &Value) -> Box<RawValue> {
    ours(&json!({ "name": ANSWER, "description": "Gives the answer.", "input_schema": schema }))
}

/// Marks the end of this block, so that the next request reads everything before it from a cache. Up to four blocks
/// may be marked: the last tool, the system prompt, and the last block of the conversation.
fn cached_up_to(block: &mut Value) {
    block["cache_control"] = json!({ "type": "ephemeral" });
}

fn parameters(ask: &Ask<'_>) -> Map<String, Value> {
    let places = [
        ("temperature", "temperature"),
        ("top_p", "top_p"),
        ("reasoning_effort", "output_config.effort"),
    ];
    let mut entries = placed(ask, &places);
    if ask.effort().is_some() && thinks_adaptively(ask.model) {
        put(&mut entries, "thinking.type", json!("adaptive"));
    }
    let named = |name: &str| json!({ "type": "tool", "name": name });
    let chosen = |choice: Value| {
        if choice.is_string() {
            json!({ "type": choice })
        } else {
            choice
        }
    };
    let choice = ask.answer_schema.map(|_| named(ANSWER));
    if let Some(choice) = choice.or_else(|| ask.choice("any", named).map(chosen)) {
        put(&mut entries, "tool_choice", choice);
    }
    filled(entries, ask.parameters)
}

/// User and assistant must alternate, so results and the user's next text share one message.
fn messages<'a>(ask: &Ask<'a>) -> Vec<Piece<'a>> {
    let mut messages = Vec::new();
    let mut of_user = Vec::new();
    for turn in conversation(ask, &RULES) {
        match turn {
            Turn::User(text) => of_user.push(json!({ "type": "text", "text": text })),
            Turn::Results(told) => of_user.extend(results(&told)),
            Turn::Model(message) => {
                take_turn(&mut messages, &mut of_user);
                messages.push(message);
            }
        }
    }
    if let Some(last) = of_user
        .last_mut()
        .filter(|block| ask.caches() && may_be_marked(block, ask))
    {
        cached_up_to(last);
    }
    take_turn(&mut messages, &mut of_user);
    messages
}

/// The results of a turn. Only text is accepted with an error, so its images follow. No text is
/// accepted with the results of code's calls.
fn results(told: &[WireResult<'_>]) -> Vec<Value> {
    let is_code = told.iter().any(|told| told.caller.is_some());
    let pictures = told
        .iter()
        .filter(|told| told.result.is_error && !is_code)
        .flat_map(|told| &told.result.content)
        .filter_map(picture);
    told.iter().map(tool_result).chain(pictures).collect()
}

/// A blank text must not be marked, nor a message to code that a provider runs.
fn may_be_marked(block: &Value, ask: &Ask<'_>) -> bool {
    let goes_to_code = ask.code_execution && block["type"] == "tool_result";
    let is_blank = block["text"]
        .as_str()
        .is_some_and(|text| text.trim().is_empty());
    !goes_to_code && !is_blank
}

fn take_turn(messages: &mut Vec<Piece<'_>>, of_user: &mut Vec<Value>) {
    if !of_user.is_empty() {
        let content = std::mem::take(of_user);
        messages.push(Piece::Ours(json!({ "role": "user", "content": content })));
    }
}

fn picture(part: &Part) -> Option<Value> {
    let (media_type, data) = part.picture()?;
    Some(json!({
        "type": "image",
        "source": { "type": "base64", "media_type": media_type, "data": data },
    }))
}

fn tool_result(told: &WireResult<'_>) -> Value {
    let is_error = told.result.is_error;
    let text = |part: &Part| {
        let text = part.text().filter(|text| !text.trim().is_empty())?;
        Some(json!({ "type": "text", "text": text }))
    };
    let block = |part: &Part| picture(part).filter(|_| !is_error).or_else(|| text(part));
    let mut content: Vec<Value> = told.result.content.iter().filter_map(block).collect();
    if is_error && content.is_empty() {
        content.push(json!({ "type": "text", "text": "The tool failed without a text." }));
    }
    let mut shown = json!({ "type": "tool_result", "tool_use_id": told.id, "content": content });
    if is_error {
        shown["is_error"] = json!(true);
    }
    shown
}

#[derive(Deserialize)]
struct AnthropicAnswer<'a> {
    #[serde(borrow)]
    content: &'a RawValue,
    stop_reason: Option<String>,
    usage: Option<Value>,
    container: Option<Container>,
}

#[derive(Deserialize)]
struct Container {
    id: String,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(rename = "type")]
    kind: Cow<'a, str>,
    text: Option<Cow<'a, str>>,
    id: Option<String>,
    name: Option<String>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    caller: Option<&'a RawValue>,
}

fn read(ask: &Ask<'_>, body: &str) -> Result<Reply, BadReply> {
    let answer: AnthropicAnswer<'_> = open(body)?;
    let blocks: Vec<Block<'_>> = serde_json::from_str(answer.content.get())
        .map_err(|error| shape(&format!("`content`: {error}"), body))?;
    let (mut said, mut calls) = (MessageText::default(), Vec::new());
    for block in blocks {
        if block.kind == "text" {
            said.push(block.text.as_deref().unwrap_or_default());
            continue;
        }
        said.part();
        if block.kind == "tool_use" {
            calls.push(Wanted {
                id: super::call_id(ask, block.id, calls.len()),
                name: block.name.unwrap_or_default(),
                arguments: Arguments::of_json(block.input),
                caller: block.caller.and_then(kept),
            });
        }
    }
    let message = format!(
        r#"{{"role":"assistant","content":{}}}"#,
        answer.content.get()
    );
    Ok(Reply {
        message: RawValue::from_string(message).map_err(|error| shape(&error.to_string(), body))?,
        text: said.into_text(),
        stop: stop(answer.stop_reason.as_deref(), !calls.is_empty()),
        calls,
        usage: answer
            .usage
            .as_ref()
            .map(usage::anthropic)
            .unwrap_or_default(),
        container: answer.container.map(|container| container.id),
    })
}

fn stop(reason: Option<&str>, has_calls: bool) -> Stop {
    match reason {
        Some("end_turn") => Stop::EndTurn,
        Some("max_tokens") => Stop::MaxTokens,
        Some("stop_sequence") => Stop::StopSequence,
        Some("tool_use") => Stop::ToolUse,
        Some("pause_turn") => Stop::Pause,
        Some("refusal") => Stop::Refusal,
        Some("model_context_window_exceeded") => Stop::ContextWindow,
        Some(word) => Stop::Other(word.to_owned()),
        None if has_calls => Stop::ToolUse,
        None => Stop::EndTurn,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::tests::{assistant, read, refusal, result, sent, user};
    use mcptest_core::trace::Tokens;

    const THINKING: &str = r#"[{"type":"thinking","thinking":"Hm.","signature":"EqQBCgIYAhIM1gbcDa9GJwZA2b3h"},{"type":"text","text":"I'll check."},{"type":"tool_use","id":"toolu_01A","name":"weather__get","input":{"city": "Oslo","days":1.50},"caller":{"type":"code_execution_20250825","tool_id":"srvtoolu_01"}}]"#;

    #[test]
    fn arguments_that_are_no_object_are_kept_as_a_text_and_not_sent_back() {
        let body = r#"{"content":[{"type":"tool_use","id":"t","name":"get","input":"{\"city\": \"Os"}],"stop_reason":"tool_use"}"#;
        let reply = read(&ANTHROPIC, body);
        assert!(
            matches!(&reply.calls[0].arguments, Arguments::Text(text) if text == "{\"city\": \"Os")
        );
        let body = sent(
            &ANTHROPIC,
            "claude-x",
            &[user("hi"), Message::Assistant(reply.message)],
        );
        assert_eq!(body["messages"][1]["content"][0]["input"], json!({}));
    }

    #[test]
    fn a_message_with_thoughts_and_a_call_is_read_and_kept_to_the_letter() {
        let body = format!(
            r#"{{"id":"msg_01","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":{THINKING},"stop_reason":"tool_use","stop_sequence":null,"usage":{{"input_tokens":12,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"output_tokens":55,"server_tool_use":null}}}}"#
        );
        let reply = read(&ANTHROPIC, &body);
        assert_eq!(
            reply.message.get(),
            format!(r#"{{"role":"assistant","content":{THINKING}}}"#)
        );
        assert_eq!(
            (reply.text.as_str(), reply.stop),
            ("I'll check.", Stop::ToolUse)
        );
        let cached = Tokens {
            cache_read: Some(1000),
            cache_write: Some(100),
            ..Tokens::default()
        };
        assert_eq!(
            reply.usage,
            Tokens {
                prompt: Some(1112),
                completion: Some(55),
                ..cached
            }
        );
        let call = &reply.calls[0];
        assert_eq!(
            (call.id.as_str(), call.name.as_str()),
            ("toolu_01A", "weather__get")
        );
        assert!(
            matches!(&call.arguments, Arguments::Json(raw) if raw.get() == r#"{"city": "Oslo","days":1.50}"#)
        );
        assert_eq!(
            call.caller.as_ref().unwrap().get(),
            r#"{"type":"code_execution_20250825","tool_id":"srvtoolu_01"}"#
        );
    }

    #[test]
    fn what_a_server_tool_did_is_no_call_of_ours_and_parts_the_text() {
        let body = r#"{"content":[{"type":"text","text":"Let me "},{"type":"text","text":"search."},{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]},{"type":"text","text":"Found."}],"stop_reason":"pause_turn"}"#;
        let reply = read(&ANTHROPIC, body);
        assert_eq!(
            (reply.text.as_str(), reply.stop),
            ("Let me search.\nFound.", Stop::Pause)
        );
        assert!(reply.calls.is_empty());
        assert_eq!(reply.usage, Tokens::default());
    }

    #[test]
    fn results_and_what_the_user_says_next_are_one_message() {
        let raw = r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"weather__get","input":{}}]}"#;
        let results = Message::Results(vec![result("a", "no city", true), result("b", "", false)]);
        let body = sent(
            &ANTHROPIC,
            "claude-x",
            &[user("hi"), assistant(raw), results, user("well?")],
        );
        assert_eq!(
            body["messages"][1],
            serde_json::from_str::<Value>(raw).unwrap()
        );
        assert_eq!(
            body["messages"][2],
            json!({ "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "a", "content": [{ "type": "text", "text": "no city" }], "is_error": true },
                { "type": "tool_result", "tool_use_id": "b", "content": [] },
                { "type": "text", "text": "well?", "cache_control": { "type": "ephemeral" } },
            ]})
        );
        assert_eq!(body["tools"][0]["input_schema"]["type"], "object");
        assert_eq!(
            (&body["system"], &body["max_tokens"]),
            (
                &json!([{ "type": "text", "text": "Be brief.", "cache_control": { "type": "ephemeral" } }]),
                &json!(64)
            )
        );
    }

    #[test]
    fn no_white_space_ends_a_message_that_is_to_be_gone_on_with() {
        let raw = r#"{"role":"assistant","content":[{"type":"text","text":"Wait. "}]}"#;
        let body = sent(&ANTHROPIC, "claude-x", &[user("hi"), assistant(raw)]);
        assert_eq!(body["messages"][1]["content"][0]["text"], "Wait.");
        let body = sent(
            &ANTHROPIC,
            "claude-x",
            &[user("hi"), assistant(raw), user("well?")],
        );
        assert_eq!(body["messages"][1]["content"][0]["text"], "Wait. ");
    }

    #[test]
    fn what_is_no_message_is_refused_with_its_place() {
        let message = refusal(&ANTHROPIC, r#"{"content":"hello"}"#);
        assert!(message.contains("(`content`: "), "{message}");
        let error =
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
        assert_eq!(
            refusal(&ANTHROPIC, error),
            "the provider reports an error: Overloaded"
        );
    }
}
