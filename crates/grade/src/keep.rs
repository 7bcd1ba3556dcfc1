//! How does a grade get into the file of its row?

use crate::grade::graded;
use mcptest_core::grade::{Failure, Grade, Grades, Wanted};
use mcptest_core::row::Row;
use mcptest_files as files;
use mcptest_replay::grades::{GradedRow, path_of};
use mcptest_replay::{Secrets, SuiteSecrets, Watch};
use std::path::PathBuf;
use std::sync::Arc;

/// The grades of a row during grading.
pub(crate) struct RowGrades<'p> {
    pub(crate) row: &'p Row<'p>,
    grades: Grades,
    /// Their file; `None` if nothing is written.
    path: Option<PathBuf>,
    secrets: Option<Arc<SuiteSecrets>>,
    is_live: bool,
    /// The number of grades given.
    pub(crate) given: usize,
}

impl<'p> RowGrades<'p> {
    pub(crate) fn new(row: &'p Row<'p>, grades: Grades, is_live: bool, secrets: &Secrets) -> Self {
        let path = path_of(row).filter(|_| !is_live);
        let secrets = row.suite().map(|suite| secrets.of(suite));
        Self {
            row,
            grades,
            path,
            secrets,
            is_live,
            given: 0,
        }
    }

    /// The grade for this, if it exists.
    pub(crate) fn find(&self, wanted: &Wanted<'_>) -> Option<&Grade> {
        self.grades.find(wanted).ok()
    }

    /// Judges that were just called and gave no grade.
    pub(crate) fn failures(&self) -> &[Failure] {
        &self.grades.failures
    }

    /// Stores a grade on the disk, or the reason that none exists.
    pub(crate) fn keep(
        &mut self,
        wanted: &Wanted<'_>,
        asked: Result<Grade, String>,
        watch: &Watch,
    ) {
        let kept = asked.and_then(|grade| {
            let grade = self.without_secrets(grade)?;
            self.grades.put(grade.clone());
            self.write()?;
            self.given += 1;
            Ok(grade)
        });
        let kept = kept.map_err(|why| match &self.secrets {
            Some(secrets) => secrets.hidden_in(&why),
            None => why,
        });
        watch(graded(self.row, wanted, &kept));
        if let Err(why) = kept {
            self.grades.failures.push(Failure {
                run: wanted.run,
                check: wanted.check.clone(),
                why,
            });
        }
    }

    fn without_secrets(&self, grade: Grade) -> Result<Grade, String> {
        let Some(secrets) = &self.secrets else {
            return Ok(grade);
        };
        let redactor = secrets.redactor().map_err(|reason| reason.message)?;
        let text = serde_json::to_string(&grade).map_err(|error| error.to_string())?;
        serde_json::from_str(&redactor.json(&text)).map_err(|error| error.to_string())
    }

    fn write(&self) -> Result<(), String> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let failed = |error: std::io::Error| {
            format!(
                "cannot write the grade to {}: {}",
                path.display(),
                files::reason(&error)
            )
        };
        if !files::may_replace(path, Grades::is_own).map_err(failed)? {
            let path = path.display();
            return Err(format!(
                "{path} is not a file of grades, so it stays unchanged: move it away"
            ));
        }
        files::make_folder_of(path).map_err(failed)?;
        files::replace(path, self.grades.to_text().as_bytes()).map_err(failed)
    }

    pub(crate) fn into_graded(self) -> GradedRow {
        let live = self.is_live.then_some(self.grades.grades);
        GradedRow {
            failures: self.grades.failures,
            live,
        }
    }
}
