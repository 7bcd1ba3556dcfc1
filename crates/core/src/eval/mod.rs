//! The gates: each folds the recorded runs of a test into numbers and a verdict.

mod ablate;
mod accept;
#[doc(hidden)]
pub mod alignment;
pub(crate) mod assertion;
#[doc(hidden)]
pub mod assignment;
mod block;
mod classes;
mod decided;
mod discovery;
#[doc(hidden)]
pub mod distractors;
#[doc(hidden)]
pub mod equal_function_sets;
#[expect(
    clippy::module_inception,
    reason = "a gate's folder is called as its key"
)]
mod eval;
mod facts;
mod fault_matrix;
mod gate;
mod golden_path;
#[cfg(test)]
mod lint_check;
mod model_compat;
mod narrative;
mod orchestration;
mod outlook;
mod pass_rate;
mod recording;
pub mod recovery;
mod registry;
#[cfg(test)]
mod registry_tests;
pub mod reliability;
mod scenario;
mod scores;
mod shown;
pub mod stability;
pub mod subsequence;
mod success;
mod target;
#[doc(hidden)]
pub mod token_efficiency;
mod tool_edges;
mod tool_quality;
mod tool_selection;
mod trajectory;
mod trajectory_axes;
#[cfg(test)]
mod trial;

#[doc(hidden)]
pub use {
    accept::{Proposal, ProposedChange, ProposedItem, ProposedPlace, WriteInFile},
    assertion::Assertion,
    block::GateBlock,
    decided::decided,
    gate::GateKind,
    mcptest_stats as stats,
    recording::{Combination, SideRun, SideRuns, SideWords},
    recovery::is_contradicted,
    registry::Gates,
    scores::{RunScores, Scores},
    target::{Better, Fold, Range, Target, Unit},
    token_efficiency::PRICES_HELP,
};

pub use golden_path::{GoldenPath, PathScore, golden_path_coverage, score_golden_path};
pub use narrative::{Extraction, Narrative, NarrativeScore, score_narrative};
pub use stability::{
    StabilityFloors, StabilityReport, agent_stability, agent_stability_across, drift_flags,
};
pub use tool_edges::{DelegationEdge, EdgesScore, ToolEdges, score_tool_edges};
pub use tool_selection::selection;
pub use trajectory::trace_validation;
pub use trajectory::trace_validation::{
    ExpectedArgs, ExpectedCall, ExpectedTrace, MalformedSchema, MatchMode, TraceMismatch,
    TraceValidation, tool_calls_from_envelope, validate_trace,
};
pub use trajectory_axes::{AxesScore, Dependency, Order, TrajectoryAxes, score_trajectory_axes};

pub(crate) use facts::AgentFacts;
pub(crate) use gate::GateTrait;
pub(crate) use narrative::is_read_by_name;
pub(crate) use pass_rate::failed_by;
pub(crate) use success::Success;

use trajectory::ArgumentShape;

/// What judges say of each run.
pub(crate) static EVAL: GateKind = eval::KIND;

/// The state that the calls of a run lead to.
pub(crate) static SCENARIO: GateKind = scenario::KIND;

/// Every gate that mcptest ships, in the order of the documentation.
#[doc(hidden)]
pub const GATES: Gates = Gates::new(&[RUN_GATES, OUTCOME_GATES, BASELINE_GATES]);

/// The gates that judge what runs did.
#[doc(hidden)]
pub const RUN_GATES: &[GateKind] = &[
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
    ablate::KIND,
    tool_edges::KIND,
    discovery::KIND,
    orchestration::KIND,
    token_efficiency::KIND,
    tool_quality::KIND,
];

/// The gates that judge what runs led to.
#[doc(hidden)]
pub const OUTCOME_GATES: &[GateKind] = &[eval::KIND, scenario::KIND];

/// The gates that compare runs with those of another model.
#[doc(hidden)]
pub const BASELINE_GATES: &[GateKind] = &[model_compat::KIND];
