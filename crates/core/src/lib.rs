//! mcptest's library: recorded runs in, verdicts out. No clock, environment, files, network or async.

pub mod eval;
pub mod json;
pub mod report;
pub mod trace;

pub use report::AssertionDiff;
