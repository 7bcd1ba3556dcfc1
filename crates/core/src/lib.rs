//! mcptest's library: recorded runs in, verdicts out. No clock, environment, files, network or async.

pub mod era;
pub mod escape;
pub mod eval;
pub mod fault;
pub mod json;
pub mod matcher;
pub mod price;
pub mod problem;
pub mod provider;
pub mod report;
#[doc(hidden)]
pub mod schema;
pub mod suite;
pub mod target;
pub mod trace;
#[doc(hidden)]
pub mod yaml;

pub use report::AssertionDiff;
