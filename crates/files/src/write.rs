//! What may be written over, and how is it written?

use crate::confine::refuse_outside;
use crate::open::{is_handed_over, lost, regular, without_waiting};
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

/// Writes a whole file, replaces an existing one, and creates missing folders.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    make_folder_of(path)?;
    let (mut file, is_stream) = open_to_write(path)?;
    if !is_stream {
        file.set_len(0)?;
    }
    file.write_all(bytes)
}

/// Removes an outdated file, so that no reader mistakes it for a current one. Empties it if it is a
/// link or cannot be removed. Streams and devices are unaffected.
pub fn discard(path: &Path) -> io::Result<()> {
    refuse_outside(path)?;
    if is_handed_over(path) || !path.is_file() {
        return Ok(());
    }
    if !path.is_symlink() && std::fs::remove_file(path).is_ok() {
        return Ok(());
    }
    open_to_write(path)?.0.set_len(0)
}

/// Makes the folders that lead to a file.
pub fn make_folder_of(path: &Path) -> io::Result<()> {
    refuse_outside(path)?;
    std::fs::create_dir_all(folder_of(path))
}

fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Opens a file for writing, with its contents, and returns whether it is a stream. A named pipe
/// would wait for a reader, and a device is hardly ever meant.
pub fn open_to_write(path: &Path) -> io::Result<(File, bool)> {
    refuse_outside(path)?;
    if is_handed_over(path) || path == Path::new("/dev/null") {
        return Ok((OpenOptions::new().append(true).open(path)?, true));
    }
    if let Ok(about) = std::fs::metadata(path) {
        regular(&about)?;
    }
    let file =
        without_waiting(OpenOptions::new().write(true).create(true).truncate(false)).open(path)?;
    regular(&file.metadata()?)?;
    Ok((file, false))
}

/// Returns true if a recording may overwrite `path`: the file is missing or empty, or `is_own`
/// recognises its beginning.
pub fn may_replace(path: &Path, is_own: impl FnOnce(&[u8]) -> bool) -> io::Result<bool> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => Ok(true),
        Err(error) => Err(lost(path, error)),
        Ok(about) => {
            regular(&about)?;
            Ok(about.len() == 0 || is_own(&crate::read::head(path)?))
        }
    }
}

/// Writes these bytes to `path` in one step, and to the disk before any other write.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    refuse_outside(path)?;
    let folder = folder_of(path);
    let replaced = || -> io::Result<()> {
        let mut file = temporary().tempfile_in(folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        sync_folder(folder);
        Ok(())
    };
    replaced().map_err(plain)
}

/// The system's message, without the name of the temporary file, which no longer exists.
fn plain(error: io::Error) -> io::Error {
    let source = error.get_ref().and_then(std::error::Error::source);
    let code = source
        .and_then(|source| source.downcast_ref::<io::Error>())
        .and_then(io::Error::raw_os_error);
    code.map_or(error, io::Error::from_raw_os_error)
}

#[cfg(unix)]
fn temporary() -> tempfile::Builder<'static, 'static> {
    use std::os::unix::fs::PermissionsExt;
    let mut builder = tempfile::Builder::new();
    builder.permissions(std::fs::Permissions::from_mode(0o666));
    builder
}

#[cfg(not(unix))]
fn temporary() -> tempfile::Builder<'static, 'static> {
    tempfile::Builder::new()
}

/// Writes the rename itself to the disk. If folders cannot be synced, the system does it later.
fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}
