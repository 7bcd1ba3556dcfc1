//! Does each provider accept the requests, and is every answer understood? Over a real socket.

#![allow(clippy::unwrap_used, missing_docs)]

mod asking;
mod bills;
mod conversation;
mod faults;
mod resolving;
