//! Which transcripts does a folder contain, and which of them are judged together?

use crate::cassette::{ResolveError, by_path, matcher};
use crate::grades::is_grades;
use crate::scan::EXTENSIONS;
use crate::session::is_part_of_a_session;
use crate::walk::{Unlisted, Walk, has_extension};
use globset::GlobMatcher;
use mcptest_core::escape::escape_path;
use mcptest_core::row::Transcripts;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Why the transcripts of a folder cannot be judged.
#[derive(Debug, thiserror::Error)]
pub enum TracesError {
    /// The folder does not exist.
    #[error("no such folder: {}\n  help: paths are relative to the current folder", escape_path(.0))]
    Missing(PathBuf),
    /// It is a file.
    #[error("{} is a file, not a folder\n  help: pass the folder that contains it, or name the file under `cassette:`", escape_path(.0))]
    NotAFolder(PathBuf),
    /// A folder could not be listed.
    #[error(transparent)]
    Unreadable(#[from] Unlisted),
    /// The folder has no transcripts.
    #[error("no transcript found in {} (a transcript is a .json, .jsonl, .ndjson or .eval file)", escape_path(.0))]
    Empty(PathBuf),
    /// The patterns select none of its files.
    #[error("`--include` and `--exclude` select no file in {}", escape_path(.0))]
    NothingSelected(PathBuf),
}

/// Which files of a folder are transcripts, by their paths.
#[derive(Debug, Default)]
pub struct TraceFilter {
    include: Vec<GlobMatcher>,
    exclude: Vec<GlobMatcher>,
}

impl TraceFilter {
    /// Takes the files that match a pattern of `include`, or the usual endings without one, and no
    /// pattern of `exclude`. A pattern without `/` is for names of files in any folder.
    pub fn new(include: &[String], exclude: &[String]) -> Result<Self, ResolveError> {
        let matchers = |patterns: &[String]| {
            let patterns = patterns.iter().map(|pattern| {
                let is_of_name = !pattern.contains('/');
                let anywhere = format!("**/{pattern}");
                matcher(pattern, if is_of_name { &anywhere } else { pattern })
            });
            patterns.collect::<Result<Vec<GlobMatcher>, ResolveError>>()
        };
        Ok(Self {
            include: matchers(include)?,
            exclude: matchers(exclude)?,
        })
    }

    /// Returns true if this path below the folder may be a transcript.
    fn takes(&self, path: &Path) -> bool {
        let is_included = if self.include.is_empty() {
            has_extension(path, &EXTENSIONS) || has_extension(path, &ARCHIVES)
        } else {
            self.include.iter().any(|glob| glob.is_match(path))
        };
        is_included && !self.exclude.iter().any(|glob| glob.is_match(path)) && !is_grades(path)
    }

    fn is_default(&self) -> bool {
        self.include.is_empty() && self.exclude.is_empty()
    }
}

/// Logs of Inspect are archives.
const ARCHIVES: [&str; 1] = ["eval"];

/// The transcripts in a folder and its subfolders, in natural order; then the links to folders, which are not
/// followed.
pub fn transcripts_in(
    folder: &Path,
    filter: &TraceFilter,
) -> Result<(Vec<PathBuf>, Vec<PathBuf>), TracesError> {
    if !folder.exists() {
        return Err(TracesError::Missing(folder.to_owned()));
    }
    if !folder.is_dir() {
        return Err(TracesError::NotAFolder(folder.to_owned()));
    }
    let walked = Walk::NOTHING_HIDDEN.below(folder)?;
    let found = walked.files.iter().filter(|path| filter.takes(path));
    let mut files: Vec<PathBuf> = found.map(|path| folder.join(path)).collect();
    files.retain(|file| !is_part_of_a_session(file));
    if files.is_empty() {
        return Err(if filter.is_default() {
            TracesError::Empty(folder.to_owned())
        } else {
            TracesError::NothingSelected(folder.to_owned())
        });
    }
    files.sort_by(|one, other| by_path(one, other));
    Ok((
        files,
        walked.linked.iter().map(|path| folder.join(path)).collect(),
    ))
}

/// The groups of a folder: each subfolder with files, and each file directly in the folder. Then
/// the links to folders, which are not entered.
pub fn groups(
    folder: &Path,
    filter: &TraceFilter,
) -> Result<(Vec<Transcripts>, Vec<PathBuf>), TracesError> {
    let (files, linked) = transcripts_in(folder, filter)?;
    let names = GroupNames::new(folder, &files);
    let mut groups: Vec<Transcripts> = Vec::new();
    // A subfolder may stand between the files of the folder around it.
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for file in files {
        let name = names.name_of(&file).to_string_lossy().into_owned();
        let at = *known.entry(name.clone()).or_insert(groups.len());
        if at == groups.len() {
            groups.push(Transcripts {
                name,
                ..Transcripts::default()
            });
        }
        groups[at].files.push(file);
    }
    Ok((groups, linked))
}

/// The names of the groups of a folder. No two groups have one name.
struct GroupNames<'f> {
    folder: &'f Path,
    /// The subfolders with files in them.
    subfolders: BTreeSet<PathBuf>,
    /// The files directly in the folder, by name without ending, with the number of each.
    stems: BTreeMap<PathBuf, usize>,
}

impl<'f> GroupNames<'f> {
    fn new(folder: &'f Path, files: &[PathBuf]) -> Self {
        let mut names = Self {
            folder,
            subfolders: BTreeSet::new(),
            stems: BTreeMap::new(),
        };
        for file in files {
            let file = names.relative(file);
            names.subfolders.extend(file.parent().map(Path::to_owned));
            if is_direct(file) {
                *names.stems.entry(file.with_extension("")).or_default() += 1;
            }
        }
        names
    }

    fn relative<'p>(&self, file: &'p Path) -> &'p Path {
        file.strip_prefix(self.folder).unwrap_or(file)
    }

    /// The group of a file: its subfolder, or the file itself without its ending. Names that are
    /// not unique keep the ending.
    fn name_of(&self, file: &Path) -> PathBuf {
        let file = self.relative(file);
        if !is_direct(file) {
            return file.parent().map(Path::to_owned).unwrap_or_default();
        }
        let stem = file.with_extension("");
        if self.stems[&stem] > 1 || self.subfolders.contains(&stem) {
            file.to_owned()
        } else {
            stem
        }
    }
}

/// Returns true if a relative path is not in a subfolder.
fn is_direct(file: &Path) -> bool {
    file.components().count() == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "{}").unwrap();
        }
        folder
    }

    fn names(files: &[&str]) -> Vec<(String, usize)> {
        let folder = folder(files);
        groups(folder.path(), &TraceFilter::default())
            .unwrap()
            .0
            .into_iter()
            .map(|group| (group.name, group.files.len()))
            .collect()
    }

    #[test]
    fn a_subfolder_is_a_group_and_so_is_a_file_that_stands_in_none() {
        let found = names(&[
            "refunds/1.json",
            "refunds/10.json",
            "refunds/2.jsonl",
            "search.jsonl",
            "search.grades.json",
            "notes.md",
        ]);
        assert_eq!(found, [("refunds".to_owned(), 3), ("search".to_owned(), 1)]);
        let found = names(&[
            "a/b/1.json",
            "a/0.json",
            "a/z.json",
            ".git/x.json",
            "a/.x.json",
        ]);
        assert_eq!(found, [("a".to_owned(), 2), ("a/b".to_owned(), 1)]);
    }

    #[test]
    fn names_that_would_clash_keep_their_endings() {
        let found = names(&["a.json", "a.JSONL", "b.json", "b/1.json", "c.json"]);
        let found: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(found, ["a.JSONL", "a.json", "b", "b.json", "c"]);
    }

    #[test]
    fn a_folder_without_transcripts_is_told_of() {
        let empty = folder(&["notes.md"]);
        assert!(
            groups(empty.path(), &TraceFilter::default())
                .unwrap_err()
                .to_string()
                .starts_with("no transcript found in")
        );
        assert!(matches!(
            groups(Path::new("nowhere"), &TraceFilter::default()).unwrap_err(),
            TracesError::Missing(_)
        ));
        assert!(matches!(
            groups(&empty.path().join("notes.md"), &TraceFilter::default()).unwrap_err(),
            TracesError::NotAFolder(_)
        ));
    }

    #[test]
    fn patterns_are_for_names_in_any_folder_or_for_paths_below_the_folder() {
        let folder = folder(&["a.json", "a/run.log", "a/b/a.json", "a/b/summary.json"]);
        let found = |include: &[&str], exclude: &[&str]| -> Vec<String> {
            let owned = |patterns: &[&str]| -> Vec<String> {
                patterns.iter().map(|one| (*one).to_owned()).collect()
            };
            let filter = TraceFilter::new(&owned(include), &owned(exclude)).unwrap();
            let Ok((files, _)) = transcripts_in(folder.path(), &filter) else {
                return Vec::new();
            };
            let relative = files
                .iter()
                .map(|file| file.strip_prefix(folder.path()).unwrap());
            relative
                .map(|file| file.to_string_lossy().replace('\\', "/"))
                .collect()
        };
        assert_eq!(found(&[], &["summary.json"]), ["a/b/a.json", "a.json"]);
        assert_eq!(found(&["a.json"], &[]), ["a/b/a.json", "a.json"]);
        assert_eq!(found(&["a/*.log"], &[]), ["a/run.log"]);
        assert_eq!(found(&["a/**/*.json"], &["**/summary.*"]), ["a/b/a.json"]);
        assert!(found(&["*.txt"], &[]).is_empty());
        let wrong = TraceFilter::new(&["[".to_owned()], &[]).unwrap_err();
        assert!(
            wrong.to_string().starts_with("`[` is not a pattern"),
            "{wrong}"
        );
    }
}
