//! `eval:` how do judges grade each run by a rubric?

use crate::engine::gate::{Documentation, Gate, GateKind, GateTrait, RunFailsBy};
use crate::engine::scores::{RunScores, Scores};
use crate::engine::target::Target;
use crate::grade::{Grade, NamedJudges, Question};
use crate::report::Number;
use crate::suite::read::Block;
use crate::trace::Run;
use crate::words::count;
use mcptest_stats::{CONFIDENCE, clopper_pearson, krippendorff_alpha};

const PASSED: Target = Target::flag(
    "eval.passed",
    "1 when enough judges let the run pass; the worst run decides",
);
const SCORE: Target = Target::ratio(
    "eval.score",
    "The mean score of a run's judges; the worst run decides",
);
const AGREEMENT: Target = Target::ratio("eval.agreement",
        "Krippendorff's alpha of the judges over the runs, below 0 as 0; not measured with fewer than two votes for a run",
    ).pooled();
const PASS_RATE: Target = Target::pass_rate("eval.pass_rate");

const TARGETS: &[Target] = &[PASSED, SCORE, AGREEMENT, PASS_RATE];

pub(super) const KIND: GateKind = GateKind::new(
    "eval",
    Documentation {
        summary: "Which scores do judges give each run, by a rubric?",
        doc: include_str!("doc.md"),
        example: include_str!("example.yml"),
    },
    TARGETS,
    RunFailsBy::Assertions,
    |block| Box::new(EvalBlock::read(block)),
)
.with_floors(&[(PASSED, 1.0)])
.with_traits(&[GateTrait::AsksJudges]);

/// The block; empty if it was refused.
struct EvalBlock(Option<Question>);

impl EvalBlock {
    fn read(block: &mut Block<'_>) -> Self {
        let span = block.key_span("rubric").unwrap_or_default();
        Self(Question::read_block(block, NamedJudges::Either, span))
    }
}

/// The recorded grade of a run.
fn grade_of<'a>(run: &Run<'a>) -> Option<&'a Grade> {
    let found = run.grades.iter().find(|found| found.check == KIND.key)?;
    found.grade.as_ref().ok()
}

impl Gate for EvalBlock {
    fn question(&self) -> Option<&Question> {
        self.0.as_ref()
    }

    fn score_run(&self, run: &Run<'_>) -> RunScores {
        let mut scores = RunScores::default();
        if let Some((question, grade)) = self.0.as_ref().zip(grade_of(run)) {
            let holds = question.holds(grade);
            scores.flag(&PASSED, holds).float(&SCORE, grade.score());
            if !holds {
                scores.find(question.explain(grade));
            }
        }
        scores
    }

    fn fold(&self, runs: &[Run<'_>], scored: Vec<RunScores>) -> Scores {
        let mut scores = Scores::from_runs(runs, scored);
        let Some(question) = &self.0 else {
            return scores;
        };
        let grades: Vec<&Grade> = runs.iter().filter_map(grade_of).collect();
        scores.is_ungraded = grades.len() < runs.len();
        if scores.is_ungraded || grades.is_empty() {
            return scores;
        }
        let votes: Vec<Vec<f64>> = grades
            .iter()
            .map(|grade| grade.votes.iter().map(|vote| vote.score).collect())
            .collect();
        let agreement = agreement(&votes);
        scores.set(&AGREEMENT, agreement.map(Number::Float));
        scores.summary = Some(summary(question, &grades, agreement));
        scores.grades = grades.into_iter().cloned().collect();
        scores
    }
}

/// The agreement of the votes. It is 1 if all votes are equal.
fn agreement(votes: &[Vec<f64>]) -> Option<f64> {
    let paired = votes.iter().filter(|unit| unit.len() > 1).flatten();
    let first = paired.clone().next()?;
    let is_one = paired
        .clone()
        .all(|vote| (vote - first).abs() < f64::EPSILON);
    let alpha = if is_one {
        Some(1.0)
    } else {
        krippendorff_alpha(votes)
    };
    alpha.map(|alpha| alpha.clamp(0.0, 1.0))
}

/// `4 of 5 runs pass (95%: 0.28 to 0.99), mean score 0.81, agreement 0.9, $0.012`.
fn summary(question: &Question, grades: &[&Grade], agreement: Option<f64>) -> String {
    let (runs, passed) = (
        grades.len(),
        grades.iter().filter(|grade| question.holds(grade)).count(),
    );
    let mut said = format!("{passed} of {} let pass", count(runs, "run"));
    if let Some(bounds) = clopper_pearson(passed as u64, runs as u64, CONFIDENCE)
        .ok()
        .filter(|_| runs > 1)
    {
        said.push_str(&format!(
            " (95% interval {:.2} to {:.2})",
            bounds.lower, bounds.upper
        ));
    }
    let mean = grades.iter().map(|grade| grade.score()).sum::<f64>() / runs as f64;
    said.push_str(&format!(", mean score {mean:.2}"));
    if let Some(agreement) = agreement {
        said.push_str(&format!(", agreement {agreement:.2}"));
    }
    said
}
