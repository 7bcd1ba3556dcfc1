//! Direct tool tests: which are called, which are read from their recordings, and what do they say?

mod execute;
mod live;
mod recording;
mod replay;
mod secrets;
mod show;

pub use execute::Interrupted;
pub(crate) use execute::{Done, count, execute};
pub(crate) use live::call_on;
pub(crate) use recording::parse as parse_recording;
pub(crate) use replay::{fail, header_now, judge, judge_live, path_of, say_if_redacted};
pub use show::{is_tool_test, timeline as tool_test_timeline};
