//! Tools for a single server: does it follow the specification, and how good is its tool surface?

#[cfg(feature = "command")]
pub mod check;
#[cfg(feature = "command")]
mod command;
pub mod surface;
mod tool_quality;

#[cfg(feature = "command")]
pub use command::{
    BRIDGE, CALL, CHECK, EXPORT, IMPORT, LINT_TOOLS, MOCK, PROXY, TOOL_BENCH, TOOLS, TRACE_FROM,
    VERIFY,
};

use mcptest_core::gates::GateKind;

/// The gates that judge the tools that a run was offered.
pub const GATES: &[GateKind] = &[tool_quality::KIND];
