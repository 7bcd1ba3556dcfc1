//! Which protocol does a session use, and which keys does the modern protocol add?

pub use mcptest_core::era::{Era, LATEST_LEGACY, LATEST_MODERN, VERSIONS};

/// Keys of `_meta` in the modern protocol.
pub mod meta {
    /// The revision that a request is written in.
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// The client's capabilities.
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// The least level of log messages to send while the request is served.
    pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    /// The client's name and version.
    pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
}
