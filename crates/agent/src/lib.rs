//! Agents at work: a model in a loop, or the user's own program, with real MCP servers.

mod at_once;
mod budget;
pub mod dialect;
mod fault;
mod instructions;
mod model_run;
pub mod own;
pub mod provider;
mod result;
mod shown;
mod toolbox;

pub use at_once::at_once;
pub use budget::{Budgets, OverBudget, ReservedCall, Spending, Used, usd};
pub use fault::{FaultEffect, FaultPlan, Strike, ToldFailure};
pub use instructions::{instructions_of, system_prompt};
pub use model_run::{Limits, MayAsk, Task, Unrecorded, Watcher, run_model};
pub use provider::{Provider, Providers};
pub use toolbox::{Connected, Distract, Done, Oddity, OpenedToolbox, Toolbox, View};
