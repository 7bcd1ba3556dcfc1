//! `mcptest trace-from`: a tape becomes a cassette that the gates judge.

use crate::output::{self, Failure};
use clap::Args as Group;
use mcptest_mcp::tape::{TraceOptions, to_cassette};
use mcptest_run::cassette::write_whole;
use std::path::PathBuf;

/// Arguments of `trace-from`.
#[derive(Debug, Group)]
pub(crate) struct TraceFrom {
    /// The tape, as written by `mcptest proxy`.
    pub(crate) tape: PathBuf,
    /// The cassette to write; missing folders are created [default: standard output].
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// The prompt of the agent, which a tape does not contain.
    #[arg(long, value_name = "TEXT")]
    pub(crate) prompt: Option<String>,
    /// The final answer of the agent, which a tape does not contain.
    #[arg(long, value_name = "TEXT")]
    pub(crate) final_response: Option<String>,
    /// The agent's name [default: the name that the client reported].
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Overwrite FILE if it is a recording.
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
}

pub(super) fn run(args: TraceFrom) -> Result<u8, Failure> {
    super::import::check_free(args.out.as_deref(), args.force)?;
    let tape = super::tape::required(&args.tape)?;
    let options = TraceOptions {
        agent: args.agent,
        prompt: args.prompt,
        final_response: args.final_response,
    };
    let cassette = to_cassette(&tape, &options);
    match args.out {
        None => output::stdout(cassette.as_bytes())?,
        Some(file) => write_whole(&file, &mcptest_run::clean(&cassette))?,
    }
    if tape.is_cut {
        output::stderr(
            "note: the tape was cut off in the middle of its last line, which is left out\n",
        );
    }
    Ok(0)
}
