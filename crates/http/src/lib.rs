//! HTTP without MCP: how do requests of ours go out, and how do servers of ours listen, accept and end?

mod address;
mod answer;
mod client;
mod connections;
mod guard;
pub mod response;
mod serve;

pub use address::{Address, BadAddress, bind, listen};
pub use answer::{CutAnswer, causes, header_text, media_type, root_cause, whole};
pub use client::{USER_AGENT, client, server_url};
pub use guard::Guard;
pub use serve::{BodyError, Broken, Limits, accept, serve};
