//! HTTP without MCP: how do requests of ours go out, and where do servers listen?

mod client;
mod listen;

pub use client::{USER_AGENT, client};
pub use listen::bind;
