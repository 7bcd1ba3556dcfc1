//! Which suite files does an invocation mean?

use crate::walk::{Unlisted, Walk, has_extension, is_hidden};
use mcptest_core::escape::escape_path;
use mcptest_core::suite::is_suite;
use mcptest_files as files;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// The suites to run, and other files in the named folders.
#[derive(Debug, Default)]
pub struct Found {
    /// The suite files, in order.
    pub suites: Vec<PathBuf>,
    /// YAML files that are recognisably something else.
    pub passed_over: Vec<PathBuf>,
    /// Links to folders that were not entered.
    pub linked: Vec<PathBuf>,
}

/// Why no suite was found.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// The default place has no suite.
    #[error(
        "no mcptest.yaml or mcptest.yml in this folder\n  help: pass a suite or a folder, as in `mcptest run examples/`"
    )]
    NoDefault,
    /// A named path does not exist.
    #[error("no such file or folder: {}\n  help: paths are relative to the current folder", escape_path(.0))]
    Missing(PathBuf),
    /// A folder could not be listed.
    #[error(transparent)]
    Unreadable(#[from] Unlisted),
    /// A folder has no suites.
    #[error("no suite found in {} (a suite is a .yml or .yaml file with `agents:`, `tools:`, `servers:` or `imports:`)", escape_path(.0))]
    EmptyFolder(PathBuf),
}

/// The suites named by files and folders; without any, `mcptest.yaml` or `mcptest.yml` in `here`.
pub fn find(named: &[PathBuf], here: &Path) -> Result<Found, FindError> {
    let mut found = Found::default();
    if named.is_empty() {
        // One that cannot be read is refused rather than passed over.
        let is_there = |name: &&&str| {
            here.join(name)
                .symlink_metadata()
                .is_ok_and(|about| !about.is_dir())
        };
        let default = ["mcptest.yaml", "mcptest.yml"].iter().find(is_there);
        found
            .suites
            .push(default.map(PathBuf::from).ok_or(FindError::NoDefault)?);
        return Ok(found);
    }
    for path in named {
        let path = &plain(path);
        let at = here.join(path);
        if at.is_dir() {
            let before = found.suites.len();
            let shown = if path == Path::new(".") {
                Path::new("")
            } else {
                path
            };
            folder(shown, &at, &mut found)?;
            if found.suites.len() == before {
                return Err(FindError::EmptyFolder(path.clone()));
            }
        } else if at.exists() {
            found.suites.push(path.clone());
        } else {
            return Err(FindError::Missing(path.clone()));
        }
    }
    let mut seen = std::collections::HashSet::new();
    found.suites.retain(|path| seen.insert(path.clone()));
    Ok(found)
}

/// Finds the suites that files and folders name below `folder`, which replaces the working directory. Paths that it
/// lacks are searched for in the working directory, and named as if they were below `folder`.
pub fn find_in(folder: &Path, named: &[PathBuf]) -> Result<Found, FindError> {
    let mut found = Found::default();
    for path in named {
        let below = folder.join(path);
        if below.exists() {
            found.suites.extend(find(&[below], Path::new(""))?.suites);
        } else {
            let here = find(std::slice::from_ref(path), Path::new(""))?.suites;
            found
                .suites
                .extend(here.iter().map(|path| folder.join(path)));
        }
    }
    let mut seen = std::collections::HashSet::new();
    found.suites.retain(|path| seen.insert(path.clone()));
    Ok(found)
}

/// The path without `.` parts, so that a file has one name.
pub fn plain(path: &Path) -> PathBuf {
    let plain: PathBuf = path
        .components()
        .filter(|part| *part != Component::CurDir)
        .collect();
    if plain.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        plain
    }
}

fn folder(shown: &Path, at: &Path, found: &mut Found) -> Result<(), FindError> {
    let takes = |name: &OsStr, is_folder: bool| {
        !is_folder || !(is_hidden(name) || name == "node_modules" || name == "target")
    };
    let walk = Walk {
        takes,
        ..Walk::EVERYTHING
    };
    let walked = walk.below(at).map_err(|one| Unlisted {
        folder: plain(&one.folder),
        ..one
    })?;
    for path in walked
        .files
        .iter()
        .filter(|path| has_extension(path, &["yml", "yaml"]))
    {
        let list = if is_other(&at.join(path)) {
            &mut found.passed_over
        } else {
            &mut found.suites
        };
        list.push(shown.join(path));
    }
    found
        .linked
        .extend(walked.linked.iter().map(|path| shown.join(path)));
    Ok(())
}

/// Returns true if a file is certainly not a suite. An unreadable file may be one: loading refuses
/// it.
fn is_other(path: &Path) -> bool {
    let text = files::read(path, files::TEXT)
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok());
    text.is_some_and(|text| !text.contains('\0') && !is_suite(&text))
}
