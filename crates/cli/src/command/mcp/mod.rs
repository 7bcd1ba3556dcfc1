//! `mcptest mcp`: what does a coding agent ask of this program, and what is it told?

mod tools;

use crate::command::server::until_end;
use crate::output::{EXIT_FAILED, Failure};
use mcptest_mock::manifest;
use mcptest_mock::{Ended, Server, serve_pipe};
use std::path::Path;
use tokio::runtime::Builder;

const MANIFEST: &str = include_str!("tools.yml");

pub(super) fn run() -> Result<u8, Failure> {
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
