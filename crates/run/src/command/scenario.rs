//! `mcptest scenario`: judge only the scenarios of suites.

use super::run::{self, Invocation, Run};
use crate::Mode;
use clap::{Args, Subcommand};
use mcptest_command::{Failure, Group, Program, RunCommand, example_help};
use mcptest_core::row::{AgentRow, Row};

/// Arguments of `scenario`.
#[derive(Debug, Args)]
pub(crate) struct Scenario {
    #[command(subcommand)]
    action: Action,
}

/// The action on scenarios.
#[derive(Debug, Subcommand)]
enum Action {
    /// Judge only the scenarios of suites; with `--record`, run the agents that act in them first.
    #[command(after_long_help = example_help(Scenario::EXAMPLE))]
    Run(Box<Run>),
}

impl RunCommand for Scenario {
    const NAME: &'static str = "scenario";
    const GROUP: Group = Group::Test;
    const SUMMARY: &'static str = "Judge runs by the state of the world that they acted on";
    const EXAMPLE: &'static str = "mcptest scenario run examples/worlds.yml";

    fn run(self, program: &Program) -> Result<u8, Failure> {
        let Action::Run(args) = self.action;
        run::run(Invocation {
            args: &args,
            gates: program.gates,
            is_wanted: is_of_world,
        })
    }
}

/// Returns true if the row is judged by the state of a world, or records the runs of such a row.
fn is_of_world(row: &Row<'_>, mode: Mode) -> bool {
    let is_of_world = |of: AgentRow<'_>| match mode {
        Mode::Record(_) | Mode::Live => of.suite.world_of(of.agent).is_some(),
        Mode::Replay => of.agent.world().is_some(),
    };
    row.is_refused() || row.agent_row().is_some_and(is_of_world)
}
