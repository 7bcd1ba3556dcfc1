//! mcptest's library: recorded runs in, verdicts out. No clock, environment, files, network or async.

pub mod escape;
pub mod eval;
pub mod fault;
pub mod json;
pub mod manifest;
pub mod matcher;
pub mod price;
pub mod problem;
pub mod report;
mod schema;
pub mod suite;
pub mod target;
pub mod trace;
mod yaml;

pub use report::AssertionDiff;
