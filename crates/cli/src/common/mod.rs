//! What is every command written with?

pub(crate) mod bare_server;
pub(crate) mod deny;
pub(crate) mod entry;
pub(crate) mod failure;
pub(crate) mod interrupt;
pub(crate) mod output;
pub(crate) mod program;
pub(crate) mod progress;
pub(crate) mod reports;
pub(crate) mod selecting;
pub(crate) mod server;
pub(crate) mod suites;
pub(crate) mod tape;
pub(crate) mod typed;
pub(crate) mod value;

pub(crate) use bare_server::BareServer;
pub(crate) use entry::{CommandKind, Group, RunCommand};
pub(crate) use failure::{
    EXIT_BROKEN, EXIT_DRIFT, EXIT_FAILED, EXIT_NOTHING_SELECTED, EXIT_OVER_BUDGET, Failure,
};
pub(crate) use output::Paint;
pub(crate) use program::Program;
pub(crate) use progress::Progress;
pub(crate) use reports::Destination;
