//! The mock server: a manifest or a tape, served in both eras on a pipe and over HTTP.

mod catalog;
mod deliver;
mod engine;
pub mod http;
mod incoming;
mod legacy;
mod modern;
mod pipe;
mod play;
mod render;
mod request_state;
mod server;
mod session;
mod stream;
mod tape;
mod tape_index;

pub use crate::manifest::ServerChange;
pub use pipe::{Ended, serve_pipe};
pub use server::{ReadFile, Reload, Server};
