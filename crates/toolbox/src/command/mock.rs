//! `mcptest mock`: serve a manifest, a saved list of tools or a tape.

use clap::{ArgGroup, Args};
use mcptest_command::server::{listen, until_end};
use mcptest_command::value::one_of;
use mcptest_command::{EXIT_FAILED, Failure, Group, Patience, Program, RunCommand, output, tape};
use mcptest_core::escape::escape_path;
use mcptest_core::problem;
use mcptest_files as files;
use mcptest_http::Address;
use mcptest_mcp::fault::{FaultKind, FaultScope, ScopedFault};
use mcptest_mock::manifest::{self, Loaded};
use mcptest_mock::{Ended, Reload, Server, http, serve_pipe};
use std::path::{Path, PathBuf};
use tokio::runtime::Builder;

/// Arguments of `mock`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("source").required(true).args(["tools_from", "from_cassette"]))]
pub(crate) struct Mock {
    /// Serve a manifest (YAML) or a saved `tools/list` result (JSON).
    #[arg(long, value_name = "FILE")]
    tools_from: Option<PathBuf>,
    /// Serve the answers of a tape that `mcptest proxy` recorded.
    #[arg(long, value_name = "TAPE")]
    from_cassette: Option<PathBuf>,
    /// Serve HTTP at /mcp on this port or address instead of stdio.
    #[arg(long, value_name = "ADDR[:PORT]")]
    http: Option<Address>,
    /// Also accept requests for this host name; repeatable.
    #[arg(long, value_name = "HOST", requires = "http")]
    allow_host: Vec<String>,
    /// Inject this fault, such as hang or slow:500; repeatable.
    #[arg(long, value_name = "KIND")]
    fault: Vec<FaultKind>,
    /// Choose the requests that faults affect.
    #[arg(long, value_parser = one_of(&FaultScope::WORDS), default_value = "tools", value_name = "WHAT", requires = "fault")]
    fault_scope: FaultScope,
}

impl RunCommand for Mock {
    const NAME: &'static str = "mock";
    const GROUP: Group = Group::Serve;
    const SUMMARY: &'static str =
        "Serve a mock MCP server from a manifest, a list of tools or a tape";
    const EXAMPLE: &'static str = "mcptest mock --tools-from examples/servers/weather.tools.yml";
    const PATIENCE: Patience = Patience::UntilItIsStopped;

    fn run(self, _program: &Program) -> Result<u8, Failure> {
        let scope = self.fault_scope;
        let faults = self
            .fault
            .iter()
            .map(|kind| ScopedFault { kind: *kind, scope })
            .collect();
        let is_coloured = output::is_coloured(&std::io::stderr());
        let (server, said) = match (&self.tools_from, &self.from_cassette) {
            (Some(path), _) => {
                let mut loaded = manifest::load(path, &files::reading(path));
                let said = problem::render(&loaded.problems, &loaded.sources, is_coloured);
                let Some(manifest) = loaded.manifest.take() else {
                    return Err(Failure::of_problems(&loaded.problems, &loaded.sources));
                };
                (Server::new(manifest, faults), said)
            }
            (None, Some(path)) => (
                Server::of_tape(&tape::required(path)?, faults),
                String::new(),
            ),
            (None, None) => return Err(Failure::new("name a manifest with `--tools-from FILE`")),
        };
        server.set_stderr(std::io::stderr());
        until_end(
            Builder::new_multi_thread(),
            serve(&self, server, &said, is_coloured),
        )
    }
}

async fn serve(args: &Mock, server: Server, said: &str, is_coloured: bool) -> Result<u8, Failure> {
    let _reload = args
        .tools_from
        .as_deref()
        .and_then(|path| reload(&server, path, is_coloured));
    let Some(address) = &args.http else {
        output::stderr(said);
        return Ok(
            match serve_pipe(server, tokio::io::stdin(), tokio::io::stdout()).await {
                Ended::Closed => 0,
                Ended::Disconnected => EXIT_FAILED,
            },
        );
    };
    let (listener, bound) =
        listen(address, &args.allow_host, ("the server", "mock.internal")).await?;
    output::stderr(&format!("http://{bound}{}\n", http::PATH));
    if !bound.ip().is_loopback() {
        output::stderr(
            "warning: other machines can reach this address, and the server has no password\n",
        );
    }
    output::stderr(said);
    let stop = async {
        mcptest_process::interrupted().await;
    };
    let allowed = args.allow_host.clone();
    http::serve(listener, server, http::Limits::default(), allowed, stop)
        .await
        .map_err(|error| Failure::cannot(format!("listen on {address}"), &error))?;
    Ok(0)
}

fn reload(server: &Server, path: &Path, is_coloured: bool) -> Option<Reload> {
    let (name, file) = (escape_path(path), path.to_owned());
    let report = move |loaded: &Loaded| {
        let said = problem::render(&loaded.problems, &loaded.sources, is_coloured);
        let is_refused = loaded
            .problems
            .iter()
            .any(|problem| problem.level == problem::Level::Error);
        let outcome = match (is_refused, file.exists()) {
            (false, _) => "was read again",
            (true, true) => "has errors; the mock still serves its last version",
            (true, false) => "was deleted; the mock still serves its last version",
        };
        output::stderr(&format!("{said}{name} {outcome}\n"));
    };
    let read = |path: &Path| files::read(path, files::TEXT).map_err(|error| files::reason(&error));
    let unseen = |error: &_| {
        output::stderr(&format!(
            "warning: mcptest will not see changes of {}: {error}\n",
            escape_path(path)
        ));
    };
    server
        .reload_from(path, read, report)
        .inspect_err(unseen)
        .ok()
}
