//! The gates: each folds the recorded runs of a test into numbers and a verdict.

pub mod alignment;
pub(crate) mod assertion;
pub mod assignment;
mod classes;
mod combination;
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
mod recording;
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
pub use combination::Combination;
pub use decided::decided;
pub use fault_matrix::MATRIX_PARAMETER;
pub use gate::{GateBlock, GateKind};
pub use golden_path::{GoldenPath, PathScore, golden_path_coverage, score_golden_path};
pub use narrative::{Extraction, Narrative, NarrativeScore, score_narrative};
pub use recording::fault_combinations;
pub use recovery::is_contradicted;
pub use scores::{RunScores, Scores};
pub use stability::{StabilityFloors, StabilityReport, agent_stability, agent_stability_across, drift_flags};
pub use target::{Fold, Range, Target};
pub use token_efficiency::PRICES_HELP;
pub use tool_edges::{DelegationEdge, EdgesScore, ToolEdges, score_tool_edges};
pub use tool_selection::selection;
pub use trajectory::trace_validation;
pub use trajectory::trace_validation::{
    ExpectedArgs, ExpectedCall, ExpectedTrace, MalformedSchema, MatchMode, TraceMismatch, TraceValidation,
    tool_calls_from_envelope, validate_trace,
};
pub use trajectory_axes::{AxesScore, Dependency, Order, TrajectoryAxes, score_trajectory_axes};

pub(crate) use gate::{AgentFacts, some_of};

/// Every gate, in the order of the documentation.
pub const GATES: &[GateKind] = &[
    trajectory::KIND,
    trajectory_axes::KIND,
    golden_path::KIND,
    stability::KIND,
    reliability::KIND,
    recovery::KIND,
    fault_matrix::KIND,
    narrative::KIND,
    tool_selection::KIND,
    equal_function_sets::KIND,
    distractors::KIND,
    tool_edges::KIND,
    orchestration::discovery::KIND,
    orchestration::KIND,
    token_efficiency::KIND,
];
