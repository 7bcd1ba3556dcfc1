//! One file per command: its arguments, and what it does.

mod allow_calls;
mod check_secrets;
mod dry_run;
mod init;
mod report;
mod run;
mod scenario;
mod score;
mod show;
mod update;
mod validate;
mod watch;

use mcptest_command::CommandKind;

/// `mcptest run`.
pub const RUN: CommandKind = CommandKind::new::<run::Run>();

/// `mcptest score`.
pub const SCORE: CommandKind = CommandKind::new::<score::ScoreTraces>();

/// `mcptest scenario`.
pub const SCENARIO: CommandKind = CommandKind::new::<scenario::Scenario>();

/// `mcptest init`.
pub const INIT: CommandKind = CommandKind::new::<init::Init>();

/// `mcptest validate`.
pub const VALIDATE: CommandKind = CommandKind::new::<validate::Validate>();

/// `mcptest show`.
pub const SHOW: CommandKind = CommandKind::new::<show::Show>();

/// `mcptest report`.
pub const REPORT: CommandKind = CommandKind::new::<report::Rerender>();
