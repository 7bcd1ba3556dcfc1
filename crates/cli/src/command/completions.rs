//! `mcptest completions`: completions for a shell.

use clap::Args;
use clap_complete::Shell;
use mcptest_command::{Failure, Group, Program, RunCommand, output};

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell to complete in.
    #[arg(value_enum)]
    shell: Shell,
}

impl RunCommand for Completions {
    const NAME: &'static str = "completions";
    const GROUP: Group = Group::Document;
    const SUMMARY: &'static str = "Print a completion script for a shell";
    const EXAMPLE: &'static str = "mcptest completions bash";

    fn run(self, program: &Program) -> Result<u8, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut program.to_clap(), "mcptest", &mut script);
        output::own(&String::from_utf8_lossy(&script))?;
        Ok(0)
    }
}
