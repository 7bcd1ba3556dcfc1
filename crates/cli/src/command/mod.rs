//! One file per command: its arguments, and what it does.

pub(crate) mod completions;
pub(crate) mod explain;
pub(crate) mod man;
pub(crate) mod mcp;
mod pages;
pub(crate) mod schema;
pub(crate) mod view;
