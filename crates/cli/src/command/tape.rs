//! A tape from its file, for the commands that take one.

use crate::output::Failure;
use mcptest_files as files;
use mcptest_mcp::tape::{Tape, is_tape};
use std::path::Path;

/// The tape in a file; `None` when the file holds something else, or cannot be read.
pub(super) fn opened(path: &Path) -> Result<Option<Tape>, Failure> {
    let Ok(bytes) = files::read(path, files::RECORDING) else { return Ok(None) };
    let text = String::from_utf8_lossy(&bytes);
    if !is_tape(&text) {
        return Ok(None);
    }
    Tape::read(&text).map(Some).map_err(|error| Failure(format!("{}: {error}", path.display())))
}

/// The tape in a file that must be one.
pub(super) fn required(path: &Path) -> Result<Tape, Failure> {
    let named = |error: &dyn std::fmt::Display| Failure(format!("{}: {error}", path.display()));
    let bytes = files::read_named(path, files::RECORDING).map_err(|error| named(&files::reason(&error)))?;
    Tape::read(&String::from_utf8_lossy(&bytes)).map_err(|error| named(&error))
}
