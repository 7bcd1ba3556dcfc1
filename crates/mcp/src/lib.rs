//! MCP on the wire: a client that is a good witness, a mock server, a recording proxy.

pub mod check;
pub mod client;
pub mod era;
pub mod fault;
pub mod frame;
pub mod jsonrpc;
pub mod manifest;
pub mod mock;
pub mod proxy;
mod response;
pub mod sse;
pub mod tape;
pub mod verify;
pub mod wire;
