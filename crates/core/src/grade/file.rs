//! How are grades kept in a file, and how do they come back?

use super::Grade;
use super::lookup::Failure;
use super::scorer;
use crate::json::document::{Placed, Source, TextFault, Words};
use crate::row::Reason;
use serde::Deserialize;
use std::collections::BTreeSet;

const FORMAT: &str = "mcptest-grades";
const VERSION: u64 = 1;
const WORDS: Words = Words {
    shape: "a file of grades is one JSON object",
    again: "restore the file, or remove it and grade again with `mcptest eval`",
};

/// The grades of one row.
#[derive(Debug, Clone, Default)]
pub struct Grades {
    /// The grades by run and check.
    pub grades: Vec<Grade>,
    /// Why the grades cannot be read, if so.
    pub unreadable: Option<Reason>,
    /// Judges that were just called and gave no grade, with the reason.
    pub failures: Vec<Failure>,
}

/// A problem with a file of grades.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GradesFault {
    /// With its text.
    #[error("{}", .0.said(&WORDS))]
    Text(TextFault),
    /// The problem of its content.
    #[error("this is not a grade: {0}; {again}", again = WORDS.again)]
    Content(String),
}

impl From<TextFault> for GradesFault {
    fn from(fault: TextFault) -> Self {
        Self::Text(fault)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(rename = "format")]
    _format: String,
    #[serde(rename = "version")]
    _version: u64,
    /// True if each grade has a seal: a grade without one was edited.
    #[serde(default)]
    seals: bool,
    grades: Vec<Grade>,
}

impl Grades {
    /// Returns true if the beginning of a file is that of a file of grades.
    pub fn is_own(head: &[u8]) -> bool {
        let begins = format!("{{\"format\":\"{FORMAT}\"");
        head.starts_with(begins.as_bytes())
    }

    /// The grades in these bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self, Placed<GradesFault>> {
        let document: Document =
            Source::new(bytes).whole((FORMAT, VERSION), GradesFault::Content)?;
        let mut seen = BTreeSet::new();
        for grade in &document.grades {
            if !seen.insert((grade.run, grade.check.as_str())) {
                let message = format!(
                    "the grade of run {} for `{}` is written twice",
                    grade.run, grade.check
                );
                return Err(Placed::nowhere(GradesFault::Content(message)));
            }
            let is_score = |score: f64| (0.0..=1.0).contains(&score);
            let is_whole = grade.votes.iter().all(|vote| {
                is_score(vote.score) && vote.answers.iter().all(|answer| is_score(answer.score))
            });
            let is_scored = !grade.scores.is_empty() && grade.scores.values().all(scorer::is_score);
            if !is_whole
                || grade.votes.is_empty() != is_scored
                || grade.asked.fingerprint() != grade.fingerprint
                || document.seals && grade.is_edited()
            {
                let message = format!(
                    "the grade of run {} for `{}` was edited after it was given",
                    grade.run, grade.check
                );
                return Err(Placed::nowhere(GradesFault::Content(message)));
            }
        }
        let without_seal = |grade: Grade| Grade {
            seal: None,
            ..grade
        };
        Ok(Self {
            grades: document.grades.into_iter().map(without_seal).collect(),
            ..Self::default()
        })
    }

    /// The whole file: a line for each grade, in the order of the runs.
    pub fn to_text(&self) -> String {
        let lines: Vec<String> = self
            .grades
            .iter()
            .map(|grade| serde_json::to_string(&grade.clone().sealed()).unwrap_or_default())
            .collect();
        format!(
            "{{\"format\":\"{FORMAT}\",\"version\":{VERSION},\"seals\":true,\"grades\":[\n{}\n]}}\n",
            lines.join(",\n")
        )
    }

    /// Adds a grade, and replaces the grade for the same check of the same run.
    pub fn put(&mut self, grade: Grade) {
        self.grades
            .retain(|known| (known.run, &known.check) != (grade.run, &grade.check));
        self.grades.push(grade);
        self.grades
            .sort_by(|one, other| (one.run, &one.check).cmp(&(other.run, &other.check)));
    }
}
