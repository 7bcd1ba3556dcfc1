//! Which baselines are compared when a folder of them is named?

use mcptest_command::Failure;
use mcptest_core::change::pair_items;
use mcptest_core::escape::escape_path;
use mcptest_core::row::quoted;
use std::path::{Path, PathBuf};

/// Two files to compare.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) before: PathBuf,
    pub(super) after: PathBuf,
}

/// The files to compare.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pairs {
    pub(super) pairs: Vec<Pair>,
    /// The files of one folder without a partner in the other.
    pub(super) alone: Vec<PathBuf>,
}

/// The named files. Of folders, the files of the same name, or the only file of each.
pub(super) fn pairs(before: &Path, after: &Path) -> Result<Pairs, Failure> {
    let (befores, afters) = (candidates(before)?, candidates(after)?);
    let are_single = befores.len() == 1 && afters.len() == 1;
    let paired = pair_items(
        &befores,
        &afters,
        |file| file.file_name(),
        |_, _| are_single,
    );
    let pairs: Vec<Pair> = paired
        .both()
        .map(|(before, after)| Pair {
            before: before.clone(),
            after: after.clone(),
        })
        .collect();
    if pairs.is_empty() {
        return Err(no_pair(before, after, befores.first(), afters.first()));
    }
    let alone = paired
        .only_before()
        .chain(paired.only_after.iter().copied());
    Ok(Pairs {
        pairs,
        alone: alone.cloned().collect(),
    })
}

/// Two folders without files of one name, each with its first file.
fn no_pair(before: &Path, after: &Path, one: Option<&PathBuf>, other: Option<&PathBuf>) -> Failure {
    let why = format!(
        "no baseline in {} has the name of one in {}",
        escape_path(before),
        escape_path(after)
    );
    let file = |file: Option<&PathBuf>| {
        let file = file.map(|file| file.to_string_lossy());
        quoted(&file.unwrap_or_default())
    };
    let help = format!(
        "name two files, as in `mcptest model-baseline diff {} {}`",
        file(one),
        file(other)
    );
    Failure::with_help(why, help)
}

/// The file itself, or the baselines of a folder.
fn candidates(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.exists() {
        let why = format!("no such file or folder: {}", escape_path(path));
        let help = "name a baseline, or a folder that `mcptest model-baseline capture` wrote";
        return Err(Failure::with_help(why, help));
    }
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let unread =
        |error: std::io::Error| Failure::cannot(format!("read {}", escape_path(path)), &error);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(unread)? {
        let file = entry.map_err(unread)?.path();
        if file
            .extension()
            .is_some_and(|extension| extension == "json")
            && file.is_file()
        {
            files.push(file);
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(Failure::with_help(
            format!("no baseline in {}", escape_path(path)),
            "write one with `mcptest model-baseline capture --out DIR`",
        ));
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            std::fs::write(folder.path().join(name), "{}").unwrap();
        }
        folder
    }

    fn paired(before: &[&str], after: &[&str]) -> (Vec<String>, Vec<String>) {
        let (before, after) = (folder(before), folder(after));
        let found = pairs(before.path(), after.path()).unwrap();
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        let both = |pair: &Pair| format!("{} {}", name(&pair.before), name(&pair.after));
        (
            found.pairs.iter().map(both).collect(),
            found.alone.iter().map(|path| name(path)).collect(),
        )
    }

    #[test]
    fn files_of_one_name_are_compared_and_others_are_named() {
        assert_eq!(
            paired(
                &["a.json", "b.json", "c.json", "notes.md"],
                &["b.json", "a.json", "d.json"]
            ),
            (
                vec!["a.json a.json".to_owned(), "b.json b.json".to_owned()],
                vec!["c.json".to_owned(), "d.json".to_owned()]
            )
        );
    }

    #[test]
    fn the_only_file_of_each_folder_is_compared_whatever_its_name() {
        assert_eq!(
            paired(&["old.json"], &["new.json"]).0,
            ["old.json new.json"]
        );
    }

    #[test]
    fn folders_without_a_pair_are_refused_with_what_to_write() {
        let (before, after) = (folder(&["a.json", "b.json"]), folder(&["c.json"]));
        let refused = pairs(before.path(), after.path()).unwrap_err();
        assert!(refused.why.contains("no baseline in"), "{}", refused.why);
        let empty = pairs(folder(&[]).path(), after.path()).unwrap_err();
        assert!(empty.why.contains("no baseline in"), "{}", empty.why);
    }
}
