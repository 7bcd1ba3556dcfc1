//! Do two paths lead to one file?

use std::path::{Path, PathBuf};

/// A file, independent of the spelling of its path: links, `.` and `..`, and other names of the
/// same file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Identity {
    /// The device and number of an existing file.
    Number(u64, u64),
    /// The path of a file that does not exist or has no number.
    Path(PathBuf),
}

/// The file at a path; `None` for a stream or a device, which cannot be overwritten.
pub fn identity(path: &Path) -> Option<Identity> {
    match std::fs::metadata(path) {
        Ok(about) if !about.is_file() => None,
        Ok(about) => Some(number(&about).unwrap_or_else(|| Identity::Path(whole(path)))),
        Err(_) => Some(Identity::Path(whole(path))),
    }
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "not every system has numbers")]
fn number(about: &std::fs::Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    Some(Identity::Number(about.dev(), about.ino()))
}

#[cfg(not(unix))]
fn number(_: &std::fs::Metadata) -> Option<Identity> {
    None
}

/// Returns true if a path leads to this open file, as far as the system can tell.
pub fn leads_to(path: &Path, file: &std::fs::File) -> bool {
    let numbers =
        [std::fs::metadata(path), file.metadata()].map(|about| Some(number(&about.ok()?)));
    matches!(&numbers, [Some(one), Some(other)] if one == other)
}

/// The path from the root of the file system, with the links of its existing part resolved.
pub fn whole(path: &Path) -> PathBuf {
    if let Ok(whole) = path.canonicalize() {
        return whole;
    }
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match (absolute.parent(), absolute.file_name()) {
        (Some(folder), Some(name)) => whole(folder).join(name),
        _ => absolute,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn a_file_is_known_under_all_its_names() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("real")).unwrap();
        std::fs::write(at("real/a"), "").unwrap();
        std::os::unix::fs::symlink("real", at("linked")).unwrap();
        std::fs::hard_link(at("real/a"), at("b")).unwrap();
        let a = identity(&at("real/a"));
        assert!(a.is_some());
        for other in ["linked/a", "real/./a", "linked/../real/a", "b"] {
            assert_eq!(identity(&at(other)), a, "{other}");
        }
        assert_eq!(identity(&at("linked/new/x")), identity(&at("real/new/x")));
        assert_ne!(identity(&at("real/new")), identity(&at("real/new2")));
        assert_eq!(identity(Path::new("/dev/null")), None);
    }
}
