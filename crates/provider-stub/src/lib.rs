//! A provider of scripted models, for tests: all four dialects in their real JSON, over a real socket.

mod active_runs;
mod body;
mod log;
mod script;
mod serve;
mod wire;

pub use log::Logged;
pub use script::{Call, Fault, Rule, Script, ScriptError, Step, Then, Tokens, When};
pub use serve::Stub;
