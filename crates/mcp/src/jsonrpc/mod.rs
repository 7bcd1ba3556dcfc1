//! What is a JSON-RPC message, and which problems can a text have that is not one?

mod error;
mod id;
mod malformed;
mod message;
mod write;

pub use error::{RpcError, RpcResult};
pub use id::Id;
pub use malformed::Malformed;
pub use message::{Body, Message, excerpt, parse, present};
pub use write::{error, id_text, notification, one_line, request, result, text as write_text};
pub(crate) use write::{text, with_id};

/// JSON-RPC and MCP error codes that are sent or recognised.
pub mod code {
    /// The text is not JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// The JSON is not a request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// The method is unknown.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The arguments are invalid.
    pub const INVALID_PARAMS: i64 = -32602;
    /// An internal error.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// The resource is unknown (legacy protocol).
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
    /// An HTTP header does not match the body (modern protocol).
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The client lacks a capability that the call needs (modern protocol).
    pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
    /// The protocol version is not supported (modern protocol).
    pub const UNSUPPORTED_VERSION: i64 = -32022;
}
