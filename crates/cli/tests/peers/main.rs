//! Do other implementations work with mcptest: the reference servers and the official Python SDK,
//! in both directions?
//!
//! They are in target/peers, where tests/peers/install puts them. Without them, these tests fail.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod init;
mod installed;
mod programs;
mod python;
mod real_servers;
mod reports;
mod transcript;
