//! One file per command: its arguments, and what it does.

mod baseline_pairs;
mod compare;
mod model_baseline;
mod plan_runs;
mod side;

use mcptest_command::CommandKind;

/// `mcptest compare`.
pub const COMPARE: CommandKind = CommandKind::new::<compare::Compare>();

/// `mcptest model-baseline`.
pub const MODEL_BASELINE: CommandKind = CommandKind::new::<model_baseline::ModelBaseline>();

/// `mcptest plan-runs`.
pub const PLAN_RUNS: CommandKind = CommandKind::new::<plan_runs::PlanRuns>();
