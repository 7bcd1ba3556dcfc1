//! Which tests failed the last time?

use crate::find::plain;
use crate::plan::Plan;
use crate::redaction;
use mcptest_core::report::{Report, Status};
use mcptest_core::row::Row;
use mcptest_files as files;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The file of the results, in the current folder.
const FILE: &str = ".mcptest/last.json";
/// Keeps the folder out of repositories.
const IGNORE: &str = ".mcptest/.gitignore";
const FORMAT: &str = "mcptest-last-run";
const VERSION: u64 = 1;

/// The known results of tests that were judged from this folder.
#[derive(Debug, Serialize, Deserialize)]
pub struct LastRun {
    format: String,
    version: u64,
    failed: BTreeSet<FailedTest>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct FailedTest {
    suite: String,
    test: String,
}

impl FailedTest {
    /// The row as seen from the folder `here`: a path below it is relative.
    fn new(row: &Row<'_>, here: &Path) -> Self {
        let path = Path::new(&row.rerun.suite);
        let suite = plain(path.strip_prefix(here).unwrap_or(path))
            .display()
            .to_string();
        Self {
            suite,
            test: row.name.clone(),
        }
    }
}

impl LastRun {
    /// The stored results. `None` without a readable file.
    pub fn read() -> Option<Self> {
        let bytes = files::read(Path::new(FILE), files::TEXT).ok()?;
        let last: Self = serde_json::from_slice(&bytes).ok()?;
        (last.format == FORMAT && last.version == VERSION).then_some(last)
    }

    /// Returns true if the row failed or could not be judged.
    pub fn had_failed(&self, row: &Row<'_>) -> bool {
        self.failed.contains(&FailedTest::new(row, &here()))
    }

    /// Keeps the results of a plan's rows, and leaves the results of other rows unchanged. A folder that cannot be
    /// written to is not an error. A folder in which no test ever failed stays unchanged.
    pub fn keep(plan: &Plan<'_>, report: &Report) {
        let before = Self::read();
        let had_none = before.is_none();
        let mut last = before.unwrap_or_else(|| Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            failed: BTreeSet::new(),
        });
        let (here, mut has_changed) = (here(), false);
        // Single runs say nothing of their row.
        let whole = plan.rows.iter().zip(&report.tests);
        for (row, test) in whole.filter(|(row, _)| row.runs.is_empty()) {
            has_changed |= match test.status {
                Status::Failed | Status::Error => last.failed.insert(FailedTest::new(row, &here)),
                Status::Passed => {
                    !last.failed.is_empty() && last.failed.remove(&FailedTest::new(row, &here))
                }
                Status::Skipped => false,
            };
        }
        if !has_changed {
            return;
        }
        let text = serde_json::to_string_pretty(&last).unwrap_or_default() + "\n";
        let written = redaction::write(Path::new(FILE), &text);
        if had_none && written.is_ok() {
            let _is_a_help_alone = redaction::write(Path::new(IGNORE), "*\n");
        }
    }
}

fn here() -> PathBuf {
    std::env::current_dir().unwrap_or_default()
}
