//! `stability:` did the session hold up, and did the runs take the same path?

mod across;
mod aligned;
mod explain;
mod pairs;
mod score;
mod session;

pub use across::{Spread, StabilityAcross, StabilityError, agent_stability_across, spread};
pub use score::{StabilityFloors, StabilityReport, agent_stability, drift_flags};

use crate::engine::facts::AgentFacts;
use crate::engine::gate::{Documentation, Gate, GateKind, GateTrait, RunFailsBy};
use crate::engine::outlook::Outlook;
use crate::engine::scores::{RunScores, Scores};
use crate::engine::shown::Shown;
use crate::engine::target::Target;
use crate::problem::Problem;
use crate::report::evidence::Dimension as ShownDimension;
use crate::report::{Evidence, Number};
use crate::suite::read::Block;
use crate::trace::Run;
use explain::Explainer;
use pairs::Agreement;
use score::{Dimension, Measured, Premises};
use session::Session;

const SCORE: Target =
    Target::ratio("stability.score", "the mean of the runs' weakest scores").pooled();
const WEAKEST: Target = Target::ratio(
    "stability.weakest_score",
    "the lowest score of the worst run",
);
const VARIANCE: Target = Target::ratio(
    "stability.variance",
    "the population variance of the runs' weakest scores",
)
.pooled()
.unwanted()
.up_to(0.25);
const SIMILARITY: Target = Target::ratio(
    "stability.tool_sequence_similarity",
    "how alike the runs' tool sequences are",
)
.pooled();
const CONSISTENCY: Target = Target::ratio(
    "stability.argument_consistency",
    "how often runs gave the same tool at the same step the same arguments",
)
.pooled();
const ALIGNED: Target = Target::ratio(
    "stability.aligned_argument_consistency",
    "how often runs gave the same tool the same arguments, along the longest common subsequence \
    of their tools",
)
.pooled();
const EARLY_DIVERGENCE: Target = Target::flag(
    "stability.early_divergence",
    "1 when runs mostly diverge at their first or second call",
)
.pooled()
.unwanted();
const TOOL_USAGE: Target = Target::ratio(
    "stability.tool_usage_stability",
    "1 - (tools - 1) / (calls - 1), of the worst run",
);
const RESPONSE: Target = Target::ratio(
    "stability.response_consistency",
    "how even the turns' lengths are, in the worst run",
);
const REDUNDANCY: Target = Target::ratio(
    "stability.redundancy",
    "distinct calls over all calls, of the worst run",
);
const COST: Target = Target::ratio(
    "stability.cost_per_progress",
    "2000 over the tokens per distinct call, of the worst run",
);

const TARGETS: &[Target] = &[
    SCORE,
    WEAKEST,
    VARIANCE,
    SIMILARITY,
    CONSISTENCY,
    ALIGNED,
    EARLY_DIVERGENCE,
    TOOL_USAGE,
    RESPONSE,
    REDUNDANCY,
    COST,
];

impl Dimension {
    fn target(self) -> Target {
        match self {
            Self::ToolUsage => TOOL_USAGE,
            Self::Response => RESPONSE,
            Self::Redundancy => REDUNDANCY,
            Self::Cost => COST,
        }
    }
}

/// The assertions of `same_path: true`. With real agents, these floors pass nine of ten groups that
/// solve one task, and one in a hundred groups that solve different tasks.
const SAME_PATH: [(Target, f64); 2] = [(SIMILARITY, 0.5), (ALIGNED, 0.5)];

/// The block as written.
pub(crate) struct StabilityBlock {
    premises: Premises,
    /// True if the runs must take a similar path.
    is_same_path: bool,
}

pub(super) const KIND: GateKind = GateKind::new(
    "stability",
    Documentation {
        summary: "Did the session hold up, and did the runs take the same path?",
        doc: include_str!("doc.md"),
        example: include_str!("example.yml"),
    },
    TARGETS,
    RunFailsBy::Nothing,
    |block| Box::new(StabilityBlock::read(block)),
)
.with_floors(&[(WEAKEST, 0.5)])
.with_traits(&[GateTrait::ComparesRuns]);

impl StabilityBlock {
    fn read(block: &mut Block<'_>) -> Self {
        let doc = "Fail if the runs take different paths or give the same tools different \
        arguments";
        Self {
            is_same_path: block.flag("same_path", doc, false),
            premises: Premises::read(block),
        }
    }
}

/// The dimensions to measure, and the ones that count.
impl Premises {
    fn read(block: &mut Block<'_>) -> Self {
        let ignore_empty_turns = block.flag(
            "ignore_empty_turns",
            "Exclude turns without text from `response_consistency`",
            false,
        );
        let least_calls = block.optional(
            "min_calls_for_tool_usage",
            "The minimum number of calls to measure `tool_usage_stability` [default: 20, or 2 with `premises: none`]",
            |f| f.whole(0..=1_000_000),
        );
        let target_tokens = block.optional(
            "target_tokens",
            "Tokens that a distinct call may take before `cost_per_progress` falls [default: 2000]; makes it \
             part of the weakest score",
            |f| f.whole(1..=1_000_000_000),
        );
        let is_blanket = block.or_default(
            "premises",
            "`measured` counts only scores that the runs can show; `none` counts all four in every run",
            |field| {
                field.choice(
                    "a rule for premises",
                    &[("measured", false), ("none", true)],
                )
            },
        );
        if ignore_empty_turns && !is_blanket && !block.is_describing() {
            let problem = Problem::warning(
                "`ignore_empty_turns` has no effect: turns without text never count",
            );
            block.report_at(
                "ignore_empty_turns",
                problem.help("remove it, or set `premises: none`"),
            );
        }
        Self {
            is_blanket,
            ignore_empty_turns,
            min_calls_for_tool_usage: least_calls.map(|calls| calls as usize),
            target_tokens,
        }
    }

    /// Reports why a score has no data. The reason matters if the score is asserted.
    fn say_what_is_missing(&self, sessions: &[Session<'_>], scores: &mut Scores) {
        if sessions.iter().any(|session| session.tokens <= 0.0) {
            scores.nothing_counts(&COST, "a run records no tokens");
        }
        if self.is_blanket {
            if sessions
                .iter()
                .any(|session| session.turn_lengths.len() < 2)
            {
                scores.nothing_counts(&RESPONSE, "a run has fewer than two assistant turns");
            }
            return;
        }
        if sessions
            .iter()
            .any(|session| session.answer_lengths.len() < 3)
        {
            scores.nothing_counts(&RESPONSE, "a run has fewer than three answers");
        }
        if sessions.iter().any(|session| session.calls.len() < 2) {
            scores.nothing_counts(&REDUNDANCY, "a run has fewer than two calls");
        }
        let least = self.least_calls();
        if sessions.iter().any(|session| session.calls.len() < least) {
            let why = format!(
                "a run has fewer than {least} calls; `min_calls_for_tool_usage` changes that"
            );
            scores.nothing_counts(&TOOL_USAGE, why);
        }
    }
}

impl Gate for StabilityBlock {
    fn expect_beside(&self, _has_expect: bool) -> Vec<(Target, f64)> {
        if self.is_same_path {
            SAME_PATH.to_vec()
        } else {
            Vec::new()
        }
    }

    fn score(&self, runs: &[Run<'_>]) -> Scores {
        let sessions: Vec<Session<'_>> = runs
            .iter()
            .map(|run| Session::from_trace(run.trace))
            .collect();
        let measured: Vec<Measured> = sessions
            .iter()
            .map(|session| self.premises.measure(session))
            .collect();
        let weakest: Vec<f64> = measured.iter().map(|run| run.weakest).collect();
        let Ok(spread) = spread(&weakest) else {
            return Scores::default();
        };
        let mut scores = Scores::from_runs(runs, measured.iter().map(score_alone).collect());
        let agreement = pairs::compare(&sessions);
        set_spread(&spread, &mut scores);
        set_agreement(&agreement, &mut scores);
        say_what_is_not_compared(&sessions, &agreement, &mut scores);
        self.premises.say_what_is_missing(&sessions, &mut scores);
        let explainer = Explainer {
            runs,
            sessions: &sessions,
            measured: &measured,
            agreement: &agreement,
            premises: self.premises,
        };
        for low in explainer.low_scores_aside() {
            scores.remark(&low.target, low.message);
        }
        scores.findings = explainer.findings();
        scores
    }

    fn evidence(&self, shown: &Shown<'_, '_>) -> Option<Evidence> {
        let mut listed = shown.listed.clone();
        listed.sort_by_key(|run| run.number);
        let sessions: Vec<Session<'_>> = listed
            .iter()
            .map(|run| Session::from_trace(run.trace))
            .collect();
        let measured: Vec<Measured> = sessions
            .iter()
            .map(|session| self.premises.measure(session))
            .collect();
        let show = |dimension: Dimension| {
            let values = || measured.iter().filter_map(|run| run.value(dimension));
            let target = dimension.target();
            Some(ShownDimension {
                name: target.name.to_owned(),
                value: shown.target(&target)?,
                low: values().min_by(f64::total_cmp),
                high: values().max_by(f64::total_cmp),
            })
        };
        Some(Evidence::Stability {
            runs: listed.iter().map(|run| run.number).collect(),
            similarity: pairs::triangle(&sessions),
            mean: shown.target(&SIMILARITY)?,
            dimensions: Dimension::ALL.into_iter().filter_map(show).collect(),
            left_out: shown.left_out(),
        })
    }

    /// The similarity of the runs is open until the last run.
    fn outlook(
        &self,
        _target: &Target,
        _scores: &Scores,
        _runs: &[Run<'_>],
        _of: usize,
    ) -> Outlook {
        Outlook::Open
    }

    fn lint(&self, agent: &AgentFacts<'_>) -> Vec<Problem> {
        if agent.runs != 1 {
            return Vec::new();
        }
        let message = "`stability:` compares runs, but this agent has only one";
        vec![
            Problem::error(message)
                .at(agent.key_span)
                .help("set the agent's `runs:` to 2 or more"),
        ]
    }
}

fn set_spread(spread: &Spread, scores: &mut Scores) {
    scores
        .set(&SCORE, Some(Number::Float(spread.mean)))
        .set(&VARIANCE, Some(Number::Float(spread.variance)));
}

fn set_agreement(agreement: &Agreement, scores: &mut Scores) {
    scores
        .set(
            &SIMILARITY,
            Some(Number::Float(agreement.similarity.mean())),
        )
        .set(
            &CONSISTENCY,
            Some(Number::Float(agreement.consistency.mean())),
        )
        .set(&ALIGNED, Some(Number::Float(agreement.aligned.mean())))
        .set(
            &EARLY_DIVERGENCE,
            Some(Number::Int(i64::from(agreement.early_divergence()))),
        );
}

/// Explains why the runs have nothing to compare.
fn say_what_is_not_compared(sessions: &[Session<'_>], agreement: &Agreement, scores: &mut Scores) {
    if agreement.consistency.least.is_none() {
        scores.nothing_counts(
            &CONSISTENCY,
            "no two runs called the same tool at the same step",
        );
    }
    if agreement.aligned.least.is_none() {
        scores.nothing_counts(&ALIGNED, "no two runs called the same tool");
    }
    if sessions.iter().all(|session| session.calls.is_empty()) {
        scores.not_exercised = Some("no run made a call to compare".to_owned());
    } else if sessions.len() < 2 {
        scores.not_exercised = Some("there is only one run, so nothing is compared".to_owned());
    }
}

/// The numbers of one run, without other runs.
fn score_alone(measured: &Measured) -> RunScores {
    let mut scores = RunScores::default();
    scores.float(&WEAKEST, measured.weakest);
    for dimension in Dimension::ALL {
        if let Some(value) = measured.value(dimension) {
            scores.float(&dimension.target(), value);
        }
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Trace;
    use serde_json::{Value, json};

    const BLANKET: Premises = Premises {
        is_blanket: true,
        ignore_empty_turns: false,
        min_calls_for_tool_usage: None,
        target_tokens: None,
    };
    const MEASURED: Premises = Premises {
        is_blanket: false,
        ..BLANKET
    };

    fn run(calls: &[(&str, u32)], turns: &[usize], tokens: u64) -> Value {
        let call = |(name, i): &(&str, u32)| json!({ "name": name, "args": { "i": i } });
        let turn = |&length: &usize| json!({ "role": "assistant", "content": "x".repeat(length) });
        json!({
            "tool_calls": calls.iter().map(call).collect::<Vec<_>>(),
            "conversation": {
                "tokens": { "total": tokens },
                "turns": turns.iter().map(turn).collect::<Vec<_>>(),
            },
        })
    }

    fn scored(runs: &[Value]) -> Scores {
        scored_by(BLANKET, runs)
    }

    fn scored_by(premises: Premises, runs: &[Value]) -> Scores {
        let texts: Vec<String> = runs.iter().map(Value::to_string).collect();
        let traces: Vec<Trace<'_>> = texts
            .iter()
            .map(|text| Trace::read(text).unwrap())
            .collect();
        let runs: Vec<Run<'_>> = Run::all(&traces);
        let block = StabilityBlock {
            premises,
            is_same_path: false,
        };
        block.score(&runs)
    }

    fn default_holds(scores: &Scores) -> bool {
        KIND.default_expect()
            .all(|it| it.check(scores.value(it.target.name)).passed)
    }

    fn messages(scores: &Scores) -> Vec<(Option<usize>, &str)> {
        scores
            .findings
            .iter()
            .map(|finding| (finding.run, finding.message.as_str()))
            .collect()
    }

    #[test]
    fn steady_runs_pass_without_a_finding() {
        let steady = run(&[("a", 1), ("a", 2), ("a", 3)], &[10, 10], 100);
        let scores = scored(&[steady.clone(), steady]);
        assert!(default_holds(&scores));
        assert!(scores.findings.is_empty() && scores.not_exercised.is_none());
        assert_eq!(
            scores.value("stability.tool_sequence_similarity"),
            Some(Number::Float(1.0))
        );
        assert_eq!(
            scores.value("stability.early_divergence"),
            Some(Number::Int(0))
        );
    }

    #[test]
    fn one_looping_run_fails_and_the_weakest_dimension_is_named_first() {
        let steady = run(&[("a", 1), ("a", 2), ("a", 3)], &[10, 10], 100);
        let looping = run(
            &[("a", 1), ("a", 7), ("a", 7), ("a", 7), ("a", 7)],
            &[40, 10],
            10_000,
        );
        let scores = scored(&[steady, looping]);
        assert!(!default_holds(&scores));
        assert_eq!(
            messages(&scores),
            [
                (Some(2), "response_consistency 0.4: turn lengths 40, 10"),
                (
                    Some(2),
                    "redundancy 0.4: 5 calls, 2 distinct; `a` with the same arguments in calls 2, 3, 4, 5"
                ),
                (
                    Some(2),
                    "cost_per_progress 0.4: 10,000 tokens for 2 useful calls, 5,000 each where 2,000 are free; `target_tokens` changes that"
                ),
                (
                    None,
                    "runs #1 and #2 are the least alike (0.6): at call 4, one ends, the other calls `a`"
                ),
                (
                    None,
                    "runs #1 and #2 give different arguments to the same tools (0.33 equal), first in call 2 `a`"
                ),
            ]
        );
    }

    #[test]
    fn a_plan_of_two_tools_is_weak_by_the_formula_and_says_so() {
        let plan = run(&[("search", 1), ("open", 1)], &[5, 5], 0);
        let scores = scored(&[plan.clone(), plan]);
        assert_eq!(
            messages(&scores),
            [(
                Some(1),
                "tool_usage_stability 0: 2 calls to 2 tools; `min_calls_for_tool_usage` excludes shorter runs"
            )]
        );
    }

    #[test]
    fn runs_without_calls_are_marked() {
        let silent = run(&[], &[5], 50);
        let scores = scored_by(MEASURED, &[silent.clone(), silent]);
        assert_eq!(
            scores.not_exercised.unwrap(),
            "no run made a call to compare"
        );
    }

    #[test]
    fn a_score_counts_where_its_premise_holds() {
        let plan = run(&[("search", 1), ("open", 1)], &[5, 500, 5, 500], 90_000);
        let scores = scored_by(MEASURED, &[plan.clone(), plan]);
        assert!(default_holds(&scores));
        assert_eq!(scores.value("stability.tool_usage_stability"), None);
        assert_eq!(
            scores
                .why_vacuous("stability.tool_usage_stability")
                .unwrap(),
            "`stability.tool_usage_stability`: a run has fewer than 20 calls; `min_calls_for_tool_usage` changes that"
        );
        assert!(
            scores
                .value("stability.response_consistency")
                .unwrap()
                .as_f64()
                < 0.5
        );
        assert!(
            scores
                .value("stability.cost_per_progress")
                .unwrap()
                .as_f64()
                < 0.5
        );
        let looping = run(&[("a", 7); 5], &[5], 50);
        let scores = scored_by(MEASURED, &[looping.clone(), looping]);
        assert_eq!(
            scores.value("stability.weakest_score"),
            Some(Number::Float(0.2))
        );
        assert!(!default_holds(&scores));
    }

    #[test]
    fn a_long_run_that_thrashes_is_weak() {
        let names: Vec<String> = (0..20).map(|at| format!("tool_{at}")).collect();
        let calls: Vec<(&str, u32)> = names.iter().map(|name| (name.as_str(), 1)).collect();
        let thrashing = run(&calls, &[5], 50);
        let scores = scored_by(MEASURED, &[thrashing.clone(), thrashing]);
        assert_eq!(
            scores.value("stability.weakest_score"),
            Some(Number::Float(0.0))
        );
    }

    fn judged(block: &str, runs: &[Value]) -> crate::report::GateReport {
        let agent = format!("prompt: p\nruns: {}\nstability: {block}", runs.len());
        crate::engine::trial::judged(&agent, None, runs)
    }

    fn passes(block: &str, runs: &[Value]) -> bool {
        judged(block, runs).status == crate::report::Status::Passed
    }

    #[test]
    fn the_default_gate_asks_nothing_of_the_path_and_same_path_does() {
        let other_ways = [
            run(&[("search", 1), ("open", 1), ("send", 1)], &[5], 50),
            run(&[("list", 1), ("open", 1), ("close", 1)], &[5], 50),
        ];
        let other_arguments = [
            run(&[("search", 1), ("open", 1), ("send", 1)], &[5], 50),
            run(&[("search", 2), ("open", 2), ("send", 1)], &[5], 50),
        ];
        let one_lookup_more = [
            run(
                &[("find", 1), ("get", 1), ("get", 2), ("send", 1)],
                &[5],
                50,
            ),
            run(&[("get", 1), ("get", 2), ("send", 1)], &[5], 50),
        ];
        for block in ["{}", "{ premises: none, min_calls_for_tool_usage: 20 }"] {
            assert!(
                passes(block, &other_ways) && passes(block, &other_arguments),
                "{block}"
            );
        }
        assert!(!passes("{ same_path: true }", &other_ways));
        assert!(!passes("{ same_path: true }", &other_arguments));
        assert!(passes("{ same_path: true }", &one_lookup_more));
        let by_step =
            "{ expect: [{ target: stability.argument_consistency, matcher: { gte: 0.5 } }] }";
        assert!(
            !passes(by_step, &one_lookup_more),
            "to the letter of its formula"
        );
    }

    #[test]
    fn same_path_holds_beside_a_written_expect() {
        let runs = [
            run(&[("search", 1)], &[5], 50),
            run(&[("list", 1)], &[5], 50),
        ];
        let expect = "expect: [{ target: stability.score, matcher: { gte: 0.5 } }]";
        assert!(passes(&format!("{{ {expect} }}"), &runs));
        let report = judged(&format!("{{ same_path: true, {expect} }}"), &runs);
        let failed: Vec<&str> = report
            .expectations
            .iter()
            .filter(|one| !one.passed)
            .map(|one| &*one.target)
            .collect();
        assert_eq!(failed, ["stability.tool_sequence_similarity"]);
    }

    #[test]
    fn a_low_score_that_does_not_count_is_a_remark_on_the_row() {
        let costly = run(&[("a", 1), ("b", 1), ("c", 1)], &[5, 500, 5], 133_855);
        let steady = run(&[("a", 1), ("b", 1), ("c", 1)], &[5, 5, 5], 100);
        let report = judged("{}", &[steady.clone(), costly.clone()]);
        let remarks: Vec<&str> = report
            .remarks
            .iter()
            .map(|remark| &*remark.message)
            .collect();
        assert_eq!(
            remarks,
            [
                "low: response_consistency 0, turn lengths 5, 500, 5 (run #2)",
                "low: cost_per_progress 0.04, 133,855 tokens for 3 useful calls (run #2)",
            ]
        );
        assert_eq!(report.status, crate::report::Status::Passed);
        assert!(!report.remarks.iter().any(|remark| remark.is_partial));
        assert_eq!(judged("{}", &[steady.clone(), steady]).remarks, []);
        let counted = judged(
            "{ premises: none, min_calls_for_tool_usage: 20 }",
            &[costly.clone(), costly],
        );
        assert_eq!(counted.remarks, [], "what counts is judged, not remarked");
        assert_eq!(counted.status, crate::report::Status::Failed);
    }

    #[test]
    fn a_token_target_moves_the_anchor_and_makes_the_cost_count() {
        let run = run(&[("a", 1), ("b", 1)], &[5], 20_000);
        let runs = [run.clone(), run];
        assert!(passes("{}", &runs));
        assert!(passes("{ target_tokens: 5000 }", &runs));
        let report = judged("{ target_tokens: 4000 }", &runs);
        assert_eq!(report.status, crate::report::Status::Failed);
        assert_eq!(
            report.explanation[0].message,
            "cost_per_progress 0.4: 20,000 tokens for 2 useful calls, 10,000 each where 4,000 are free; `target_tokens` changes that"
        );
        assert_eq!(report.remarks, []);
    }

    #[test]
    fn what_is_read_from_a_cache_is_no_spending_unless_everything_counts() {
        let cached = |cached: u64| {
            let mut run = run(&[("a", 1), ("b", 1)], &[5], 100_000);
            run["conversation"]["tokens"]["cache_read"] = json!(cached);
            run
        };
        let cost = |block: &str, read: u64| {
            judged(block, &[cached(read), cached(read)]).targets["stability.cost_per_progress"]
                .unwrap()
                .as_f64()
        };
        assert_eq!(cost("{}", 97_000), 1.0);
        assert_eq!(cost("{}", 90_000), 0.4);
        assert_eq!(cost("{ premises: none }", 97_000), 0.04);
        let report = judged("{}", &[cached(90_000), cached(90_000)]);
        assert_eq!(
            report.remarks[0].message,
            "low: cost_per_progress 0.4, 10,000 tokens for 2 useful calls (90,000 more were read from a cache) (run #1)"
        );
    }

    #[test]
    fn the_keys_of_the_blanket_rule_say_when_they_change_nothing() {
        let told = |keys: &str| {
            crate::engine::lint_check::problems(&format!("runs: 2\nstability: {keys}"))
        };
        assert_eq!(told("{ premises: none, ignore_empty_turns: true }"), []);
        let useless = told("{ ignore_empty_turns: true }");
        assert_eq!(
            useless[0].message,
            "`ignore_empty_turns` has no effect: turns without text never count"
        );
    }

    #[test]
    fn fewer_than_two_runs_measure_nothing() {
        assert!(scored(&[]).values.is_empty());
        assert!(scored(&[run(&[], &[], 0)]).values.is_empty());
    }
    #[test]
    fn one_run_is_refused_at_load_time() {
        let found = crate::engine::lint_check::problems("stability: {}");
        assert_eq!(
            found[0].message,
            "`stability:` compares runs, but this agent has only one"
        );
        assert_eq!(found[0].level, crate::problem::Level::Error);
        assert_eq!(
            crate::engine::lint_check::problems("runs: 2\nstability: {}"),
            []
        );
    }

    #[test]
    fn a_variance_cannot_be_above_a_quarter() {
        let agent = |matcher: &str| {
            format!(
                "runs: 4\nstability: {{ expect: [{{ target: stability.variance, matcher: {matcher} }}] }}"
            )
        };
        let told = |matcher: &str| {
            crate::engine::lint_check::problems(&agent(matcher))[0]
                .message
                .clone()
        };
        assert!(told("{ lte: 0.25 }").ends_with("this cannot fail"));
        assert!(told("{ gt: 0.25 }").contains("can never satisfy"));
        assert_eq!(
            crate::engine::lint_check::problems(&agent("{ lte: 0.0123 }")),
            []
        );
    }

    #[test]
    fn the_mean_of_the_pairs_is_the_target() {
        let paths: [&[(&str, u32)]; 3] = [
            &[("a", 1), ("b", 2)],
            &[("a", 1)],
            &[("b", 1), ("a", 1), ("b", 2)],
        ];
        let runs = paths.map(|calls| run(calls, &[], 0));
        let report = crate::engine::trial::judged("prompt: p\nruns: 3\nstability: {}", None, &runs);
        let Some(Evidence::Stability {
            similarity,
            mean,
            dimensions,
            ..
        }) = report.evidence.as_deref()
        else {
            panic!()
        };
        let pairs: Vec<f64> = similarity
            .iter()
            .flatten()
            .map(|pair| pair.unwrap())
            .collect();
        assert_eq!(
            similarity.iter().map(Vec::len).collect::<Vec<_>>(),
            [0, 1, 2]
        );
        assert!((pairs.iter().sum::<f64>() / 3.0 - mean).abs() < 1e-12 && *mean < 1.0);
        let target = |name: &str| report.targets[name].unwrap().as_f64();
        assert_eq!(*mean, target("stability.tool_sequence_similarity"));
        assert!(dimensions.iter().all(|one| one.value == target(&one.name)));
    }

    #[test]
    fn the_first_finding_is_about_the_expectation_that_failed() {
        let run = |tools: &[&str]| {
            let calls: Vec<Value> = tools
                .iter()
                .map(|name| json!({ "name": name, "args": {} }))
                .collect();
            json!({ "tool_calls": calls })
        };
        let runs = [
            run(&["search", "search", "search"]),
            run(&["open_page", "open_page", "open_page"]),
        ];
        let first = |target: &str, matcher: &str| {
            let expect =
                format!("expect: [{{ target: stability.{target}, matcher: {{ {matcher} }} }}]");
            let report = judged(&format!("{{ {expect} }}"), &runs);
            report.explanation[0].message.clone()
        };
        assert!(
            first("tool_sequence_similarity", "gte: 0.6")
                .starts_with("runs #1 and #2 are the least alike")
        );
        assert!(first("weakest_score", "gte: 0.5").starts_with("redundancy 0.33"));
        assert!(
            first("weakest_score", "gte: 0.1").starts_with("redundancy 0.33"),
            "the order is kept"
        );
    }
}
