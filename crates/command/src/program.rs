//! What does the program do with the words of its command line?

use crate::bare_server;
use crate::entry::{CommandKind, Group};
use crate::failure::Failure;
use crate::output::{self, Colour};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Args, Command, FromArgMatches};
use mcptest_core::eval::Gates;
use mcptest_core::problem::nearest;
use std::ffi::OsString;
use std::process::ExitCode;

/// A program: its commands, and the gates that suites may use.
#[derive(Debug, Clone, Copy)]
pub struct Program {
    pub(crate) commands: &'static [CommandKind],
    /// The gates that suites may use.
    pub gates: Gates,
}

/// The options that every command accepts before and after its name.
#[derive(Debug, Args)]
struct GlobalOptions {
    // The help lists it after the options of the command.
    /// Control when output is coloured.
    #[arg(long, global = true, display_order = 100, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    color: Colour,
}

impl Program {
    /// A program with these commands and gates.
    pub const fn new(commands: &'static [CommandKind], gates: Gates) -> Self {
        Self { commands, gates }
    }

    /// Runs the named command. The first word is the program itself.
    pub fn run(&self, words: Vec<OsString>) -> ExitCode {
        match self.parse(words) {
            Ok(arguments) => self
                .run_command(&arguments)
                .map_or_else(|failure| output::failure(&failure), ExitCode::from),
            Err(error) => output::usage(&error),
        }
    }

    /// Parses the command line. The error is printed; help and version are errors too.
    pub fn parse(&self, words: Vec<OsString>) -> Result<ArgMatches, clap::Error> {
        let near = words
            .get(1)
            .and_then(|word| nearest(word.to_str()?, self.commands.iter().map(|kind| kind.name)));
        bare_server::parse(self, words).map_err(|mut error| {
            if let Some(near) = near.filter(|_| error.kind() == ErrorKind::InvalidSubcommand) {
                let suggested = ContextValue::Strings(vec![near.to_owned()]);
                error.insert(ContextKind::SuggestedSubcommand, suggested);
            }
            error
        })
    }

    fn run_command(&self, arguments: &ArgMatches) -> Result<u8, Failure> {
        output::set_colour(GlobalOptions::from_arg_matches(arguments)?.color);
        let called = arguments.subcommand();
        let Some((kind, arguments)) =
            called.and_then(|(name, arguments)| Some((self.find(name)?, arguments)))
        else {
            return Err(Failure::new("no command is named"));
        };
        kind.run(arguments, self)
    }

    /// The command of that name.
    pub fn find(&self, name: &str) -> Option<&'static CommandKind> {
        self.commands.iter().find(|kind| kind.name == name)
    }

    /// The command line for clap.
    pub fn to_clap(self) -> Command {
        let command = Command::new("mcptest").version(env!("CARGO_PKG_VERSION"));
        GlobalOptions::augment_args(command)
            .about("Test whether an AI agent uses MCP servers reliably")
            .long_about(None)
            .disable_help_subcommand(true)
            .subcommand_required(true)
            .arg_required_else_help(true)
            .help_template(self.help_template())
            .subcommands(self.commands.iter().map(|kind| kind.to_clap()))
    }

    /// The help with grouped commands, which clap does not support. It is built at every start, so
    /// it avoids `format!`, which would take a fifth of the time of `--version`.
    fn help_template(self) -> String {
        let widest = self.commands.iter().map(|kind| kind.name.len()).max();
        let column = widest.unwrap_or_default() + 2;
        let mut template =
            String::from("{before-help}{about-with-newline}\n{usage-heading} {usage}\n\n");
        for group in Group::LISTED {
            template.push_str(group.heading());
            template.push_str(":\n");
            for kind in self.commands.iter().filter(|kind| kind.group == group) {
                template.push_str("  ");
                template.push_str(kind.name);
                template.extend(std::iter::repeat_n(' ', column - kind.name.len()));
                template.push_str(kind.summary);
                template.push('\n');
            }
            template.push('\n');
        }
        template.push_str("Options:\n{options}{after-help}");
        template
    }
}
