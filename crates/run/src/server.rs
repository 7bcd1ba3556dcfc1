//! A server entry of a suite becomes a server that can be connected to.

use mcptest_core::suite::{Endpoint, Environment, Server, Suite, Unset};
use mcptest_core::world::Running;
use mcptest_mcp::client::{self, Pipe, ServerSpec, SpecError};
use mcptest_mcp::manifest;
use mcptest_mcp::mock;
use serde_json::{Map, Value};
use std::path::Path;
use std::sync::Arc;
use thiserror::Error;

/// Why a server cannot be connected to.
#[derive(Debug, Error)]
pub enum ServerError {
    /// Its entry lacks something.
    #[error(transparent)]
    Entry(#[from] SpecError),
    /// A variable in its entry has no value.
    #[error("server {server:?}: {unset}")]
    Unset {
        /// The server.
        server: String,
        /// The variable.
        unset: Unset,
    },
    /// Its manifest is refused.
    #[error("server {server:?}: its manifest is refused\n{}", problems.join("\n"))]
    Manifest {
        /// The server.
        server: String,
        /// Why, a line each.
        problems: Vec<String>,
    },
}

/// What recordings say of the server of this name: its entry in the suite, and of a mock also a digest of its manifest.
/// What it answers is in there, so a changed manifest makes a recording stale; its comments do not.
pub(crate) fn entry_of(suite: &Suite, name: &str) -> Map<String, Value> {
    let mut entry = suite.servers.get(name).map(Server::template).unwrap_or_default();
    entry.extend(suite.manifest_digest(name).map(|digest| ("manifest".to_owned(), digest.into())));
    entry
}

/// The server of this name in a suite, with the environment of this process; or why it cannot be connected to. A mock
/// acts in this world.
pub(crate) fn spec_in(suite: &Suite, name: &str, world: Option<&Arc<Running>>) -> Result<ServerSpec, String> {
    let server = suite.servers.get(name).ok_or_else(|| format!("there is no server `{name}`"))?;
    let environment = crate::host().environment;
    spec_in_world(name, server, suite.folder(), environment, world).map_err(|error| error.to_string())
}

/// The server as its suite describes it, with variables and secrets filled in. A mock is a server of its own in this
/// process, with a fresh memory.
pub fn spec_of(
    name: &str,
    server: &Server,
    folder: &Path,
    environment: Environment<'_>,
) -> Result<ServerSpec, ServerError> {
    spec_in_world(name, server, folder, environment, None)
}

fn spec_in_world(
    name: &str,
    server: &Server,
    folder: &Path,
    environment: Environment<'_>,
    world: Option<&Arc<Running>>,
) -> Result<ServerSpec, ServerError> {
    let Endpoint::Mock(manifest) = &server.endpoint else {
        return Ok(ServerSpec::of(name, server, folder, environment)?);
    };
    let manifest = server
        .scope
        .fill(manifest, environment)
        .map_err(|unset| ServerError::Unset { server: name.to_owned(), unset })?;
    let pipe = pipe_to(name, &folder.join(manifest), world)?;
    let without_mock = Server { endpoint: Endpoint::default(), ..server.clone() };
    let spec = ServerSpec::of(name, &without_mock, folder, environment)?;
    Ok(ServerSpec { endpoint: client::Endpoint::Pipe(pipe), ..spec })
}

fn pipe_to(name: &str, path: &Path, world: Option<&Arc<Running>>) -> Result<Pipe, ServerError> {
    let mut loaded = manifest::load(path, crate::host().read);
    let Some(manifest) = loaded.manifest.take() else {
        let say = |problem: &mcptest_core::problem::Problem| match problem.span {
            Some(span) => {
                let (file, line, column) = loaded.sources.place(span);
                format!("{file}:{line}:{column}: {}", problem.message)
            }
            None => problem.message.clone(),
        };
        let problems = loaded.problems.iter().map(say).collect();
        return Err(ServerError::Manifest { server: name.to_owned(), problems });
    };
    let server = match world {
        Some(world) => mock::Server::in_world(manifest, name, world),
        None => mock::Server::new(manifest, Vec::new()),
    };
    Ok(Arc::new(move || {
        let (reader, writer) = tokio::io::split(server.connect());
        (Box::new(reader), Box::new(writer))
    }))
}
