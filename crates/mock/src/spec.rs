//! A server entry of a suite becomes a server that can be connected to.

use crate::running_world::Running;
use crate::{Server as MockServer, manifest};
use mcptest_core::suite::{Endpoint, Host, ReadFile, Server, Suite};
use mcptest_mcp::client::{self, Pipe, ServerSpec};
use std::path::Path;
use std::sync::Arc;

/// The server of this name as its suite describes it, with the host's variables and secrets filled in; or why it cannot
/// be connected to. A mock is a server of its own in this process, with a fresh memory, unless it acts in a world.
pub fn spec_in(
    suite: &Suite,
    name: &str,
    world: Option<&Arc<Running>>,
    host: &Host<'_>,
) -> Result<ServerSpec, String> {
    let server = suite
        .servers
        .get(name)
        .ok_or_else(|| format!("there is no server `{name}`"))?;
    let (folder, environment) = (suite.folder(), host.environment);
    let spec_of = |server: &Server| {
        ServerSpec::of(name, server, folder, environment).map_err(|error| error.to_string())
    };
    let Endpoint::Mock(manifest) = &server.endpoint else {
        return spec_of(server);
    };
    let manifest = server.scope.fill(manifest, environment);
    let manifest = manifest.map_err(|unset| format!("server {name:?}: {unset}"))?;
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
    world: Option<&Arc<Running>>,
    read: ReadFile<'_>,
) -> Result<Pipe, String> {
    let mut loaded = manifest::load(path, read);
    let Some(manifest) = loaded.manifest.take() else {
        let say = |problem: &mcptest_core::problem::Problem| match problem.span {
            Some(span) => {
                let (file, line, column) = loaded.sources.place(span);
                format!("{file}:{line}:{column}: {}", problem.message)
            }
            None => problem.message.clone(),
        };
        let problems: Vec<String> = loaded.problems.iter().map(say).collect();
        return Err(format!(
            "server {name:?}: its manifest is refused\n{}",
            problems.join("\n")
        ));
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
