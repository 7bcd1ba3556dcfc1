//! The client against servers that behave, and servers that do not.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod http;
mod pipe;
mod process;
mod rmcp_peer;
mod script;
