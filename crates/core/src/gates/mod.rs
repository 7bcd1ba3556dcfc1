//! The gates: each folds the recorded runs of a test into numbers and a verdict.
#![doc = include_str!("../../../../docs/own-gates.md")]

mod ablate;
mod discovery;
#[doc(hidden)]
pub mod distractors;
#[doc(hidden)]
pub mod equal_function_sets;
mod eval;
mod fault_matrix;
pub(crate) mod golden_path;
pub(crate) mod narrative;
mod orchestration;
pub mod recovery;
#[cfg(test)]
mod registry_tests;
pub mod reliability;
mod scenario;
pub mod stability;
#[doc(hidden)]
pub mod token_efficiency;
pub(crate) mod tool_edges;
pub(crate) mod tool_selection;
pub(crate) mod trajectory;
pub(crate) mod trajectory_axes;

#[doc(inline)]
pub use crate::engine::{
    AgentFacts, Better, Fold, GateBlock, GateKind, GateTrait, Gates, Proposal, ProposedChange,
    ProposedItem, ProposedPlace, Range, RunScores, Scores, Target, Unit, WriteInFile,
    check::check,
    gate::{Documentation, Gate, ReadNamed, RunFailsBy},
    outlook::Outlook,
    recording::Recording,
    shown::Shown,
};
#[doc(inline)]
pub use crate::report::{Evidence, Finding, Number};
#[doc(inline)]
pub use crate::suite::read::{Block, Field};
#[doc(inline)]
pub use crate::trace::{Run, Tool};

// What one gate may ask of another, by names of its own.
pub(crate) use narrative::{Narrative, only_reads, score_narrative};
pub(crate) use recovery::is_contradicted;
pub(crate) use trajectory::ArgumentShape;

/// The judges' grade of each run.
pub(crate) static EVAL: GateKind = eval::KIND;

/// The state that the calls of a run lead to.
pub(crate) static SCENARIO: GateKind = scenario::KIND;

/// Every gate of this crate, in the order of the documentation.
pub const GATES: Gates = Gates::new(&[RUN_GATES, OUTCOME_GATES]);

/// Gates that judge the behaviour of runs.
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
];

/// Gates that judge the outcomes of runs.
pub const OUTCOME_GATES: &[GateKind] = &[eval::KIND, scenario::KIND];
