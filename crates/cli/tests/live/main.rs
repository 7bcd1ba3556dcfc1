//! Do recorded agents do what the suite says, from the socket of a provider to the verdict, through the built binary?
//!
//! The provider is the scripted stub on a real socket; servers are mocks that run as programs, and real ones of
//! target/peers.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod advice;
mod bench;
mod budgets;
mod code_execution;
mod crowd;
mod dialects;
mod early_stop;
mod evals;
mod faults;
mod gates;
mod judge_check;
mod judges;
mod limits;
mod local_model;
mod modes;
mod odd_content;
mod parameters;
mod progress;
mod quirks;
mod real_servers;
mod scorers;
mod sealed;
mod surroundings;
mod told_meanwhile;
mod tool_loop;
mod tool_schemas;
mod worlds;
