//! Two or more sets of runs, one comparison: is an agent better or worse, and what does it do differently?

pub mod baseline;
mod behaviour;
#[cfg(feature = "command")]
mod captured;
#[cfg(feature = "command")]
mod command;
pub mod comparison;
mod model_compat;
pub mod reports;
#[cfg(feature = "command")]
pub mod show;

#[cfg(feature = "command")]
pub use command::{COMPARE, MODEL_BASELINE, PLAN_RUNS};

use mcptest_core::gates::GateKind;

/// The gates that compare runs with another model's runs.
pub const GATES: &[GateKind] = &[model_compat::KIND];
