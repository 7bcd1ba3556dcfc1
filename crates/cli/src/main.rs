//! The `mcptest` command: arguments in, exit code out.

mod args;
mod bare_server;
mod command;
mod deferred;
mod interrupt;
mod output;
mod progress;

use std::process::ExitCode;

fn main() -> ExitCode {
    mcptest_process::adopt_orphans();
    let args = match bare_server::parse(std::env::args_os().collect()) {
        Ok(args) => args,
        Err(bare_server::Unparsed::Usage(error)) => return output::usage(&error),
        Err(bare_server::Unparsed::NoDashes(failure)) => return output::failure(&failure),
    };
    command::dispatch(args).unwrap_or_else(|failure| output::failure(&failure))
}
