//! The server asks us something: what do we answer?

use crate::jsonrpc::RpcError;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Scripted answers to what a server may ask, by method: `roots/list`, `sampling/createMessage`, `elicitation/create`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Responses {
    /// For each method, in order; the first whose `when` fits is used.
    pub scripted: BTreeMap<String, Vec<Scripted>>,
}

/// One scripted answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Scripted {
    /// A part of the parameters that must be there; `None` fits every request.
    pub when: Option<Value>,
    /// The answer.
    pub answer: ScriptedAnswer,
}

/// What is answered.
#[derive(Debug, Clone, PartialEq)]
pub enum ScriptedAnswer {
    /// This result.
    Result(Value),
    /// This error.
    Error(RpcError),
    /// No, as each method says it.
    Decline,
    /// The user closed the question.
    Cancel,
}

/// An answer as it goes on the wire, and whether a script had it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ScriptedReply {
    pub(super) outcome: Result<Value, RpcError>,
    pub(super) is_scripted: bool,
}

const DECLINED: i64 = -1;

impl Responses {
    /// The answer to a request; `None` for a method that no client has.
    pub(super) fn answer(&self, method: &str, params: &Value) -> Option<ScriptedReply> {
        if method == "ping" {
            return Some(ScriptedReply { outcome: Ok(json!({})), is_scripted: false });
        }
        let scripted = self.scripted.get(method).into_iter().flatten();
        let found =
            scripted.into_iter().find(|entry| entry.when.as_ref().is_none_or(|when| is_part(when, params)));
        let is_scripted = found.is_some();
        let outcome = match found.map_or(&ScriptedAnswer::Decline, |entry| &entry.answer) {
            ScriptedAnswer::Result(result) => Ok(with_defaults(result.clone(), params)),
            ScriptedAnswer::Error(error) => Err(error.clone()),
            ScriptedAnswer::Decline => refuse(method, "decline")?,
            ScriptedAnswer::Cancel => refuse(method, "cancel")?,
        };
        Some(ScriptedReply { outcome, is_scripted })
    }
}

fn refuse(method: &str, action: &str) -> Option<Result<Value, RpcError>> {
    match method {
        "roots/list" => Some(Ok(json!({ "roots": [] }))),
        "elicitation/create" => Some(Ok(json!({ "action": action }))),
        "sampling/createMessage" => {
            Some(Err(RpcError::new(DECLINED, if action == "cancel" { "cancelled" } else { "declined" })))
        }
        _ => None,
    }
}

/// A form that is accepted has the default of every field that the script leaves out, as a user would find it filled in.
fn with_defaults(mut result: Value, params: &Value) -> Value {
    let fields = params.pointer("/requestedSchema/properties").and_then(Value::as_object);
    let defaults: Map<String, Value> = fields
        .into_iter()
        .flatten()
        .filter_map(|(name, field)| Some((name.clone(), field.get("default")?.clone())))
        .collect();
    if let Some(answer) = result.as_object_mut()
        && answer.get("action").is_some_and(|action| action == "accept")
        && !defaults.is_empty()
        && let Value::Object(content) = answer.entry("content").or_insert_with(|| json!({}))
    {
        for (name, default) in defaults {
            content.entry(name).or_insert(default);
        }
    }
    result
}

/// True when everything in `part` is in `whole`: objects by key, anything else by equality.
fn is_part(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            part.iter().all(|(key, value)| whole.get(key).is_some_and(|found| is_part(value, found)))
        }
        _ => part == whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_script_that_fits_answers_and_the_rest_is_declined() {
        let when = |part: Value, result: Value| Scripted {
            when: Some(part),
            answer: ScriptedAnswer::Result(result),
        };
        let scripted = vec![when(json!({"message": "name?"}), json!({"action": "accept"}))];
        let responses = Responses { scripted: BTreeMap::from([("elicitation/create".into(), scripted)]) };
        let answer = |message: &str| {
            responses.answer("elicitation/create", &json!({"message": message, "mode": "form"})).unwrap()
        };
        assert_eq!(
            answer("name?"),
            ScriptedReply { outcome: Ok(json!({"action": "accept"})), is_scripted: true }
        );
        assert_eq!(
            answer("age?"),
            ScriptedReply { outcome: Ok(json!({"action": "decline"})), is_scripted: false }
        );
        assert_eq!(
            responses.answer("sampling/createMessage", &json!({})).unwrap().outcome.unwrap_err().code,
            -1
        );
        assert_eq!(
            responses.answer("roots/list", &json!({})).unwrap().outcome.unwrap(),
            json!({"roots": []})
        );
        assert_eq!(responses.answer("tools/call", &json!({})), None);
    }

    #[test]
    fn a_form_that_is_accepted_has_the_defaults_of_the_fields_that_the_script_leaves_out() {
        let form = json!({"requestedSchema": {"type": "object", "properties": {
            "name": {"type": "string", "default": "John"}, "age": {"type": "integer", "default": 30},
            "city": {"type": "string"},
        }}});
        let answered = |result: Value| {
            let scripted = vec![Scripted { when: None, answer: ScriptedAnswer::Result(result) }];
            let responses = Responses { scripted: BTreeMap::from([("elicitation/create".into(), scripted)]) };
            responses.answer("elicitation/create", &form).unwrap().outcome.unwrap()
        };
        assert_eq!(
            answered(json!({"action": "accept", "content": {"name": "Ada"}})),
            json!({"action": "accept", "content": {"name": "Ada", "age": 30}})
        );
        assert_eq!(
            answered(json!({"action": "accept"})),
            json!({"action": "accept", "content": {"name": "John", "age": 30}})
        );
        assert_eq!(answered(json!({"action": "decline"})), json!({"action": "decline"}));
    }
}
