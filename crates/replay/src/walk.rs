//! Which files are in a folder and in the folders below it?

use mcptest_core::escape::{escape, escape_path};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use walkdir::{DirEntry, WalkDir};

/// A folder that cannot be listed.
#[derive(Debug, thiserror::Error)]
#[error("cannot list {}: {reason}", escape_path(folder))]
pub struct Unlisted {
    /// The folder.
    pub folder: PathBuf,
    /// Why.
    pub reason: io::Error,
}

/// Which folders are entered. A link is entered only if the walk begins there: links can form
/// circles, or lead to the same files again.
#[derive(Clone, Copy)]
pub struct Walk {
    /// The deepest level of folders, from 1.
    pub deepest: usize,
    /// Decides by name, and by whether it is a folder.
    pub takes: fn(&OsStr, bool) -> bool,
}

/// The results of a walk, as paths below its start, ordered by name within each folder.
#[derive(Debug, Default)]
pub struct Walked {
    /// Everything that is not a folder, including broken links: reading them reports the problem.
    pub files: Vec<PathBuf>,
    /// Links to folders, which were not entered.
    pub linked: Vec<PathBuf>,
}

impl Walk {
    /// All entries.
    pub const EVERYTHING: Self = Self {
        deepest: usize::MAX,
        takes: |_, _| true,
    };
    /// All entries whose names do not begin with a dot.
    pub const NOTHING_HIDDEN: Self = Self {
        takes: |name, _| !is_hidden(name),
        ..Self::EVERYTHING
    };

    /// The files below `root`. Empty for a missing folder.
    pub fn below(self, root: &Path) -> Result<Walked, Unlisted> {
        let here = if root.as_os_str().is_empty() {
            Path::new(".")
        } else {
            root
        };
        if let Err(reason) = mcptest_files::refuse_outside(here) {
            return Err(Unlisted {
                folder: root.to_owned(),
                reason,
            });
        }
        let takes = move |entry: &DirEntry| {
            entry.depth() == 0 || (self.takes)(entry.file_name(), is_folder(entry))
        };
        let walk = WalkDir::new(here)
            .min_depth(1)
            .max_depth(self.deepest)
            .sort_by_file_name();
        let relative = |path: &Path| path.strip_prefix(here).unwrap_or(path).to_owned();
        let mut walked = Walked::default();
        for entry in walk.into_iter().filter_entry(takes) {
            match entry {
                Ok(entry) if entry.file_type().is_dir() => {}
                // Nothing below the deepest folder is looked for.
                Ok(entry) if is_folder(&entry) && entry.depth() == self.deepest => {}
                Ok(entry) if is_folder(&entry) => walked.linked.push(relative(entry.path())),
                Ok(entry) => walked.files.push(relative(entry.path())),
                Err(error) => {
                    let path = error.path().unwrap_or(here).to_owned();
                    if let Some(reason) = error.into_io_error().filter(|_| path.is_dir()) {
                        let folder = root.join(relative(&path)).components().collect();
                        return Err(Unlisted { folder, reason });
                    }
                }
            }
        }
        Ok(walked)
    }
}

/// Returns true for a folder, and for a link to one.
fn is_folder(entry: &DirEntry) -> bool {
    entry.file_type().is_dir() || (entry.path_is_symlink() && entry.path().is_dir())
}

pub(crate) fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

/// Returns true if the name ends in one of these, in upper or lower case.
pub(crate) fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    let is_one = |ending: &OsStr| {
        extensions
            .iter()
            .any(|one| ending.eq_ignore_ascii_case(one))
    };
    path.extension().is_some_and(is_one)
}

/// A note on links to folders that were not entered, if any.
pub fn not_entered(linked: &[PathBuf]) -> Option<String> {
    let named: Vec<String> = linked
        .iter()
        .map(|path| escape(&path.display().to_string()).into_owned())
        .collect();
    match &named[..] {
        [] => None,
        [one] => Some(format!(
            "{one} is a link to a folder; mcptest did not enter it"
        )),
        _ => Some(format!(
            "mcptest did not enter these links to folders: {}",
            named.join(", ")
        )),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn shown(paths: &[PathBuf]) -> Vec<String> {
        paths
            .iter()
            .map(|path| path.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn links_to_files_are_taken_and_links_to_folders_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("b")).unwrap();
        for file in ["a", "b/1", ".hidden"] {
            std::fs::write(at(file), "").unwrap();
        }
        symlink("..", at("b/back")).unwrap();
        symlink("b", at("c")).unwrap();
        symlink("nowhere", at("d")).unwrap();
        symlink("round", at("round")).unwrap();
        symlink("a", at("to-a")).unwrap();
        let all = Walk::EVERYTHING.below(folder.path()).unwrap();
        assert_eq!(
            shown(&all.files),
            [".hidden", "a", "b/1", "d", "round", "to-a"]
        );
        assert_eq!(shown(&all.linked), ["b/back", "c"]);
        let flat = Walk {
            deepest: 1,
            ..Walk::NOTHING_HIDDEN
        }
        .below(folder.path())
        .unwrap();
        assert_eq!(shown(&flat.files), ["a", "d", "round", "to-a"]);
        assert!(flat.linked.is_empty());
        assert_eq!(
            shown(&Walk::EVERYTHING.below(&at("c")).unwrap().files),
            ["1"]
        );
        for none in ["nowhere", "a"] {
            assert!(Walk::EVERYTHING.below(&at(none)).unwrap().files.is_empty());
        }
    }
}
