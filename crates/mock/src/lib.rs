//! A server that is a file: a manifest or a tape, served in both eras on a pipe and over HTTP.

mod catalog;
mod deliver;
mod engine;
pub mod http;
mod incoming;
mod legacy;
pub mod manifest;
mod modern;
mod pipe;
mod play;
mod render;
mod request_state;
mod running_world;
mod server;
mod session;
mod spec;
mod stream;
mod tape;
mod tape_index;

pub use crate::manifest::ServerChange;
pub use pipe::{Ended, serve_pipe};
pub use running_world::Running;
pub use server::{ReadFile, Reload, Server};
pub use spec::spec_in;
