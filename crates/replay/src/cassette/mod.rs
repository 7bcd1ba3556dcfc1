//! How is a recorded run stored in a file, and read again?

mod excerpt;
mod fingerprint;
mod lock;
mod name;
mod natural;
mod order;
mod parse;
mod problem;
mod read;
mod resolve;
mod show;
mod stale;
mod write;
mod write_error;

#[cfg(test)]
mod tests;

pub use fingerprint::sealed;
pub(crate) use fingerprint::{fingerprint_of, is_tampered};
pub use lock::lock_of;
pub use name::{beside, default_place, with_model};
pub(crate) use natural::by_path;
pub use parse::{Cassette, CassetteRun, Stopped, parse};
pub use problem::{Fault, Problem};
pub use read::is_tape;
pub use read::{ReadError, ReadFault, Recording};
pub(crate) use resolve::matcher;
pub use resolve::{ResolveError, Resolved, is_pattern, resolve};
pub(crate) use show::{Look, Page, prose_of_content};
pub use show::{Options, timeline};
pub(crate) use stale::StaleInputs;
pub use stale::{StaleInput, staleness};
pub use write::{Recorder, Reserved, is_recording, write_whole};
pub use write_error::WriteError;
