//! Where are the grades of a row, and which are there?

use crate::paths::cassette_paths;
use crate::{cassette, tool_test};
use mcptest_core::grade::{Failure, Grade, Grades};
use mcptest_core::judge::Recorded;
use mcptest_core::row::{Reason, ReasonKind, Row, Subject};
use mcptest_files as files;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const ENDING: &str = "grades.json";

/// The file of a row's grades: beside its recording, or its future recording.
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

/// Returns true if a file contains grades, by its name: it is beside recordings, but is not one.
pub fn is_grades(path: &Path) -> bool {
    path.to_string_lossy().ends_with(&format!(".{ENDING}"))
}

/// The grades of a row that needs any.
pub fn read(row: &Row<'_>) -> Grades {
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
    let message = format!("cannot read the grades in {}: {why}", path.display());
    Grades {
        unreadable: Some(Reason::new(ReasonKind::RecordingUnreadable, message)),
        ..Grades::default()
    }
}

/// The result of grading a row.
#[derive(Debug, Default)]
pub struct GradedRow {
    /// Judges that were just called and gave no grade.
    pub failures: Vec<Failure>,
    /// The grades, if they are not stored.
    pub live: Option<Vec<Grade>>,
}

impl GradedRow {
    /// The recording with its known grades, from memory instead of from their file.
    pub fn over<'t>(&self, recorded: &Recorded<'t>) -> Recorded<'t> {
        let mut recorded = recorded.clone();
        let grades = match &mut recorded {
            Recorded::Runs(runs) => &mut runs.grades,
            Recorded::Call(call) => &mut call.grades,
            _ => return recorded,
        };
        grades.failures.clone_from(&self.failures);
        if let Some(live) = &self.live {
            grades.grades.clone_from(live);
        }
        recorded
    }
}
