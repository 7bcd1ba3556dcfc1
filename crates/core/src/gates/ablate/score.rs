//! How do runs without a set of tools differ from the ordinary ones?

use super::{EXTRA_CALLS, EXTRA_COST, EXTRA_TOKENS, MAX_DROP, MIN_DROP, NEEDED, SETS, USELESS};
use crate::engine::scores::Scores;
use crate::report::evidence::AblationRow;
use crate::report::{Finding, Number};
use crate::trace::{Run, Tool, is_tool};
use crate::words::{count, some_of};
use mcptest_stats::{CONFIDENCE, Interval, newcombe_difference};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The totals of several runs.
#[derive(Default)]
struct AblationTotals {
    runs: usize,
    passed: usize,
    /// The mean of a run.
    calls: f64,
    tokens: Option<f64>,
    cost: Option<f64>,
    by_tool: BTreeMap<String, f64>,
}

/// The difference that a set of tools makes.
pub(super) struct Worth {
    pub(super) row: AblationRow,
    /// The row in words.
    message: String,
}

/// The numbers; the side runs are as many for each set, set by set.
pub(super) fn score(sets: &[Vec<String>], ordinary: &[Run<'_>], side: &[Run<'_>]) -> Scores {
    let mut scores = Scores::default();
    let number = |count: usize| Some(Number::Int(count as i64));
    let is_complete = side.len() >= sets.len();
    scores.set(&SETS, number(if is_complete { sets.len() } else { 0 }));
    if !ordinary.is_empty() && !ordinary.iter().any(|run| run.passed) {
        let why = "no ordinary run succeeded, so no tool can be missed";
        scores.not_exercised = Some(why.to_owned());
        return scores;
    }
    let mut worths = compare(sets, ordinary, side);
    if worths.is_empty() {
        let why = if sets.is_empty() {
            "no recording lists a tool"
        } else {
            "no runs to compare"
        };
        scores.not_exercised = Some(why.to_owned());
        return scores;
    }
    let drops = || worths.iter().map(|worth| worth.row.drop.clamp(0, 100));
    let needed = labels(&worths, |row| row.low > 0.0);
    let useless = labels(&worths, |row| row.drop <= 0);
    scores.summary = Some(summary(&worths, &needed, &useless));
    scores
        .set(&MAX_DROP, drops().max().map(Number::Int))
        .set(&MIN_DROP, drops().min().map(Number::Int))
        .set(&NEEDED, number(needed.len()))
        .set(&USELESS, number(useless.len()))
        .set(&EXTRA_CALLS, most_extra(&worths, |row| row.calls))
        .set(&EXTRA_TOKENS, most_extra(&worths, |row| row.tokens))
        .set(&EXTRA_COST, most_extra(&worths, |row| row.cost_usd));
    worths.sort_by_key(|worth| Reverse(worth.row.drop));
    scores.findings = worths
        .into_iter()
        .map(|worth| Finding::new(None, worth.message))
        .collect();
    scores
}

/// The largest increase in a run without a set, if it is known for every set.
fn most_extra(worths: &[Worth], extra: fn(&AblationRow) -> Option<f64>) -> Option<Number> {
    let extras: Option<Vec<f64>> = worths.iter().map(|worth| extra(&worth.row)).collect();
    let most = extras?.into_iter().fold(0.0, f64::max);
    Some(Number::Float(most))
}

/// The difference that each set makes. Empty if one side has no runs.
pub(super) fn compare(sets: &[Vec<String>], ordinary: &[Run<'_>], side: &[Run<'_>]) -> Vec<Worth> {
    let runs_of_each = side.len().checked_div(sets.len()).unwrap_or_default();
    if runs_of_each == 0 || ordinary.is_empty() {
        return Vec::new();
    }
    let with = AblationTotals::new(ordinary);
    sets.iter()
        .zip(side.chunks(runs_of_each))
        .map(|(set, runs)| Worth::new(set, &with, &AblationTotals::new(runs)))
        .collect()
}

fn labels(worths: &[Worth], is_meant: impl Fn(&AblationRow) -> bool) -> Vec<&str> {
    worths
        .iter()
        .filter(|worth| is_meant(&worth.row))
        .map(|worth| worth.row.tool.as_str())
        .collect()
}

/// `3 sets: 1 needed (search), 1 useless (list); the largest drop is 66 points`.
fn summary(worths: &[Worth], needed: &[&str], useless: &[&str]) -> String {
    let sets = count(worths.len(), "set");
    let needed = count_labels("needed", needed);
    let useless = count_labels("useless", useless);
    let drops = worths.iter().map(|worth| worth.row.drop);
    let most = drops.max().unwrap_or_default();
    format!("{sets}: {needed}, {useless}; the largest drop is {most} points")
}

/// `2 needed (search, list)` or `none needed`.
fn count_labels(what: &str, labels: &[&str]) -> String {
    if labels.is_empty() {
        return format!("none {what}");
    }
    let named = some_of(labels.iter().copied());
    format!("{} {what} ({named})", labels.len())
}

impl AblationTotals {
    fn new(runs: &[Run<'_>]) -> Self {
        let mean = |sum: f64| sum / runs.len() as f64;
        let sum = |value: &dyn Fn(&Run<'_>) -> Option<f64>| {
            runs.iter().map(value).sum::<Option<f64>>().map(mean)
        };
        let mut by_tool: BTreeMap<String, f64> = BTreeMap::new();
        for call in runs.iter().flat_map(|run| &run.trace.tool_calls) {
            *by_tool.entry(Tool::from(call).full_name()).or_default() += mean(1.0);
        }
        Self {
            runs: runs.len(),
            passed: runs.iter().filter(|run| run.passed).count(),
            calls: mean(
                runs.iter()
                    .map(|run| run.trace.tool_calls.len())
                    .sum::<usize>() as f64,
            ),
            tokens: sum(&|run| {
                run.trace
                    .conversation
                    .tokens
                    .totalled()
                    .total
                    .map(|total| total as f64)
            }),
            cost: sum(&|run| run.trace.conversation.cost_usd),
            by_tool,
        }
    }

    fn rate(&self) -> (u64, u64) {
        (self.passed as u64, self.runs as u64)
    }
}

impl Worth {
    fn new(set: &[String], with: &AblationTotals, without: &AblationTotals) -> Self {
        let usage = Usage {
            calls: UsageChange::new("calls", Some(with.calls), Some(without.calls)),
            tokens: UsageChange::new("tokens", with.tokens, without.tokens),
            cost: UsageChange::new("dollars", with.cost, without.cost),
        };
        let interval = drop_interval(with, without);
        let replacement = replacement(set, with, without);
        let row = AblationRow {
            tool: set.join(" and "),
            runs: without.runs,
            passed: without.passed,
            drop: drop_in_points(with, without),
            low: interval.lower,
            high: interval.upper,
            calls: usage.calls.extra(),
            tokens: usage.tokens.extra(),
            cost_usd: usage.cost.extra(),
            instead: replacement.tool,
        };
        let message = describe(&row, with, &usage, &replacement.message);
        Self { row, message }
    }
}

/// `without search: 1 of 3 runs succeed, with it 3 of 3, a drop of 66 points (95% interval -3 to 94); a …`
fn describe(row: &AblationRow, with: &AblationTotals, usage: &Usage, replacement: &str) -> String {
    format!(
        "without {}: {} of {} runs succeed, with it {} of {}, a drop of {} points \
         (95% interval {} to {}); a run goes from {}; {replacement}",
        row.tool,
        row.passed,
        row.runs,
        with.passed,
        with.runs,
        row.drop,
        row.low.round() as i64,
        row.high.round() as i64,
        usage.describe()
    )
}

/// The fall of the pass rate without the set, floored.
fn drop_in_points(with: &AblationTotals, without: &AblationTotals) -> i64 {
    let product = |a: usize, b: usize| (a * b) as i64;
    let difference = product(with.passed, without.runs) - product(without.passed, with.runs);
    (100 * difference).div_euclid(product(with.runs, without.runs))
}

/// The 95% interval of the drop, in points.
fn drop_interval(with: &AblationTotals, without: &AblationTotals) -> Interval {
    match newcombe_difference(with.rate(), without.rate(), CONFIDENCE) {
        Ok(found) => Interval {
            lower: 100.0 * found.interval.lower,
            upper: 100.0 * found.interval.upper,
        },
        Err(_) => Interval {
            lower: -100.0,
            upper: 100.0,
        },
    }
}

/// The change in the usage of a run without a set.
struct Usage {
    calls: UsageChange,
    tokens: UsageChange,
    cost: UsageChange,
}

impl Usage {
    fn describe(&self) -> String {
        let changes: Vec<String> = [&self.calls, &self.tokens, &self.cost]
            .into_iter()
            .filter_map(UsageChange::describe)
            .collect();
        changes.join(", ")
    }
}

/// The mean usage of a run with a set and without it, if it is known.
struct UsageChange {
    unit: &'static str,
    with: Option<f64>,
    without: Option<f64>,
}

impl UsageChange {
    fn new(unit: &'static str, with: Option<f64>, without: Option<f64>) -> Self {
        Self {
            unit,
            with,
            without,
        }
    }

    fn extra(&self) -> Option<f64> {
        Some(self.without? - self.with?)
    }

    /// `2 to 3 calls`.
    fn describe(&self) -> Option<String> {
        let number = |value: f64| Number::Float((value * 1e4).round() / 1e4);
        let (with, without) = (number(self.with?), number(self.without?));
        Some(format!("{with} to {without} {}", self.unit))
    }
}

/// The agent's behavior instead of calling a set of tools.
struct Replacement {
    /// The tool with the largest increase in calls.
    tool: Option<String>,
    message: String,
}

fn replacement(set: &[String], with: &AblationTotals, without: &AblationTotals) -> Replacement {
    let is_removed = |tool: &str| {
        let (server, name) = match tool.split_once('.') {
            Some((server, name)) => (Some(server), name),
            None => (None, tool),
        };
        set.iter().any(|written| is_tool(written, name, server))
    };
    let mut calls_of_removed = 0.0;
    let mut most: Option<(&String, f64)> = None;
    for (tool, calls) in &without.by_tool {
        if is_removed(tool) {
            calls_of_removed += calls;
            continue;
        }
        let rise = calls - with.by_tool.get(tool).copied().unwrap_or_default();
        if rise > 0.0 && most.is_none_or(|(_, most)| rise >= most) {
            most = Some((tool, rise));
        }
    }
    let mut message = match most {
        Some((tool, rise)) => {
            let rise = Number::Float(rise);
            format!("{tool} is called instead ({rise} more a run)")
        }
        None => "no tool is called instead".to_owned(),
    };
    if calls_of_removed > 0.0 {
        let times = Number::Float(calls_of_removed);
        message.push_str(&format!("; the agent still calls it {times} times a run"));
    }
    Replacement {
        tool: most.map(|(tool, _)| tool.clone()),
        message,
    }
}
