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
mod trajectory;
mod trajectory_axes;

pub use assertion::Assertion;
pub use gate::{GateBlock, GateKind};
pub use golden_path::{GoldenPath, PathScore, score_golden_path};
pub use scores::{RunScores, Scores};
pub use target::{Fold, Range, Target};
pub use trajectory::trace_validation;
pub use trajectory::trace_validation::{
    ExpectedArgs, ExpectedCall, ExpectedTrace, MalformedSchema, MatchMode, TraceMismatch, TraceValidation,
    tool_calls_from_envelope, validate_trace,
};
pub use trajectory_axes::{AxesScore, Dependency, Order, TrajectoryAxes, score_trajectory_axes};

pub(crate) use gate::{AgentFacts, Gate};

/// Every gate, in the order of the documentation.
pub const GATES: &[GateKind] = &[
    GateKind::of::<trajectory::TrajectoryBlock>(),
    GateKind::of::<trajectory_axes::TrajectoryAxesBlock>(),
    GateKind::of::<golden_path::GoldenPathBlock>(),
];
