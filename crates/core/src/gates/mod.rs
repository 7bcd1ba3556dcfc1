//! The gates: each folds the recorded runs of a test into numbers and a verdict.
//!
//! A host can add its own gates: it writes an entry for each, and loads suites with a list that contains them.
//!
//! ```
//! use mcptest_core::gates::{
//!     Block, Documentation, GATES, Gate, GateKind, Gates, OUTCOME_GATES, RUN_GATES, Run, RunFailsBy, RunScores,
//!     Target, check,
//! };
//! use mcptest_core::{Host, Recorded, Status, Trace, judge, load};
//! use std::path::Path;
//!
//! const WORDS: Target = Target::count("short_answer.words", "words of the closing message");
//!
//! /// The block as it is written in a suite.
//! struct ShortAnswer {
//!     most_words: u64,
//! }
//!
//! impl ShortAnswer {
//!     fn read(block: &mut Block<'_>) -> Self {
//!         let doc = "The most words that the closing message may have [default: 50]";
//!         let most_words = block.optional("most_words", doc, |field| field.whole(1..=10_000));
//!         Self { most_words: most_words.unwrap_or(50) }
//!     }
//! }
//!
//! impl Gate for ShortAnswer {
//!     fn expect_beside(&self, _has_expect: bool) -> Vec<(Target, f64)> {
//!         vec![(WORDS, self.most_words as f64)]
//!     }
//!
//!     fn score_run(&self, run: &Run<'_>) -> RunScores {
//!         let words = run.trace.final_response.as_deref().unwrap_or_default().split_whitespace().count();
//!         let mut scores = RunScores::default();
//!         scores.whole(&WORDS, words);
//!         scores
//!     }
//! }
//!
//! const SHORT_ANSWER: GateKind = GateKind::new(
//!     "short_answer",
//!     Documentation {
//!         summary: "Is the closing message short enough?",
//!         doc: "# Short answers\n\n`short_answer.words` counts words.\n\n```yaml\nagents:\n  - name: brief\n    \
//!               model: m\n    prompt: Be brief.\n    short_answer: {}\n```\n",
//!         example: "agents:\n  - name: brief\n    model: m\n    prompt: Be brief.\n    short_answer: {}\n",
//!     },
//!     &[WORDS],
//!     RunFailsBy::Assertions,
//!     |block| Box::new(ShortAnswer::read(block)),
//! );
//!
//! /// The gates of mcptest, then the host's own.
//! static ALL: Gates = Gates::new(&[RUN_GATES, OUTCOME_GATES, &[SHORT_ANSWER]]);
//!
//! assert_eq!(check(&SHORT_ANSWER, ALL), Vec::<String>::new());
//!
//! let text = "agents: [{ name: brief, model: m, prompt: Hi., short_answer: { most_words: 2 } }]";
//! let read = |_: &Path| Ok(text.as_bytes().to_vec());
//! let host = Host { gates: ALL, ..Host::new(&read, &|_| None) };
//! let suite = load(Path::new("brief.yml"), &host).suite.expect("`short_answer` is known");
//! let traces = [Trace::read(r#"{"final_response": "Hello to you."}"#)?];
//! let report = judge(&suite, &[("brief", Recorded::of_traces(&traces))]);
//! assert_eq!(report.tests[0].status, Status::Failed);
//! # Ok::<(), serde_json::Error>(())
//! ```

mod ablate;
mod discovery;
#[doc(hidden)]
pub mod distractors;
#[doc(hidden)]
pub mod equal_function_sets;
mod eval;
mod fault_matrix;
pub(crate) mod golden_path;
mod model_compat;
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
mod tool_quality;
pub(crate) mod tool_selection;
pub(crate) mod trajectory;
pub(crate) mod trajectory_axes;

#[doc(inline)]
pub use crate::engine::{
    AgentFacts, Better, Fold, GateKind, GateTrait, Gates, Range, RunScores, Scores, Target, Unit,
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
pub(crate) use narrative::{Narrative, is_read_by_name, score_narrative};
pub(crate) use recovery::is_contradicted;
pub(crate) use trajectory::ArgumentShape;

/// The judges' grade of each run.
pub(crate) static EVAL: GateKind = eval::KIND;

/// The state that the calls of a run lead to.
pub(crate) static SCENARIO: GateKind = scenario::KIND;

/// Every gate that mcptest ships, in the order of the documentation.
pub const GATES: Gates = Gates::new(&[RUN_GATES, OUTCOME_GATES, BASELINE_GATES]);

/// The gates that judge what runs did.
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
pub const OUTCOME_GATES: &[GateKind] = &[eval::KIND, scenario::KIND];

/// The gates that compare runs with the runs of another model.
pub const BASELINE_GATES: &[GateKind] = &[model_compat::KIND];
