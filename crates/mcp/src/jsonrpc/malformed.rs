//! How a string can fail to be a JSON-RPC message.

use thiserror::Error;

/// Why a string is not a JSON-RPC message. Each says what was seen.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Malformed {
    /// Not JSON at all.
    #[error("it is not JSON: {reason}")]
    NotJson {
        /// What the parser says.
        reason: String,
    },
    /// JSON, but no object.
    #[error("it is JSON, but {found} instead of an object")]
    NotObject {
        /// What it is instead.
        found: &'static str,
    },
    /// A JSON-RPC batch, which MCP no longer has.
    #[error("it is a batch (a list of messages), which MCP does not have")]
    Batch,
    /// A key is there twice.
    #[error("it has the key `{key}` twice")]
    DuplicateKey {
        /// The key.
        key: String,
    },
    /// The object is missing `jsonrpc`.
    #[error("it has no `jsonrpc: \"2.0\"`")]
    NoVersion,
    /// `jsonrpc` has another value.
    #[error("its `jsonrpc` is {found} instead of \"2.0\"")]
    WrongVersion {
        /// The value as written.
        found: String,
    },
    /// Both a result and an error.
    #[error("it has both `result` and `error`")]
    BothResultAndError,
    /// None of method, result and error.
    #[error("it has neither `method` nor `result` nor `error`")]
    Neither,
    /// `error` is not an object with a code and a message.
    #[error("its `error` is {found}")]
    BadError {
        /// What it is.
        found: String,
    },
    /// The id is of a type that JSON-RPC does not have, or missing where there must be one.
    #[error("its `id` is {found}")]
    BadId {
        /// What it is.
        found: String,
    },
    /// `method` is not a string.
    #[error("its `method` is not a string")]
    BadMethod,
}
