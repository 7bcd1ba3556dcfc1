//! The server over streamable HTTP, at `/mcp`.

mod body;
mod exchange;
mod headers;
mod reply;
mod serve;
mod sessions;

pub use serve::{Serving, serve, serve_on_loopback};

use std::time::Duration;

/// How much one client may take of the server.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Of its connections and requests.
    pub http: mcptest_http::Limits,
    /// The most sessions at once; past it the longest idle one is ended for a new one.
    pub sessions: usize,
    /// How long a session may be idle.
    pub session_idle: Duration,
    /// The most calls at once that take time.
    pub running: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            http: mcptest_http::Limits::default(),
            sessions: 10_000,
            session_idle: Duration::from_secs(30 * 60),
            running: 10_000,
        }
    }
}

/// The one path that is served.
pub const PATH: &str = "/mcp";
