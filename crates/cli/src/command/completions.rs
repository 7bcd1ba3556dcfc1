//! `mcptest completions`: what may be typed next, for a shell.

use crate::args::Args;
use crate::output::{self, Failure};
use clap::CommandFactory;
use clap_complete::Shell;

pub(super) fn run(shell: Shell) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "mcptest", &mut script);
    output::own(&String::from_utf8_lossy(&script))?;
    Ok(0)
}
