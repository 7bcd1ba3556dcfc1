//! A server by hand: does it do what the specification says, and what is its tool surface worth?

#[cfg(feature = "command")]
pub mod check;
#[cfg(feature = "command")]
mod command;
pub mod surface;
mod tool_quality;

#[cfg(feature = "command")]
pub use command::{
    BRIDGE, CALL, CHECK, IMPORT, LINT_TOOLS, MOCK, PROXY, TOOL_BENCH, TOOLS, TRACE_FROM, VERIFY,
};

use mcptest_core::gates::GateKind;

/// The gates that judge the tools that a run was offered.
pub const GATES: &[GateKind] = &[tool_quality::KIND];
