//! One file per command: its arguments, and what it does.

mod calibrate;
mod eval;
mod judge_check;

use mcptest_command::CommandKind;

/// `mcptest eval`.
pub const EVAL: CommandKind = CommandKind::new::<eval::Eval>();

/// `mcptest judge-check`.
pub const JUDGE_CHECK: CommandKind = CommandKind::new::<judge_check::CheckJudges>();

/// `mcptest calibrate`.
pub const CALIBRATE: CommandKind = CommandKind::new::<calibrate::Calibrate>();
