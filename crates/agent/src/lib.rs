//! Agents at work: a model in a loop, or a program of one's own, against real MCP servers.

pub mod dialect;
mod fault;
mod trace;

pub use fault::{FaultPlan, Strike, Struck};
pub use trace::{
    RunTrace, TracedCall, TracedConversation, TracedError, TracedFailure, TracedFault, TracedResult,
    TracedTokens, TracedTurn,
};
