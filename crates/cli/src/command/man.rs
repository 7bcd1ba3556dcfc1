//! `mcptest man`: the pages of `man mcptest` and `man mcptest-run`.

use clap::Args;
use mcptest_command::{Failure, Group, Program, RunCommand};
use mcptest_core::escape::escape_path;
use std::path::PathBuf;

/// Arguments of `man`.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The folder to write to, such as ~/.local/share/man/man1.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl RunCommand for Man {
    const NAME: &'static str = "man";
    const GROUP: Group = Group::Document;
    const SUMMARY: &'static str = "Write man pages to a folder, one per command";
    const EXAMPLE: &'static str = "mcptest man ~/.local/share/man/man1";

    fn run(self, program: &Program) -> Result<u8, Failure> {
        let folder = &self.folder;
        let unwritten =
            |error| Failure::cannot(format!("write to {}", escape_path(folder)), &error);
        std::fs::create_dir_all(folder).map_err(unwritten)?;
        clap_mangen::generate_to(program.to_clap(), folder).map_err(unwritten)?;
        Ok(0)
    }
}
