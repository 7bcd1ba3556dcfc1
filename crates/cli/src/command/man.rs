//! `mcptest man`: the pages of `man mcptest` and `man mcptest-run`.

use crate::args::Args;
use crate::output::Failure;
use clap::CommandFactory;
use mcptest_core::escape::escape_path;
use std::path::Path;
use std::process::ExitCode;

pub(super) fn run(folder: &Path) -> Result<ExitCode, Failure> {
    let unwritten = |error: std::io::Error| {
        Failure(format!("cannot write to {}: {}", escape_path(folder), mcptest_run::reason(&error)))
    };
    std::fs::create_dir_all(folder).map_err(unwritten)?;
    clap_mangen::generate_to(Args::command(), folder).map_err(unwritten)?;
    Ok(ExitCode::SUCCESS)
}
