//! What is every command written with?

pub mod arguments;
mod bare_server;
mod deny;
mod entry;
mod exit_code;
mod failure;
pub mod interrupt;
pub mod output;
mod program;
pub mod progress;
pub mod reports;
mod selecting;
pub mod server;
pub mod suites;
pub mod tape;
mod typed;
pub mod value;
pub mod waiting;

pub use bare_server::BareServer;
pub use deny::Deny;
pub use entry::{CommandKind, Group, RunCommand, example_help};
pub use exit_code::{
    EXIT_BROKEN, EXIT_DRIFT, EXIT_FAILED, EXIT_NOTHING_SELECTED, EXIT_OVER_BUDGET,
};
pub use failure::Failure;
pub use output::Paint;
pub use program::Program;
pub use progress::Progress;
pub use reports::Destination;
pub use selecting::Selecting;
pub use typed::typed;
pub use waiting::Patience;
