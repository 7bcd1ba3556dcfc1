//! Which files does `cassette:` name?

use super::natural;
use crate::grades::is_grades;
use crate::session::is_part_of_a_session;
use crate::walk::{Unlisted, Walk};
use globset::{GlobBuilder, GlobMatcher};
use mcptest_core::escape::escape_path;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};
use thiserror::Error;

/// The files that paths and patterns name.
#[derive(Debug, Default)]
pub struct Resolved {
    /// The files, in the order written and, within a pattern, in natural order.
    pub files: Vec<PathBuf>,
    /// Links to folders, which patterns do not follow.
    pub linked: Vec<PathBuf>,
}

/// The files of paths and patterns.
///
/// A path is kept even if no file exists there. A file that is named twice counts once.
pub fn resolve(cassette: &[impl AsRef<str>], base: &Path) -> Result<Resolved, ResolveError> {
    let Resolved {
        mut files,
        mut linked,
    } = Resolved::default();
    for written in cassette {
        let written = written.as_ref();
        let literal = base.join(written);
        if is_pattern(written) && !literal.is_file() {
            let found = expand(written, base)?;
            files.extend(found.files);
            linked.extend(found.linked);
        } else {
            files.push(literal);
        }
    }
    let mut seen = BTreeSet::new();
    files.retain(|file| seen.insert(fs::canonicalize(file).unwrap_or_else(|_| file.clone())));
    Ok(Resolved { files, linked })
}

/// Returns true if a `cassette:` entry is a pattern, which is read and never recorded to.
pub fn is_pattern(written: &str) -> bool {
    let has_class = written
        .find('[')
        .is_some_and(|open| written[open..].contains(']'));
    has_class || written.contains(['*', '?'])
}

/// Why a pattern gives no files.
#[derive(Debug, Error)]
pub enum ResolveError {
    /// Nothing matches.
    #[error(
        "no file matches `{pattern}` in {}; check the pattern, or record to a path without `*`, `?` and `[…]`",
        escape_path(base)
    )]
    NoMatch {
        /// The pattern as written.
        pattern: String,
        /// The folder of the search.
        base: PathBuf,
        /// Links to folders, which were not entered.
        linked: Vec<PathBuf>,
    },
    /// Not a pattern.
    #[error("`{pattern}` is not a pattern: {reason}")]
    BadPattern {
        /// The pattern as written.
        pattern: String,
        /// The problem.
        reason: String,
    },
    /// A folder that cannot be listed.
    #[error(
        "cannot look up `{pattern}`: cannot list {}: {source}",
        escape_path(folder)
    )]
    Unreadable {
        /// The pattern as written.
        pattern: String,
        /// The folder.
        folder: PathBuf,
        /// The system's message.
        source: io::Error,
    },
}

fn expand(pattern: &str, base: &Path) -> Result<Resolved, ResolveError> {
    let (folder, rest) = split_folder(pattern);
    let matcher = matcher(pattern, rest)?;
    let deepest = if rest.contains("**") {
        usize::MAX
    } else {
        rest.split('/').count()
    };
    let takes_hidden = rest.split('/').any(|part| part.starts_with('.'));
    let walk = if takes_hidden {
        Walk::EVERYTHING
    } else {
        Walk::NOTHING_HIDDEN
    };
    let root = base.join(folder);
    let unreadable = |Unlisted { folder, reason }| ResolveError::Unreadable {
        pattern: pattern.to_owned(),
        folder,
        source: reason,
    };
    let walked = Walk { deepest, ..walk }.below(&root).map_err(unreadable)?;
    let matching = walked
        .files
        .iter()
        .filter(|path| matcher.is_match(path) && !is_grades(path));
    let mut files: Vec<PathBuf> = matching.map(|path| root.join(path)).collect();
    files.retain(|file| !is_part_of_a_session(file));
    let linked: Vec<PathBuf> = walked.linked.iter().map(|path| root.join(path)).collect();
    if files.is_empty() {
        let (pattern, base) = (pattern.to_owned(), base.to_owned());
        return Err(ResolveError::NoMatch {
            pattern,
            base,
            linked,
        });
    }
    files.sort_by(|one, other| natural::by_path(one, other));
    Ok(Resolved { files, linked })
}

/// The folders before the first one with a pattern, and the rest.
fn split_folder(pattern: &str) -> (&str, &str) {
    let first_magic = pattern.find(['*', '?', '[']).unwrap_or(pattern.len());
    let split = pattern[..first_magic]
        .rfind('/')
        .map_or(0, |slash| slash + 1);
    pattern.split_at(split)
}

/// The matcher of a pattern for the part of it that names paths below a folder.
pub(crate) fn matcher(pattern: &str, rest: &str) -> Result<GlobMatcher, ResolveError> {
    let literal_braces = rest.replace('{', "[{]").replace('}', "[}]");
    let glob = GlobBuilder::new(&literal_braces)
        .literal_separator(true)
        .backslash_escape(false)
        .build();
    glob.map(|glob| glob.compile_matcher())
        .map_err(|error| ResolveError::BadPattern {
            pattern: pattern.to_owned(),
            reason: error.kind().to_string(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "{}").unwrap();
        }
        folder
    }

    fn names(written: &[&str], folder: &tempfile::TempDir) -> Vec<String> {
        let files = resolve(written, folder.path()).unwrap().files;
        let relative = files
            .iter()
            .map(|file| file.strip_prefix(folder.path()).unwrap());
        relative
            .map(|file| file.to_str().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn a_pattern_gives_its_files_in_natural_order() {
        let folder = folder(&[
            "r/run-10.jsonl",
            "r/run-2.jsonl",
            "r/run-1.jsonl",
            "r/deep/run-3.jsonl",
            "r/x.md",
        ]);
        assert_eq!(
            names(&["r/run-*.jsonl"], &folder),
            ["r/run-1.jsonl", "r/run-2.jsonl", "r/run-10.jsonl"]
        );
        assert_eq!(
            names(&["r/run-?.jsonl"], &folder),
            ["r/run-1.jsonl", "r/run-2.jsonl"]
        );
        assert_eq!(names(&["r/run-[2-9].jsonl"], &folder), ["r/run-2.jsonl"]);
        assert_eq!(names(&["**/run-3.jsonl"], &folder), ["r/deep/run-3.jsonl"]);
        assert_eq!(names(&["r/**/*.jsonl"], &folder).len(), 4);
    }

    #[test]
    fn a_list_keeps_its_order_and_takes_each_file_once() {
        let folder = folder(&["a.jsonl", "b.jsonl", "c.jsonl"]);
        assert_eq!(
            names(&["c.jsonl", "*.jsonl"], &folder),
            ["c.jsonl", "a.jsonl", "b.jsonl"]
        );
    }

    #[test]
    fn odd_characters_in_a_path_are_taken_as_they_are() {
        let folder = folder(&["weather [v2].jsonl", "{model}.jsonl"]);
        assert_eq!(
            names(&["weather [v2].jsonl"], &folder),
            ["weather [v2].jsonl"]
        );
        assert_eq!(names(&["{model}.jsonl"], &folder), ["{model}.jsonl"]);
        assert_eq!(names(&["{*}.jsonl"], &folder), ["{model}.jsonl"]);
        assert_eq!(
            names(&["a[b, {c}.jsonl"], &folder),
            ["a[b, {c}.jsonl"],
            "no such file, and no pattern"
        );
    }

    #[test]
    fn a_pattern_may_look_into_a_folder_beside() {
        let folder = folder(&["suite/s.yml", "shared/a.jsonl"]);
        let files = resolve(&["../shared/*.jsonl"], &folder.path().join("suite"))
            .unwrap()
            .files;
        assert_eq!(files.len(), 1);
        assert!(files[0].ends_with("shared/a.jsonl"));
    }

    #[test]
    fn hidden_files_and_folders_are_left_out() {
        let folder = folder(&["r/a.jsonl", "r/.b.jsonl", ".git/c.jsonl"]);
        assert_eq!(names(&["**/*"], &folder), ["r/a.jsonl"]);
        assert_eq!(names(&["r/.*.jsonl"], &folder), ["r/.b.jsonl"]);
    }

    #[test]
    fn a_pattern_without_files_is_named() {
        let folder = folder(&["a.txt"]);
        for pattern in ["*.jsonl", "nowhere/*.jsonl", "a.txt/*"] {
            let error = resolve(&[pattern], folder.path()).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("no file matches `{pattern}`")),
                "{error}"
            );
        }
        let error = resolve(&["[z-a]*"], folder.path()).unwrap_err().to_string();
        assert!(error.starts_with("`[z-a]*` is not a pattern: "), "{error}");
    }
}
