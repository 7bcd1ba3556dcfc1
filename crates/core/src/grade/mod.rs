//! Which questions do judges answer about a run, what are their answers, and do these still apply
//! to the suite?
//!
//! No judge is called here. A grade is recorded once, beside the runs, and judging looks it up.

mod evidence;
mod file;
mod lookup;
mod prompt;
mod question;
mod rubric;
mod scorer;
#[cfg(test)]
mod tests;

pub use evidence::Evidence;
pub use file::{Grades, GradesFault};
pub use lookup::{Failure, Found, NotGraded, Wanted, questions, wanted};
pub(crate) use lookup::{found, graded, of_call, of_run};
pub use prompt::{SYSTEM, Sheet, TEMPLATE};
pub use question::{Asks, JudgeDefaults, Question, Sees};
pub(crate) use question::{NamedJudges, without_judge};
pub use rubric::{Criterion, Rubric, Tree};
pub use scorer::{Numbers, Scorer};
pub(crate) use scorer::{SCORERS, scores_of};

use crate::change::compare_parts;
use crate::digest::digest_of_value;
use crate::trace::Tokens;
use crate::words::distinct;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The judges' answers to one question about one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grade {
    /// The run, from 1.
    pub run: usize,
    /// The check that asked, by its path in the test: `expect[1]`.
    pub check: String,
    /// The fingerprint of the question: a grade with a different one is stale.
    pub fingerprint: String,
    /// The question.
    pub asked: Asked,
    /// The answers of each judge.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<Vote>,
    /// The numbers of a scorer instead of judges' answers.
    #[serde(default, skip_serializing_if = "Numbers::is_empty")]
    pub scores: Numbers,
    /// The digest of the grade in its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<String>,
}

/// The question, the judges, and the evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// A digest of the rubric, of the text that is compared with, or of a scorer's command.
    pub rubric: String,
    /// The models that judge.
    pub judges: Vec<String>,
    /// The number of calls to each judge.
    pub samples: usize,
    /// The version of the words around the rubric.
    pub template: u32,
    /// A digest of the judged part.
    pub evidence: String,
    /// A digest of each file of a scorer.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
}

/// One answer of one judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vote {
    /// The model.
    pub model: String,
    /// The number of the sample, from 1.
    pub sample: usize,
    /// The resulting score, from 0 to 1.
    pub score: f64,
    /// Its answer to each criterion or question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Answer>,
    /// The token counts.
    #[serde(default)]
    pub tokens: Tokens,
    /// The cost, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// A judge's answer about one criterion, or to one question of a tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The criterion's name, or the question's number in the tree.
    pub name: String,
    /// The score from 0 to 1; 1 or 0 for yes or no.
    pub score: f64,
    /// Why, in the judge's words.
    pub reason: String,
}

impl Asked {
    /// The digest of the whole question.
    pub fn fingerprint(&self) -> String {
        digest_of_value(&serde_json::to_value(self).unwrap_or_default())
    }

    /// The differences from another question, one line each.
    fn changes_to(&self, now: &Self, question: &Question) -> Vec<String> {
        let mut changes = Vec::new();
        if self.rubric != now.rubric {
            let what = if question.scorer().is_some() {
                "command of the scorer"
            } else {
                "rubric"
            };
            changes.push(format!("the {what} has changed"));
        }
        let mut files = compare_parts(&self.files, &now.files, |before, now| before == now);
        files.sort_by_key(|file| file.place);
        let changed = files.iter().map(|file| file.place);
        changes.extend(changed.map(|file| format!("`{file}` of the scorer has changed")));
        if self.judges != now.judges {
            changes.push(format!(
                "judges: {} → {}",
                self.judges.join(", "),
                now.judges.join(", ")
            ));
        }
        if self.samples != now.samples {
            changes.push(format!("samples: {} → {}", self.samples, now.samples));
        }
        if self.template != now.template {
            changes.push("this mcptest words the question differently".to_owned());
        }
        if self.evidence != now.evidence {
            changes.push(
                "the judged evidence has changed: the run was recorded again, or the judge \
            now sees more or less of it"
                    .to_owned(),
            );
        }
        changes
    }
}

impl Grade {
    /// The mean of the judges' scores.
    pub fn score(&self) -> f64 {
        mean(self.votes.iter().map(|vote| vote.score))
    }

    /// The grade with a digest of its contents.
    #[must_use]
    pub fn sealed(self) -> Self {
        let seal = Some(self.digest());
        Self { seal, ..self }
    }

    /// Returns true if it differs from the grade that was written into its file.
    pub(crate) fn is_edited(&self) -> bool {
        self.seal.as_ref() != Some(&self.digest())
    }

    fn digest(&self) -> String {
        let unsealed = Self {
            seal: None,
            ..self.clone()
        };
        digest_of_value(&serde_json::to_value(&unsealed).unwrap_or_default())
    }

    /// The tokens of all votes.
    pub fn tokens(&self) -> Tokens {
        let mut all = Tokens::default();
        self.votes.iter().for_each(|vote| all.add(vote.tokens));
        all
    }

    /// The cost of all votes, if each is known.
    pub fn cost_usd(&self) -> Option<f64> {
        self.votes.iter().map(|vote| vote.cost_usd).sum()
    }

    /// For each criterion in order: its name and its mean over the votes.
    pub fn criteria(&self) -> Vec<(String, f64)> {
        let answers = self.votes.iter().flat_map(|vote| &vote.answers);
        let names = distinct(answers.map(|answer| answer.name.as_str()));
        let of = |name: &str| {
            let answers = self.votes.iter().flat_map(|vote| &vote.answers);
            mean(
                answers
                    .filter(|answer| answer.name == name)
                    .map(|answer| answer.score),
            )
        };
        names
            .into_iter()
            .map(|name| (name.to_owned(), of(name)))
            .collect()
    }
}

/// The mean; 0 without values.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    if count == 0 {
        0.0
    } else {
        sum / f64::from(count)
    }
}
