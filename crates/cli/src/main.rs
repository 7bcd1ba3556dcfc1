//! The `mcptest` command: arguments in, exit code out.

mod args;
mod command;
mod interrupt;
mod output;
mod progress;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    mcptest_process::adopt_orphans();
    let args = match args::Args::try_parse() {
        Ok(args) => args,
        Err(error) => return output::usage(&error),
    };
    command::dispatch(args).unwrap_or_else(|failure| output::failure(&failure))
}
