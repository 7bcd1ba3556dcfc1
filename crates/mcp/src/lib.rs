//! MCP on the wire: a client that is a good witness, a recording proxy.

pub mod client;
pub mod era;
pub mod fault;
pub mod frame;
pub mod jsonrpc;
pub mod proxy;
pub mod sse;
pub mod tape;
pub mod verify;
pub mod wire;
