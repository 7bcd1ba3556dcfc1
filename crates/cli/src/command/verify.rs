//! `mcptest verify`: a tape against a live server.

use super::server;
use crate::args::Server;
use crate::output::{self, Failure};
use clap::{Args as Group, ValueEnum};
use mcptest_core::escape::escape_path;
use mcptest_mcp::proxy;
use mcptest_mcp::verify::{self, Ignore, Tier};
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `verify`.
#[derive(Debug, Group)]
#[command(
    override_usage = "mcptest verify [OPTIONS] TAPE -- COMMAND...\n       mcptest verify [OPTIONS] TAPE --url URL\n       mcptest verify [OPTIONS] TAPE [--config FILE] [--server NAME]"
)]
pub(crate) struct Verify {
    /// The tape, as written by `mcptest proxy`.
    pub(crate) tape: PathBuf,
    /// The server's name under `servers:` of the suite; optional if there is only one.
    #[arg(long = "server", short, value_name = "NAME", conflicts_with_all = ["command", "url", "words"])]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) server: Server,
    /// Ignore differences at or below this path, such as `result.content[0].text` or `get_time:result`; repeatable.
    #[arg(long, value_name = "[NAME:]PATH")]
    pub(crate) ignore: Vec<Ignore>,
    /// Fail on more than breaking differences.
    #[arg(long, value_name = "TIER")]
    pub(crate) deny: Option<Deny>,
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What fails besides what breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Deny {
    /// Fail on changed texts too.
    Changed,
    /// Fail on every difference.
    Added,
}

pub(super) fn run(args: Verify) -> Result<ExitCode, Failure> {
    let tape = super::tape::required(&args.tape)?;
    let spec = server::spec(args.name.as_deref(), &args.server)?;
    let redactor = proxy::redactor(&[], std::iter::empty(), &[])?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let drift = runtime.block_on(async {
        tokio::select! {
            drift = verify::replay(&tape, spec, args.ignore, &redactor) => Ok(drift),
            code = mcptest_process::interrupted() => Err(code),
        }
    });
    let drift = match drift {
        Ok(drift) => drift?,
        Err(code) => {
            mcptest_process::end_all();
            return Ok(ExitCode::from(code));
        }
    };
    let text = if args.json { verify::json(&drift) } else { verify::human(&drift) };
    output::stdout(text.as_bytes())?;
    if !drift.is_anything_checked {
        return Err(Failure(format!(
            "{}: nothing was checked, because the tape has no request that can be sent again; record a client that lists or calls something",
            escape_path(&args.tape)
        )));
    }
    let fails = |tier: Tier| drift.count(tier) > 0;
    let is_denied = fails(Tier::Breaking)
        || (args.deny.is_some() && fails(Tier::Changed))
        || (args.deny == Some(Deny::Added) && fails(Tier::Added));
    Ok(ExitCode::from(u8::from(is_denied)))
}
