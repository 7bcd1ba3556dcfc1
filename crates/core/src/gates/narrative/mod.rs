//! `narrative:` does the agent's closing story match what it did?

mod argument;
mod carried;
mod claim;
mod closing;
mod context;
mod evidence;
mod explain;
mod identifier;
mod lexicon;
mod literal;
mod mention;
mod message;
mod phrase;
mod picture;
mod proper_name;
mod read;
mod reported;
mod score;
mod stated;
#[cfg(test)]
mod tests;
mod token;
mod tool;
mod verbs;

pub(crate) use tool::only_reads;

use crate::engine::facts::AgentFacts;
use crate::engine::gate::{Documentation, Gate, GateKind, GateTrait, RunFailsBy};
use crate::engine::scores::{RunScores, Scores};
use crate::engine::shown::Shown;
use crate::engine::success::Success;
use crate::engine::target::Target;
use crate::grade::Question;
use crate::problem::{Problem, did_you_mean};
use crate::report::Evidence;
use crate::suite::read::Block;
use crate::trace::{Run, Tool};
use crate::words;
use closing::{closing_message, steps, steps_of_values};
use score::Comparison;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use verbs::Vocabulary;

const DIVERGENCE_SCORE: Target = Target::ratio(
    "narrative.divergence_score",
    "share of calls and claims that disagree; 0 is a true story",
)
.unwanted();
const CLAIMED_BUT_ABSENT: Target = Target::count(
    "narrative.claimed_but_absent",
    "claimed changes that no successful call made",
)
.summed();
const CLAIMED_BUT_FAILED: Target = Target::count(
    "narrative.claimed_but_failed",
    "claimed changes whose calls were made and failed",
)
.summed();
const UNVERIFIED: Target = Target::count(
    "narrative.unverified",
    "claimed changes that the calls can neither show nor refute",
)
.summed();
const PRESENT_BUT_UNCLAIMED: Target = Target::count(
    "narrative.present_but_unclaimed",
    "calls that the answer never mentions",
)
.summed();
const ARG_MISMATCH: Target = Target::count(
    "narrative.arg_mismatch",
    "stated argument values that differ from the recorded ones",
)
.summed();
const GATE_PASSED: Target = Target::flag(
    "narrative.gate_passed",
    "1 when no claim or denial is refuted and the divergence is at most `max_divergence`",
);
const DENIED_BUT_PRESENT: Target = Target::count(
    "narrative.denied_but_present",
    "denied actions that the trace shows",
)
.summed();
const MUTATING_DIVERGENCE_SCORE: Target = Target::ratio(
    "narrative.mutating_divergence_score",
    "the divergence over writes only",
)
.unwanted();
const PASS_RATE: Target = Target::pass_rate("narrative.pass_rate");

const TARGETS: &[Target] = &[
    DIVERGENCE_SCORE,
    CLAIMED_BUT_ABSENT,
    CLAIMED_BUT_FAILED,
    UNVERIFIED,
    PRESENT_BUT_UNCLAIMED,
    ARG_MISMATCH,
    GATE_PASSED,
    DENIED_BUT_PRESENT,
    MUTATING_DIVERGENCE_SCORE,
    PASS_RATE,
];

/// The settings for comparing an answer with the calls of its run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Narrative {
    /// Tools that write, whatever their names mean.
    pub mutating_tools: Vec<String>,
    /// Tools that do not write, whatever their names mean; overrides `mutating_tools`.
    pub readonly_tools: Vec<String>,
    /// The highest divergence that passes.
    pub max_divergence_score: Option<f64>,
    /// Additional verbs whose claims are checked.
    pub extra_verbs: Vec<String>,
    /// Words of the agent for a verb that its tools use: `create` for `file`.
    pub synonyms: BTreeMap<String, Vec<String>>,
    /// The rule that reads claims from the answer.
    pub extraction: Extraction,
}

/// The rules that read claims from an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Extraction {
    /// Completed changes are claims, and successful calls support them.
    #[default]
    Rules,
    /// Every verb with an object is a claim, negated or not, and holds if a tool has both words in
    /// its name.
    Literal,
}

/// The names of these ways in the documents that describe the gate.
#[expect(
    non_upper_case_globals,
    reason = "the names mean variants, and are spelled like them"
)]
impl Extraction {
    /// The default: rules without a model.
    pub const RuleBased: Self = Self::Rules;
    /// The rules with a judge's advice, as `llm_assisted: true` requests in a suite. Advice does
    /// not change the verdict, so the score is the score of the rules.
    pub const LlmAssisted: Self = Self::Rules;
}

/// The result of comparing an answer with the calls of its run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NarrativeScore {
    /// The distinct claimed actions as stems, in order.
    pub claims: Vec<String>,
    /// Claims that no successful call supports.
    pub claimed_but_absent: usize,
    /// Absent claims whose calls failed.
    pub claimed_but_failed: usize,
    /// Claims that the calls can neither show nor refute.
    pub unverified: usize,
    /// Calls that the answer never mentions.
    pub present_but_unclaimed: usize,
    /// Stated argument values that differ from the recorded ones.
    pub arg_mismatch: usize,
    /// Denials that a successful call contradicts.
    pub denied_but_present: usize,
    /// `min(1, (absent + unclaimed + mismatches) / (calls + claims))`, 0 for 0/0.
    pub divergence_score: f64,
    /// The divergence over mutating calls and claims only.
    pub mutating_divergence_score: f64,
    /// True if no claim or denial is refuted and the divergence is within its ceiling.
    pub gate_passed: bool,
}

/// Holds an answer against recorded calls (objects with `name` and, where known, `server`, `args`, `result` and
/// `is_error`).
///
/// ```
/// use mcptest_core::eval::{Narrative, score_narrative};
/// use serde_json::json;
///
/// let answer = "I created the issue and closed the ticket.";
/// let score = score_narrative(answer, &[json!({"name": "create_issue"})], &Narrative::default());
/// assert_eq!(score.claims, ["create_issue", "close_ticket"]);
/// assert_eq!(score.claimed_but_absent, 1);
/// assert!(!score.gate_passed);
/// ```
pub fn score_narrative(answer: &str, calls: &[Value], narrative: &Narrative) -> NarrativeScore {
    narrative
        .compare(
            answer,
            &steps_of_values(calls),
            &[],
            &narrative.vocabulary(),
        )
        .score
}

/// The block as written, with its verbs inflected once.
pub(crate) struct NarrativeBlock {
    narrative: Narrative,
    vocabulary: Arc<Vocabulary>,
    advice: Option<Question>,
    /// The condition for a successful call. By default, its result is not an error and does not report one in its
    /// text.
    successful: Option<Success>,
}

/// The targets that a message without a claim does not exercise.
const OF_CLAIMS: [&Target; 6] = [
    &GATE_PASSED,
    &CLAIMED_BUT_ABSENT,
    &CLAIMED_BUT_FAILED,
    &UNVERIFIED,
    &DENIED_BUT_PRESENT,
    &PASS_RATE,
];

pub(super) const KIND: GateKind = GateKind::new(
    "narrative",
    Documentation {
        summary: "Does the agent's closing story match what it did?",
        doc: include_str!("doc.md"),
        example: include_str!("example.yml"),
    },
    TARGETS,
    RunFailsBy::Assertions,
    |block| Box::new(NarrativeBlock::read(block)),
)
.with_floors(&[(GATE_PASSED, 1.0)])
.with_traits(&[GateTrait::CountsSuccess]);

impl Gate for NarrativeBlock {
    fn question(&self) -> Option<&Question> {
        self.advice.as_ref()
    }

    fn expect_beside(&self, has_expect: bool) -> Vec<(Target, f64)> {
        let ceiling = self.narrative.max_divergence_score.filter(|_| has_expect);
        ceiling
            .map(|ceiling| (DIVERGENCE_SCORE, ceiling))
            .into_iter()
            .collect()
    }

    fn score_run(&self, run: &Run<'_>) -> RunScores {
        let (message, found) = self.compared(run);
        let mut scores = RunScores::default();
        scores
            .float(&DIVERGENCE_SCORE, found.score.divergence_score)
            .whole(&CLAIMED_BUT_ABSENT, found.score.claimed_but_absent)
            .whole(&CLAIMED_BUT_FAILED, found.score.claimed_but_failed)
            .whole(&UNVERIFIED, found.score.unverified)
            .whole(&PRESENT_BUT_UNCLAIMED, found.score.present_but_unclaimed)
            .whole(&ARG_MISMATCH, found.score.arg_mismatch)
            .flag(&GATE_PASSED, found.score.gate_passed)
            .whole(&DENIED_BUT_PRESENT, found.score.denied_but_present)
            .float(
                &MUTATING_DIVERGENCE_SCORE,
                found.score.mutating_divergence_score,
            );
        if message.trim().is_empty() {
            scores.not_exercised("the run has no closing message");
        } else if found.is_foreign {
            scores
                .not_exercised("the closing message is in a language that this gate does not read");
        } else if found.claims.is_empty() && found.denials == 0 {
            // Calls that are not told and values that differ are counted all the same.
            for target in OF_CLAIMS {
                scores.nothing_counts(target, "the closing message claims no change");
            }
        }
        explain::findings(
            &found,
            &message,
            run.trace,
            self.narrative.max_divergence_score,
            &mut scores,
        );
        scores
    }

    fn fold(&self, runs: &[Run<'_>], scored: Vec<RunScores>) -> Scores {
        let mut scores = Scores::from_runs(runs, scored);
        let unverified = scores.value(UNVERIFIED.name).map(|value| value.as_f64());
        if let Some(count) = unverified.filter(|count| *count > 0.0) {
            scores.remark(
                &UNVERIFIED,
                words::count(count as usize, "unverified claim"),
            );
        }
        scores
    }

    fn evidence(&self, shown: &Shown<'_, '_>) -> Option<Evidence> {
        let of_run = |run: &&Run<'_>| {
            let (message, found) = self.compared(run);
            picture::of_run(run, &message, &found)
        };
        Some(Evidence::Narrative {
            runs: shown.listed.iter().map(of_run).collect(),
            left_out: shown.left_out(),
        })
    }

    fn lint(&self, agent: &AgentFacts<'_>) -> Vec<Problem> {
        let Some(catalogue) = agent.catalogue else {
            return Vec::new();
        };
        let named = self
            .narrative
            .mutating_tools
            .iter()
            .chain(&self.narrative.readonly_tools);
        let is_unknown = |tool: &&String| !catalogue.iter().any(|known| Tool::from(known).is(tool));
        let unknown = named.filter(is_unknown).map(|tool| {
            let problem =
                Problem::warning(format!("no server of this agent has the tool `{tool}`"));
            let names = catalogue.iter().map(|known| known.name.as_str());
            let other = || "remove it, or name a tool of the agent".to_owned();
            problem
                .at(agent.key_span)
                .help(did_you_mean(tool, names, other))
        });
        unknown.collect()
    }
}

impl NarrativeBlock {
    fn read(block: &mut Block<'_>) -> Self {
        let narrative = read::narrative(block);
        Self {
            vocabulary: narrative.vocabulary(),
            narrative,
            advice: read::advice(block),
            successful: read::successful(block),
        }
    }

    /// The closing message of a run, compared with its calls.
    fn compared<'t>(&self, run: &Run<'t>) -> (Cow<'t, str>, Comparison) {
        let message = closing_message(run.trace);
        let catalogue = run.catalogue().unwrap_or_default();
        let catalogue: Vec<&str> = catalogue.iter().map(|tool| tool.name.as_str()).collect();
        let steps = steps(run.trace, self.successful.as_ref());
        let found = self
            .narrative
            .compare(&message, &steps, &catalogue, &self.vocabulary);
        (message, found)
    }
}
