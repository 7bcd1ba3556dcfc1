//! The gates: each folds the recorded runs of a test into numbers and a verdict.

pub mod alignment;
pub(crate) mod assertion;
pub mod assignment;
mod decided;
pub mod distractors;
pub mod equal_function_sets;
mod fault_matrix;
mod gate;
mod golden_path;
#[cfg(test)]
mod lint_check;
mod narrative;
mod orchestration;
mod outlook;
pub mod recovery;
#[cfg(test)]
mod registry_tests;
pub mod reliability;
mod scores;
pub mod stability;
pub mod subsequence;
mod target;
pub mod token_efficiency;
mod tool_edges;
mod tool_selection;
mod trajectory;
mod trajectory_axes;
#[cfg(test)]
mod trial;

pub use mcptest_stats as stats;

pub use assertion::Assertion;
pub use decided::decided;
pub use fault_matrix::{Combination, fault_combinations};
pub use gate::{GateBlock, GateKind};
pub use golden_path::{GoldenPath, PathScore, golden_path_coverage, score_golden_path};
pub use narrative::{Extraction, Narrative, NarrativeScore, score_narrative};
pub use scores::{RunScores, Scores};
pub use stability::{StabilityFloors, StabilityReport, agent_stability, agent_stability_across, drift_flags};
pub use target::{Fold, Range, Target};
pub use token_efficiency::shipped_cost_usd;
pub use tool_edges::{DelegationEdge, EdgesScore, ToolEdges, score_tool_edges};
pub use tool_selection::selection;
pub use trajectory::trace_validation;
pub use trajectory::trace_validation::{
    ExpectedArgs, ExpectedCall, ExpectedTrace, MalformedSchema, MatchMode, TraceMismatch, TraceValidation,
    tool_calls_from_envelope, validate_trace,
};
pub use trajectory_axes::{AxesScore, Dependency, Order, TrajectoryAxes, score_trajectory_axes};

pub(crate) use gate::{AgentFacts, Gate, some_of};

/// Every gate, in the order of the documentation.
pub const GATES: &[GateKind] = &[
    GateKind::of::<trajectory::TrajectoryBlock>(),
    GateKind::of::<trajectory_axes::TrajectoryAxesBlock>(),
    GateKind::of::<golden_path::GoldenPathBlock>(),
    GateKind::of::<stability::StabilityBlock>(),
    GateKind::of::<reliability::ReliabilityBlock>(),
    GateKind::of::<recovery::RecoveryBlock>(),
    GateKind::of::<fault_matrix::FaultMatrix>(),
    GateKind::of::<narrative::NarrativeBlock>(),
    GateKind::of::<tool_selection::ToolSelectionBlock>(),
    GateKind::of::<equal_function_sets::EqualFunctionSets>(),
    GateKind::of::<distractors::Distractors>(),
    GateKind::of::<tool_edges::ToolEdgesBlock>(),
    GateKind::of::<orchestration::DiscoveryBlock>(),
    GateKind::of::<orchestration::OrchestrationBlock>(),
    GateKind::of::<token_efficiency::TokenEfficiency>(),
];
