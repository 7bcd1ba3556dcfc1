//! The messages of a chat span: parts in the current conventions, or the earlier forms.

use super::attributes::Attributes;
use super::span::reread;
use crate::content::{self, Part, answer_of, part, unknown};
use crate::json::{Fields, Json};
use crate::transcript::{Dropped, ImportedAnswer, Transcript};
use mcptest_core::trace::RecordedCall;
use std::borrow::Cow;

/// The side of a request to a model: its input or its output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Input,
    Output,
}

impl Side {
    /// The side of a message in a separate event.
    pub(super) fn from_event(name: &str) -> Self {
        if name == "gen_ai.choice" {
            Self::Output
        } else {
            Self::Input
        }
    }

    /// The role of a message that names none.
    pub(super) fn default_role(self) -> &'static str {
        match self {
            Self::Input => "user",
            Self::Output => "assistant",
        }
    }
}

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

/// `[{role, parts}]`. `None` if it is not a list of messages, such as a string that was cut off.
/// Errors have no place, because the JSON of a string has no place in the file.
pub(super) fn listed_messages(text: &str, side: Side) -> Result<Option<Vec<Message>>, String> {
    let list = reread(text).and_then(Json::list).unwrap_or_default();
    let objects: Option<Vec<Fields<'_>>> = list.iter().map(|message| message.object()).collect();
    let Some(objects) = objects.filter(|_| text.starts_with('[')) else {
        return Ok(None);
    };
    objects
        .iter()
        .map(|message| read_message(message, side.default_role()))
        .collect::<Result<_, _>>()
        .map(Some)
}

fn read_message(fields: &Fields<'_>, default_role: &str) -> Result<Message, String> {
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
    let calls = fields.get("tool_calls").and_then(Json::list);
    for call in calls.unwrap_or_default() {
        message.calls.push(call_of(call)?);
    }
    if message.is_unread_answer() {
        message.answer(fields.owned("tool_call_id").or_else(|| fields.owned("id")));
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

    /// Returns true if the text of the message is the answer to a call.
    fn is_unread_answer(&self) -> bool {
        self.role == "tool" && self.answers.is_empty()
    }

    /// Reads the text of the message as the answer to the call with this id.
    fn answer(&mut self, id: Option<String>) {
        let answer = ImportedAnswer::from_text(self.text.clone().into(), false);
        self.answers.push((id, answer));
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

/// A message in a separate event. An event of another kind is not a message.
pub(super) fn message_of_event(
    name: &str,
    attributes: &Attributes,
) -> Result<Option<Message>, String> {
    let role = match Side::from_event(name) {
        Side::Output => Some("assistant"),
        Side::Input => name
            .strip_prefix("gen_ai.")
            .and_then(|name| name.strip_suffix(".message")),
    };
    let Some(role) = role else { return Ok(None) };
    let body = attributes.json(&["gen_ai.event.content", "message"]);
    let body = body.as_deref().and_then(reread).and_then(Json::object);
    let mut message = match body {
        Some(body) => read_message(&body.part("message").unwrap_or(body), role)?,
        None => Message {
            role: role.to_owned(),
            ..Message::default()
        },
    };
    if message.text.is_empty() {
        message.text = attributes.text(&["content"]).unwrap_or_default();
    }
    if message.calls.is_empty()
        && let Some(calls) = attributes.json(&["tool_calls"])
    {
        let calls = reread(&calls).and_then(Json::list).unwrap_or_default();
        message.calls = calls
            .iter()
            .map(|call| call_of(*call))
            .collect::<Result<_, _>>()?;
    }
    if role == "tool" && message.answers.is_empty() {
        message.answer(attributes.text(&["id", "tool_call_id"]));
    }
    if message.finish_reason.is_none() {
        message.finish_reason = attributes.text(&["finish_reason"]);
    }
    Ok(Some(message))
}

/// `gen_ai.prompt.0.role`, `gen_ai.prompt.0.tool_calls.1.name` and so on.
pub(super) fn indexed_messages(attributes: &Attributes, prefix: &str, side: Side) -> Vec<Message> {
    let mut messages = Vec::new();
    loop {
        let prefix = format!("{prefix}{}.", messages.len());
        if !attributes.has_under(&prefix) {
            return messages;
        }
        messages.push(indexed_message(attributes, &prefix, side));
    }
}

fn indexed_message(attributes: &Attributes, prefix: &str, side: Side) -> Message {
    let text = |key: &str| attributes.text(&[&format!("{prefix}{key}")]);
    let mut message = Message {
        role: text("role").unwrap_or_else(|| side.default_role().to_owned()),
        finish_reason: text("finish_reason"),
        text: text("content").unwrap_or_default(),
        ..Message::default()
    };
    while let Some(name) = text(&format!("tool_calls.{}.name", message.calls.len())) {
        let of_call = |key: &str| text(&format!("tool_calls.{}.{key}", message.calls.len()));
        let written =
            of_call("arguments").map(|text| serde_json::to_string(&text).unwrap_or_default());
        let arguments = written.as_deref().and_then(reread);
        let call = content::call_of(name, of_call("id"), arguments);
        message.calls.push(call);
    }
    if message.role == "tool" {
        message.answer(text("tool_call_id"));
    }
    message
}
