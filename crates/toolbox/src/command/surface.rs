//! Which tools do `lint-tools` and `tool-bench` look at?

use super::{surface_files, tools};
use crate::surface::SurfaceTool;
use clap::Args;
use mcptest_command::server::Server;
use mcptest_command::{EXIT_NOTHING_SELECTED, Failure, output, server, waiting};
use mcptest_core::eval::Gates;
use mcptest_mcp::client::Client;
use std::path::PathBuf;

/// The source of the tools.
#[derive(Debug, Args)]
pub(crate) struct Surface {
    /// Read the tools from a cassette, or from what `mcptest tools --json` printed, instead of a server.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["config", "command", "url", "words", "header", "env", "era", "timeout", "connect_timeout"])]
    pub(crate) from: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) server: Server,
}

/// The tools of a server or a file.
pub(super) fn tools(
    args: &Surface,
    name: Option<&str>,
    gates: Gates,
) -> Result<Vec<SurfaceTool>, Failure> {
    if let Some(path) = &args.from {
        return surface_files::read_surface(path).map_err(Failure::new);
    }
    let spec = server::spec(name, &args.server, gates)?;
    server::speak(async {
        let client = Client::connect(&spec, None).await?;
        waiting::tell("the list of tools");
        let listed = client.list_tools().await;
        let seen = client.close().await.observed;
        let listed = listed?;
        output::notes(&tools::notes(listed.complaints.iter().chain(&seen)));
        let read = listed
            .tools
            .iter()
            .map(|tool| SurfaceTool::listed(&tool.raw, None));
        Ok(read.collect::<Result<_, _>>()?)
    })
}

/// The error for a surface without tools.
pub(super) fn no_tools() -> Failure {
    Failure::ended(
        EXIT_NOTHING_SELECTED,
        "nothing was measured: the server has no tools",
    )
}
