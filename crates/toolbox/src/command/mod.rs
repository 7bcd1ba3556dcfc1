//! One file per command: its arguments, and what it does.

mod bridge;
mod call;
mod check;
mod export;
mod import;
mod json_order;
mod lint_tools;
mod mock;
mod proxy;
mod surface;
mod surface_files;
mod tool_bench;
mod tools;
mod trace_from;
mod verify;

use mcptest_command::CommandKind;

/// `mcptest tools`.
pub const TOOLS: CommandKind = CommandKind::new::<tools::Tools>();

/// `mcptest call`.
pub const CALL: CommandKind = CommandKind::new::<call::Call>();

/// `mcptest check`.
pub const CHECK: CommandKind = CommandKind::new::<check::Check>();

/// `mcptest lint-tools`.
pub const LINT_TOOLS: CommandKind = CommandKind::new::<lint_tools::LintTools>();

/// `mcptest tool-bench`.
pub const TOOL_BENCH: CommandKind = CommandKind::new::<tool_bench::ToolBench>();

/// `mcptest proxy`.
pub const PROXY: CommandKind = CommandKind::new::<proxy::Proxy>();

/// `mcptest verify`.
pub const VERIFY: CommandKind = CommandKind::new::<verify::Verify>();

/// `mcptest trace-from`.
pub const TRACE_FROM: CommandKind = CommandKind::new::<trace_from::TraceFrom>();

/// `mcptest import`.
pub const IMPORT: CommandKind = CommandKind::new::<import::Import>();

/// `mcptest export`.
pub const EXPORT: CommandKind = CommandKind::new::<export::Export>();

/// `mcptest mock`.
pub const MOCK: CommandKind = CommandKind::new::<mock::Mock>();

/// `mcptest bridge`.
pub const BRIDGE: CommandKind = CommandKind::new::<bridge::Bridge>();
