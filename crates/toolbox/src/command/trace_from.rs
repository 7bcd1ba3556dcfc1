//! `mcptest trace-from`: a tape becomes a cassette that the gates judge.

use clap::Args;
use mcptest_command::{Failure, Group, Program, RunCommand, output, tape};
use mcptest_mcp::tape::{TraceOptions, to_cassette};
use mcptest_replay::cassette::write_whole;
use std::path::PathBuf;

/// Arguments of `trace-from`.
#[derive(Debug, Args)]
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

impl RunCommand for TraceFrom {
    const NAME: &'static str = "trace-from";
    const GROUP: Group = Group::Record;
    const SUMMARY: &'static str = "Convert a tape to a cassette";
    const EXAMPLE: &'static str = "mcptest trace-from session.jsonl --out cassettes/session.jsonl";

    fn run(self, _program: &Program) -> Result<u8, Failure> {
        super::import::check_free(self.out.as_deref(), self.force)?;
        let tape = tape::required(&self.tape)?;
        let options = TraceOptions {
            agent: self.agent,
            prompt: self.prompt,
            final_response: self.final_response,
        };
        let cassette = to_cassette(&tape, &options);
        match self.out {
            None => output::stdout(cassette.as_bytes())?,
            Some(file) => write_whole(&file, &mcptest_replay::clean(&cassette))?,
        }
        if tape.is_cut {
            output::stderr(
                "note: the tape was cut off in the middle of its last line, which is omitted\n",
            );
        }
        Ok(0)
    }
}
