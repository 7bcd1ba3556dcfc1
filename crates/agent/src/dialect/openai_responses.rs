//! OpenAI's Responses: what is sent, and what comes back?

use super::bad_reply::{error_message, open, shape};
use super::piece::{Piece, Said, is_reasoning, kept, object_schema};
use super::{Answered, Arguments, Ask, BadReply, Dialect, Message, Reply, Stop, Usage, Wanted};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::borrow::Cow;

/// OpenAI's Responses.
pub const OPENAI_RESPONSES: Dialect = Dialect {
    name: "openai-responses",
    version: "v1",
    path: |_| "responses".to_owned(),
    key_header: |key| ("authorization", format!("Bearer {key}")),
    headers: &[],
    body,
    read,
};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
    input: Vec<Piece<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    /// With it thoughts can be sent back even where nothing is stored; models that do not think refuse it.
    #[serde(skip_serializing_if = "Option::is_none")]
    include: Option<[&'static str; 1]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
}

fn body(ask: &Ask<'_>) -> String {
    let tool = |tool: &super::Offered| {
        let mut shown = json!({
            "type": "function",
            "name": tool.name,
            "parameters": object_schema(&tool.input_schema),
            // Or the schema is altered to fit a subset.
            "strict": false,
        });
        if let Some(description) = &tool.description {
            shown["description"] = json!(description);
        }
        shown
    };
    let body = Body {
        model: ask.model,
        instructions: ask.system.filter(|system| !system.is_empty()),
        input: ask.messages.iter().flat_map(items).collect(),
        max_output_tokens: ask.max_tokens,
        temperature: ask.temperature,
        include: is_reasoning(ask.model).then_some(["reasoning.encrypted_content"]),
        tools: ask.tools.iter().map(tool).collect(),
    };
    serde_json::to_string(&body).unwrap_or_default()
}

fn items(message: &Message) -> Vec<Piece<'_>> {
    match message {
        Message::User(text) => vec![Piece::Ours(json!({ "role": "user", "content": text }))],
        Message::Results(results) => results.iter().map(|result| Piece::Ours(output(result))).collect(),
        Message::Assistant(raw) => match serde_json::from_str::<Vec<&RawValue>>(raw.get()) {
            Ok(items) => items.into_iter().map(Piece::Echo).collect(),
            Err(_) => vec![Piece::Echo(raw)],
        },
    }
}

fn output(result: &Answered) -> Value {
    let text = result.text_with_mark();
    let pictures = result.picture_urls();
    let output = if pictures.is_empty() {
        json!(text)
    } else {
        let pictures = pictures.into_iter().map(|url| json!({ "type": "input_image", "image_url": url }));
        let text = Some(text).filter(|text| !text.is_empty());
        text.map(|text| json!({ "type": "input_text", "text": text })).into_iter().chain(pictures).collect()
    };
    json!({ "type": "function_call_output", "call_id": result.call_id, "output": output })
}

#[derive(Deserialize)]
struct Answer<'a> {
    status: Option<String>,
    #[serde(borrow)]
    output: &'a RawValue,
    incomplete_details: Option<Incomplete>,
    usage: Option<Tokens>,
}

#[derive(Deserialize)]
struct Incomplete {
    reason: Option<String>,
}

#[derive(Deserialize)]
struct Tokens {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
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

fn read(_: &Ask<'_>, body: &str) -> Result<Reply, BadReply> {
    let answer: Answer<'_> = open(body)?;
    let items: Vec<Item<'_>> = serde_json::from_str(answer.output.get())
        .map_err(|error| shape(&format!("`output`: {error}"), body))?;
    let (mut said, mut calls, mut is_refusal) = (Said::default(), Vec::new(), false);
    for item in items {
        match &*item.kind {
            "message" => {
                let content = item.content.map_or("[]", RawValue::get);
                let content: Vec<Content> = serde_json::from_str(content)
                    .map_err(|error| shape(&format!("the content of a message: {error}"), body))?;
                said.part();
                for piece in content {
                    is_refusal |= piece.refusal.is_some();
                    said.push(piece.text.or(piece.refusal).as_deref().unwrap_or_default());
                }
            }
            "function_call" => calls.push(Wanted {
                id: item.call_id.ok_or_else(|| shape("a `function_call` without a `call_id`", body))?,
                name: item.name.unwrap_or_default(),
                arguments: Arguments::of_json(item.arguments),
                caller: item.caller.and_then(kept),
            }),
            _ => {}
        }
    }
    let reason = answer.incomplete_details.and_then(|details| details.reason);
    let stop = match (answer.status.as_deref(), reason.as_deref()) {
        (Some("failed" | "cancelled"), _) => return Err(BadReply::Failed(error_message(body))),
        (Some("queued" | "in_progress"), _) => return Err(shape("it is not finished", body)),
        (_, Some("max_output_tokens" | "max_tokens")) => Stop::MaxTokens,
        (_, Some("content_filter")) => Stop::Refusal,
        (Some("incomplete"), reason) => Stop::Other(reason.unwrap_or("incomplete").to_owned()),
        _ if is_refusal => Stop::Refusal,
        _ if calls.is_empty() => Stop::EndTurn,
        _ => Stop::ToolUse,
    };
    let usage =
        answer.usage.map(|usage| Usage { prompt: usage.input_tokens, completion: usage.output_tokens });
    Ok(Reply {
        message: answer.output.to_owned(),
        text: said.into_text(),
        calls,
        stop,
        usage: usage.unwrap_or_default(),
    })
}
