//! A tape from its file, for the commands that take one.

use crate::failure::Failure;
use mcptest_files as files;
use mcptest_mcp::tape::Tape;
use std::path::Path;

/// The tape in a file; `None` if the file is of another kind or unreadable.
pub fn opened(path: &Path) -> Result<Option<Tape>, Failure> {
    let Ok(bytes) = files::read(path, files::RECORDING) else {
        return Ok(None);
    };
    in_bytes(&bytes, path)
}

/// The tape in the bytes of a file; `None` if they are of another kind.
pub fn in_bytes(bytes: &[u8], path: &Path) -> Result<Option<Tape>, Failure> {
    if !mcptest_replay::cassette::is_tape(bytes) {
        return Ok(None);
    }
    read(&String::from_utf8_lossy(bytes), path).map(Some)
}

/// The tape in a file that must be one.
pub fn required(path: &Path) -> Result<Tape, Failure> {
    let bytes = files::read_named(path, files::RECORDING)
        .map_err(|error| Failure::at(path, files::reason(&error)))?;
    read(&String::from_utf8_lossy(&bytes), path)
}

/// Reads a tape. Its header may contain secrets of the server.
fn read(text: &str, path: &Path) -> Result<Tape, Failure> {
    let tape = Tape::read(text).map_err(|error| Failure::at(path, error))?;
    mcptest_replay::remember_words(&tape.header.server.command);
    Ok(tape)
}
