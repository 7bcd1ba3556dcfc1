//! Are transcripts imported completely: every call, in order, with its name, arguments, id and
//! answer?

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::needless_pass_by_value,
    missing_docs
)]

mod atif;
mod bad_input;
mod bills;
mod details;
mod fixtures;
mod otel;
mod refused;
mod round_trip;
mod sub_agents;
mod told;
mod written;
mod written_by_agents;
mod written_by_libraries;
