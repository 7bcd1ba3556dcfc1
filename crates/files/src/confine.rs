//! May this process open files only below one folder?
//!
//! A server that reads files for others, such as `mcptest mcp`, confines itself once. From then on,
//! every function here that opens a file refuses paths outside the folder, whether from a suite, a
//! link or a pattern.

use crate::identity::whole;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// From now on, refuses to open anything outside of this folder. The first folder stays.
pub fn confine_to(folder: &Path) -> io::Result<()> {
    let folder = folder.canonicalize()?;
    FOLDER.get_or_init(|| folder);
    Ok(())
}

/// Refuses a path outside the folder to which this process is confined, whether or not it exists.
pub fn refuse_outside(path: &Path) -> io::Result<()> {
    match FOLDER.get() {
        Some(folder) => refuse_outside_of(folder, path),
        None => Ok(()),
    }
}

fn refuse_outside_of(folder: &Path, path: &Path) -> io::Result<()> {
    if without_steps(&whole(path)).starts_with(folder) {
        return Ok(());
    }
    let why = format!(
        "it is outside {}; mcptest reads only files in this folder",
        folder.display()
    );
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
}

/// Resolves `..` in the part of a path that does not exist.
fn without_steps(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn what_leads_out_is_refused_however_it_is_written() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().canonicalize().unwrap().join("in");
        std::fs::create_dir_all(folder.join("deep")).unwrap();
        std::fs::write(place.path().join("secret"), "").unwrap();
        std::fs::write(folder.join("own"), "").unwrap();
        std::os::unix::fs::symlink("../secret", folder.join("link")).unwrap();
        std::os::unix::fs::symlink("..", folder.join("up")).unwrap();
        let is_refused = |path: &str| refuse_outside_of(&folder, &folder.join(path)).is_err();
        for path in ["own", "deep/../own", "not-there", "deep/new/x", "."] {
            assert!(!is_refused(path), "{path}");
        }
        for path in [
            "../secret",
            "deep/../../secret",
            "../not-there",
            "nowhere/../../x",
            "link",
            "up/secret",
            "up/new",
            "/etc/passwd",
            "/dev/stdin",
            "/proc/self/fd/0",
        ] {
            assert!(is_refused(path), "{path}");
        }
    }
}
