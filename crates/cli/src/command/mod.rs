//! One file per command: its arguments, and what it does.

pub(crate) mod calibrate;
mod check_secrets;
pub(crate) mod completions;
mod dry_run;
pub(crate) mod eval;
pub(crate) mod explain;
pub(crate) mod init;
pub(crate) mod judge_check;
pub(crate) mod man;
pub(crate) mod mcp;
mod pages;
pub(crate) mod plan_runs;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod scenario;
pub(crate) mod schema;
pub(crate) mod show;
mod update;
pub(crate) mod validate;
pub(crate) mod view;
mod watch;
