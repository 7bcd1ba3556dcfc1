//! How does one get from a folder to a file?

use std::path::{Component, Path, PathBuf};

/// The relative path from a folder to a path, both of which are absolute.
pub(super) fn between(folder: &Path, to: &Path) -> PathBuf {
    let from: Vec<Component<'_>> = folder
        .components()
        .filter(|part| *part != Component::CurDir)
        .collect();
    let goal: Vec<Component<'_>> = to
        .components()
        .filter(|part| *part != Component::CurDir)
        .collect();
    let shared = from
        .iter()
        .zip(&goal)
        .take_while(|(one, other)| one == other)
        .count();
    let up = std::iter::repeat_n(Component::ParentDir, from.len() - shared);
    let way: PathBuf = up.chain(goal[shared..].iter().copied()).collect();
    if way.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        way
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_goes_up_and_down() {
        for (folder, to, way) in [
            ("/a/b", "/a/b/c.jsonl", "c.jsonl"),
            ("/a/b", "/a/c/d.jsonl", "../c/d.jsonl"),
            ("/a", "/a", "."),
            ("/a/b", "/a", ".."),
            ("/", "/x", "x"),
        ] {
            assert_eq!(between(Path::new(folder), Path::new(to)), Path::new(way));
        }
    }
}
