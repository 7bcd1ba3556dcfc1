//! May this file be imported here, and was it already imported?

use crate::problem::Problem;
use std::path::{Component, Path, PathBuf};

const MAX_IMPORT_DEPTH: usize = 16;
const MAX_IMPORTS: usize = 1000;

/// The path without its `.` parts.
pub(super) fn plain(path: &Path) -> PathBuf {
    path.components()
        .filter(|part| *part != Component::CurDir)
        .collect()
}

/// The path with each `folder/..` removed: equal for every spelling of one file.
pub(super) fn identity(path: &Path) -> PathBuf {
    let mut parts: Vec<Component<'_>> = Vec::new();
    for part in path.components().filter(|part| *part != Component::CurDir) {
        if part == Component::ParentDir && matches!(parts.last(), Some(Component::Normal(_))) {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts.into_iter().collect()
}

/// Why a file is not imported: a circle, or too many.
pub(super) fn refuse(
    name: &str,
    target: &Path,
    importing: &[PathBuf],
    imported: usize,
) -> Option<Problem> {
    if let Some(at) = importing
        .iter()
        .position(|path| identity(path) == identity(target))
    {
        let circle = importing[at..].iter().map(PathBuf::as_path).chain([target]);
        let circle: Vec<String> = circle.map(|path| path.display().to_string()).collect();
        return Some(
            Problem::error(format!(
                "`{name}` is imported in a circle: {}",
                circle.join(" → ")
            ))
            .help("remove one of these imports"),
        );
    }
    if importing.len() > MAX_IMPORT_DEPTH {
        return Some(Problem::error(format!(
            "imports are nested more than {MAX_IMPORT_DEPTH} deep"
        )));
    }
    (imported > MAX_IMPORTS)
        .then(|| Problem::error(format!("more than {MAX_IMPORTS} files are imported")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_seen_in_every_spelling_and_shown_whole() {
        let importing = ["s/a.yml", "s/b.yml"].map(PathBuf::from);
        let problem = refuse("../s/./a.yml", Path::new("s/../s/a.yml"), &importing, 2).unwrap();
        assert!(
            problem
                .message
                .ends_with("s/a.yml → s/b.yml → s/../s/a.yml"),
            "{}",
            problem.message
        );
        assert!(refuse("c.yml", Path::new("s/c.yml"), &importing, 2).is_none());
    }

    #[test]
    fn many_imports_and_deep_ones_are_refused() {
        let deep: Vec<PathBuf> = (0..=MAX_IMPORT_DEPTH)
            .map(|at| PathBuf::from(format!("{at}.yml")))
            .collect();
        assert!(
            refuse("x", Path::new("x"), &deep, 1)
                .unwrap()
                .message
                .contains("deep")
        );
        assert!(
            refuse("x", Path::new("x"), &[], MAX_IMPORTS + 1)
                .unwrap()
                .message
                .contains("files")
        );
    }
}
