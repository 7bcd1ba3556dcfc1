//! What does a tool answer?

use super::json::{Json, quote};
use super::operation::Operation;
use super::path::Values;
use super::state::State;
use super::template::{Missing, Template};
use mcptest_core::problem::nearest;
use mcptest_core::schema::JsonSchema;
use mcptest_mcp::jsonrpc::{RpcError, RpcResult, code};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The JSON text of a result, borrowed from the manifest if nothing was filled in; or a JSON-RPC
/// error.
pub type Answer<'m> = RpcResult<Cow<'m, str>>;

/// A tool's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolReply<'m> {
    /// The JSON text of a result, borrowed from the manifest if nothing was filled in.
    pub text: Cow<'m, str>,
    /// True if it is sent verbatim, even if MCP forbids it.
    pub is_raw: bool,
}

/// A tool's answer, or its error.
pub type Replied<'m> = RpcResult<ToolReply<'m>>;

impl<'m> From<Cow<'m, str>> for ToolReply<'m> {
    fn from(text: Cow<'m, str>) -> Self {
        Self {
            text,
            is_raw: false,
        }
    }
}

/// The client's answers to the server's own requests, by their names in the manifest.
pub type Inputs = BTreeMap<String, Value>;

/// The error for a missing part of an answer.
pub(super) fn error_of_missing(who: &str, missing: &Missing) -> RpcError {
    let message = format!(
        "the answer of {who} uses `{}`, but this call does not have it",
        missing.0
    );
    RpcError::new(code::INVALID_PARAMS, message)
}

/// The arguments do not fit the schema: each reason with its pointer.
pub(super) fn error_of_arguments(who: &str, reasons: &[(String, String)]) -> RpcError {
    let at = |pointer: &str| {
        if pointer.is_empty() {
            String::new()
        } else {
            format!("`{pointer}`: ")
        }
    };
    let said: Vec<String> = reasons
        .iter()
        .map(|(pointer, reason)| format!("{}{}", at(pointer), cut(reason)))
        .collect();
    let data: Vec<Value> = reasons
        .iter()
        .map(|(pointer, reason)| json!({ "pointer": pointer, "reason": cut(reason) }))
        .collect();
    let message = format!("invalid arguments for {who}: {}", said.join("; "));
    RpcError::new(code::INVALID_PARAMS, message).with_data(&Value::from(data))
}

/// The refusal of an unknown name.
pub(super) fn unknown<'k>(
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'k str>,
) -> RpcError {
    let near =
        nearest(name, known).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    RpcError::new(
        code::INVALID_PARAMS,
        format!("Unknown {what}: {}{near}", cut(name)),
    )
}

/// The text, cut to 200 characters.
pub(super) fn cut(text: &str) -> String {
    mcptest_core::words::cut(text, 200)
}

/// The instructions for one answer.
#[derive(Debug)]
pub(super) enum Plan {
    Result(Json),
    Raw(Json),
    Error {
        code: i64,
        message: Template,
        data: Option<Json>,
    },
    Sequence(Sequence),
    Store(Box<Operation>),
}

/// Answers in order, one per call.
#[derive(Debug)]
pub(super) struct Sequence {
    pub(super) slot: usize,
    pub(super) answers: Vec<Plan>,
    pub(super) then: Then,
}

/// The behaviour after the last answer of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Then {
    #[default]
    Repeat,
    Cycle,
    Error,
}

/// The inputs of an answer.
pub(super) struct Call<'c> {
    /// The answering part, as ``the tool `get_weather` ``.
    pub(super) who: &'c str,
    pub(super) arguments: &'c Value,
    pub(super) values: Values<'c>,
    pub(super) state: &'c State,
}

impl Plan {
    pub(super) fn answer<'m>(&'m self, call: &Call<'_>) -> Replied<'m> {
        let missing = |missing| error_of_missing(call.who, &missing);
        match self {
            Self::Result(json) => json
                .render(&call.values)
                .map(ToolReply::from)
                .map_err(missing),
            Self::Raw(json) => json
                .render(&call.values)
                .map(|text| ToolReply { text, is_raw: true })
                .map_err(missing),
            Self::Error {
                code,
                message,
                data,
            } => Err(RpcError {
                code: *code,
                message: message.render(&call.values).map_err(missing)?,
                data: match data {
                    Some(data) => {
                        let data = data.render(&call.values).map_err(missing)?;
                        RawValue::from_string(data.into_owned()).ok()
                    }
                    None => None,
                },
            }),
            Self::Sequence(sequence) => sequence.next(call),
            Self::Store(operation) => operation.answer(call),
        }
    }
}

impl Sequence {
    fn next<'m>(&'m self, call: &Call<'_>) -> Replied<'m> {
        let (position, count) = (call.state.step(self.slot), self.answers.len());
        let at = match self.then {
            Then::Cycle => position % count.max(1),
            Then::Repeat | Then::Error => position,
        };
        match (self.answers.get(at), self.answers.last()) {
            (Some(plan), _) => plan.answer(call),
            (None, Some(last)) if self.then == Then::Repeat => last.answer(call),
            _ => {
                let message = format!(
                    "the sequence of {} has no more than {count} answers",
                    call.who
                );
                Err(RpcError::new(code::INTERNAL_ERROR, message))
            }
        }
    }
}

/// Why a result does not match the tool's output schema; `None` if it does.
pub(super) fn output_fault(result: &str, schema: &JsonSchema) -> Option<String> {
    let result: Value = serde_json::from_str(result).ok()?;
    if result.get("isError").and_then(Value::as_bool) == Some(true) {
        return None;
    }
    let Some(structured) = result.get("structuredContent") else {
        return Some("it has no `structured_content`".to_owned());
    };
    let (pointer, reason) = schema.reasons(structured).into_iter().next()?;
    Some(format!(
        "at `/structuredContent{pointer}`: {}",
        cut(&reason)
    ))
}

pub(super) fn text_result(text: &str, is_error: bool) -> String {
    let flag = if is_error { ",\"isError\":true" } else { "" };
    format!(
        "{{\"content\":[{{\"type\":\"text\",\"text\":{}}}]{flag}}}",
        quote(text)
    )
}
