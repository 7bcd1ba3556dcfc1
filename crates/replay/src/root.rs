//! How is a file named in a report, so that the name is equal on every machine?

use mcptest_core::report::TestReport;
use mcptest_core::row::Row;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

static HERE: LazyLock<Option<PathBuf>> = LazyLock::new(|| std::env::current_dir().ok());

/// Names the suites of tests from the roots of their repositories, so that their names and the ids
/// of tests do not depend on the working directory. A suite outside any repository is named from
/// the working directory, if it is below it.
pub(crate) fn name_from_root(tests: &mut [TestReport]) {
    let mut in_repository: HashMap<String, Option<String>> = HashMap::new();
    for test in tests {
        for source in test.runs.iter_mut().filter_map(|run| run.source.as_mut()) {
            let file = Path::new(&*source);
            if file.is_absolute() {
                *source = below_here(file)
                    .or_else(|| below_repository(file))
                    .unwrap_or_else(|| source.clone());
            }
        }
        let file = std::mem::take(&mut test.suite.file);
        let here = below_here(Path::new(&file)).unwrap_or_else(|| file.clone());
        let known = in_repository
            .entry(file)
            .or_insert_with_key(|file| from_repository(Path::new(file)));
        test.suite.file = known.clone().unwrap_or_else(|| here.clone());
        test.file_from_here = Some(here);
        test.id = test.hashed_id(&test.suite.file);
    }
}

/// The id that the test of this row has in reports.
pub fn id_of(row: &Row<'_>) -> String {
    let mut tests = [row.blank()];
    name_from_root(&mut tests);
    std::mem::take(&mut tests[0].id)
}

/// The name from the root of a file at this path below the working directory.
pub fn named_from_root(path: &Path) -> String {
    let here = HERE.as_ref().and_then(|here| here.canonicalize().ok());
    let below = here.and_then(|here| below_repository(&here.join(path)));
    below.unwrap_or_else(|| path.display().to_string())
}

/// A file's name from the root of its repository, if it is in one.
fn from_repository(file: &Path) -> Option<String> {
    let file = HERE.as_ref()?.join(file).canonicalize().ok()?;
    below_repository(&file)
}

fn below_repository(file: &Path) -> Option<String> {
    Some(
        file.strip_prefix(repository(file)?)
            .ok()?
            .display()
            .to_string(),
    )
}

fn repository(file: &Path) -> Option<&Path> {
    file.ancestors()
        .skip(1)
        .find(|folder| folder.join(".git").exists())
}

/// An absolute path from the working directory, if it is below.
fn below_here(file: &Path) -> Option<String> {
    Some(
        file.strip_prefix(HERE.as_ref()?)
            .ok()?
            .display()
            .to_string(),
    )
}
