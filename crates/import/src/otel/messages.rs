//! The messages of a chat span: parts, as the conventions have them now, or what came before them.

use super::attributes::Attributes;
use super::span::reread;
use crate::content::{self, Part, answer_of, part, unknown};
use crate::json::{Fields, Json};
use crate::transcript::{Dropped, ImportedAnswer, Transcript};
use mcptest_core::trace::RecordedCall;
use std::borrow::Cow;

/// One message.
#[derive(Debug, Default)]
pub(super) struct Message {
    pub(super) role: String,
    pub(super) text: String,
    pub(super) calls: Vec<RecordedCall>,
    /// Answers with the ids of their calls.
    pub(super) answers: Vec<(Option<String>, ImportedAnswer)>,
    pub(super) dropped: Vec<Dropped>,
    pub(super) finish_reason: Option<String>,
}

/// `[{role, parts}]`. `None` if it is not a list of messages, such as a string that was cut off. Errors are in words:
/// the JSON of a string has no place in the file.
pub(super) fn of_list(text: &str, is_output: bool) -> Result<Option<Vec<Message>>, String> {
    let list = reread(text).and_then(Json::list).unwrap_or_default();
    let objects: Option<Vec<Fields<'_>>> = list.iter().map(|message| message.object()).collect();
    let Some(objects) = objects.filter(|_| text.starts_with('[')) else {
        return Ok(None);
    };
    let default = if is_output { "assistant" } else { "user" };
    objects
        .iter()
        .map(|message| of_fields(message, default))
        .collect::<Result<_, _>>()
        .map(Some)
}

fn of_fields(fields: &Fields<'_>, default_role: &str) -> Result<Message, String> {
    let role = fields
        .string("role")
        .unwrap_or(Cow::Borrowed(default_role))
        .into_owned();
    let finish_reason = fields.owned("finish_reason");
    let mut message = Message {
        role,
        finish_reason,
        ..Message::default()
    };
    let content = fields.first(&["parts", "content"]);
    match content.and_then(Json::list) {
        Some(parts) => parts.iter().try_for_each(|part| message.read_part(*part))?,
        None => {
            message.text = content
                .and_then(Json::string)
                .unwrap_or_default()
                .into_owned();
        }
    }
    for call in fields
        .get("tool_calls")
        .and_then(Json::list)
        .unwrap_or_default()
    {
        message.calls.push(call_of(call)?);
    }
    if message.role == "tool" && message.answers.is_empty() {
        let id = fields.owned("tool_call_id").or_else(|| fields.owned("id"));
        message.answers.push((
            id,
            ImportedAnswer::of_text(message.text.clone().into(), false),
        ));
    }
    Ok(message)
}

impl Message {
    fn read_part(&mut self, value: Json<'_>) -> Result<(), String> {
        let Some(fields) = value.object() else {
            self.text.push_str(&value.string().unwrap_or_default());
            return Ok(());
        };
        let kind = fields.string("type").unwrap_or_default();
        match &*kind {
            "tool_call" | "server_tool_call" => self.calls.push(call_of(value)?),
            "tool_call_response" | "server_tool_call_response" => {
                let response = fields.first(&["response", "result", "content"]);
                let id = fields.owned("id");
                let answer = answer_of(response, false, &mut Transcript::default());
                self.answers.push((id, answer));
            }
            "compaction" => self.dropped.push(Dropped::Other),
            kind => match part(kind, &fields) {
                Part::Text(text) => self.text.push_str(&text),
                Part::Dropped(what) => self.dropped.push(what),
                // A message without its content, as instruments write it when they are told to.
                Part::Other if kind == "text" => {}
                Part::Other => return Err(unknown(&fields, "a part of a message", kind).message),
            },
        }
        Ok(())
    }

    pub(super) fn is_assistant(&self) -> bool {
        matches!(self.role.as_str(), "assistant" | "model")
    }
}

/// A call as the conventions write it, or as OpenAI does.
fn call_of(value: Json<'_>) -> Result<RecordedCall, String> {
    let fields = value.object().unwrap_or_default();
    let function = fields.part("function").unwrap_or_else(|| fields.clone());
    let name = function
        .owned("name")
        .ok_or("a call of a message has no `name`")?;
    Ok(content::call_of(
        name,
        fields.owned("id"),
        function.get("arguments"),
    ))
}

/// A message in a separate event, and whether the model wrote it.
pub(super) fn of_event(
    name: &str,
    attributes: &Attributes,
) -> Result<Option<(bool, Message)>, String> {
    let is_output = name == "gen_ai.choice";
    let said = if is_output {
        "gen_ai.assistant.message"
    } else {
        name
    };
    let role = said
        .strip_prefix("gen_ai.")
        .and_then(|name| name.strip_suffix(".message"));
    let Some(role) = role else { return Ok(None) };
    let body = attributes.json(&["gen_ai.event.content", "message"]);
    let body = body.as_deref().and_then(reread).and_then(Json::object);
    let mut message = match body {
        Some(body) => of_fields(&body.part("message").unwrap_or(body), role)?,
        None => Message {
            role: role.to_owned(),
            ..Message::default()
        },
    };
    if message.text.is_empty() {
        message.text = attributes.text(&["content"]).unwrap_or_default();
    }
    if let Some(calls) = attributes
        .json(&["tool_calls"])
        .filter(|_| message.calls.is_empty())
    {
        let calls = reread(&calls).and_then(Json::list).unwrap_or_default();
        message.calls = calls
            .iter()
            .map(|call| call_of(*call))
            .collect::<Result<_, _>>()?;
    }
    if role == "tool" && message.answers.is_empty() {
        let id = attributes.text(&["id", "tool_call_id"]);
        message.answers.push((
            id,
            ImportedAnswer::of_text(message.text.clone().into(), false),
        ));
    }
    message.finish_reason = message
        .finish_reason
        .or_else(|| attributes.text(&["finish_reason"]));
    Ok(Some((is_output, message)))
}

/// `gen_ai.prompt.0.role`, `gen_ai.prompt.0.tool_calls.1.name` and so on.
pub(super) fn of_indexed(attributes: &Attributes, prefix: &str) -> Vec<Message> {
    let mut messages = Vec::new();
    let at = |index: usize, key: &str| attributes.text(&[&format!("{prefix}{index}.{key}")]);
    while attributes.has_under(&format!("{prefix}{}.", messages.len())) {
        let index = messages.len();
        let text = at(index, "content").unwrap_or_default();
        let default = if prefix.starts_with("gen_ai.completion") {
            "assistant"
        } else {
            "user"
        };
        let mut message = Message {
            role: at(index, "role").unwrap_or_else(|| default.to_owned()),
            finish_reason: at(index, "finish_reason"),
            text,
            ..Message::default()
        };
        while let Some(name) = at(index, &format!("tool_calls.{}.name", message.calls.len())) {
            let call = |key: &str| at(index, &format!("tool_calls.{}.{key}", message.calls.len()));
            let written =
                call("arguments").map(|text| serde_json::to_string(&text).unwrap_or_default());
            let arguments = written.as_deref().and_then(reread);
            message
                .calls
                .push(content::call_of(name, call("id"), arguments));
        }
        if message.role == "tool" {
            let id = at(index, "tool_call_id");
            message.answers.push((
                id,
                ImportedAnswer::of_text(message.text.clone().into(), false),
            ));
        }
        messages.push(message);
    }
    messages
}
