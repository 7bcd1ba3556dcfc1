//! Direct tool tests: how are they called, kept and judged?

mod recording;
mod replay;
mod show;

pub use recording::{CallOutcome, Server, ServerRequest, is_answered, parse as parse_recording};
pub use replay::{OpenedCall, ParsedCall, header_now, path_of, server_of, staleness};
pub use show::{is_tool_test, timeline};
