//! How does a server work that is a file? It serves a manifest or a tape with both protocols on a
//! pipe and over HTTP.

mod audience;
mod catalog;
mod deferred;
mod deliver;
mod engine;
pub mod http;
mod incoming;
mod job;
mod legacy;
pub mod manifest;
mod modern;
mod outlet;
mod params;
mod pending_request;
mod pipe;
mod recorded;
mod reload;
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
pub use reload::{ReadFile, Reload};
pub use running_world::RunningWorld;
pub use server::Server;
pub use spec::{UnusableServer, spec_in};
