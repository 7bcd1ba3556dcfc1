//! Which files does the verdict of a row depend on, and have they changed?

use crate::grades;
use crate::plan::{Plan, files_of};
use mcptest_core::report::{Report, TestReport};
use mcptest_core::row::Row;
use mcptest_core::suite::Loaded;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The modification time of a file or folder, and its length. `None` if it does not exist.
type Stamp = Option<(SystemTime, u64)>;

/// The state of files at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stamps(BTreeMap<PathBuf, Stamp>);

impl Stamps {
    /// The current state of these files.
    #[must_use]
    pub fn now(&self) -> Self {
        Self(
            self.0
                .keys()
                .map(|file| (file.clone(), stamp(file)))
                .collect(),
        )
    }

    /// The known state of these files at this moment, otherwise their current state: mcptest reads a file again if it
    /// changes during the reading.
    #[must_use]
    pub fn of(&self, files: impl IntoIterator<Item = PathBuf>) -> Self {
        let then = |file: &Path| self.0.get(file).copied().unwrap_or_else(|| stamp(file));
        Self(
            files
                .into_iter()
                .map(|file| (then(&file), file))
                .map(|(stamp, file)| (file, stamp))
                .collect(),
        )
    }

    /// All files of a plan, and the folders in which more could appear.
    #[must_use]
    pub fn of_plan(&self, loaded: &[(String, Loaded)], plan: &Plan<'_>) -> Self {
        let of_rows = plan.rows.iter().flat_map(|row| files_behind(row, loaded));
        let of_suites = loaded.iter().flat_map(|(_, one)| one.files.iter().cloned());
        let files: BTreeSet<PathBuf> = of_rows.chain(of_suites).collect();
        let folder = |file: &PathBuf| match file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        let folders: BTreeSet<PathBuf> = files.iter().map(folder).collect();
        self.of(files.into_iter().chain(folders))
    }

    /// The files that have changed.
    pub fn changed_since<'a>(&'a self, before: &'a Self) -> impl Iterator<Item = &'a Path> {
        let has_changed = |(file, stamp): &(&PathBuf, &Stamp)| before.0.get(*file) != Some(*stamp);
        self.0
            .iter()
            .filter(has_changed)
            .map(|(file, _)| file.as_path())
            .filter(|path| !path.is_dir())
    }

    /// The number of files, without their folders.
    pub fn files(&self) -> usize {
        self.0.keys().filter(|path| path.is_file()).count()
    }
}

fn stamp(path: &Path) -> Stamp {
    let about = std::fs::metadata(path).ok()?;
    Some((
        about.modified().ok()?,
        if about.is_file() { about.len() } else { 0 },
    ))
}

/// The verdicts on rows, with the files that they depend on.
#[derive(Debug, Default)]
pub struct Judged(BTreeMap<(String, String), (Stamps, TestReport)>);

impl Judged {
    /// The report on a plan: the results of `judge` for rows with changed files, the known results
    /// of the others, and the number of judged rows. `then` is the time before the suites were
    /// read.
    pub fn report<E>(
        &mut self,
        loaded: &[(String, Loaded)],
        plan: Plan<'_>,
        then: &Stamps,
        judge: impl FnOnce(&Plan<'_>) -> Result<Report, E>,
    ) -> Result<(Report, usize), E> {
        let stamps: Vec<_> = plan
            .rows
            .iter()
            .map(|row| then.of(files_behind(row, loaded)))
            .collect();
        let key = |row: &Row<'_>| (row.rerun.suite.clone(), row.name.clone());
        let keys: Vec<_> = plan.rows.iter().map(key).collect();
        let is_known = |at: usize| {
            self.0
                .get(&keys[at])
                .is_some_and(|(known, _)| *known == stamps[at])
        };
        let changed: BTreeSet<usize> = (0..keys.len()).filter(|&at| !is_known(at)).collect();
        let gates = plan.gates();
        let again = judge(&plan.narrowed_to(&changed))?;
        for (&at, test) in changed.iter().zip(again.tests) {
            self.0.insert(keys[at].clone(), (stamps[at].clone(), test));
        }
        let tests = keys
            .iter()
            .filter_map(|key| self.0.get(key))
            .map(|(_, test)| test.clone())
            .collect();
        Ok((Report::new(tests, gates), changed.len()))
    }
}

/// The files of a row's suite, of its recordings and of its grades.
fn files_behind(row: &Row<'_>, loaded: &[(String, Loaded)]) -> Vec<PathBuf> {
    let of_suite = loaded.iter().filter(|(path, _)| *path == row.rerun.suite);
    let of_suite =
        of_suite.flat_map(|(path, one)| one.files.iter().cloned().chain([PathBuf::from(path)]));
    let of_other = row
        .recorded_by()
        .map(|other| files_of(&other))
        .unwrap_or_default();
    of_suite
        .chain(files_of(row))
        .chain(of_other)
        .chain(grades::path_of(row))
        .collect()
}
