//! What does a judge check: a text, weighted criteria, or a tree of questions?

use super::Answer;
use crate::problem::Problem;
use crate::suite::read::{Block, Field};
use serde::Serialize;
use std::collections::BTreeSet;

/// The requirements on a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rubric {
    /// The criteria. A free text is one criterion. Empty for a tree.
    pub criteria: Vec<Criterion>,
    /// The questions that lead to a score.
    pub tree: Option<Tree>,
    /// True if each criterion is only met or not met.
    pub strict: bool,
}

/// One thing to judge.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Criterion {
    /// Its name in reports.
    pub name: String,
    /// The text for the judge.
    pub text: String,
    /// The weight.
    pub weight: f64,
    /// True if the rubric fails when this criterion is below the threshold.
    pub required: bool,
}

/// A question with an answer of yes or no, or the score that answers lead to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tree {
    /// A question.
    Ask {
        /// The question.
        ask: String,
        /// The branch for yes.
        yes: Box<Tree>,
        /// The branch for no.
        no: Box<Tree>,
    },
    /// The end.
    Score(f64),
}

/// The keys of a rubric, which has exactly one of them.
const KEYS: [&str; 3] = ["text", "criteria", "tree"];
/// The name of a rubric that is one free text.
const WHOLE: &str = "rubric";
/// More questions fit into no prompt that a judge reads with care.
const MOST: usize = 100;

impl Rubric {
    /// A rubric that is one text.
    pub fn from_text(text: impl Into<String>) -> Self {
        let whole = Criterion {
            name: WHOLE.to_owned(),
            text: text.into(),
            weight: 1.0,
            required: false,
        };
        Self {
            criteria: vec![whole],
            tree: None,
            strict: false,
        }
    }

    pub(crate) fn read(field: &mut Field<'_>) -> Option<Self> {
        field.define("rubric", |field| {
            field.shapes("a string, or {criteria} or {tree}", |shapes| {
                shapes.text(|f| f.name().map(Self::from_text));
                shapes.block(Self::read_block);
            })
        })
    }

    fn read_block(block: &mut Block<'_>) -> Option<Self> {
        block.at_most_one_of(&KEYS);
        let text = block.optional("text", "The rubric as one text", |f| f.name());
        let criteria = block.optional("criteria", "The criteria, each judged separately", |f| {
            f.list(Criterion::read)
        });
        let tree = block.optional(
            "tree",
            "Questions of yes and no that lead to a score",
            Tree::read,
        );
        let strict = block.flag(
            "strict",
            "Each criterion is met or not met, with nothing in between",
            false,
        );
        if block.is_describing() {
            return None;
        }
        let mut rubric = match text {
            Some(text) => Self {
                strict,
                ..Self::from_text(text)
            },
            None => Self {
                criteria: Vec::new(),
                tree,
                strict,
            },
        };
        if block.has("criteria") {
            rubric.criteria = Criterion::named(criteria?);
        }
        match rubric.problem_in(block) {
            Some(problem) => {
                block.report(problem);
                None
            }
            None => Some(rubric),
        }
    }

    /// The problem of the rubric with the keys of its block.
    fn problem_in(&self, block: &Block<'_>) -> Option<Problem> {
        if !KEYS.iter().any(|key| block.has(key)) {
            let problem = Problem::error("the rubric is empty");
            return Some(problem.help("write a string, `criteria:` or a `tree:`"));
        }
        let is_idle = self.strict && block.has("tree");
        self.problem().or_else(|| {
            is_idle.then(|| {
                Problem::error("`strict` has no effect beside a tree: its answers are yes or no")
            })
        })
    }

    /// The problem of the whole rubric.
    fn problem(&self) -> Option<Problem> {
        let mut names = BTreeSet::new();
        let twice = self
            .criteria
            .iter()
            .find(|criterion| !names.insert(&criterion.name));
        if let Some(twice) = twice {
            let problem = Problem::error(format!("two criteria are called `{}`", twice.name));
            return Some(problem.help("give each a unique `name:`"));
        }
        if self.criteria.is_empty() && self.tree.is_none() {
            return Some(Problem::error("`criteria:` is empty").help("write at least one"));
        }
        if !self.criteria.is_empty()
            && self
                .criteria
                .iter()
                .all(|criterion| criterion.weight == 0.0)
        {
            let problem = Problem::error("every criterion has the weight 0, so none counts");
            return Some(problem.help("give at least one a weight above 0"));
        }
        let questions = self
            .tree
            .as_ref()
            .map_or(self.criteria.len(), |tree| tree.questions().len());
        if questions == 0 {
            return Some(Problem::error("the tree asks no question").help("begin it with `ask:`"));
        }
        (questions > MOST).then(|| {
            Problem::error(format!(
                "{questions} questions are too many; the limit is {MOST}"
            ))
        })
    }

    /// The score of one judge's answers, from 0 to 1. `None` if one is missing.
    pub fn score(&self, answers: &[Answer]) -> Option<f64> {
        let of = |name: &str| {
            answers
                .iter()
                .find(|answer| answer.name == name)
                .map(|answer| answer.score)
        };
        if let Some(tree) = &self.tree {
            return tree.walk(&of, &mut 0);
        }
        let (mut sum, mut weights) = (0.0, 0.0);
        for criterion in &self.criteria {
            sum += criterion.weight * of(&criterion.name)?;
            weights += criterion.weight;
        }
        Some(sum / weights)
    }

    /// The required criteria that these answers do not bring to the threshold.
    pub fn unmet<'r>(
        &'r self,
        answers: &'r [Answer],
        threshold: f64,
    ) -> impl Iterator<Item = &'r str> {
        let is_low = move |name: &str| {
            answers.iter().any(|answer| {
                answer.name == name && answer.score < threshold - super::question::SLACK
            })
        };
        let required = self.criteria.iter().filter(|criterion| criterion.required);
        required
            .map(|criterion| criterion.name.as_str())
            .filter(move |name| is_low(name))
    }
}

impl Criterion {
    fn read(field: &mut Field<'_>) -> Option<Self> {
        field.shapes("a string, or {name, text, weight, required}", |shapes| {
            shapes.text(|f| {
                Some(Self {
                    name: String::new(),
                    text: f.name()?,
                    weight: 1.0,
                    required: false,
                })
            });
            shapes.block(|block| {
                let name =
                    block.optional("name", "The name in reports, as `eval.NAME`", |f| f.name());
                let text = block.required("text", "The text for the judge", |f| f.name());
                let doc = "The weight [default: 1]";
                let weight = block
                    .optional("weight", doc, |f| f.number(0.0..=1000.0))
                    .unwrap_or(1.0);
                let doc = "Fail the whole rubric if this criterion is below the threshold";
                let required = block.flag("required", doc, false);
                Some(Self {
                    name: name.unwrap_or_default(),
                    text: text?,
                    weight,
                    required,
                })
            });
        })
    }

    /// Names unnamed criteria by their position.
    fn named(mut criteria: Vec<Self>) -> Vec<Self> {
        for (number, criterion) in (1..).zip(&mut criteria) {
            if criterion.name.is_empty() {
                criterion.name = format!("criterion_{number}");
            }
        }
        criteria
    }
}

impl Tree {
    fn read(field: &mut Field<'_>) -> Option<Self> {
        field.define("rubric_tree", |field| field.try_block(Self::read_block))
    }

    fn read_block(block: &mut Block<'_>) -> Option<Self> {
        block.at_most_one_of(&["ask", "score"]);
        let score = block.optional("score", "The resulting score", |f| f.number(0.0..=1.0));
        let ask = block.optional("ask", "A question whose answer is yes or no", |f| f.name());
        let yes = block.optional("yes", "Where yes leads", Self::read);
        let no = block.optional("no", "Where no leads", Self::read);
        if block.is_describing() {
            return None;
        }
        if let Some(score) = score.filter(|_| !block.has("yes") && !block.has("no")) {
            return Some(Self::Score(score));
        }
        if ["ask", "yes", "no"].iter().any(|key| !block.has(key)) {
            let problem = Problem::error(
                "a question needs `ask:`, `yes:` and `no:`; the end of a branch, `score:`",
            );
            block.report(problem);
            return None;
        }
        Some(Self::Ask {
            ask: ask?,
            yes: Box::new(yes?),
            no: Box::new(no?),
        })
    }

    /// The lowest and the highest score that answers can lead to.
    pub(super) fn range(&self) -> (f64, f64) {
        match self {
            Self::Score(score) => (*score, *score),
            Self::Ask { yes, no, .. } => {
                let ((low, high), (other_low, other_high)) = (yes.range(), no.range());
                (low.min(other_low), high.max(other_high))
            }
        }
    }

    /// Every question, in order of number.
    pub fn questions(&self) -> Vec<&str> {
        match self {
            Self::Score(_) => Vec::new(),
            Self::Ask { ask, yes, no } => {
                let mut all = vec![ask.as_str()];
                all.extend(yes.questions());
                all.extend(no.questions());
                all
            }
        }
    }

    /// The score for the answers. `before` counts the preceding questions.
    fn walk(&self, answer: &dyn Fn(&str) -> Option<f64>, before: &mut usize) -> Option<f64> {
        match self {
            Self::Score(score) => Some(*score),
            Self::Ask { yes, no, .. } => {
                *before += 1;
                let is_yes = answer(&question_name(*before))? >= 0.5;
                if is_yes {
                    return yes.walk(answer, before);
                }
                *before += yes.questions().len();
                no.walk(answer, before)
            }
        }
    }
}

/// The name of a tree's question by its number.
pub(super) fn question_name(number: usize) -> String {
    format!("question_{number}")
}
