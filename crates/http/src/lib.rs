//! HTTP without MCP: how does mcptest send requests, and how do its servers listen, accept and end?

mod address;
mod answer;
mod client;
mod connections;
mod guard;
mod headers;
mod limits;
mod listen;
pub mod response;
mod serve;
mod stall;
mod url;

pub use address::{Address, BadAddress};
pub use answer::{CutAnswer, causes, root_cause, whole};
pub use client::{USER_AGENT, client};
pub use guard::Guard;
pub use headers::{header_text, media_type};
pub use limits::{BodyError, Limits};
pub use listen::{bind, listen};
pub use serve::{Broken, accept, serve};
pub use url::{BadUrl, server_url};
