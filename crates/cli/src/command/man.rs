//! `mcptest man`: the pages of `man mcptest` and `man mcptest-run`.

use crate::args::Args;
use crate::output::Failure;
use clap::CommandFactory;
use mcptest_core::escape::escape_path;
use std::path::Path;

pub(super) fn run(folder: &Path) -> Result<u8, Failure> {
    let unwritten = |error| Failure::cannot(format!("write to {}", escape_path(folder)), &error);
    std::fs::create_dir_all(folder).map_err(unwritten)?;
    clap_mangen::generate_to(Args::command(), folder).map_err(unwritten)?;
    Ok(0)
}
