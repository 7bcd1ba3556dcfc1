//! How does a command enter the list of commands?

use crate::bare_server::BareServer;
use crate::failure::Failure;
use crate::program::Program;
use crate::waiting::{Patience, Waiting};
use clap::{ArgMatches, Args, Command};

/// A command: what it is called and what it does, written beside its arguments.
pub trait RunCommand: Args {
    /// The word on the command line.
    const NAME: &'static str;
    /// The group in which the help lists it.
    const GROUP: Group;
    /// Its effect, in one line without a full stop.
    const SUMMARY: &'static str;
    /// A command line that shows its common use. The help ends with it.
    const EXAMPLE: &'static str;
    /// The syntax of its server, if it takes one.
    const SERVER: Option<BareServer> = None;

    /// Its way with the user's patience.
    const PATIENCE: Patience = Patience::UntilItEnds;

    /// Does its work, and gives the exit code.
    fn run(self, program: &Program) -> Result<u8, Failure>;
}

/// A person's purpose for a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Test agents.
    Test,
    /// Record what happens, and convert what others recorded.
    Record,
    /// Compare results, and measure how far they can be trusted.
    Compare,
    /// Look at a server.
    Look,
    /// Run a server.
    Serve,
    /// Read documentation, or write it for other programs.
    Document,
    /// Programs call it. The help does not list it.
    Internal,
}

impl Group {
    /// The groups that the help lists, in its order.
    pub const LISTED: [Self; 6] = [
        Self::Test,
        Self::Record,
        Self::Compare,
        Self::Look,
        Self::Serve,
        Self::Document,
    ];

    /// The heading above its commands.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Test => "Test agents",
            Self::Record => "Record and convert",
            Self::Compare => "Compare and measure",
            Self::Look => "Look at a server",
            Self::Serve => "Run a server",
            Self::Document => "Documentation",
            Self::Internal => "Called by programs",
        }
    }
}

/// An entry in the list of commands.
#[derive(Debug, Clone, Copy)]
pub struct CommandKind {
    /// The word on the command line.
    pub name: &'static str,
    /// The group in which the help lists it.
    pub group: Group,
    /// Its effect, in one line.
    pub summary: &'static str,
    /// The syntax of its server, if it takes one.
    pub server: Option<BareServer>,
    /// Its way with the user's patience.
    pub patience: Patience,
    describe: fn(Command) -> Command,
    run: fn(&ArgMatches, &Program) -> Result<u8, Failure>,
}

impl CommandKind {
    /// The entry of a command.
    pub const fn new<C: RunCommand>() -> Self {
        Self {
            name: C::NAME,
            group: C::GROUP,
            summary: C::SUMMARY,
            server: C::SERVER,
            patience: C::PATIENCE,
            describe: describe::<C>,
            run: parse_and_run::<C>,
        }
    }

    /// Returns true if people call it, so that the help lists it.
    pub fn is_listed(self) -> bool {
        self.group != Group::Internal
    }

    /// The command for clap. clap adds its arguments only when the command is called or documented.
    pub fn to_clap(self) -> Command {
        Command::new(self.name)
            .about(self.summary)
            .hide(!self.is_listed())
            .defer(self.describe)
    }

    /// Does the work of the command with the arguments that were parsed.
    pub fn run(self, arguments: &ArgMatches, program: &Program) -> Result<u8, Failure> {
        (self.run)(arguments, program)
    }
}

/// Adds the arguments. The doc comment of their struct does not describe the command.
fn describe<C: RunCommand>(command: Command) -> Command {
    C::augment_args(command)
        .about(C::SUMMARY)
        .long_about(None)
        .after_long_help(example_help(C::EXAMPLE))
}

/// The end of a command's help: a command line that shows its common use.
pub fn example_help(example: &str) -> String {
    format!("Example:\n  {example}")
}

fn parse_and_run<C: RunCommand>(arguments: &ArgMatches, program: &Program) -> Result<u8, Failure> {
    let command = C::from_arg_matches(arguments)?;
    let _waiting = Waiting::begin(C::PATIENCE, C::NAME);
    command.run(program)
}
