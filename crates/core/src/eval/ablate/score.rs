//! How do runs without a set of tools differ from the ordinary ones?

use super::{EXTRA_CALLS, EXTRA_COST, EXTRA_TOKENS, MAX_DROP, MIN_DROP, NEEDED, SETS, USELESS};
use crate::eval::scores::Scores;
use crate::eval::stats::{CONFIDENCE, newcombe_difference};
use crate::report::evidence::AblationRow;
use crate::report::{Finding, Number};
use crate::trace::{Run, Tool, is_tool};
use crate::words::{count, some_of};
use std::collections::BTreeMap;

/// What a number of runs come to.
#[derive(Default)]
struct Tally {
    runs: usize,
    passed: usize,
    /// The mean of a run.
    calls: f64,
    tokens: Option<f64>,
    cost: Option<f64>,
    by_tool: BTreeMap<String, f64>,
}

/// What is different without one set of tools.
struct Worth {
    label: String,
    /// Runs without them, and those that succeeded.
    runs: usize,
    passed: usize,
    /// Success with the tools less success without them, in points, rounded down.
    drop: i64,
    /// The 95% interval of the drop, from 0 to 1.
    interval: (f64, f64),
    extra: [Option<f64>; 3],
    /// The tool whose calls rose most.
    instead: Option<String>,
    said: String,
}

/// The numbers; the side runs are as many for each set, set by set.
pub(super) fn score(sets: &[Vec<String>], ordinary: &[Run<'_>], side: &[Run<'_>]) -> Scores {
    let mut scores = Scores::default();
    let each = side.len().checked_div(sets.len()).unwrap_or_default();
    let number = |count: usize| Some(Number::Int(count as i64));
    scores.set(&SETS, number(if each > 0 { sets.len() } else { 0 }));
    if each == 0 || ordinary.is_empty() {
        let why = if sets.is_empty() { "no recording lists a tool" } else { "there are no runs to compare" };
        scores.not_exercised = Some(why.to_owned());
        return scores;
    }
    let found = compare(sets, ordinary, side, each);
    let drops = || found.iter().map(|worth| worth.drop.clamp(0, 100));
    let needed: Vec<&str> = labels(&found, |worth| worth.interval.0 > 0.0);
    let useless: Vec<&str> = labels(&found, |worth| worth.drop <= 0);
    scores.summary = Some(summary(&found, &needed, &useless));
    scores
        .set(&MAX_DROP, drops().max().map(Number::Int))
        .set(&MIN_DROP, drops().min().map(Number::Int))
        .set(&NEEDED, number(needed.len()))
        .set(&USELESS, number(useless.len()));
    for (at, target) in [EXTRA_CALLS, EXTRA_TOKENS, EXTRA_COST].iter().enumerate() {
        let extra: Option<Vec<f64>> = found.iter().map(|worth| worth.extra[at]).collect();
        let most = extra.map(|extra| extra.into_iter().fold(0.0, f64::max));
        scores.set(target, most.map(Number::Float));
    }
    let mut by_drop: Vec<Worth> = found;
    by_drop.sort_by_key(|worth| std::cmp::Reverse(worth.drop));
    scores.findings = by_drop.into_iter().map(|worth| Finding::new(None, worth.said)).collect();
    scores
}

/// What each set is worth, for a picture.
pub(super) fn rows(sets: &[Vec<String>], ordinary: &[Run<'_>], side: &[Run<'_>]) -> Vec<AblationRow> {
    let each = side.len().checked_div(sets.len()).unwrap_or_default();
    if each == 0 || ordinary.is_empty() {
        return Vec::new();
    }
    let row = |worth: Worth| {
        let [calls, tokens, cost_usd] = worth.extra;
        let (low, high) = worth.interval;
        AblationRow {
            tool: worth.label,
            runs: worth.runs,
            passed: worth.passed,
            drop: worth.drop,
            low: 100.0 * low,
            high: 100.0 * high,
            calls,
            tokens,
            cost_usd,
            instead: worth.instead,
        }
    };
    compare(sets, ordinary, side, each).into_iter().map(row).collect()
}

fn compare(sets: &[Vec<String>], ordinary: &[Run<'_>], side: &[Run<'_>], each: usize) -> Vec<Worth> {
    let with = Tally::of(ordinary);
    let of_set = |(set, runs): (&Vec<String>, &[Run<'_>])| worth(set, &with, &Tally::of(runs));
    sets.iter().zip(side.chunks(each)).map(of_set).collect()
}

fn labels(found: &[Worth], is_meant: impl Fn(&Worth) -> bool) -> Vec<&str> {
    found.iter().filter(|worth| is_meant(worth)).map(|worth| worth.label.as_str()).collect()
}

/// `3 sets: 1 needed (search), 1 useless (list); the largest drop is 66 points`.
fn summary(found: &[Worth], needed: &[&str], useless: &[&str]) -> String {
    let part = |what: &str, labels: &[&str]| match labels {
        [] => format!("none {what}"),
        labels => format!("{} {what} ({})", labels.len(), some_of(labels.iter().copied())),
    };
    let most = found.iter().map(|worth| worth.drop).max().unwrap_or_default();
    let (needed, useless) = (part("needed", needed), part("useless", useless));
    format!("{}: {needed}, {useless}; the largest drop is {most} points", count(found.len(), "set"))
}

impl Tally {
    fn of(runs: &[Run<'_>]) -> Self {
        let mean = |sum: f64| sum / runs.len() as f64;
        let sum =
            |value: &dyn Fn(&Run<'_>) -> Option<f64>| runs.iter().map(value).sum::<Option<f64>>().map(mean);
        let mut by_tool: BTreeMap<String, f64> = BTreeMap::new();
        for call in runs.iter().flat_map(|run| &run.trace.tool_calls) {
            *by_tool.entry(Tool::from(call).full_name()).or_default() += mean(1.0);
        }
        Self {
            runs: runs.len(),
            passed: runs.iter().filter(|run| run.passed).count(),
            calls: mean(runs.iter().map(|run| run.trace.tool_calls.len()).sum::<usize>() as f64),
            tokens: sum(&|run| run.trace.conversation.tokens.totalled().total.map(|total| total as f64)),
            cost: sum(&|run| run.trace.conversation.cost_usd),
            by_tool,
        }
    }

    fn rate(&self) -> (u64, u64) {
        (self.passed as u64, self.runs as u64)
    }
}

fn worth(set: &[String], with: &Tally, without: &Tally) -> Worth {
    let label = set.join(" and ");
    let product = |a: usize, b: usize| (a * b) as i64;
    let difference = product(with.passed, without.runs) - product(without.passed, with.runs);
    let drop = (100 * difference).div_euclid(product(with.runs, without.runs));
    let interval = newcombe_difference(with.rate(), without.rate(), CONFIDENCE);
    let interval = interval.map_or((-1.0, 1.0), |found| (found.interval.lower, found.interval.upper));
    let pairs =
        [(Some(with.calls), Some(without.calls)), (with.tokens, without.tokens), (with.cost, without.cost)];
    let extra = pairs.map(|(with, without)| with.zip(without).map(|(with, without)| without - with));
    let (in_its_place, instead) = in_its_place(set, with, without);
    let said = said(&label, (drop, interval), (with, without), &pairs) + &in_its_place;
    Worth { label, runs: without.runs, passed: without.passed, drop, interval, extra, instead, said }
}

/// `without search: 1 of 3 runs succeed, with it 3 of 3: a drop of 66 points (95% interval -3 to 94); a run …`
fn said(
    label: &str,
    (drop, (lower, upper)): (i64, (f64, f64)),
    (with, without): (&Tally, &Tally),
    pairs: &[(Option<f64>, Option<f64>); 3],
) -> String {
    let points = |rate: f64| (100.0 * rate).round() as i64;
    let change = |(what, (with, without)): (&str, &(Option<f64>, Option<f64>))| {
        let number = |value: f64| Number::Float((value * 1e4).round() / 1e4);
        Some(format!("{} to {} {what}", number((*with)?), number((*without)?)))
    };
    let changes: Vec<String> =
        ["calls", "tokens", "dollars"].into_iter().zip(pairs).filter_map(change).collect();
    format!(
        "without {label}: {} of {} runs succeed, with it {} of {}, a drop of {drop} points (95% interval {} to {}); \
         a run goes from {}",
        without.passed,
        without.runs,
        with.passed,
        with.runs,
        points(lower),
        points(upper),
        changes.join(", ")
    )
}

/// The tool whose calls rose most, and calls of what was not there: in words, and that tool.
fn in_its_place(set: &[String], with: &Tally, without: &Tally) -> (String, Option<String>) {
    let before = |tool: &str| with.by_tool.get(tool).copied().unwrap_or_default();
    let is_removed = |tool: &str| {
        let (server, name) = tool.split_once('.').map_or((None, tool), |(server, name)| (Some(server), name));
        set.iter().any(|written| is_tool(written, name, server))
    };
    let (removed, others): (Vec<_>, Vec<_>) =
        without.by_tool.iter().map(|(tool, calls)| (tool, *calls)).partition(|(tool, _)| is_removed(tool));
    let risen = others.into_iter().map(|(tool, calls)| (tool, calls - before(tool)));
    let most = risen.filter(|(_, rise)| *rise > 0.0).max_by(|(_, a), (_, b)| a.total_cmp(b));
    let mut said = match most {
        Some((tool, rise)) => format!("; {tool} is called in its place ({} more a run)", Number::Float(rise)),
        None => "; no tool is called in its place".to_owned(),
    };
    let asked: f64 = removed.iter().map(|(_, calls)| calls).sum();
    if asked > 0.0 {
        said.push_str(&format!(
            "; it is asked for {} times a run although it is not there",
            Number::Float(asked)
        ));
    }
    (said, most.map(|(tool, _)| tool.clone()))
}
