//! `mcptest report`: how does a saved report look in another format?

use clap::Args;
use mcptest_command::reports::{Reports, saved};
use mcptest_command::{Destination, Failure, Group, Program, RunCommand};
use std::path::PathBuf;

/// Arguments of `report`.
#[derive(Debug, Args)]
pub(crate) struct Rerender {
    /// The report, as written by `--reporter json=FILE`.
    file: PathBuf,
    #[command(flatten)]
    reporters: Reports,
    /// Print more: the numbers that were asserted; twice, every number and every run.
    #[arg(long, short, action = clap::ArgAction::Count)]
    verbose: u8,
}

impl RunCommand for Rerender {
    const NAME: &'static str = "report";
    const GROUP: Group = Group::Test;
    const SUMMARY: &'static str = "Render a saved JSON report";
    const EXAMPLE: &'static str = "mcptest report night.json --reporter html=night.html";

    fn run(self, program: &Program) -> Result<u8, Failure> {
        let destinations = Destination::from_arguments(&self.reporters, program.gates)?;
        Destination::refuse_inputs(&destinations, std::iter::once(self.file.clone()))?;
        Destination::discard_earlier(&destinations)?;
        let report = saved(&self.file)?;
        Destination::write_all(&destinations, &report, self.verbose, None)?;
        Ok(report.exit_code())
    }
}
