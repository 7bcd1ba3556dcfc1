//! The server over streamable HTTP, at `/mcp`.

mod body;
mod connections;
mod exchange;
mod guard;
mod headers;
mod reply;
mod serve;
mod sessions;
mod stall;

pub use serve::{Serving, serve, serve_on_loopback};

use std::time::Duration;

/// How much one client may take of the server.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The largest body of a request.
    pub body_bytes: usize,
    /// The most bytes that the head of a request may have.
    pub header_bytes: usize,
    /// The most headers that a request may have.
    pub headers: usize,
    /// How long a connection may take for the head of its next request.
    pub header_timeout: Duration,
    /// How long a client may take to send a body.
    pub body_timeout: Duration,
    /// How long a client may take none of what is sent to it.
    pub stall_timeout: Duration,
    /// The most connections at once; past it the longest idle one is closed for a new one.
    pub connections: usize,
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
            body_bytes: 16 << 20,
            header_bytes: 64 << 10,
            headers: 100,
            header_timeout: Duration::from_secs(60),
            body_timeout: Duration::from_secs(30),
            stall_timeout: Duration::from_secs(30),
            connections: 16_384,
            sessions: 10_000,
            session_idle: Duration::from_secs(30 * 60),
            running: 10_000,
        }
    }
}

/// The one path that is served.
pub const PATH: &str = "/mcp";
