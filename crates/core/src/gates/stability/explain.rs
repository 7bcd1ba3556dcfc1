//! Which dimension is weakest, and which numbers made it so?

use super::aligned::together;
use super::pairs::{Agreement, Pair, numbered, numbered_calls};
use super::score::{Dimension, LOW, Measured, Premises};
use super::session::{Session, Step};
use super::{ALIGNED, CONSISTENCY, EARLY_DIVERGENCE, SCORE, SIMILARITY, VARIANCE, WEAKEST};
use crate::engine::target::Target;
use crate::hashed::HashMap;
use crate::report::{Finding, Number};
use crate::trace::Run;
use crate::words::{count, grouped, plural};
use std::cmp::Reverse;

/// As many numbers of a list as a reader will look at.
const MOST_LISTED: usize = 10;

/// The runs of a test, and all of their measures.
pub(super) struct Explainer<'a> {
    pub(super) runs: &'a [Run<'a>],
    /// One session per run.
    pub(super) sessions: &'a [Session<'a>],
    /// The scores of each run.
    pub(super) measured: &'a [Measured],
    pub(super) agreement: &'a Agreement,
    pub(super) premises: Premises,
}

/// A low score that does not count, in the words of a row.
pub(super) struct LowScore {
    pub(super) target: Target,
    pub(super) message: String,
}

/// The lowest score of a dimension, and the first run that has it.
struct Worst {
    dimension: Dimension,
    score: f64,
    run: usize,
}

impl<'a> Explainer<'a> {
    /// The worst run of each imperfect dimension, the weakest first; then where the runs differ
    /// most; last, what does not count.
    pub(super) fn findings(&self) -> Vec<Finding> {
        let mut worst = self.worst_runs();
        worst.retain(|worst| worst.score < 1.0);
        worst.sort_by(|a, b| a.score.total_cmp(&b.score));
        let (counted, aside): (Vec<Worst>, Vec<Worst>) = worst
            .into_iter()
            .partition(|worst| self.premises.counts(worst.dimension));
        let mut findings: Vec<Finding> = counted
            .iter()
            .map(|worst| self.explain_counted(worst))
            .collect();
        findings.extend(self.explain_paths());
        findings.extend(self.explain_arguments());
        findings.extend(self.explain_early_divergence());
        findings.extend(aside.iter().map(|worst| self.explain_aside(worst)));
        findings
    }

    /// The scores that are low and do not count.
    pub(super) fn low_scores_aside(&self) -> Vec<LowScore> {
        self.worst_runs()
            .into_iter()
            .filter(|worst| worst.score < LOW && !self.premises.counts(worst.dimension))
            .map(|worst| {
                let session = &self.sessions[worst.run];
                let why = match worst.dimension {
                    Dimension::Cost => tokens_spent(session, self.premises),
                    _ => reason(worst.dimension, session, self.premises),
                };
                let name = worst.dimension.name();
                let score = shown(worst.score);
                let run = self.number(worst.run);
                LowScore {
                    target: worst.dimension.target(),
                    message: format!("low: {name} {score}, {why} (run #{run})"),
                }
            })
            .collect()
    }

    /// For each dimension that was measured its worst run.
    fn worst_runs(&self) -> Vec<Worst> {
        Dimension::ALL
            .into_iter()
            .filter_map(|dimension| {
                let scores = self.measured.iter().enumerate();
                let scores = scores.filter_map(|(run, measured)| {
                    Some(Worst {
                        dimension,
                        score: measured.value(dimension)?,
                        run,
                    })
                });
                scores.min_by(|a, b| a.score.total_cmp(&b.score))
            })
            .collect()
    }

    fn explain_counted(&self, worst: &Worst) -> Finding {
        let own = worst.dimension.target();
        self.explain_worst(worst, "")
            .about(&[own, WEAKEST, SCORE, VARIANCE])
    }

    fn explain_aside(&self, worst: &Worst) -> Finding {
        self.explain_worst(worst, " (not part of the weakest score)")
            .about(&[worst.dimension.target()])
    }

    fn explain_worst(&self, worst: &Worst, remark: &str) -> Finding {
        let name = worst.dimension.name();
        let score = shown(worst.score);
        let why = reason(worst.dimension, &self.sessions[worst.run], self.premises);
        let message = format!("{name} {score}: {why}{remark}");
        Finding::new(Some(self.number(worst.run)), message)
    }

    fn number(&self, run: usize) -> usize {
        self.runs[run].number
    }

    fn calls(&self, run: usize) -> &'a [Step<'a>] {
        &self.sessions[run].calls
    }

    /// The two runs whose paths differ most, and where they diverge.
    fn explain_paths(&self) -> Option<Finding> {
        let pair = self.agreement.similarity.least.filter(Pair::differs)?;
        let (a, b) = (self.calls(pair.one), self.calls(pair.other));
        let is_same_tool = |(a, b): &(&Step<'_>, &Step<'_>)| a.name == b.name;
        let parts_at = a.iter().zip(b).take_while(is_same_tool).count();
        let describe = |calls: &[Step<'_>]| match calls.get(parts_at) {
            Some(call) => format!("calls `{}`", call.name),
            None => "ends".to_owned(),
        };
        let message = format!(
            "runs #{} and #{} are the least alike ({}): at call {}, one {}, the other {}",
            self.number(pair.one),
            self.number(pair.other),
            shown(pair.ratio),
            parts_at + 1,
            describe(a),
            describe(b)
        );
        Some(Finding::new(None, message).about(&[SIMILARITY]))
    }

    fn explain_early_divergence(&self) -> Option<Finding> {
        if !self.agreement.early_divergence() {
            return None;
        }
        let (early, diverging) = (self.agreement.early, self.agreement.diverging);
        let message = format!(
            "{early} of {diverging} differing pairs of runs differ from their first or second \
            call on"
        );
        Some(Finding::new(None, message).about(&[EARLY_DIVERGENCE]))
    }

    /// The pair of runs whose arguments differ most along the common path, and the pair that
    /// differs most step by step, if that is another.
    fn explain_arguments(&self) -> Vec<Finding> {
        let aligned = self.agreement.aligned.least.filter(Pair::differs);
        let by_step = self.agreement.consistency.least.filter(Pair::differs);
        let mut findings = Vec::new();
        if let Some(pair) = aligned {
            let finding = self.other_arguments(pair, "", &self.first_other_aligned_call(pair));
            findings.push(if by_step == Some(pair) {
                finding.about(&[ALIGNED, CONSISTENCY])
            } else {
                finding.about(&[ALIGNED])
            });
        }
        if let Some(pair) = by_step.filter(|pair| aligned != Some(*pair)) {
            let first = self.first_other_step(pair);
            let finding = self.other_arguments(pair, " at the same steps", &first);
            findings.push(finding.about(&[CONSISTENCY]));
        }
        findings
    }

    fn other_arguments(&self, pair: Pair, place: &str, first: &str) -> Finding {
        let (one, other) = (self.number(pair.one), self.number(pair.other));
        let equal = shown(pair.ratio);
        let message = format!(
            "runs #{one} and #{other} give different arguments to the same tools{place} ({equal} equal){first}"
        );
        Finding::new(None, message)
    }

    /// Names the first step with other arguments: ``, first in call 2 `a` ``.
    fn first_other_step(&self, pair: Pair) -> String {
        let (a, b) = (self.calls(pair.one), self.calls(pair.other));
        let mut steps = a.iter().zip(b);
        match steps.position(|(a, b)| a.name == b.name && a.args != b.args) {
            Some(at) => format!(", first in call {} `{}`", at + 1, a[at].name),
            None => String::new(),
        }
    }

    /// `, first in call 2 `a` beside call 3`.
    fn first_other_aligned_call(&self, pair: Pair) -> String {
        let two = [&self.sessions[pair.one], &self.sessions[pair.other]];
        let calls = numbered_calls(&two, &numbered(&two));
        let pairs = together(&calls[0], &calls[1]);
        let mut others = pairs
            .iter()
            .filter(|(a, b)| calls[0][*a].args != calls[1][*b].args);
        let Some((one, other)) = others.next() else {
            return String::new();
        };
        let beside = if one == other {
            String::new()
        } else {
            format!(" beside call {}", other + 1)
        };
        let name = two[0].calls[*one].name;
        format!(", first in call {} `{name}`{beside}", one + 1)
    }
}

/// Two decimals, rounded down, so that a value just below a floor does not look as if it met the
/// floor.
fn shown(score: f64) -> Number {
    Number::Float((score * 100.0 + 1e-9).floor() / 100.0)
}

fn reason(dimension: Dimension, session: &Session<'_>, premises: Premises) -> String {
    let calls = session.calls.len();
    match dimension {
        Dimension::ToolUsage => {
            let tools = count(session.tools, "tool");
            format!("{calls} calls to {tools}; `min_calls_for_tool_usage` excludes shorter runs")
        }
        Dimension::Response => {
            format!("turn lengths {}", listed(&premises.lengths(session)))
        }
        Dimension::Redundancy => {
            let distinct = session.distinct_calls;
            format!(
                "{calls} calls, {distinct} distinct; {}",
                most_repeated(&session.calls)
            )
        }
        Dimension::Cost if session.distinct_calls == 0 => tokens_spent(session, premises),
        Dimension::Cost => {
            let target = grouped(premises.tokens_per_call() as u64);
            let each = premises.tokens(session) / session.distinct_calls as f64;
            let each = grouped(each as u64);
            format!(
                "{}, {each} each where {target} are free; `target_tokens` changes that",
                tokens_spent(session, premises)
            )
        }
    }
}

/// `133,855 tokens for 3 useful calls`.
fn tokens_spent(session: &Session<'_>, premises: Premises) -> String {
    let spent = premises.tokens(session);
    let tokens = grouped(spent as u64);
    let calls = session.distinct_calls;
    if calls == 0 {
        return format!("{tokens} tokens and no calls");
    }
    let cached = session.tokens - spent;
    let remark = if cached > 0.0 {
        format!(" ({} more were read from a cache)", grouped(cached as u64))
    } else {
        String::new()
    };
    let plural = plural(calls);
    format!("{tokens} tokens for {calls} useful call{plural}{remark}")
}

fn listed(numbers: &[usize]) -> String {
    let mut listed: Vec<String> = numbers
        .iter()
        .take(MOST_LISTED)
        .map(usize::to_string)
        .collect();
    if numbers.len() > MOST_LISTED {
        listed.push(format!("… ({} in all)", numbers.len()));
    }
    listed.join(", ")
}

/// The most frequent call. Of several, the first.
fn most_repeated(calls: &[Step<'_>]) -> String {
    let mut places: HashMap<&Step<'_>, Vec<usize>> = HashMap::default();
    for (at, call) in calls.iter().enumerate() {
        places.entry(call).or_default().push(at + 1);
    }
    let most = places
        .into_values()
        .max_by_key(|places| (places.len(), Reverse(places[0])));
    let Some(places) = most else {
        return String::new();
    };
    let name = calls[places[0] - 1].name;
    format!(
        "`{name}` with the same arguments in calls {}",
        listed(&places)
    )
}
