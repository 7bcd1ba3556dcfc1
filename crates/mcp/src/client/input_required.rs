//! A result asks for input: which input, and how is the request repeated?

use super::Misbehaviour;
use super::conversation::Conversation;
use super::params::Params;
use crate::jsonrpc::write_text;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use thiserror::Error;

/// A result that requests input.
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

/// Why the requested input cannot be given. Its text follows "the answer".
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum UnreadableInput {
    #[error("asks for input in a form that cannot be read: {0}")]
    Form(String),
    #[error("asks for input, but has neither `inputRequests` nor `requestState`")]
    Nothing,
}

impl InputRequired {
    /// The input that a result requests; `None` if the result is complete.
    pub(super) fn read(result: &RawValue) -> Result<Option<Self>, UnreadableInput> {
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
        if kind
            .and_then(|kind| kind.result_type)
            .is_none_or(|kind| kind.get() != r#""input_required""#)
        {
            return Ok(None);
        }
        let input: Self = serde_json::from_str(result.get())
            .map_err(|error| UnreadableInput::Form(error.to_string()))?;
        if input.input_requests.is_empty() && input.request_state.is_none() {
            return Err(UnreadableInput::Nothing);
        }
        Ok(Some(input))
    }

    /// The original parameters, with the answers and the server's verbatim state.
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
                    return Err(Misbehaviour::InputRefused {
                        method: request.method.clone(),
                        error,
                    });
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
