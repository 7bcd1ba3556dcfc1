//! A modern server that needs input says so in its result: what does it ask, and what is sent along with the next try?

use super::Misbehaviour;
use super::conversation::Conversation;
use super::params::Params;
use crate::jsonrpc::write_text;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// How often a call is repeated with more input.
pub(super) const MAX_ROUNDS: usize = 10;

/// A result that asks for input.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InputRequired {
    #[serde(default)]
    input_requests: BTreeMap<String, InputRequest>,
    request_state: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct InputRequest {
    method: String,
    #[serde(default)]
    params: Value,
}

/// The input that a result asks for; `None` when the result is complete, an error in words when it cannot be read.
pub(super) fn read(result: &RawValue) -> Result<Option<InputRequired>, String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Kind<'a> {
        #[serde(borrow)]
        result_type: Option<&'a RawValue>,
    }
    // A result of a million characters is not read twice for a key that is hardly ever there.
    if memchr::memmem::find(result.get().as_bytes(), b"input_required").is_none() {
        return Ok(None);
    }
    let kind: Option<Kind<'_>> = serde_json::from_str(result.get()).ok();
    if kind.and_then(|kind| kind.result_type).is_none_or(|kind| kind.get() != r#""input_required""#) {
        return Ok(None);
    }
    let input: InputRequired = serde_json::from_str(result.get())
        .map_err(|error| format!("asks for input in a form that cannot be read: {error}"))?;
    if input.input_requests.is_empty() && input.request_state.is_none() {
        return Err("asks for input, but has neither `inputRequests` nor `requestState`".to_owned());
    }
    Ok(Some(input))
}

impl InputRequired {
    /// The first parameters again, with the answers and the server's own state as it was written.
    pub(super) fn answered(
        &self,
        conversation: &Conversation,
        first: &Params,
    ) -> Result<Params, Misbehaviour> {
        let mut answers = Vec::new();
        for (key, request) in &self.input_requests {
            match conversation.answer_input(&request.method, &request.params) {
                Ok(answer) => answers.push(format!("{}:{answer}", write_text(key))),
                Err(error) => {
                    return Err(Misbehaviour::InputRefused { method: request.method.clone(), error });
                }
            }
        }
        let mut params = first.clone();
        if !self.input_requests.is_empty() {
            params = params.with("inputResponses", &format!("{{{}}}", answers.join(",")));
        }
        Ok(match &self.request_state {
            Some(state) => params.with("requestState", state.get()),
            None => params,
        })
    }
}
