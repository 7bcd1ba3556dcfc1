//! How is a file named in a report, so that the name is the same on every machine?

use mcptest_core::report::TestReport;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

static HERE: LazyLock<Option<PathBuf>> = LazyLock::new(|| std::env::current_dir().ok());

/// Names the files of tests from the root: the working directory, or else the repository that holds them. A name that
/// was relative stays. The id of a test is the same from whichever folder of its repository it is run.
pub(crate) fn name_from_root(tests: &mut [TestReport]) {
    let mut in_repository: HashMap<String, Option<String>> = HashMap::new();
    for test in tests {
        let file = test.suite.file.clone();
        name_files(test);
        let known = in_repository.entry(file).or_insert_with_key(|file| from_repository(Path::new(file)));
        test.id = test.hashed_id(known.as_ref().unwrap_or(&test.suite.file));
    }
}

/// A file's name from the root of its repository, where it is in one.
fn from_repository(file: &Path) -> Option<String> {
    let file = HERE.as_ref()?.join(file).canonicalize().ok()?;
    let below = file.strip_prefix(repository(&file)?).ok()?;
    Some(below.display().to_string())
}

fn repository(file: &Path) -> Option<&Path> {
    file.ancestors().skip(1).find(|folder| folder.join(".git").exists())
}

fn name_files(test: &mut TestReport) {
    let files = test.runs.iter_mut().filter_map(|run| run.source.as_mut());
    for file in files.chain([&mut test.suite.file]) {
        if let Some(short) = from_root(Path::new(&*file), HERE.as_deref()) {
            *file = short;
        }
    }
}

fn from_root(file: &Path, here: Option<&Path>) -> Option<String> {
    if !file.is_absolute() {
        return None;
    }
    let below = here.and_then(|here| file.strip_prefix(here).ok());
    let below = below.or_else(|| file.strip_prefix(repository(file)?).ok())?;
    Some(below.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absolute_path_below_the_root_is_named_from_there() {
        let folder = std::env::temp_dir().canonicalize().unwrap().join("mcptest-root");
        std::fs::create_dir_all(folder.join("repository/.git")).unwrap();
        let suite = folder.join("repository/suites/a.yml");
        let named = |here: &str| from_root(&suite, Some(&folder.join(here)));
        let relative = |path: &str| Some(path.split('/').collect::<PathBuf>().display().to_string());
        assert_eq!(named("repository/suites"), relative("a.yml"));
        assert_eq!(named("elsewhere"), relative("suites/a.yml"));
        assert_eq!(from_root(Path::new("../a.yml"), Some(&folder)), None);
    }
}
