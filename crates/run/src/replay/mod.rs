//! A row's recordings, opened, parsed and compared with its suite: no process, no socket, no key.

mod fresh;
mod freshness;
mod header;
mod open;
mod parse;
mod paths;
mod remarks;

pub(crate) use fresh::FreshRow;
pub(crate) use freshness::{Misfit, misfit};
pub(crate) use header::entry_of;
pub use header::expected_header;
pub(crate) use open::OpenedRow;
pub use paths::{cassette_paths, side_path};
