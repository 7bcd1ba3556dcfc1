//! mcptest's library: recorded runs in, verdicts out. No clock, environment, files, network or async.
//!
//! A host loads a suite with two closures, judges traces in memory, and gets a report:
//!
//! ```
//! use mcptest_core::{Host, Recorded, RowId, Status, Trace, judge, load};
//! use std::path::Path;
//!
//! let text = "
//! agents:
//!   - name: forecast
//!     model: gpt-5
//!     prompt: Will it rain in Oslo?
//!     expect: [{ target: final_response, matcher: { contains: umbrella } }]
//!     golden_path: { calls: [get_weather] }
//! ";
//! let read = |_: &Path| Ok(text.as_bytes().to_vec());
//! let host = Host::new(&read, &|_| None);
//! let suite = load(Path::new("weather.yml"), &host).into_result()?;
//!
//! let run = r#"{"tool_calls": [{"name": "get_weather"}], "final_response": "Take an umbrella."}"#;
//! let traces = [Trace::read(run)?];
//! let report = judge(&suite, &[(RowId::new("forecast"), Recorded::from_traces(&traces))]);
//!
//! assert_eq!(report.tests[0].status, Status::Passed);
//! assert_eq!(report.exit_code(), 0);
//! println!("{}", serde_json::to_string_pretty(&report)?); // the crate mcptest-report has the other formats
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Each gate is also a function over JSON values, such as [`eval::validate_trace`]. Items that are not on these pages
//! are for the other crates of mcptest, and may change with any version.

#[doc(hidden)]
pub mod change;
mod classes;
#[doc(hidden)]
pub mod coverage;
#[doc(hidden)]
pub mod digest;
mod engine;
#[doc(hidden)]
pub mod era;
#[doc(hidden)]
pub mod escape;
pub mod eval;
#[doc(hidden)]
pub mod fault;
pub mod gates;
#[doc(hidden)]
pub mod grade;
#[doc(hidden)]
pub mod guard;
mod hashed;
#[doc(hidden)]
pub mod hidden;
#[doc(hidden)]
pub mod json;
#[doc(hidden)]
pub mod judge;
#[doc(hidden)]
pub mod matcher;
#[doc(hidden)]
pub mod pairing;
#[doc(hidden)]
pub mod price;
#[doc(hidden)]
pub mod problem;
#[doc(hidden)]
pub mod provider;
#[doc(hidden)]
pub mod report;
#[doc(hidden)]
pub mod row;
#[doc(hidden)]
pub mod schema;
pub mod score;
#[doc(hidden)]
pub mod suite;
#[doc(hidden)]
pub mod target;
#[doc(hidden)]
pub mod tool_schema;
#[doc(hidden)]
pub mod trace;
#[doc(hidden)]
pub mod words;
#[doc(hidden)]
pub mod world;
#[doc(hidden)]
pub mod yaml;

#[doc(inline)]
pub use judge::{Recorded, RecordedCall, RecordedRun, RecordedRuns, RecordedSideRuns, judge};
#[doc(inline)]
pub use problem::{Level, Problem, Sources, Span};
#[doc(inline)]
pub use report::{
    AssertionDiff, Expectation, Finding, GateReport, Number, Place, Report, RunReport, Status,
    Summary, TestReport,
};
#[doc(inline)]
pub use row::{AgentRow, Reason, ReasonKind, RowId};
#[doc(inline)]
pub use suite::{
    Agent, Host, Loaded, Model, RefusedSuite, Suite, ToolOutcome, ToolTest, Variant, load,
    load_for_traces,
};
#[doc(inline)]
pub use trace::{
    Call, CallResult, CatalogueTool, Conversation, ConversationTrace, Header, Trace, Turn,
};
