//! Each gate as a function over JSON values, under the names that the documents on evaluation use.

#[doc(no_inline)]
pub use mcptest_stats as stats;

#[doc(inline)]
pub use crate::gates::golden_path::{
    GoldenPath, PathScore, golden_path_coverage, score_golden_path,
};
#[doc(inline)]
pub use crate::gates::narrative::{Extraction, Narrative, NarrativeScore, score_narrative};
#[doc(inline)]
pub use crate::gates::stability::{
    StabilityFloors, StabilityReport, agent_stability, agent_stability_across, drift_flags,
};
#[doc(inline)]
pub use crate::gates::tool_edges::{DelegationEdge, EdgesScore, ToolEdges, score_tool_edges};
#[doc(inline)]
pub use crate::gates::tool_selection::selection;
#[doc(inline)]
pub use crate::gates::trajectory::trace_validation::{
    ExpectedArgs, ExpectedCall, ExpectedTrace, MalformedSchema, MatchMode, TraceMismatch,
    TraceValidation, tool_calls_from_envelope, validate_trace,
};
#[doc(inline)]
pub use crate::gates::trajectory_axes::{
    AxesScore, Dependency, Order, TrajectoryAxes, score_trajectory_axes,
};
#[doc(inline)]
pub use crate::gates::{recovery, reliability, stability, trajectory::trace_validation};

#[doc(hidden)]
pub use crate::{
    engine::{
        Assertion, Better, Combination, Fold, GateBlock, GateKind, Gates, Proposal, ProposedChange,
        ProposedItem, ProposedPlace, Range, RunScores, Scores, SideRun, SideRuns, SideWords,
        Target, Unit, WriteInFile, decided,
    },
    gates::{
        GATES, OUTCOME_GATES, RUN_GATES, distractors, equal_function_sets,
        recovery::is_contradicted,
        token_efficiency::{self, PRICES_HELP},
    },
    pairing::{alignment, assignment, subsequence},
};
