//! What did the server answer to a probe?

use mcptest_mcp::client::{CallFailure, Misbehaviour as M};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The answer to a request.
#[derive(Debug, Clone)]
pub(super) enum Answer {
    /// A result.
    Result(Value),
    /// An error with its code, or a refusal with its HTTP status.
    Error(i64, String),
    /// No answer that can be used.
    None(String),
}

impl Answer {
    pub(super) fn of(outcome: Result<Box<RawValue>, CallFailure>) -> Self {
        match outcome {
            Ok(result) => Self::Result(serde_json::from_str(result.get()).unwrap_or_default()),
            Err(CallFailure::Rpc(error)) => Self::Error(error.code, error.message),
            Err(CallFailure::Wire(error)) => match &error.misbehaviour {
                M::TryLater { status, body, .. } => Self::Error(i64::from(*status), body.clone()),
                M::UnexpectedStatus { status, body } if *status < 500 => {
                    Self::Error(i64::from(*status), body.clone())
                }
                // It answered, and wants to ask the user.
                M::InputRefused { .. } | M::TooManyRounds { .. } => {
                    Self::Result(json!({ "resultType": "input_required" }))
                }
                M::Forbidden { body } => Self::Error(403, body.clone()),
                M::NotFound { body, .. } => Self::Error(404, body.clone()),
                why => Self::None(why.sentence(&error.method)),
            },
        }
    }

    /// The answer in a message, if it is one.
    pub(super) fn in_message(text: &str) -> Option<Self> {
        let message: Value = serde_json::from_str(text).ok()?;
        if let Some(code) = message["error"]["code"].as_i64() {
            let words = message["error"]["message"].as_str().unwrap_or_default();
            return Some(Self::Error(code, words.to_owned()));
        }
        message
            .get("result")
            .map(|result| Self::Result(result.clone()))
    }

    /// True for the result of a tool that reports a failure.
    pub(super) fn is_tool_error(&self) -> bool {
        matches!(self, Self::Result(result) if result["isError"] == Value::Bool(true))
    }

    /// True for any refusal.
    pub(super) fn is_refusal(&self) -> bool {
        self.is_tool_error() || matches!(self, Self::Error(..))
    }

    /// In the words of a report.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Result(result) => format!("result {result}"),
            Self::Error(code, message) => format!("error {code} {message}"),
            Self::None(why) => why.clone(),
        }
    }
}
