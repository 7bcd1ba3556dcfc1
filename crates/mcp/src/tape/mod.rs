//! A server tape: every message that crossed between a client and a server, one per line.

mod entry;
mod read;

pub use entry::{Direction, Entry, Event, Header, TapeServer};
pub use read::{Tape, TapeError, is_tape};

/// The `format` of a tape's first line.
pub const FORMAT: &str = "mcptest-tape";
/// The version that is written.
pub const VERSION: u64 = 1;
