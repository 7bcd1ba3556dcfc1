//! MCP on the wire: a client that records what it observes, and a recording proxy.

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
