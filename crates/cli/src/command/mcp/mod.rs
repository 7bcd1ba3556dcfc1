//! `mcptest mcp`: what can a coding agent ask of this program, and what does it receive?

mod tools;

use clap::Args;
use mcptest_command::output::Colour;
use mcptest_command::server::until_end;
use mcptest_command::{EXIT_FAILED, Failure, Group, Patience, Program, RunCommand, output};
use mcptest_mock::{Ended, Server, manifest, serve_pipe};
use std::path::Path;
use tokio::runtime::Builder;

const MANIFEST: &str = include_str!("tools.yml");

/// Arguments of `mcp`: none.
#[derive(Debug, Args)]
pub(crate) struct Mcp;

impl RunCommand for Mcp {
    const NAME: &'static str = "mcp";
    const GROUP: Group = Group::Serve;
    const SUMMARY: &'static str =
        "Serve this program to coding agents as an MCP server on standard input and output";
    const EXAMPLE: &'static str = "mcptest mcp";
    const PATIENCE: Patience = Patience::UntilItIsStopped;

    fn run(self, _program: &Program) -> Result<u8, Failure> {
        // What reads the standard error of a server is a program.
        output::set_colour(Colour::Never);
        // Whoever asks is not who may read all files of this user.
        mcptest_files::confine_to(Path::new("."))?;
        let text = MANIFEST.replace(
            "version: 0.0.0",
            concat!("version: ", env!("CARGO_PKG_VERSION")),
        );
        let mut loaded = manifest::load(Path::new("tools.yml"), &|_: &Path| {
            Ok(text.clone().into_bytes())
        });
        let Some(manifest) = loaded.manifest.take() else {
            return Err(Failure::of_problems(&loaded.problems, &loaded.sources));
        };
        let server = Server::answered_by(manifest, tools::answer);
        until_end(Builder::new_multi_thread(), async {
            match serve_pipe(server, tokio::io::stdin(), tokio::io::stdout()).await {
                Ended::Closed => Ok(0),
                Ended::Disconnected => Err(Failure::ended(EXIT_FAILED, "the client went away")),
            }
        })
    }
}
