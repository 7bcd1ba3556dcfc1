//! A server tape: every message that crossed between a client and a server, one per line.

mod entry;
mod pair;
mod read;
mod show;
mod trace;
mod write;

pub use entry::{Direction, Entry, Event, Header, TapeServer};
pub(crate) use pair::{TapeRequest, requests};
pub use read::{Tape, TapeError, is_tape};
pub use show::{ShowOptions, timeline};
pub(crate) use trace::sessions;
pub use trace::{TraceOptions, to_cassette};
pub use write::{WriteError, Writer};

/// The `format` of a tape's first line.
pub const FORMAT: &str = "mcptest-tape";
/// The version that is written.
pub const VERSION: u64 = 1;
