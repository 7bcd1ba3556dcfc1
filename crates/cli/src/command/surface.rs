//! Which tools do `lint-tools` and `tool-bench` look at?

use super::{server, tools};
use crate::args::Server;
use crate::output::{self, EXIT_NOTHING_SELECTED, Failure};
use clap::Args as Group;
use mcptest_core::surface::SurfaceTool;
use mcptest_mcp::client::Client;
use std::path::PathBuf;
use std::process::ExitCode;

/// Where the tools come from.
#[derive(Debug, Group)]
pub(crate) struct Surface {
    /// Read the tools from a cassette, or from what `mcptest tools --json` printed, instead of a server.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["config", "command", "url", "words", "header", "env", "era", "timeout", "connect_timeout"])]
    pub(crate) from: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) server: Server,
}

/// The tools, or the exit code of a user who had enough.
pub(super) fn tools(
    args: &Surface,
    name: Option<&str>,
) -> Result<Result<Vec<SurfaceTool>, ExitCode>, Failure> {
    if let Some(path) = &args.from {
        return mcptest_run::read_surface(path).map(Ok).map_err(Failure);
    }
    let spec = server::spec(name, &args.server)?;
    let mut found = None;
    let code = server::speak(async {
        let client = Client::connect(&spec, None).await?;
        let listed = client.list_tools().await;
        let seen = client.close().await.observed;
        let listed = listed?;
        output::notes(&tools::notes(listed.complaints.iter().chain(&seen)));
        let read = listed.tools.iter().map(|tool| SurfaceTool::listed(&tool.raw, None));
        found = Some(read.collect::<Result<Vec<_>, _>>()?);
        Ok(ExitCode::SUCCESS)
    })?;
    Ok(found.ok_or(code))
}

/// Says that there was nothing to measure.
pub(super) fn no_tools() -> ExitCode {
    output::stderr("nothing was measured: there are no tools\n");
    ExitCode::from(EXIT_NOTHING_SELECTED)
}
