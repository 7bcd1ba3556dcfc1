//! The server asks us something: what do we answer?

use crate::jsonrpc::{RpcError, code};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Scripted answers to a server's requests, by method: `roots/list`, `sampling/createMessage`,
/// `elicitation/create`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Responses {
    /// The answers of each method, in order; the first whose `when` matches is used.
    pub scripted: BTreeMap<String, Vec<Scripted>>,
}

/// One scripted answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Scripted {
    /// Required parts of the parameters; `None` matches every request.
    pub when: Option<Value>,
    /// The answer.
    pub answer: Result<Value, RpcError>,
}

const DECLINED: i64 = -1;

impl Responses {
    /// A script's answer to a request, if it has one.
    pub(super) fn scripted(&self, method: &str, params: &Value) -> Option<Result<Value, RpcError>> {
        let fits = |entry: &&Scripted| entry.when.as_ref().is_none_or(|when| is_part(when, params));
        let found = self.scripted.get(method)?.iter().find(fits)?;
        Some(
            found
                .answer
                .clone()
                .map(|result| with_defaults(result, params)),
        )
    }
}

/// The answer without a script: a refusal, as each method defines it.
pub(super) fn declined(method: &str) -> Result<Value, RpcError> {
    match method {
        "ping" => Ok(json!({})),
        "roots/list" => Ok(json!({ "roots": [] })),
        "elicitation/create" => Ok(json!({ "action": "decline" })),
        "sampling/createMessage" => Err(RpcError::new(DECLINED, "declined")),
        _ => Err(RpcError::new(
            code::METHOD_NOT_FOUND,
            format!("a client has no method {method}"),
        )),
    }
}

/// Adds the default of every field that the script omits to an accepted form, as a user would find it filled in.
fn with_defaults(mut result: Value, params: &Value) -> Value {
    let fields = params
        .pointer("/requestedSchema/properties")
        .and_then(Value::as_object);
    let defaults: Map<String, Value> = fields
        .into_iter()
        .flatten()
        .filter_map(|(name, field)| Some((name.clone(), field.get("default")?.clone())))
        .collect();
    if let Some(answer) = result.as_object_mut()
        && answer
            .get("action")
            .is_some_and(|action| action == "accept")
        && !defaults.is_empty()
        && let Value::Object(content) = answer.entry("content").or_insert_with(|| json!({}))
    {
        for (name, default) in defaults {
            content.entry(name).or_insert(default);
        }
    }
    result
}

/// True if `whole` contains everything in `part`: objects by key, other values by equality.
fn is_part(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => part
            .iter()
            .all(|(key, value)| whole.get(key).is_some_and(|found| is_part(value, found))),
        _ => part == whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_script_that_fits_answers_and_the_rest_is_declined() {
        let (when, answer) = (
            Some(json!({"message": "name?"})),
            Ok(json!({"action": "accept"})),
        );
        let scripted = vec![Scripted { when, answer }];
        let responses = Responses {
            scripted: BTreeMap::from([("elicitation/create".into(), scripted)]),
        };
        let answer = |message: &str| {
            responses.scripted(
                "elicitation/create",
                &json!({"message": message, "mode": "form"}),
            )
        };
        assert_eq!(answer("name?"), Some(Ok(json!({"action": "accept"}))));
        assert_eq!(answer("age?"), None);
        assert_eq!(
            declined("elicitation/create"),
            Ok(json!({"action": "decline"}))
        );
        assert_eq!(declined("sampling/createMessage").unwrap_err().code, -1);
        assert_eq!(declined("roots/list"), Ok(json!({"roots": []})));
        assert_eq!(
            declined("tools/call").unwrap_err().code,
            code::METHOD_NOT_FOUND
        );
    }

    #[test]
    fn a_form_that_is_accepted_has_the_defaults_of_the_fields_that_the_script_leaves_out() {
        let form = json!({"requestedSchema": {"type": "object", "properties": {
            "name": {"type": "string", "default": "John"}, "age": {"type": "integer", "default": 30},
            "city": {"type": "string"},
        }}});
        let answered = |result: Value| {
            let scripted = vec![Scripted {
                when: None,
                answer: Ok(result),
            }];
            let responses = Responses {
                scripted: BTreeMap::from([("elicitation/create".into(), scripted)]),
            };
            responses
                .scripted("elicitation/create", &form)
                .unwrap()
                .unwrap()
        };
        assert_eq!(
            answered(json!({"action": "accept", "content": {"name": "Ada"}})),
            json!({"action": "accept", "content": {"name": "Ada", "age": 30}})
        );
        assert_eq!(
            answered(json!({"action": "accept"})),
            json!({"action": "accept", "content": {"name": "John", "age": 30}})
        );
        assert_eq!(
            answered(json!({"action": "decline"})),
            json!({"action": "decline"})
        );
    }
}
