//! Which recordings of the examples make their gates fail?

#![allow(dead_code, reason = "each test program uses a part")]

use super::provider::{copy_beside, copy_of_examples, entries, is_grades, repository, stem};
use std::fs;
use std::path::{Path, PathBuf};

/// A recording in `examples/failing/<suite>/<gate>/`: the runs alone, to stand under the passing header.
pub(crate) struct Failing {
    pub(crate) suite: String,
    pub(crate) gate: String,
    pub(crate) path: PathBuf,
}

pub(crate) fn failing() -> Vec<Failing> {
    let mut found = Vec::new();
    for suite in entries(&repository().join("examples/failing")) {
        for gate in entries(&suite) {
            for path in entries(&gate) {
                found.push(Failing {
                    suite: stem(&suite),
                    gate: stem(&gate),
                    path,
                });
            }
        }
    }
    found
}

/// Returns true if a failing file is a baseline of tools that differs from the recorded ones.
pub(crate) fn is_pins(path: &Path) -> bool {
    path.to_string_lossy().ends_with(".pins.json")
}

pub(crate) fn with_failing_runs(failing: &Failing) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let examples = repository().join("examples");
    let cassettes = Path::new("cassettes").join(&failing.suite);
    let suite = format!("{}.yml", failing.suite);
    fs::copy(examples.join(&suite), folder.path().join(&suite)).unwrap();
    copy_of_examples(&cassettes, folder.path());
    copy_beside(folder.path());
    let beside = if is_pins(&failing.path) {
        Path::new("baselines")
    } else {
        &cassettes
    };
    let place = folder
        .path()
        .join(beside)
        .join(failing.path.file_name().unwrap());
    if is_grades(&failing.path) || is_pins(&failing.path) {
        fs::copy(&failing.path, place).unwrap();
        return folder;
    }
    let passing = fs::read_to_string(&place);
    let passing =
        passing.unwrap_or_else(|_| panic!("{} has no passing twin", failing.path.display()));
    let header = passing.lines().next().unwrap();
    let runs = fs::read_to_string(&failing.path).unwrap();
    fs::write(place, format!("{header}\n{runs}")).unwrap();
    folder
}
