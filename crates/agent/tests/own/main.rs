//! Agents of one's own, as processes, against mocks and real servers.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod faults;
mod peers;
mod process;
mod recording;
mod support;
