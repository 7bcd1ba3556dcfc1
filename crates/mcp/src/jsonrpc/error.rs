//! Why is a request refused?

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The `error` of an answer.
#[derive(Debug, Clone, Serialize, Deserialize, thiserror::Error)]
#[error("{message} (code {code})")]
pub struct RpcError {
    /// The code.
    pub code: i64,
    /// The sentence.
    pub message: String,
    /// Anything more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<RawValue>>,
}

impl RpcError {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// The error with data.
    #[must_use]
    pub fn with_data(self, data: &serde_json::Value) -> Self {
        Self {
            data: RawValue::from_string(data.to_string()).ok(),
            ..self
        }
    }
}

/// An answer, or the error that refuses the request.
pub type RpcResult<T = ()> = Result<T, RpcError>;

impl PartialEq for RpcError {
    fn eq(&self, other: &Self) -> bool {
        let data = |error: &Self| error.data.as_ref().map(|data| data.get().to_owned());
        self.code == other.code && self.message == other.message && data(self) == data(other)
    }
}
