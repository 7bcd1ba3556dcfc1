//! Are all four providers asked as they want to be, and is every answer understood? Over a real socket.

#![allow(clippy::unwrap_used, missing_docs)]

mod asking;
mod bills;
mod conversation;
mod faults;
mod resolving;
