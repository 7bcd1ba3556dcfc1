//! `reliability:` how often does the agent pass, and how sure is that?

pub use mcptest_stats::{
    ReliabilityError, ReliabilitySummary, confidence_band, decay_curve, graceful_degradation,
    power_percent, recommend_runs, recommend_runs_exactly, summarize, variance_amplification,
};

use crate::engine::assertion::Assertion;
use crate::engine::facts::AgentFacts;
use crate::engine::gate::{Documentation, Gate, GateKind, GateTrait, RunFailsBy};
use crate::engine::outlook::Outlook;
use crate::engine::scores::Scores;
use crate::engine::shown::Shown;
use crate::engine::target::Target;
use crate::problem::{Problem, Span};
use crate::report::evidence::CurvePoint;
use crate::report::{Evidence, Finding, Number};
use crate::suite::read::Block;
use crate::target::{Path, Roots};
use crate::trace::Run;
use crate::words::plural as s;
use mcptest_stats::{CONFIDENCE, Interval, pass_at_k_unbiased, pass_hat_k_unbiased, wilson};
use serde_json::Value;

const RUNS: Target = Target::count("reliability.runs", "how many runs were judged")
    .pooled()
    .rising(|_, runs| runs as f64);
const PASS_AT_K: Target = Target::percent(
    "reliability.pass_at_k",
    "100 when at least one run passed, else 0",
)
.pooled()
.rising(|passes, _| if passes > 0 { 100.0 } else { 0.0 });
const PASSHAT_K: Target = Target::percent(
    "reliability.passhat_k",
    "the pass rate to the power of the runs",
)
.pooled()
.rising(|passes, runs| power_percent(passes, runs, runs).into());
const VARIANCE: Target = Target::percent(
    "reliability.variance_amplification",
    "how mixed the outcomes are; 100 is half and half",
)
.pooled()
.reaching(variances);
const GRACEFUL: Target = Target::percent(
    "reliability.graceful_degradation",
    "the share of passes when run i weighs i",
)
.pooled()
.reaching(graceful_values);
const ALL_PASSED: Target =
    Target::flag("reliability.all_passed", "1 when every run passed, else 0").pooled();
const PASS_RATE: Target = Target::ratio("reliability.pass_rate", "passed runs over runs")
    .pooled()
    .rising(|passes, runs| passes as f64 / runs as f64);
const LOWER: Target = Target::ratio(
    "reliability.pass_rate_lower",
    "the lower end of the 95% Wilson interval of the pass rate",
)
.pooled()
.rising(|passes, runs| interval(passes, runs).lower);
const UPPER: Target = Target::ratio(
    "reliability.pass_rate_upper",
    "the upper end of the 95% Wilson interval of the pass rate",
)
.pooled()
.rising(|passes, runs| interval(passes, runs).upper);
const PASSHAT_UNBIASED: Target = Target::ratio(
    "reliability.passhat_unbiased",
    "the chance that k drawn runs all passed",
)
.pooled();
const PASS_AT_UNBIASED: Target = Target::ratio(
    "reliability.pass_at_unbiased",
    "the chance that one of k drawn runs passed",
)
.pooled();

const TARGETS: &[Target] = &[
    RUNS,
    PASS_AT_K,
    PASSHAT_K,
    VARIANCE,
    GRACEFUL,
    ALL_PASSED,
    PASS_RATE,
    LOWER,
    UPPER,
    PASSHAT_UNBIASED,
    PASS_AT_UNBIASED,
];

/// As many runs or points of the curve as a reader will look at.
const MOST_LISTED: usize = 20;
/// The most bars of the small picture in a finding.
const MOST_BARS: u64 = 20;
/// As many points of the curve as a picture has.
const MOST_POINTS: usize = 50;

/// The block as written.
pub(crate) struct ReliabilityBlock {
    /// The number of runs that the unbiased estimates draw [default: all].
    k: Option<DrawnRuns>,
    /// True if runs have a check that could fail.
    counts_something: bool,
}

/// `k:` of the block.
#[derive(Clone, Copy)]
struct DrawnRuns {
    count: u64,
    span: Span,
}

pub(super) const KIND: GateKind = GateKind::new(
    "reliability",
    Documentation {
        summary: "How often does the agent pass, and how sure is that?",
        doc: include_str!("doc.md"),
        example: include_str!("example.yml"),
    },
    TARGETS,
    RunFailsBy::Nothing,
    |block| Box::new(ReliabilityBlock::read(block)),
)
.with_floors(&[(PASSHAT_K, 100.0)])
.with_traits(&[GateTrait::DecidesRuns]);

impl ReliabilityBlock {
    fn read(block: &mut Block<'_>) -> Self {
        let doc = "The number of runs that the unbiased estimates draw [default: all]";
        let k = block.optional("k", doc, |f| {
            Some(DrawnRuns {
                count: f.whole(1..=100_000)?,
                span: f.span(),
            })
        });
        let expect = block.sibling("expect", |f| Assertion::<Path>::read_list(f, Roots::Trace));
        let mut gates = block.gates().iter().filter(|gate| gate.decides_a_run());
        let counts_something = expect
            .is_some_and(|expect| expect.iter().any(Assertion::is_observable))
            || gates.any(|gate| block.sibling(gate.key, |_| Some(())).is_some());
        Self {
            k,
            counts_something,
        }
    }
}

impl ReliabilityBlock {
    /// Sets the pass rate with its interval, and the estimates for `k` runs.
    fn set_estimates(&self, runs: u64, passes: u64, scores: &mut Scores) {
        let interval = interval(passes, runs);
        let rate = if runs == 0 {
            0.0
        } else {
            passes as f64 / runs as f64
        };
        let k = self.drawn_of(runs);
        scores
            .set(&RUNS, Some(Number::Int(runs as i64)))
            .set(
                &ALL_PASSED,
                Some(Number::Int((runs > 0 && passes == runs).into())),
            )
            .set(&PASS_RATE, Some(Number::Float(rate)))
            .set(&LOWER, Some(Number::Float(interval.lower)))
            .set(&UPPER, Some(Number::Float(interval.upper)))
            .set(
                &PASSHAT_UNBIASED,
                estimate(pass_hat_k_unbiased, runs, passes, k),
            )
            .set(
                &PASS_AT_UNBIASED,
                estimate(pass_at_k_unbiased, runs, passes, k),
            );
    }
}

/// Sets the percentages of the summary.
fn set_summary(summary: &ReliabilitySummary, scores: &mut Scores) {
    for (target, percent) in [
        (&PASS_AT_K, summary.pass_at_k),
        (&PASSHAT_K, summary.passhat_k),
        (&VARIANCE, summary.variance_amplification),
        (&GRACEFUL, summary.graceful_degradation),
    ] {
        scores.set(target, Some(Number::Int(percent.into())));
    }
}

impl Gate for ReliabilityBlock {
    fn score(&self, runs: &[Run<'_>]) -> Scores {
        let outcomes = outcomes(runs);
        let summary = summarize(&outcomes);
        let passes = outcomes.iter().filter(|&&passed| passed).count() as u64;
        let mut scores = Scores::default();
        set_summary(&summary, &mut scores);
        self.set_estimates(runs.len() as u64, passes, &mut scores);
        scores.findings = findings(runs);
        if !self.counts_something {
            scores.not_exercised = Some(
                "the agent has no observable `expect:` and no gate that scores run by run, so \
                every run passes"
                    .to_owned(),
            );
        }
        scores
    }

    fn evidence(&self, shown: &Shown<'_, '_>) -> Option<Evidence> {
        let runs = shown.all.len();
        let passed = shown.all.iter().filter(|run| run.passed).count();
        let interval = interval(passed as u64, runs as u64);
        let point = |k: usize| CurvePoint {
            k,
            power: (passed as f64 / runs as f64).powi(k as i32),
            low: interval.lower.powi(k as i32),
            high: interval.upper.powi(k as i32),
            unbiased: pass_hat_k_unbiased(runs as u64, passed as u64, k as u64).ok(),
        };
        Some(Evidence::Reliability {
            runs,
            passed,
            curve: (1..=runs.min(MOST_POINTS)).map(point).collect(),
            decay_curve: decay_curve(&outcomes(shown.all)),
        })
    }

    /// The outlook of targets that depend only on the number of passes. The distribution of the outcomes is open
    /// until the last run.
    fn outlook(&self, target: &Target, _scores: &Scores, runs: &[Run<'_>], of: usize) -> Outlook {
        let passes = runs.iter().filter(|run| run.passed).count() as u64;
        let count = of as u64;
        let k = self.drawn_of(count);
        let value = |passes: u64| match target.name {
            name if name == ALL_PASSED.name => Some(f64::from(u8::from(passes == count))),
            name if name == PASSHAT_UNBIASED.name => pass_hat_k_unbiased(count, passes, k).ok(),
            name if name == PASS_AT_UNBIASED.name => pass_at_k_unbiased(count, passes, k).ok(),
            _ => target.value_of_good_runs(passes, count),
        };
        let possible = passes..=passes + (of - runs.len()) as u64;
        possible
            .map(value)
            .collect::<Option<_>>()
            .map_or(Outlook::Open, Outlook::OneOf)
    }

    fn lint(&self, agent: &AgentFacts<'_>) -> Vec<Problem> {
        let mut problems = Vec::new();
        problems.extend(self.lint_drawn_runs(agent.runs));
        if agent.expectations == 0 {
            let message = "`reliability:` counts the runs whose `expect:` and gates held; this \
            agent has no observable one, so every run passes";
            let help = "give the agent an `expect:` list that defines a passed run, or a gate \
            that scores run by run";
            problems.push(Problem::warning(message).at(agent.key_span).help(help));
        }
        for assertion in agent.written() {
            problems.extend(lint_floor(assertion, agent.runs));
        }
        for assertion in agent.written() {
            problems.extend(self.lint_unbiased(assertion));
        }
        problems
    }
}

impl ReliabilityBlock {
    /// The number of runs that the unbiased estimates draw.
    fn drawn_of(&self, runs: u64) -> u64 {
        self.k.map_or(runs, |drawn| drawn.count)
    }

    fn lint_drawn_runs(&self, runs: usize) -> Option<Problem> {
        let DrawnRuns { count, span } = self.k?;
        if runs == 0 || count <= runs as u64 {
            return None;
        }
        let s = s(runs);
        let message = format!("`k: {count}` is more than the {runs} run{s} of this agent");
        let help = format!("lower it, or set the agent's `runs:` to {count}");
        Some(Problem::error(message).at(span).help(help))
    }

    fn lint_unbiased(&self, assertion: &Assertion<Target>) -> Option<Problem> {
        let name = assertion.target.name;
        let is_unbiased = name == PASSHAT_UNBIASED.name || name == PASS_AT_UNBIASED.name;
        if self.k.is_some() || !is_unbiased {
            return None;
        }
        let message = format!("without `k:`, `{name}` draws all runs, so it is 1 or 0");
        let problem = Problem::warning(message).at(assertion.span);
        Some(problem.help("set `k:` below the number of runs"))
    }
}

fn outcomes(runs: &[Run<'_>]) -> Vec<bool> {
    runs.iter().map(|run| run.passed).collect()
}

/// One failure reduces `passhat_k` to 36 or below, so a floor between that and 100 requires more
/// than it seems.
fn lint_floor(assertion: &Assertion<Target>, runs: usize) -> Option<Problem> {
    if assertion.target.name != PASSHAT_K.name || runs == 0 || assertion.lint(runs).is_some() {
        return None;
    }
    let holds = |percent: f64| {
        assertion
            .matcher
            .diff(&Value::from(percent as i64))
            .is_empty()
    };
    let with_failures = |passes: u64| f64::from(power_percent(passes, runs as u64, runs as u64));
    let best_with_a_failure = with_failures(runs as u64 - 1);
    let needs_all = holds(100.0) && !(0..runs as u64).any(|passes| holds(with_failures(passes)));
    if !needs_all || !(37..100).any(|percent| holds(f64::from(percent))) {
        return None;
    }
    let message = format!(
        "with {} run{} `reliability.passhat_k` is 100 or at most {best_with_a_failure}: this \
        requires every run to pass",
        runs,
        s(runs)
    );
    let help = "keep `gte: 100` if you mean that; to allow failures, assert \
    `reliability.pass_rate` (0 to 1), or `reliability.passhat_unbiased` with a `k:` below the runs";
    Some(Problem::warning(message).at(assertion.span).help(help))
}

/// The Wilson interval to six decimals; 0 and 0 without runs.
fn interval(passes: u64, runs: u64) -> Interval {
    let rounded = |bound: f64| (bound * 1e6).round() / 1e6;
    let nothing = Interval {
        lower: 0.0,
        upper: 0.0,
    };
    let interval = wilson(passes, runs, CONFIDENCE).unwrap_or(nothing);
    Interval {
        lower: rounded(interval.lower),
        upper: rounded(interval.upper),
    }
}

/// The estimate is 0 without runs, and absent for a `k` that cannot be drawn.
fn estimate<E>(
    method: fn(u64, u64, u64) -> Result<f64, E>,
    runs: u64,
    passes: u64,
    k: u64,
) -> Option<Number> {
    if runs == 0 {
        Some(Number::Float(0.0))
    } else {
        method(runs, passes, k).ok().map(Number::Float)
    }
}

fn variances(runs: usize) -> Vec<f64> {
    (0..=runs as u64)
        .map(|passes| variance_amplification(passes, runs as u64).into())
        .collect()
}

/// Every sum of run numbers can be reached; from 14 runs on a step is less than a percent.
fn graceful_values(runs: usize) -> Vec<f64> {
    let weights = if runs < 14 {
        runs * (runs + 1) / 2
    } else {
        100
    };
    (0..=weights)
        .map(|weight| f64::from((100 * weight / weights.max(1)) as u32))
        .collect()
}

fn findings(runs: &[Run<'_>]) -> Vec<Finding> {
    let failed: Vec<usize> = runs
        .iter()
        .filter(|run| !run.passed)
        .map(|run| run.number)
        .collect();
    if failed.is_empty() {
        return Vec::new();
    }
    let named: Vec<String> = failed.iter().map(|run| format!("#{run}")).collect();
    let failures = format!(
        "{} of {} run{} failed: {}",
        failed.len(),
        runs.len(),
        s(runs.len()),
        listed(&named)
    );
    let passes = (runs.len() - failed.len()) as u64;
    let in_a_row = runs_in_a_row(passes, runs.len() as u64);
    let messages = std::iter::once(failures).chain(in_a_row);
    messages
        .map(|message| Finding::new(None, message))
        .collect()
}

/// The chance that several runs in a row all pass, in a sentence and a small picture.
fn runs_in_a_row(passes: u64, runs: u64) -> Option<String> {
    if passes == 0 || runs < 2 {
        return None;
    }
    let percent = |in_a_row: u64| power_percent(passes, runs, in_a_row);
    let mut told: Vec<u64> = [2, 5, 10].into_iter().filter(|few| *few < runs).collect();
    told.push(runs);
    let told: Vec<String> = told
        .into_iter()
        .map(|in_a_row| format!("{in_a_row} runs in a row {}%", percent(in_a_row)))
        .collect();
    let bars = (1..=runs.min(MOST_BARS)).map(|in_a_row| bar(percent(in_a_row)));
    let picture: String = bars.collect();
    Some(format!(
        "at this rate 1 run passes {}% of the time, {} {picture}",
        percent(1),
        told.join(", ")
    ))
}

/// A bar of a small picture: the higher, the closer to 100 percent.
fn bar(percent: u32) -> char {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    BARS[(percent as usize * BARS.len() / 100).min(BARS.len() - 1)]
}

/// All of a short list, both ends of a long one.
fn listed(items: &[String]) -> String {
    if items.len() <= MOST_LISTED {
        return items.join(", ");
    }
    let half = MOST_LISTED / 2;
    format!(
        "{}, …, {}",
        items[..half].join(", "),
        items[items.len() - half..].join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::lint_check::problems;
    use crate::problem::Level;
    use crate::trace::Trace;
    use serde_json::json;

    const ALL: ReliabilityBlock = ReliabilityBlock {
        k: None,
        counts_something: true,
    };

    fn scored(block: &ReliabilityBlock, outcomes: &[bool]) -> Scores {
        let trace = Trace::default();
        let runs: Vec<Run<'_>> = (1..)
            .zip(outcomes)
            .map(|(number, &passed)| Run {
                number,
                passed,
                ..Run::new(&trace)
            })
            .collect();
        block.score(&runs)
    }

    fn value(scores: &Scores, name: &str) -> f64 {
        scores.value(name).unwrap().as_f64()
    }

    fn default_holds(scores: &Scores) -> bool {
        KIND.default_expect()
            .all(|it| it.check(scores.value(it.target.name)).passed)
    }

    #[test]
    fn one_failure_of_four_fails_by_default_and_is_named() {
        let scores = scored(&ALL, &[true, false, true, true]);
        assert!(!default_holds(&scores));
        assert_eq!(scores.value("reliability.passhat_k"), Some(Number::Int(31)));
        assert_eq!(
            scores.value("reliability.pass_at_k"),
            Some(Number::Int(100))
        );
        assert_eq!(scores.value("reliability.all_passed"), Some(Number::Int(0)));
        let messages: Vec<&str> = scores
            .findings
            .iter()
            .map(|finding| finding.message.as_str())
            .collect();
        assert_eq!(
            messages,
            [
                "1 of 4 runs failed: #2",
                "at this rate 1 run passes 75% of the time, 2 runs in a row 56%, 4 runs in a row 31% ▇▅▄▃"
            ]
        );
    }

    #[test]
    fn only_passes_pass() {
        let scores = scored(&ALL, &[true; 10]);
        assert!(default_holds(&scores) && scores.findings.is_empty());
        assert!((value(&scores, "reliability.pass_rate_lower") - 0.722_467).abs() < 1e-12);
        assert!((value(&scores, "reliability.pass_rate_upper") - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_unbiased_estimates_draw_k_runs() {
        let outcomes = [true, true, true, true, true, true, true, true, true, false];
        let pairs = ReliabilityBlock {
            k: Some(DrawnRuns {
                count: 2,
                span: Span::default(),
            }),
            counts_something: true,
        };
        let scores = scored(&pairs, &outcomes);
        assert!((value(&scores, "reliability.passhat_unbiased") - 0.8).abs() < 1e-12);
        assert!((value(&scores, "reliability.pass_at_unbiased") - 1.0).abs() < 1e-12);
        assert!(value(&scored(&ALL, &outcomes), "reliability.passhat_unbiased").abs() < 1e-12);
        assert_eq!(
            scored(&pairs, &[true]).value("reliability.passhat_unbiased"),
            None
        );
    }

    #[test]
    fn no_runs_give_zeros() {
        let scores = scored(&ALL, &[]);
        assert!(
            KIND.targets
                .iter()
                .all(|target| value(&scores, target.name).abs() < 1e-12)
        );
    }

    #[test]
    fn what_is_measured_is_among_what_was_called_reachable() {
        for runs in 1..=20_usize {
            for bits in (0..1_u32 << runs).step_by(1 + (1 << runs) / 97) {
                let outcomes: Vec<bool> = (0..runs).map(|run| bits >> run & 1 == 1).collect();
                let scores = scored(&ALL, &outcomes);
                for target in KIND.targets {
                    let got = value(&scores, target.name);
                    let mentioned = [got];
                    let mut known = target.candidates(runs, &mentioned);
                    assert!(
                        known.any(|it| (it - got).abs() < 1e-9),
                        "{} {got} {runs}",
                        target.name
                    );
                }
            }
        }
    }

    fn of_floor(matcher: &str, runs: usize) -> Vec<String> {
        let agent = format!(
            "runs: {runs}\nexpect: [{{ target: final_response, matcher: {{ contains: x }} }}]\nreliability:\n  \
             expect: [{{ target: reliability.passhat_k, matcher: {matcher} }}]"
        );
        problems(&agent)
            .into_iter()
            .map(|problem| problem.message)
            .collect()
    }

    #[test]
    fn a_floor_that_one_failure_can_never_reach_is_explained() {
        for matcher in [
            "{ gte: 37 }",
            "{ gte: 99 }",
            "{ gt: 36 }",
            "{ schema: { minimum: 50 } }",
        ] {
            let messages = of_floor(matcher, 10);
            assert!(
                messages.len() == 1 && messages[0].contains("100 or at most 34"),
                "{messages:?}"
            );
        }
        for matcher in [
            "{ gte: 100 }",
            "{ exact: 100 }",
            "{ gte: 34 }",
            "{ lte: 50 }",
        ] {
            assert_eq!(of_floor(matcher, 10), Vec::<String>::new(), "{matcher}");
        }
        assert_eq!(of_floor("{ gte: 35 }", 4).len(), 1);
        assert_eq!(of_floor("{ gte: 36 }", 1000).len(), 0);
        assert!(of_floor("{ gte: 101 }", 4)[0].contains("can never satisfy"));
    }

    #[test]
    fn more_draws_than_runs_and_runs_without_expectations_are_told_at_load_time() {
        let found = problems("runs: 5\nreliability: { k: 6 }");
        let told: Vec<_> = found
            .iter()
            .map(|problem| (problem.level, problem.message.as_str()))
            .collect();
        assert!(
            told.contains(&(Level::Error, "`k: 6` is more than the 5 runs of this agent")),
            "{told:?}"
        );
        let is_vacuous = |(level, message): &(Level, &str)| {
            *level == Level::Warning && message.ends_with("every run passes")
        };
        assert!(told.len() == 2 && told.iter().any(is_vacuous), "{told:?}");
        let expect = "expect: [{ target: final_response, matcher: { contains: x } }]";
        assert_eq!(
            problems(&format!("runs: 6\nreliability: {{ k: 6 }}\n{expect}")),
            []
        );
    }

    #[test]
    fn what_judges_say_of_a_run_is_not_counted() {
        let judged = "expect: [{ target: final_response, matcher: { llm-judge: { rubric: Kind., model: m } } }]";
        for only in ["eval: { rubric: Kind., model: m }", judged] {
            let found = problems(&format!("runs: 6\nreliability: {{}}\n{only}"));
            let told: Vec<&str> = found
                .iter()
                .map(|problem| problem.message.as_str())
                .collect();
            let is_told =
                |message: &&str| message.ends_with("no observable one, so every run passes");
            assert_eq!(
                told.iter().filter(|message| is_told(message)).count(),
                1,
                "{told:?}"
            );
        }
    }

    #[test]
    fn the_last_point_of_the_curve_is_what_the_targets_say() {
        let runs = json!([{}, {}, {}, {}]);
        let report = crate::engine::trial::judged(
            "prompt: p\nruns: 4\nreliability: {}",
            None,
            runs.as_array().unwrap(),
        );
        let Some(Evidence::Reliability {
            runs,
            passed,
            curve,
            decay_curve,
        }) = report.evidence.as_deref()
        else {
            panic!()
        };
        assert_eq!((*runs, *passed, curve.len()), (4, 4, 4));
        assert_eq!(decay_curve[..], [100; 4]);
        let target = |name: &str| report.targets[name].unwrap().as_f64();
        assert_eq!(
            (100.0 * curve[3].power).floor(),
            target("reliability.passhat_k")
        );
        assert_eq!(
            curve[3].unbiased,
            Some(target("reliability.passhat_unbiased"))
        );
        assert_eq!(curve[0].low, target("reliability.pass_rate_lower"));
        assert!(curve[3].low < curve[0].low && curve[3].high <= curve[0].high);
    }
}
