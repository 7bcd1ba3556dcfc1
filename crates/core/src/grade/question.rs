//! Which questions do judges answer, which judges, and when does a run pass?

use super::rubric::Rubric;
use super::scorer::{INPUT, Scorer};
use super::{Asked, Evidence, Grade, TEMPLATE, Vote, mean};
use crate::digest::digest_of_value;
use crate::problem::{Problem, Span};
use crate::suite::read::{Block, Field};
use crate::suite::{Model, Suite};
use crate::words::distinct;
use serde_json::{Value, json};

/// Sums of scores are off by far less than a score.
pub(super) const SLACK: f64 = 1e-9;
/// Two of three is a quorum of 0.67.
const QUORUM_SLACK: f64 = 0.005;
const THRESHOLD: f64 = 0.7;
const ALIKE: f64 = 0.8;
const QUORUM: f64 = 0.5;
const MOST_SAMPLES: u64 = 25;

/// One check that models decide, or a program with numbers.
#[derive(Debug, Clone)]
pub struct Question {
    /// The question.
    pub asks: Asks,
    /// The judges. Empty for the suite's own judge.
    pub judges: Vec<Model>,
    /// The number of calls to each judge.
    pub samples: usize,
    /// The minimum score that passes.
    pub threshold: f64,
    /// The minimum share of judges that must pass the run.
    pub quorum: f64,
    /// The cost limit of the judges in dollars, over all runs of a test.
    pub max_cost_usd: Option<f64>,
    /// The part that they see.
    pub sees: Sees,
    /// True for advice, which does not change a verdict.
    pub is_advice: bool,
    /// The place of the question.
    pub span: Span,
    /// The providers that it names.
    pub(crate) providers: Vec<(String, Span)>,
}

/// The kind of question.
#[derive(Debug, Clone)]
pub enum Asks {
    /// Grades by a rubric.
    Rubric(Rubric),
    /// The similarity to this text: the cosine of the embeddings is the score.
    Similar(String),
    /// A program of the user's, for numbers.
    Scorer(Box<Scorer>),
}

/// The part that a judge sees.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sees {
    /// The task, the calls, their results and the messages.
    #[default]
    Run,
    /// Only the value at the target.
    Text,
}

/// `judge:` of a suite: the default judge.
#[derive(Debug, Clone)]
pub struct JudgeDefaults {
    /// The model.
    pub model: Model,
    /// The time limit of one answer.
    pub request_timeout_ms: Option<u64>,
    pub(crate) providers: Vec<(String, Span)>,
}

impl JudgeDefaults {
    pub(crate) fn read(field: &mut Field<'_>) -> Option<Self> {
        field.try_block(|block: &mut Block<'_>| {
            let mut providers = Vec::new();
            let doc = "The default judge, for checks that do not name one: a model id, or \
            {provider, id}";
            let model = block.required("model", doc, |f| Model::read(f, &mut providers));
            let doc = "The time limit for one answer of a judge, such as `60s` [default: 120s]";
            let request_timeout_ms = block.optional("request_timeout", doc, |f| f.limit_ms());
            Some(Self {
                model: model?,
                request_timeout_ms,
                providers,
            })
        })
    }
}

/// The judges that a block may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NamedJudges {
    /// One judge.
    Judge,
    /// Several jurors.
    Jury,
    /// A judge or jurors.
    Either,
}

impl Question {
    /// `llm-judge`: a string, or a map.
    pub(crate) fn read_judge(field: &mut Field<'_>) -> Option<Self> {
        let span = field.span();
        field.shapes(
            "a rubric, or {rubric, threshold, model, samples}",
            |shapes| {
                shapes.text(|f| Some(Self::new(Asks::Rubric(Rubric::from_text(f.name()?)), span)));
                shapes.block(|block| Self::read_block(block, NamedJudges::Judge, span));
            },
        )
    }

    /// `llm-jury`: a map.
    pub(crate) fn read_jury(field: &mut Field<'_>) -> Option<Self> {
        let span = field.span();
        field.try_block(|block| Self::read_block(block, NamedJudges::Jury, span))
    }

    /// `similar`: a map.
    pub(crate) fn read_similar(field: &mut Field<'_>) -> Option<Self> {
        let span = field.span();
        field.try_block(|block| {
            let to = block.required("to", "The text to compare with", |f| f.name());
            let mut providers = Vec::new();
            let doc = "The model that embeds both texts, such as `text-embedding-3-small`, or \
                {provider, id}";
            let model = block.required("model", doc, |f| Model::read(f, &mut providers));
            let threshold = read_threshold(block, ALIKE);
            let (judges, sees) = (vec![model?], Sees::Text);
            let asks = Asks::Similar(to?);
            Some(Self {
                judges,
                threshold: threshold?,
                sees,
                providers,
                ..Self::new(asks, span)
            })
        })
    }

    /// A question to the suite's judge that does not change a verdict: yes, or what to look at.
    pub(crate) fn for_advice(text: &str, span: Span) -> Self {
        let rubric = Rubric {
            strict: true,
            ..Rubric::from_text(text)
        };
        Self {
            is_advice: true,
            ..Self::new(Asks::Rubric(rubric), span)
        }
    }

    pub(super) fn new(asks: Asks, span: Span) -> Self {
        Self {
            asks,
            judges: Vec::new(),
            samples: 1,
            threshold: THRESHOLD,
            quorum: QUORUM,
            max_cost_usd: None,
            sees: Sees::Run,
            is_advice: false,
            span,
            providers: Vec::new(),
        }
    }

    /// Reads the keys of a judge, of a jury, or of a block that accepts both.
    pub(crate) fn read_block(
        block: &mut Block<'_>,
        named: NamedJudges,
        span: Span,
    ) -> Option<Self> {
        let rubric = block.required("rubric", "The rubric", Rubric::read);
        let mut providers = Vec::new();
        let judges = read_judges(block, named, &mut providers);
        let threshold = read_threshold(block, THRESHOLD);
        let samples = block
            .optional(
                "samples",
                "The number of calls to each judge; their mean counts [default: 1]",
                |f| f.whole(1..=MOST_SAMPLES),
            )
            .unwrap_or(1);
        let mut question = Self::new(Asks::Rubric(Rubric::from_text("")), span);
        if named != NamedJudges::Judge {
            question.read_of_jury(block, named);
        }
        let sees = read_sees(block);
        let rubric = rubric?;
        if let (Some(tree), Some(threshold)) = (&rubric.tree, threshold) {
            lint_tree(block, tree.range(), threshold);
        }
        Some(Self {
            asks: Asks::Rubric(rubric),
            judges,
            samples: samples as usize,
            threshold: threshold?,
            sees,
            providers,
            ..question
        })
    }

    fn read_of_jury(&mut self, block: &mut Block<'_>, named: NamedJudges) {
        let doc = "The minimum share of jurors, from 0 to 1, that must pass it [default: 0.5]";
        self.quorum = block
            .optional("quorum", doc, |f| f.number(0.0..=1.0))
            .unwrap_or(QUORUM);
        let doc = "The maximum cost of the judges in dollars, over all runs of the test; no judge \
        is called after that (exit code 5)";
        self.max_cost_usd = block.optional("max_cost", doc, |f| f.number(0.0..=f64::MAX));
        let span = block.key_span("quorum");
        let problem = if span.is_some() && self.quorum == 0.0 {
            Problem::error("with a quorum of 0, everything passes")
                .help("write the share that must agree, such as 0.67")
        } else if span.is_some() && named == NamedJudges::Either && !block.has("jurors") {
            Problem::error("`quorum` has no effect without `jurors:`")
                .help("remove it, or name jurors")
        } else {
            return;
        };
        block.report(problem.at(span.unwrap_or_default()));
    }

    /// The judges: the check's, otherwise the suite's.
    pub fn judges_of<'s>(&'s self, suite: &'s Suite) -> Vec<&'s Model> {
        if self.scorer().is_some() {
            return Vec::new();
        }
        if self.judges.is_empty() {
            return suite.judge.iter().map(|judge| &judge.model).collect();
        }
        self.judges.iter().collect()
    }

    /// The question about this evidence.
    pub fn asked(&self, suite: &Suite, evidence: &Evidence) -> Asked {
        let rubric = match &self.asks {
            Asks::Rubric(rubric) => serde_json::to_value(rubric).unwrap_or_default(),
            Asks::Similar(to) => Value::from(to.as_str()),
            Asks::Scorer(scorer) => scorer.program.template(),
        };
        Asked {
            rubric: digest_of_value(&rubric),
            judges: self
                .judges_of(suite)
                .into_iter()
                .map(Model::label)
                .collect(),
            samples: self.samples,
            template: if self.scorer().is_some() {
                INPUT
            } else {
                TEMPLATE
            },
            evidence: evidence.digest(),
            files: self
                .scorer()
                .map(|scorer| scorer.program.digests.clone())
                .unwrap_or_default(),
        }
    }

    /// The number of requests for one run, if every answer is valid.
    pub fn calls(&self, suite: &Suite) -> usize {
        let judges = self.judges_of(suite).len() * self.samples;
        match &self.asks {
            Asks::Rubric(rubric) => judges * rubric.sheets().len(),
            Asks::Similar(_) | Asks::Scorer(_) => judges,
        }
    }

    /// Returns true if one judge passes it with these votes.
    fn passes(&self, votes: &[&Vote]) -> bool {
        let is_met = |vote: &&Vote| match &self.asks {
            Asks::Rubric(rubric) => rubric.unmet(&vote.answers, self.threshold).next().is_none(),
            Asks::Similar(_) | Asks::Scorer(_) => true,
        };
        mean(votes.iter().map(|vote| vote.score)) >= self.threshold - SLACK
            && votes.iter().all(is_met)
    }

    /// The number of judges that pass it, and the number of judges.
    pub fn tally(&self, grade: &Grade) -> (usize, usize) {
        let models = distinct(grade.votes.iter().map(|vote| vote.model.as_str()));
        let of = |model: &str| {
            grade
                .votes
                .iter()
                .filter(|vote| vote.model == model)
                .collect::<Vec<_>>()
        };
        (
            models
                .iter()
                .filter(|model| self.passes(&of(model)))
                .count(),
            models.len(),
        )
    }

    /// Returns true if it passes.
    pub fn holds(&self, grade: &Grade) -> bool {
        let (passed, of) = self.tally(grade);
        of > 0 && passed as f64 / of as f64 >= self.quorum - QUORUM_SLACK
    }

    /// The reason for a grade, in one sentence: the numbers, and the words of a decisive judge.
    pub fn explain(&self, grade: &Grade) -> String {
        let mut said = self.explain_score(grade);
        let Some(vote) = self.telling_vote(grade) else {
            return said;
        };
        if let Asks::Rubric(rubric) = &self.asks {
            let unmet: Vec<&str> = rubric.unmet(&vote.answers, self.threshold).collect();
            if !unmet.is_empty() {
                said.push_str(&format!("; required and not met: {}", unmet.join(", ")));
            }
        }
        let lowest = vote
            .answers
            .iter()
            .min_by(|one, other| one.score.total_cmp(&other.score));
        if let Some(answer) = lowest {
            said.push_str(&format!(
                "; {} about {}: {}",
                vote.model, answer.name, answer.reason
            ));
        }
        said
    }

    /// The score and the minimum, with the votes.
    fn explain_score(&self, grade: &Grade) -> String {
        let score = shown(grade.score());
        let (passed, of) = self.tally(grade);
        if of > 1 {
            let quorum = shown(self.quorum);
            return format!(
                "{passed} of {of} jurors let it pass, {quorum} needed; mean score {score}"
            );
        }
        let said = format!("{score} of at least {} needed", shown(self.threshold));
        if grade.votes.len() > 1 {
            let scores: Vec<String> = grade.votes.iter().map(|vote| shown(vote.score)).collect();
            return format!("{said} (samples: {})", scores.join(", "));
        }
        said
    }

    /// The best vote of a passed grade, otherwise the worst.
    fn telling_vote<'g>(&self, grade: &'g Grade) -> Option<&'g Vote> {
        let by_score = |one: &&Vote, other: &&Vote| one.score.total_cmp(&other.score);
        if self.holds(grade) {
            grade.votes.iter().max_by(by_score)
        } else {
            grade.votes.iter().min_by(by_score)
        }
    }
}

/// A score with at most two decimals.
pub(super) fn shown(score: f64) -> String {
    let text = format!("{score:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Reports a tree whose leaves all pass, or all fail.
fn lint_tree(block: &mut Block<'_>, (lowest, highest): (f64, f64), threshold: f64) {
    if lowest >= threshold - SLACK {
        let message = format!(
            "every branch of the tree scores at least {}, but {} passes: this cannot fail",
            shown(lowest),
            shown(threshold)
        );
        let help = "give the answers that are not good enough a score below the threshold";
        block.report(Problem::warning(message).help(help));
    } else if highest < threshold - SLACK {
        let message = format!(
            "every branch of the tree scores at most {}, but {} is needed to pass",
            shown(highest),
            shown(threshold)
        );
        block.report(Problem::error(message).help("give the best answers a score that passes"));
    }
}

/// The models that `model:` and `jurors:` name.
fn read_judges(
    block: &mut Block<'_>,
    named: NamedJudges,
    providers: &mut Vec<(String, Span)>,
) -> Vec<Model> {
    block.at_most_one_of(&["model", "jurors"]);
    let mut judges = Vec::new();
    if named != NamedJudges::Jury {
        let doc = "The judge's model [default: the suite's `judge:`]";
        judges.extend(block.optional("model", doc, |f| Model::read(f, providers)));
    }
    if named != NamedJudges::Judge {
        let jurors = read_jurors(block, named, providers);
        judges.extend(jurors.into_iter().flatten());
    }
    judges
}

fn read_sees(block: &mut Block<'_>) -> Sees {
    let doc = "`run` (the default): the task, the calls, their results and the text; `text`: the text alone";
    let words = [("run", Sees::Run), ("text", Sees::Text)];
    block.or_default("sees", doc, |f| f.choice("what a judge sees", &words))
}

fn read_threshold(block: &mut Block<'_>, default: f64) -> Option<f64> {
    let doc = format!("The minimum score, from 0 to 1, to pass [default: {default}]");
    let threshold = block.optional("threshold", &doc, |f| f.number(0.0..=1.0));
    if threshold == Some(0.0) {
        let problem = Problem::error("with a threshold of 0, everything passes")
            .help("write the lowest score that is good enough, such as 0.7");
        block.report_at("threshold", problem);
        return None;
    }
    let is_bad = threshold.is_none() && block.has("threshold");
    if is_bad {
        None
    } else {
        Some(threshold.unwrap_or(default))
    }
}

fn read_jurors(
    block: &mut Block<'_>,
    named: NamedJudges,
    providers: &mut Vec<(String, Span)>,
) -> Option<Vec<Model>> {
    let doc = "The models that judge, each with one vote";
    let mut read = |f: &mut Field<'_>| f.list(|f| read_juror(f, providers));
    let jurors = if named == NamedJudges::Jury {
        block.required("jurors", doc, &mut read)
    } else {
        block.optional("jurors", doc, &mut read)
    }?;
    let twice = (1..jurors.len()).find(|at| jurors[..*at].contains(&jurors[*at]));
    let problem = match twice {
        Some(at) => Problem::error(format!(
            "the juror `{}` is listed twice",
            jurors[at].label()
        ))
        .help("each model has one vote; to call it more often, write `samples:`"),
        None if jurors.is_empty() => Problem::error("`jurors:` is empty"),
        None => return Some(jurors),
    };
    block.report_at("jurors", problem);
    None
}

fn read_juror(field: &mut Field<'_>, providers: &mut Vec<(String, Span)>) -> Option<Model> {
    let mut of_block = Vec::new();
    let juror = field.shapes("a model's id, or {model}", |shapes| {
        shapes.text(|f| {
            f.name().map(|id| Model {
                id,
                ..Model::default()
            })
        });
        shapes.block(|b| {
            b.required("model", "The model that judges", |f| {
                Model::read(f, &mut of_block)
            })
        });
    });
    providers.extend(of_block);
    juror
}

/// The problem of a check without a judge.
pub(crate) fn without_judge(question: &Question) -> Problem {
    let here = if question.is_advice {
        ""
    } else {
        "`model:` here, or "
    };
    let help = json!({ "model": "claude-sonnet-4-5" }).to_string();
    Problem::error("no judge is given for this")
        .at(question.span)
        .help(format!(
            "write {here}a top-level `judge: {help}` for the whole suite"
        ))
}
