//! A server entry of a suite becomes a server that can be connected to.

use crate::running_world::RunningWorld;
use crate::{Server as MockServer, manifest};
use mcptest_core::suite::{Endpoint, Host, ReadFile, Server, Suite, Unset};
use mcptest_mcp::client::{self, Pipe, ServerSpec, SpecError};
use std::path::Path;
use std::sync::Arc;
use thiserror::Error;

/// Why a server of a suite cannot be connected to.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UnusableServer {
    /// The suite has no such server.
    #[error("the suite has no server `{server}`")]
    Unknown {
        /// The name.
        server: String,
    },
    /// Its entry cannot be filled in.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The path of its manifest needs a variable.
    #[error("server {server:?}: {unset}")]
    Unset {
        /// The server.
        server: String,
        /// The variables without a value.
        unset: Unset,
    },
    /// Its manifest has errors.
    #[error("server {server:?}: its manifest is refused\n{}", problems.join("\n"))]
    RefusedManifest {
        /// The server.
        server: String,
        /// The problems with their places.
        problems: Vec<String>,
    },
}

/// The named server of the suite, with the host's variables and secrets filled in, or why it is not
/// possible to connect. A mock is a separate server in this process, with a fresh state, unless it
/// acts in a world.
pub fn spec_in(
    suite: &Suite,
    name: &str,
    world: Option<&Arc<RunningWorld>>,
    host: &Host<'_>,
) -> Result<ServerSpec, UnusableServer> {
    let server = suite
        .servers
        .get(name)
        .ok_or_else(|| UnusableServer::Unknown {
            server: name.to_owned(),
        })?;
    let (folder, environment) = (suite.folder(), host.environment);
    let spec_of = |server: &Server| ServerSpec::of(name, server, folder, environment);
    let Endpoint::Mock(manifest) = &server.endpoint else {
        return Ok(spec_of(server)?);
    };
    let manifest =
        server
            .scope
            .fill(manifest, environment)
            .map_err(|unset| UnusableServer::Unset {
                server: name.to_owned(),
                unset,
            })?;
    let pipe = pipe_to(name, &folder.join(manifest), world, host.read)?;
    let spec = spec_of(&Server {
        endpoint: Endpoint::default(),
        ..server.clone()
    })?;
    Ok(ServerSpec {
        endpoint: client::Endpoint::Pipe(pipe),
        ..spec
    })
}

fn pipe_to(
    name: &str,
    path: &Path,
    world: Option<&Arc<RunningWorld>>,
    read: ReadFile<'_>,
) -> Result<Pipe, UnusableServer> {
    let mut loaded = manifest::load(path, read);
    let Some(manifest) = loaded.manifest.take() else {
        let say = |problem: &mcptest_core::problem::Problem| match problem.span {
            Some(span) => {
                let position = loaded.sources.position(span);
                format!("{position}: {}", problem.message)
            }
            None => problem.message.clone(),
        };
        return Err(UnusableServer::RefusedManifest {
            server: name.to_owned(),
            problems: loaded.problems.iter().map(say).collect(),
        });
    };
    let server = match world {
        Some(world) => MockServer::in_world(manifest, name, world),
        None => MockServer::new(manifest, Vec::new()),
    };
    Ok(Arc::new(move || {
        let (reader, writer) = tokio::io::split(server.connect());
        (Box::new(reader), Box::new(writer))
    }))
}
