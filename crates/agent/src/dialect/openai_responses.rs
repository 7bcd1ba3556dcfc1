//! The Responses of `OpenAI`: what is sent, and what comes back?

use super::bad_reply::{error_message, open, shape};
use super::echo::{Ids, Rules, Turn, WireResult, conversation, of_kind};
use super::parameters::{filled, placed};
use super::piece::{MessageText, Piece, kept, ours, with_schema};
use super::{ANSWER, Arguments, Ask, BadReply, Dialect, Reply, Stop, Wanted};
use mcptest_core::provider::is_reasoning;
use mcptest_core::trace::usage;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// The Responses of `OpenAI`.
pub const OPENAI_RESPONSES: Dialect = Dialect {
    name: "openai-responses",
    version: "v1",
    path: |_| "responses".to_owned(),
    key_header: |key| ("authorization", format!("Bearer {key}")),
    headers: &[],
    body,
    read,
};

/// No thoughts without the item that they led to.
const RULES: Rules = Rules {
    calls: |items| {
        items
            .as_array_mut()
            .map(|items| of_kind(items, "function_call"))
            .unwrap_or_default()
    },
    id: "call_id",
    name: "name",
    arguments: "arguments",
    ids: Ids::UpTo(64),
    name_marks: "",
    is_text: true,
    rest: |items, _| {
        let Some(items) = items.as_array_mut() else {
            return true;
        };
        let led_to = items
            .iter()
            .rposition(|item| item["type"] != "reasoning")
            .map_or(0, |at| at + 1);
        items.truncate(led_to);
        !items.is_empty()
    },
};

#[derive(Serialize)]
struct ResponsesBody<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
    input: Vec<Piece<'a>>,
    /// Requests encrypted thoughts, which can be sent back even if nothing is stored. Models
    /// without reasoning refuse it.
    #[serde(skip_serializing_if = "Option::is_none")]
    include: Option<[&'static str; 1]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Value>,
    #[serde(flatten)]
    parameters: Map<String, Value>,
}

fn body(ask: &Ask<'_>) -> String {
    let tool = |tool: &super::Offered| {
        let mut shown = tool.described(json!({
            "type": "function",
            "name": tool.name,
            // Or the schema is altered to fit a subset.
            "strict": false,
        }));
        if ask.code_execution {
            shown["allowed_callers"] = json!(["direct", "programmatic"]);
        }
        with_schema(&shown, "parameters", &tool.input_schema)
    };
    let code = ask
        .code_execution
        .then(|| ours(&json!({ "type": "programmatic_tool_calling" })));
    let body = ResponsesBody {
        model: ask.model,
        instructions: ask.system.filter(|system| !system.is_empty()),
        input: conversation(ask, &RULES).into_iter().flat_map(items).collect(),
        include: is_reasoning(ask.model).then_some(["reasoning.encrypted_content"]),
        tools: code.into_iter().chain(ask.tools.iter().map(tool)).collect(),
        text: ask.answer_schema.map(|schema| {
            json!({ "format": { "type": "json_schema", "name": ANSWER, "strict": true, "schema": schema } })
        }),
        parameters: parameters(ask),
    };
    serde_json::to_string(&body).unwrap_or_default()
}

fn parameters(ask: &Ask<'_>) -> Map<String, Value> {
    let places = [
        ("temperature", "temperature"),
        ("top_p", "top_p"),
        ("reasoning_effort", "reasoning.effort"),
    ];
    let mut entries = placed(ask, &places);
    entries.extend(
        ask.max_tokens
            .map(|most| ("max_output_tokens".to_owned(), json!(most))),
    );
    let named = |name: &str| json!({ "type": "function", "name": name });
    entries.extend(
        ask.choice("required", named)
            .map(|choice| ("tool_choice".to_owned(), choice)),
    );
    filled(entries, ask.parameters)
}

fn items(turn: Turn<'_>) -> Vec<Piece<'_>> {
    match turn {
        Turn::User(text) => vec![Piece::Ours(json!({ "role": "user", "content": text }))],
        Turn::Results(told) => told.iter().map(|told| Piece::Ours(output(told))).collect(),
        Turn::Model(Piece::Ours(Value::Array(items))) => {
            items.into_iter().map(Piece::Ours).collect()
        }
        Turn::Model(Piece::Echo(raw)) => match serde_json::from_str::<Vec<&RawValue>>(raw.get()) {
            Ok(items) => items.into_iter().map(Piece::Echo).collect(),
            Err(_) => vec![Piece::Echo(raw)],
        },
        Turn::Model(other) => vec![other],
    }
}

fn output(told: &WireResult<'_>) -> Value {
    let text = told.result.text_with_mark();
    let pictures = told.result.picture_urls();
    let output = if pictures.is_empty() {
        json!(text)
    } else {
        let pictures = pictures
            .into_iter()
            .map(|url| json!({ "type": "input_image", "image_url": url }));
        let text = Some(text).filter(|text| !text.is_empty());
        text.map(|text| json!({ "type": "input_text", "text": text }))
            .into_iter()
            .chain(pictures)
            .collect()
    };
    let mut shown = json!({ "type": "function_call_output", "call_id": told.id, "output": output });
    if let Some(caller) = &told.caller {
        shown["caller"] = caller.clone();
    }
    shown
}

#[derive(Deserialize)]
struct ResponsesAnswer<'a> {
    status: Option<String>,
    #[serde(borrow)]
    output: &'a RawValue,
    incomplete_details: Option<Incomplete>,
    usage: Option<Value>,
}

#[derive(Deserialize)]
struct Incomplete {
    reason: Option<String>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    call_id: Option<String>,
    name: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    caller: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Content {
    text: Option<String>,
    refusal: Option<String>,
}

fn read(ask: &Ask<'_>, body: &str) -> Result<Reply, BadReply> {
    let answer: ResponsesAnswer<'_> = open(body)?;
    let items: Vec<Item<'_>> = serde_json::from_str(answer.output.get())
        .map_err(|error| shape(&format!("`output`: {error}"), body))?;
    let mut spoken = Spoken::default();
    for item in items {
        match &*item.kind {
            "message" => {
                let content = item.content.map_or("[]", RawValue::get);
                let content = serde_json::from_str(content)
                    .map_err(|error| shape(&format!("the content of a message: {error}"), body))?;
                spoken.add_message(content);
            }
            "function_call" => spoken.calls.push(Wanted {
                id: super::call_id(ask, item.call_id, spoken.calls.len()),
                name: item.name.unwrap_or_default(),
                arguments: Arguments::of_json(item.arguments),
                caller: item.caller.and_then(kept),
            }),
            _ => {}
        }
    }
    let reason = answer.incomplete_details.and_then(|details| details.reason);
    let stop = stop(answer.status.as_deref(), reason.as_deref(), &spoken, body)?;
    let usage = answer
        .usage
        .as_ref()
        .map(usage::openai_responses)
        .unwrap_or_default();
    Ok(Reply {
        message: answer.output.to_owned(),
        text: spoken.said.into_text(),
        calls: spoken.calls,
        stop,
        usage,
        container: None,
    })
}

/// The items of an answer.
#[derive(Default)]
struct Spoken {
    said: MessageText,
    calls: Vec<Wanted>,
    is_refusal: bool,
}

impl Spoken {
    fn add_message(&mut self, content: Vec<Content>) {
        self.said.part();
        for piece in content {
            self.is_refusal |= piece.refusal.is_some();
            let text = piece.text.or(piece.refusal);
            self.said.push(text.as_deref().unwrap_or_default());
        }
    }
}

fn stop(
    status: Option<&str>,
    reason: Option<&str>,
    spoken: &Spoken,
    body: &str,
) -> Result<Stop, BadReply> {
    Ok(match (status, reason) {
        (Some("failed" | "cancelled"), _) => return Err(BadReply::Failed(error_message(body))),
        (Some("queued" | "in_progress"), _) => return Err(shape("it is not finished", body)),
        (_, Some("max_output_tokens" | "max_tokens")) => Stop::MaxTokens,
        (_, Some("content_filter")) => Stop::Refusal,
        (Some("incomplete"), reason) => Stop::Other(reason.unwrap_or("incomplete").to_owned()),
        _ if spoken.is_refusal => Stop::Refusal,
        _ if spoken.calls.is_empty() => Stop::EndTurn,
        _ => Stop::ToolUse,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Message;
    use crate::dialect::tests::{assistant, read, refusal, result, sent, user};
    use mcptest_core::trace::Tokens;

    const OUTPUT: &str = r#"[{"id":"rs_68","type":"reasoning","summary":[],"encrypted_content":"gAAAAABo"},{"id":"fc_68","type":"function_call","status":"completed","arguments":"{\"city\":\"Oslo\"}","call_id":"call_9","name":"weather__get","caller":{"type":"program","caller_id":"prog_1"}},{"id":"fc_69","type":"function_call","status":"incomplete","arguments":"{\"city\":\"Ro","call_id":"call_10","name":"weather__get"}]"#;

    #[test]
    fn thoughts_and_calls_are_read_and_kept_to_the_letter() {
        let body = format!(
            r#"{{"id":"resp_68","object":"response","created_at":1741476542,"status":"completed","error":null,"incomplete_details":null,"model":"gpt-5-2025-08-07","output":{OUTPUT},"usage":{{"input_tokens":328,"input_tokens_details":{{"cached_tokens":300}},"output_tokens":52,"output_tokens_details":{{"reasoning_tokens":40}},"total_tokens":380}}}}"#
        );
        let reply = read(&OPENAI_RESPONSES, &body);
        assert_eq!(reply.message.get(), OUTPUT);
        assert_eq!(reply.stop, Stop::ToolUse);
        let parts = Tokens {
            cache_read: Some(300),
            reasoning: Some(40),
            ..Tokens::default()
        };
        assert_eq!(
            reply.usage,
            Tokens {
                prompt: Some(328),
                completion: Some(52),
                ..parts
            }
        );
        assert_eq!(reply.calls[0].id, "call_9");
        assert_eq!(
            reply.calls[0].caller.as_ref().unwrap().get(),
            r#"{"type":"program","caller_id":"prog_1"}"#
        );
        assert!(
            matches!(&reply.calls[0].arguments, Arguments::Json(raw) if raw.get() == r#"{"city":"Oslo"}"#)
        );
        assert!(
            matches!(&reply.calls[1].arguments, Arguments::Text(text) if text == r#"{"city":"Ro"#)
        );
    }

    #[test]
    fn an_answer_that_was_cut_or_declined_says_so() {
        let message = r#"{"type":"message","id":"msg_1","role":"assistant","status":"incomplete","content":[{"type":"output_text","text":"So far","annotations":[]}]}"#;
        let body = format!(
            r#"{{"status":"incomplete","incomplete_details":{{"reason":"max_output_tokens"}},"output":[{message}]}}"#
        );
        let reply = read(&OPENAI_RESPONSES, &body);
        assert_eq!(
            (reply.text.as_str(), reply.stop),
            ("So far", Stop::MaxTokens)
        );
        let declined = r#"{"status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"I can't."}]}]}"#;
        let reply = read(&OPENAI_RESPONSES, declined);
        assert_eq!(
            (reply.text.as_str(), reply.stop),
            ("I can't.", Stop::Refusal)
        );
    }

    #[test]
    fn what_failed_or_is_not_finished_is_no_message() {
        let failed = r#"{"status":"failed","error":{"code":"server_error","message":"Sorry about that."},"output":[]}"#;
        assert_eq!(
            refusal(&OPENAI_RESPONSES, failed),
            "the provider reports an error: Sorry about that."
        );
        let queued = refusal(&OPENAI_RESPONSES, r#"{"status":"queued","output":[]}"#);
        assert!(queued.contains("(it is not finished)"), "{queued}");
    }

    #[test]
    fn items_are_sent_back_one_by_one_with_their_results_after_them() {
        let results = Message::Results(vec![
            result("call_9", "sunny", false),
            result("call_10", "no", true),
        ]);
        let body = sent(
            &OPENAI_RESPONSES,
            "gpt-5",
            &[user("hi"), assistant(OUTPUT), results],
        );
        let mut output: Vec<Value> = serde_json::from_str(OUTPUT).unwrap();
        output[2]["arguments"] = json!("{}");
        assert_eq!(body["input"].as_array().unwrap()[1..4], output);
        assert_eq!(
            body["input"][5],
            json!({ "type": "function_call_output", "call_id": "call_10", "output": "Error: no" })
        );
        assert_eq!(body["include"], json!(["reasoning.encrypted_content"]));
        assert_eq!(body["tools"][0]["strict"], json!(false));
        assert!(
            sent(&OPENAI_RESPONSES, "gpt-4o", &[user("hi")])
                .get("include")
                .is_none()
        );
    }
}
