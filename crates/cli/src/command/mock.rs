//! `mcptest mock`: a server made of a manifest, a saved list of tools or a tape.

use crate::output::{self, Failure};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args};
use mcptest_core::escape::escape_path;
use mcptest_core::problem;
use mcptest_files as files;
use mcptest_http::Address;
use mcptest_mcp::fault::{FaultKind, FaultScope, ScopedFault};
use mcptest_mcp::manifest::{self, Loaded};
use mcptest_mcp::mock::{self, Ended, Reload, Server};
use mcptest_mcp::tape::Tape;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

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
    #[arg(long, value_parser = scopes(), default_value = "tools", value_name = "WHAT", requires = "fault")]
    fault_scope: FaultScope,
}

fn scopes() -> impl TypedValueParser<Value = FaultScope> {
    let words = FaultScope::WORDS.map(|(word, _, doc)| PossibleValue::new(word).help(doc));
    PossibleValuesParser::new(words).map(|written| {
        let found = FaultScope::WORDS.iter().find(|(word, ..)| *word == written);
        found.map(|(_, scope, _)| *scope).unwrap_or_default()
    })
}

pub(super) fn run(args: &Mock) -> Result<ExitCode, Failure> {
    let scope = args.fault_scope;
    let faults = args.fault.iter().map(|kind| ScopedFault { kind: *kind, scope }).collect();
    let is_coloured = output::is_coloured(&std::io::stderr());
    let (server, said) = match (&args.tools_from, &args.from_cassette) {
        (Some(path), _) => {
            let mut loaded = manifest::load(path, &files::reading(path));
            let said = problem::render(&loaded.problems, &loaded.sources, is_coloured);
            let Some(manifest) = loaded.manifest.take() else {
                output::stderr(&said);
                return Ok(ExitCode::from(output::EXIT_BROKEN));
            };
            (Server::new(manifest, faults), said)
        }
        (None, Some(path)) => (Server::of_tape(&tape(path)?, faults), String::new()),
        (None, None) => return Err(Failure("name a manifest with `--tools-from FILE`".to_owned())),
    };
    server.set_stderr(std::io::stderr());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let ended = runtime.block_on(serve(args, server, &said, is_coloured));
    // Standard input is read by a thread that cannot be stopped.
    runtime.shutdown_background();
    ended
}

async fn serve(args: &Mock, server: Server, said: &str, is_coloured: bool) -> Result<ExitCode, Failure> {
    let _reload = args.tools_from.as_deref().and_then(|path| reload(&server, path, is_coloured));
    let Some(address) = &args.http else {
        output::stderr(said);
        return Ok(match mock::serve_pipe(server, tokio::io::stdin(), tokio::io::stdout()).await {
            Ended::Closed => ExitCode::SUCCESS,
            Ended::Disconnected => ExitCode::FAILURE,
        });
    };
    let cannot = |error| Failure(format!("cannot listen on {address}: {}", mcptest_run::reason(&error)));
    let listener = address.bind().await.map_err(cannot)?;
    let bound = listener.local_addr().map_err(cannot)?;
    if !bound.ip().is_loopback() && args.allow_host.is_empty() {
        return Err(Failure(format!(
            "other machines can reach {address}, and no host name is allowed\n  help: name the host for which the server is \
             asked, as in `--allow-host mock.internal`, or listen on 127.0.0.1"
        )));
    }
    output::stderr(&format!("http://{bound}{}\n", mock::http::PATH));
    if !bound.ip().is_loopback() {
        output::stderr(
            "warning: this address can be reached from other machines, and the server has no password\n",
        );
    }
    output::stderr(said);
    let stop = async {
        mcptest_process::interrupted().await;
    };
    let allowed = args.allow_host.clone();
    mock::http::serve(listener, server, mock::http::Limits::default(), allowed, stop)
        .await
        .map_err(cannot)?;
    Ok(ExitCode::SUCCESS)
}

fn reload(server: &Server, path: &Path, is_coloured: bool) -> Option<Reload> {
    let (name, file) = (escape_path(path), path.to_owned());
    let report = move |loaded: &Loaded| {
        let said = problem::render(&loaded.problems, &loaded.sources, is_coloured);
        let is_refused = loaded.problems.iter().any(|problem| problem.level == problem::Level::Error);
        let outcome = match (is_refused, file.exists()) {
            (false, _) => "is read again",
            (true, true) => "has errors; the one before is still served",
            (true, false) => "is gone; what it said is still served",
        };
        output::stderr(&format!("{said}{name} {outcome}\n"));
    };
    match server.reload_from(path, read, report) {
        Ok(reload) => Some(reload),
        Err(error) => {
            output::stderr(&format!("warning: changes of {} will not be seen: {error}\n", escape_path(path)));
            None
        }
    }
}

fn tape(path: &Path) -> Result<Tape, Failure> {
    let failed = |reason: String| Failure(format!("{}: {reason}", escape_path(path)));
    let text =
        files::read_named_text(path, files::RECORDING).map_err(|error| failed(files::reason(&error)))?;
    Tape::read(&text).map_err(|error| failed(error.to_string()))
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    files::read(path, files::TEXT).map_err(|error| files::reason(&error))
}
