//! How steady is one session? Four scores from 0 to 1.

use super::session::Session;
use crate::report::Number;
use serde::Serialize;
use serde_json::Value;

/// Tokens that a distinct call may take before `cost_per_progress` falls.
const TOKENS_PER_CALL: f64 = 2000.0;

/// A dimension below this is degraded.
pub(super) const LOW: f64 = 0.5;

/// The four scores of one run; 1 is steady.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StabilityReport {
    /// `1 - (tools - 1) / (calls - 1)`: falls if nearly every call uses a different tool.
    pub tool_usage_stability: f64,
    /// `1 - min(1, sd / mean)` of the assistant turns' lengths.
    pub response_consistency: f64,
    /// Distinct calls over all calls.
    pub redundancy: f64,
    /// `2000 / max(2000, tokens / distinct calls)`.
    pub cost_per_progress: f64,
}

impl StabilityReport {
    /// The lowest of the four.
    pub fn weakest_score(&self) -> f64 {
        Dimension::ALL
            .map(|dimension| self.score(dimension))
            .into_iter()
            .fold(1.0, f64::min)
    }

    /// All four scores on one line.
    pub fn summary(&self) -> String {
        Dimension::ALL
            .map(|dimension| {
                let score = Number::Float(self.score(dimension));
                format!("{} {score}", dimension.name())
            })
            .join(", ")
    }

    pub(super) fn score(&self, dimension: Dimension) -> f64 {
        match dimension {
            Dimension::ToolUsage => self.tool_usage_stability,
            Dimension::Response => self.response_consistency,
            Dimension::Redundancy => self.redundancy,
            Dimension::Cost => self.cost_per_progress,
        }
    }
}

/// The lowest accepted value of each score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StabilityFloors {
    /// For `tool_usage_stability`.
    pub tool_usage_stability: f64,
    /// For `response_consistency`.
    pub response_consistency: f64,
    /// For `redundancy`.
    pub redundancy: f64,
    /// For `cost_per_progress`.
    pub cost_per_progress: f64,
}

impl StabilityFloors {
    fn floor(&self, dimension: Dimension) -> f64 {
        match dimension {
            Dimension::ToolUsage => self.tool_usage_stability,
            Dimension::Response => self.response_consistency,
            Dimension::Redundancy => self.redundancy,
            Dimension::Cost => self.cost_per_progress,
        }
    }
}

impl Default for StabilityFloors {
    fn default() -> Self {
        Self {
            tool_usage_stability: LOW,
            response_consistency: LOW,
            redundancy: LOW,
            cost_per_progress: LOW,
        }
    }
}

/// The names of the scores strictly below their floors.
pub fn drift_flags(report: &StabilityReport, floors: &StabilityFloors) -> Vec<&'static str> {
    Dimension::ALL
        .into_iter()
        .filter(|dimension| report.score(*dimension) < floors.floor(*dimension))
        .map(Dimension::name)
        .collect()
}

/// Scores one trace envelope; what is missing in it counts as steady.
///
/// ```
/// use mcptest_core::eval::{agent_stability, drift_flags, StabilityFloors};
///
/// let call = serde_json::json!({ "name": "search", "server": "docs", "args": { "q": "a" } });
/// let report = agent_stability(&serde_json::json!({ "tool_calls": [call, call, call] }));
/// assert_eq!(drift_flags(&report, &StabilityFloors::default()), ["redundancy"]);
/// ```
pub fn agent_stability(envelope: &Value) -> StabilityReport {
    Premises::NONE.report(&Session::from_envelope(envelope))
}

/// One of the four scores of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dimension {
    ToolUsage,
    Response,
    Redundancy,
    Cost,
}

impl Dimension {
    /// The dimensions in the order of reports.
    pub(super) const ALL: [Self; 4] = [
        Self::ToolUsage,
        Self::Response,
        Self::Redundancy,
        Self::Cost,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ToolUsage => "tool_usage_stability",
            Self::Response => "response_consistency",
            Self::Redundancy => "redundancy",
            Self::Cost => "cost_per_progress",
        }
    }
}

/// The measured dimensions of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measured {
    /// In the order of [`Dimension::ALL`].
    values: [Option<f64>; 4],
    /// The lowest of the scores that count. It is 1 if no score was measured.
    pub(super) weakest: f64,
}

impl Measured {
    pub(super) fn value(&self, dimension: Dimension) -> Option<f64> {
        self.values[dimension as usize]
    }
}

/// The number of calls from which tool use is measured. Of verified runs with 20 calls or more, one
/// in 39 scores below 0.5. Of runs with 2 calls or more, half do.
const CALLS_TO_THRASH: usize = 20;
/// The number of answers from which their lengths are compared.
const ANSWERS_TO_COMPARE: usize = 3;

/// The dimensions to measure in a run, and the ones that count.
#[derive(Debug, Clone, Copy)]
pub(super) struct Premises {
    /// True if all dimensions always count, as in the original formulas.
    pub(super) is_blanket: bool,
    pub(super) ignore_empty_turns: bool,
    pub(super) min_calls_for_tool_usage: Option<usize>,
    /// The suite's number of tokens that a distinct call may use before `cost_per_progress` falls.
    pub(super) target_tokens: Option<u64>,
}

impl Premises {
    /// The formulas without any setting of the suite.
    pub(super) const NONE: Self = Self {
        is_blanket: true,
        ignore_empty_turns: false,
        min_calls_for_tool_usage: None,
        target_tokens: None,
    };

    /// Returns true if a dimension counts towards the weakest score. The lengths of answers and the
    /// tokens of a call prove nothing alone: a quarter of the verified runs are below 0.5 in the
    /// former, and most in the latter.
    pub(super) fn counts(self, dimension: Dimension) -> bool {
        match dimension {
            Dimension::ToolUsage | Dimension::Redundancy => true,
            Dimension::Cost => self.is_blanket || self.target_tokens.is_some(),
            Dimension::Response => self.is_blanket,
        }
    }

    /// Tokens that a distinct call may use before `cost_per_progress` falls.
    pub(super) fn tokens_per_call(self) -> f64 {
        self.target_tokens
            .map_or(TOKENS_PER_CALL, |tokens| tokens as f64)
    }

    /// The tokens of a run. A prompt that is read from a cache again does not measure progress: an
    /// agent whose host caches would be low in every run. `premises: none` counts it anyway.
    pub(super) fn tokens(self, session: &Session<'_>) -> f64 {
        if self.is_blanket {
            session.tokens
        } else {
            (session.tokens - session.cached_tokens).max(0.0)
        }
    }

    /// The minimum number of calls for `tool_usage_stability`.
    pub(super) fn least_calls(self) -> usize {
        self.min_calls_for_tool_usage
            .unwrap_or(if self.is_blanket { 2 } else { CALLS_TO_THRASH })
    }

    /// The lengths of the turns that are compared.
    pub(super) fn lengths(self, session: &Session<'_>) -> Vec<usize> {
        let counts = |length: &usize| *length > 0 || !self.ignore_empty_turns;
        if self.is_blanket {
            session
                .turn_lengths
                .iter()
                .copied()
                .filter(counts)
                .collect()
        } else {
            session.answer_lengths.clone()
        }
    }

    /// The four scores by their formulas.
    pub(super) fn report(self, session: &Session<'_>) -> StabilityReport {
        StabilityReport {
            tool_usage_stability: tool_usage(session, self.least_calls()),
            response_consistency: evenness(&self.lengths(session)),
            redundancy: ratio_or_one(session.distinct_calls, session.calls.len()),
            // One turn and one call are no more than a run needs.
            cost_per_progress: if session.is_short() {
                1.0
            } else {
                self.cost_per_progress(session)
            },
        }
    }

    pub(super) fn measure(self, session: &Session<'_>) -> Measured {
        let values = if self.is_blanket {
            let report = self.report(session);
            Dimension::ALL.map(|dimension| Some(report.score(dimension)))
        } else {
            Dimension::ALL.map(|dimension| self.measure_where_shown(dimension, session))
        };
        let counted = Dimension::ALL
            .into_iter()
            .zip(values)
            .filter(|(dimension, _)| self.counts(*dimension));
        let weakest = counted.filter_map(|(_, value)| value).fold(1.0, f64::min);
        Measured { values, weakest }
    }

    /// One score, if the run is long enough to show it.
    fn measure_where_shown(self, dimension: Dimension, session: &Session<'_>) -> Option<f64> {
        let calls = session.calls.len();
        match dimension {
            Dimension::ToolUsage => {
                let is_long = calls >= self.least_calls().max(2);
                is_long.then(|| tool_usage(session, 2))
            }
            Dimension::Response => {
                let answers = &session.answer_lengths;
                (answers.len() >= ANSWERS_TO_COMPARE).then(|| evenness(answers))
            }
            Dimension::Redundancy => {
                (calls >= 2).then(|| ratio_or_one(session.distinct_calls, calls))
            }
            Dimension::Cost => {
                let has_spent = calls > 0 && session.tokens > 0.0;
                has_spent.then(|| self.cost_per_progress(session))
            }
        }
    }

    fn cost_per_progress(self, session: &Session<'_>) -> f64 {
        let tokens = self.tokens(session);
        if tokens <= 0.0 {
            return 1.0;
        }
        if session.distinct_calls == 0 {
            return 0.0;
        }
        let target = self.tokens_per_call();
        target / target.max(tokens / session.distinct_calls as f64)
    }
}

fn tool_usage(session: &Session<'_>, least_calls: usize) -> f64 {
    let calls = session.calls.len();
    if calls < least_calls.max(2) {
        return 1.0;
    }
    1.0 - (session.tools - 1) as f64 / (calls - 1) as f64
}

/// `1 - min(1, cv)`, the variance in whole numbers: `cv = sqrt(n * sum of squares - sum^2) / sum`.
fn evenness(lengths: &[usize]) -> f64 {
    let sum: u128 = lengths.iter().map(|&length| length as u128).sum();
    if lengths.len() < 2 || sum == 0 {
        return 1.0;
    }
    let squares: u128 = lengths.iter().map(|&length| (length as u128).pow(2)).sum();
    let spread = (lengths.len() as u128 * squares - sum * sum) as f64;
    1.0 - (spread.sqrt() / sum as f64).min(1.0)
}

fn ratio_or_one(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        1.0
    } else {
        part as f64 / whole as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn turns(lengths: &[usize]) -> Value {
        let turn = |&length: &usize| json!({ "role": "assistant", "content": "x".repeat(length) });
        json!({ "conversation": { "turns": lengths.iter().map(turn).collect::<Vec<_>>() } })
    }

    fn assert_scores(report: StabilityReport, expected: [f64; 4]) {
        for (dimension, expected) in Dimension::ALL.into_iter().zip(expected) {
            let score = report.score(dimension);
            assert!(
                (score - expected).abs() < 1e-12,
                "{dimension:?} is {score}, not {expected}"
            );
        }
    }

    #[test]
    fn a_loop_in_a_single_turn_is_seen() {
        let call = json!({ "name": "a", "args": { "q": 1 } });
        let envelope = json!({
            "tool_calls": vec![call; 5],
            "conversation": { "tokens": { "total": 10_000 }, "turns": [{ "role": "assistant", "content": "x" }] },
        });
        assert_scores(agent_stability(&envelope), [1.0, 1.0, 0.2, 0.2]);
    }

    #[test]
    fn a_short_trace_is_steady() {
        let one = json!({ "tool_calls": [{ "name": "a" }], "conversation": { "tokens": { "total": 9000 } } });
        assert_scores(agent_stability(&one), [1.0; 4]);
        assert_scores(agent_stability(&json!({})), [1.0; 4]);
    }

    #[test]
    fn lengths_are_compared_by_their_population_deviation() {
        assert_scores(agent_stability(&turns(&[50, 150])), [1.0, 0.5, 1.0, 1.0]);
        assert_scores(
            agent_stability(&turns(&[0, 0, 0, 100])),
            [1.0, 0.0, 1.0, 1.0],
        );
        assert_scores(agent_stability(&turns(&[0, 0])), [1.0; 4]);
    }

    #[test]
    fn empty_turns_and_short_plans_can_be_left_out() {
        let mut envelope = turns(&[0, 10]);
        envelope["tool_calls"] = json!([{ "name": "search" }, { "name": "open" }]);
        let session = Session::from_envelope(&envelope);
        assert_scores(Premises::NONE.report(&session), [0.0, 0.0, 1.0, 1.0]);
        let lenient = Premises {
            ignore_empty_turns: true,
            min_calls_for_tool_usage: Some(3),
            ..Premises::NONE
        };
        assert_scores(lenient.report(&session), [1.0; 4]);
        let exact = Premises {
            min_calls_for_tool_usage: Some(2),
            ..lenient
        };
        assert_scores(exact.report(&session), [0.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn a_floor_is_crossed_only_from_below() {
        let report = agent_stability(&turns(&[50, 150]));
        assert!(drift_flags(&report, &StabilityFloors::default()).is_empty());
        let strict = StabilityFloors {
            response_consistency: 0.51,
            ..StabilityFloors::default()
        };
        assert_eq!(drift_flags(&report, &strict), ["response_consistency"]);
        assert!((report.weakest_score() - 0.5).abs() < 1e-12);
        assert_eq!(
            report.summary(),
            "tool_usage_stability 1, response_consistency 0.5, redundancy 1, cost_per_progress 1"
        );
    }
}
