//! Does recording survive failures of providers, servers, the disk, another mcptest and the user?

#![allow(clippy::unwrap_used, missing_docs)]

mod disk;
mod faults;
mod interrupt;
mod keep;
mod many;
mod place;
mod secrets;
mod two;
