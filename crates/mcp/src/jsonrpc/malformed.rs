//! In which ways can a string fail to be a JSON-RPC message?

use thiserror::Error;

/// Why a text is not a JSON-RPC message. Each variant describes the observation.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Malformed {
    /// Not JSON at all.
    #[error("it is not JSON: {0}")]
    NotJson(String),
    /// JSON, but not an object.
    #[error("it is JSON, but {0} instead of an object")]
    NotObject(&'static str),
    /// A JSON-RPC batch, which MCP no longer supports.
    #[error("it is a batch (a list of messages), which MCP does not support")]
    Batch,
    /// A key occurs twice.
    #[error("it has the key `{0}` twice")]
    DuplicateKey(String),
    /// The object is missing `jsonrpc`.
    #[error("it has no `jsonrpc: \"2.0\"`")]
    NoVersion,
    /// `jsonrpc` has a different value.
    #[error("its `jsonrpc` is {0} instead of \"2.0\"")]
    WrongVersion(String),
    /// Both a result and an error.
    #[error("it has both `result` and `error`")]
    BothResultAndError,
    /// None of method, result and error.
    #[error("it has neither `method` nor `result` nor `error`")]
    Neither,
    /// `error` is not an object with a code and a message.
    #[error("its `error` is {0}")]
    BadError(String),
    /// The id has an invalid type, or is required but missing.
    #[error("its `id` is {0}")]
    BadId(String),
    /// `method` is not a string.
    #[error("its `method` is not a string")]
    BadMethod,
}
