//! Which files stand in a folder and in the folders below it?

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use walkdir::{DirEntry, WalkDir};

/// A folder that cannot be listed.
#[derive(Debug)]
pub(crate) struct Unlisted {
    pub(crate) folder: PathBuf,
    pub(crate) reason: io::Error,
}

/// Which folders are entered. A folder that is a link is not, unless asked for, and then never into itself.
#[derive(Clone, Copy)]
pub(crate) struct Walk {
    pub(crate) follows_links: bool,
    /// How many folders deep, from 1.
    pub(crate) deepest: usize,
    /// By name, and whether it is a folder.
    pub(crate) takes: fn(&OsStr, bool) -> bool,
}

impl Walk {
    pub(crate) const EVERYTHING: Self =
        Self { follows_links: false, deepest: usize::MAX, takes: |_, _| true };
    pub(crate) const NOTHING_HIDDEN: Self = Self { takes: |name, _| !is_hidden(name), ..Self::EVERYTHING };

    /// The paths below `root` of all that is no folder, ordered by name within each folder. A folder that is not there
    /// has none.
    pub(crate) fn below(self, root: &Path) -> Result<Vec<PathBuf>, Unlisted> {
        let here = if root.as_os_str().is_empty() { Path::new(".") } else { root };
        let takes = move |entry: &DirEntry| {
            entry.depth() == 0 || (self.takes)(entry.file_name(), entry.file_type().is_dir())
        };
        let walk = WalkDir::new(here).follow_links(self.follows_links).min_depth(1).max_depth(self.deepest);
        let mut found = Vec::new();
        for entry in walk.sort_by_file_name().into_iter().filter_entry(takes) {
            let relative = |path: &Path| path.strip_prefix(here).unwrap_or(path).to_owned();
            match entry {
                Ok(entry) if entry.file_type().is_dir() => {}
                Ok(entry) => found.push(relative(entry.path())),
                Err(error) => {
                    let path = error.path().unwrap_or(here).to_owned();
                    let depth = error.depth();
                    match error.into_io_error() {
                        Some(reason) if path.is_dir() => {
                            let folder = root.join(relative(&path)).components().collect();
                            return Err(Unlisted { folder, reason });
                        }
                        // A link that leads nowhere.
                        Some(_) if depth > 0 => found.push(relative(&path)),
                        _ => {}
                    }
                }
            }
        }
        Ok(found)
    }
}

pub(crate) fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

/// Whether the name ends in one of these.
pub(crate) fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().is_some_and(|extension| extensions.iter().any(|one| extension == *one))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn shown(walk: Walk, folder: &Path) -> Vec<String> {
        let found = walk.below(folder).unwrap();
        found.iter().map(|path| path.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_walk_ends_although_a_link_leads_back() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("b")).unwrap();
        for file in ["a", "b/1", ".hidden"] {
            std::fs::write(at(file), "").unwrap();
        }
        symlink("..", at("b/back")).unwrap();
        symlink("b", at("c")).unwrap();
        symlink("nowhere", at("d")).unwrap();
        assert_eq!(shown(Walk::NOTHING_HIDDEN, folder.path()), ["a", "b/1", "b/back", "c", "d"]);
        let following = Walk { follows_links: true, ..Walk::EVERYTHING };
        assert_eq!(shown(following, folder.path()), [".hidden", "a", "b/1", "c/1", "d"]);
        assert_eq!(shown(Walk { deepest: 1, ..Walk::EVERYTHING }, folder.path()), [".hidden", "a", "c", "d"]);
        assert!(shown(Walk::EVERYTHING, &at("nowhere")).is_empty());
        assert!(shown(Walk::EVERYTHING, &at("a")).is_empty());
    }
}
