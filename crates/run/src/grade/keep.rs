//! Where are the grades of a row, and how does one get there?

use super::{GradedRow, graded};
use crate::cassette;
use crate::record::Watch;
use crate::replay::cassette_paths;
use crate::secrets::{Secrets, SuiteSecrets};
use crate::{files, tool_test};
use mcptest_core::grade::{Failure, Grade, Grades, Wanted};
use mcptest_core::row::{Reason, ReasonKind, Row, Subject};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const ENDING: &str = "grades.json";

/// The file of a row's grades: beside its recording, or where that would be.
pub fn path_of(row: &Row<'_>) -> Option<PathBuf> {
    let recording = match row.subject {
        // Where runs would be recorded that are only read.
        Subject::Agent(of) if row.transcripts.is_some() || of.agent.is_read_only() => {
            let label = of.model_label().filter(|_| row.transcripts.is_none());
            cassette::default_place(of.suite, &row.name, label.as_deref())
        }
        Subject::Agent(of) => cassette_paths(of).ok()?.into_iter().next()?,
        Subject::Tool(of) => tool_test::path_of(of.suite, of.test),
        Subject::Refused(_) => return None,
    };
    Some(recording.with_extension(ENDING))
}

/// Whether a file has grades in it, by its name: it stands beside recordings, and is not one.
pub(crate) fn is_grades(path: &Path) -> bool {
    path.to_string_lossy().ends_with(&format!(".{ENDING}"))
}

/// The grades of a row that asks for any.
pub(crate) fn read(row: &Row<'_>) -> Grades {
    let asks = || !row.questions().is_empty();
    let Some(path) = path_of(row).filter(|_| asks()) else {
        return Grades::default();
    };
    let why = match files::read(&path, files::TEXT) {
        Ok(bytes) => match Grades::parse(&bytes) {
            Ok(grades) => return grades,
            Err(problem) => problem.to_string(),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => return Grades::default(),
        Err(error) => files::reason(&error),
    };
    let message = format!("the grades in {} cannot be read: {why}", path.display());
    Grades {
        unreadable: Some(Reason::new(ReasonKind::RecordingUnreadable, message)),
        ..Grades::default()
    }
}

/// The grades of a row while it is graded.
pub(super) struct RowGrades<'p> {
    pub(super) row: &'p Row<'p>,
    grades: Grades,
    /// Their file; none where nothing is written.
    path: Option<PathBuf>,
    secrets: Option<Arc<SuiteSecrets>>,
    is_live: bool,
    /// How many were given.
    pub(super) given: usize,
}

impl<'p> RowGrades<'p> {
    pub(super) fn new(row: &'p Row<'p>, grades: Grades, is_live: bool, secrets: &Secrets) -> Self {
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

    /// The grade for this, where there is one.
    pub(super) fn find(&self, wanted: &Wanted<'_>) -> Option<&Grade> {
        self.grades.find(wanted).ok()
    }

    /// Judges that were asked just now and gave none.
    pub(super) fn failures(&self) -> &[Failure] {
        &self.grades.failures
    }

    /// Keeps a grade, on the disk when this returns, or why there is none.
    pub(super) fn keep(
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
                "the grade cannot be written to {}: {}",
                path.display(),
                files::reason(&error)
            )
        };
        if !files::may_replace(path, Grades::is_own).map_err(failed)? {
            let path = path.display();
            return Err(format!(
                "{path} is no file of grades, and is left as it is: move it away"
            ));
        }
        files::make_folder_of(path).map_err(failed)?;
        files::replace(path, self.grades.to_text().as_bytes()).map_err(failed)
    }

    pub(super) fn into_graded(self) -> GradedRow {
        let live = self.is_live.then_some(self.grades.grades);
        GradedRow {
            failures: self.grades.failures,
            live,
        }
    }
}
