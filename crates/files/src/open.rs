//! Is there a regular file at this path? Opening never waits: a pipe without a writer would block forever.

use crate::confine::refuse_outside;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

/// The path that represents standard input.
pub const STDIN: &str = "/dev/stdin";

/// Opens a regular file to be read.
pub fn open(path: &Path) -> io::Result<File> {
    refuse_outside(path)?;
    regular(&std::fs::metadata(path).map_err(|error| lost(path, error))?)?;
    let file = without_waiting(OpenOptions::new().read(true)).open(path)?;
    // It may have become something else since.
    regular(&file.metadata()?)?;
    Ok(file)
}

/// Opens a file from the command line to be read piece by piece, including `<(command)`.
pub fn open_named(path: &Path) -> io::Result<File> {
    if !is_handed_over(path) {
        return open(path);
    }
    refuse_outside(path)?;
    File::open(path)
}

/// Opens or creates the file that is locked while another is written.
pub fn lock_file(path: &Path) -> io::Result<File> {
    refuse_outside(path)?;
    without_waiting(OpenOptions::new().write(true).create(true).truncate(false)).open(path)
}

/// Refuses all but a regular file, by its name.
pub(crate) fn regular(about: &Metadata) -> io::Result<()> {
    if about.is_file() {
        return Ok(());
    }
    if about.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let what = format!("it is {}, not a file", kind(about));
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
}

#[cfg(unix)]
fn kind(about: &Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    let kind = about.file_type();
    match () {
        () if kind.is_fifo() => "a named pipe",
        () if kind.is_socket() => "a socket",
        () => "a device",
    }
}

#[cfg(not(unix))]
fn kind(_: &Metadata) -> &'static str {
    "something else"
}

/// Distinguishes a broken or circular link from a missing file.
pub(crate) fn lost(path: &Path, error: io::Error) -> io::Error {
    let is_link = path
        .symlink_metadata()
        .is_ok_and(|about| about.is_symlink());
    if is_link && error.kind() != io::ErrorKind::PermissionDenied {
        return io::Error::other("it is a broken link");
    }
    error
}

#[cfg(unix)]
pub(crate) fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    options.custom_flags(nix::libc::O_NONBLOCK | nix::libc::O_NOCTTY)
}

#[cfg(not(unix))]
pub(crate) fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Returns true if the shell opened this stream, as for `<(command)`, where a pipe is expected.
pub fn is_handed_over(path: &Path) -> bool {
    let streams = [STDIN, "/dev/stdout", "/dev/stderr"].map(Path::new);
    streams.contains(&path)
        || ["/dev/fd", "/proc/self/fd"]
            .iter()
            .any(|folder| path.starts_with(folder))
}
