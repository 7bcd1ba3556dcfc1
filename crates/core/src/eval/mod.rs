//! The gates: each folds the recorded runs of a test into numbers and a verdict.

pub mod alignment;
pub(crate) mod assertion;
pub mod assignment;
mod gate;
mod golden_path;
pub mod reliability;
mod scores;
pub mod stats;
pub mod subsequence;
mod target;

pub use assertion::Assertion;
pub use gate::{GateBlock, GateKind};
pub use golden_path::{GoldenPath, PathScore, score_golden_path};
pub use scores::{RunScores, Scores};
pub use target::{Fold, Range, Target};

pub(crate) use gate::{AgentFacts, Gate};

/// Every gate, in the order of the documentation.
pub const GATES: &[GateKind] = &[GateKind::of::<golden_path::GoldenPathBlock>()];
