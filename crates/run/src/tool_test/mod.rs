//! Direct tool tests: which are called, which are read from their recordings, and what do they say?

mod execute;
mod live;
mod recording;
mod replay;
mod secrets;
mod show;

pub use execute::Interrupted;
pub(crate) use execute::{Done, execute};
pub(crate) use replay::{fail, judge, judge_live};
pub use show::{is_tool_test, timeline as tool_test_timeline};
