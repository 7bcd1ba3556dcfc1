//! Direct tool tests: which are called, which are read from their recordings, and what do they say?

mod execute;
mod live;
mod recording;
mod replay;
mod secrets;

pub use execute::Interrupted;
pub(crate) use execute::{Done, execute};
pub(crate) use replay::{fail, judge, judge_live};
