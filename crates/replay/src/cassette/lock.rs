//! Is somebody else recording to this file?

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// The right to write one cassette, released on drop, or by the system when the process dies.
///
/// Locks a file beside the cassette, because a rename replaces the cassette itself.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// Takes the lock for `cassette`; `None` if another recorder holds it.
    pub(super) fn take(cassette: &Path) -> io::Result<Option<Self>> {
        let path = lock_of(cassette);
        loop {
            let file = mcptest_files::lock_file(&path)?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) if error.kind() != io::ErrorKind::Unsupported => {
                    return Err(error);
                }
                // The holder before may have removed it in between.
                _ if mcptest_files::leads_to(&path, &file) => {
                    return Ok(Some(Self { path, _file: file }));
                }
                _ => {}
            }
        }
    }
}

/// The lock file of `cassette`, which exists during a recording.
pub fn lock_of(cassette: &Path) -> PathBuf {
    let name = cassette.file_name().unwrap_or_default();
    let hash = blake3::hash(name.as_encoded_bytes()).to_hex();
    cassette.with_file_name(format!(".mcptest-{}.lock", &hash[..16]))
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}
