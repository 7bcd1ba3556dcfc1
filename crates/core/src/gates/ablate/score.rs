//! How do runs without a set of tools differ from the ordinary ones?

use super::{EXTRA_CALLS, EXTRA_COST, EXTRA_TOKENS, MAX_DROP, MIN_DROP, NEEDED, SETS, USELESS};
use crate::engine::scores::Scores;
use crate::engine::target::Target;
use crate::report::evidence::AblationRow;
use crate::report::{Finding, Number};
use crate::trace::{Run, Tool, is_tool};
use crate::words::{count, some_of};
use mcptest_stats::{CONFIDENCE, newcombe_difference};
use std::collections::BTreeMap;

/// The totals of several runs.
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

/// The increase per run without a set, if it is known.
type Extra = fn(&AblationRow) -> Option<f64>;

/// The numbers; the side runs are as many for each set, set by set.
pub(super) fn score(sets: &[Vec<String>], ordinary: &[Run<'_>], side: &[Run<'_>]) -> Scores {
    let mut scores = Scores::default();
    let number = |count: usize| Some(Number::Int(count as i64));
    scores.set(
        &SETS,
        number(if side.len() < sets.len() {
            0
        } else {
            sets.len()
        }),
    );
    let mut found = compare(sets, ordinary, side);
    if !ordinary.is_empty() && !ordinary.iter().any(|run| run.passed) {
        let why = "no ordinary run succeeded, so no tool can be missed";
        scores.not_exercised = Some(why.to_owned());
        return scores;
    }
    if found.is_empty() {
        let why = if sets.is_empty() {
            "no recording lists a tool"
        } else {
            "no runs to compare"
        };
        scores.not_exercised = Some(why.to_owned());
        return scores;
    }
    let drops = || found.iter().map(|(row, _)| row.drop.clamp(0, 100));
    let needed: Vec<&str> = labels(&found, |row| row.low > 0.0);
    let useless: Vec<&str> = labels(&found, |row| row.drop <= 0);
    scores.summary = Some(summary(&found, &needed, &useless));
    scores
        .set(&MAX_DROP, drops().max().map(Number::Int))
        .set(&MIN_DROP, drops().min().map(Number::Int))
        .set(&NEEDED, number(needed.len()))
        .set(&USELESS, number(useless.len()));
    let extras: [(Target, Extra); 3] = [
        (EXTRA_CALLS, |row| row.calls),
        (EXTRA_TOKENS, |row| row.tokens),
        (EXTRA_COST, |row| row.cost_usd),
    ];
    for (target, extra) in extras {
        let extra: Option<Vec<f64>> = found.iter().map(|(row, _)| extra(row)).collect();
        let most = extra.map(|extra| extra.into_iter().fold(0.0, f64::max));
        scores.set(&target, most.map(Number::Float));
    }
    found.sort_by_key(|(row, _)| std::cmp::Reverse(row.drop));
    scores.findings = found
        .into_iter()
        .map(|(_, said)| Finding::new(None, said))
        .collect();
    scores
}

/// The difference that each set makes, as a row and in words. Empty if one side has no runs.
pub(super) fn compare(
    sets: &[Vec<String>],
    ordinary: &[Run<'_>],
    side: &[Run<'_>],
) -> Vec<(AblationRow, String)> {
    let each = side.len().checked_div(sets.len()).unwrap_or_default();
    if each == 0 || ordinary.is_empty() {
        return Vec::new();
    }
    let with = Tally::of(ordinary);
    sets.iter()
        .zip(side.chunks(each))
        .map(|(set, runs)| worth(set, &with, &Tally::of(runs)))
        .collect()
}

fn labels(found: &[(AblationRow, String)], is_meant: impl Fn(&AblationRow) -> bool) -> Vec<&str> {
    found
        .iter()
        .filter(|(row, _)| is_meant(row))
        .map(|(row, _)| row.tool.as_str())
        .collect()
}

/// `3 sets: 1 needed (search), 1 useless (list); the largest drop is 66 points`.
fn summary(found: &[(AblationRow, String)], needed: &[&str], useless: &[&str]) -> String {
    let part = |what: &str, labels: &[&str]| match labels {
        [] => format!("none {what}"),
        labels => format!(
            "{} {what} ({})",
            labels.len(),
            some_of(labels.iter().copied())
        ),
    };
    let most = found
        .iter()
        .map(|(row, _)| row.drop)
        .max()
        .unwrap_or_default();
    let (needed, useless) = (part("needed", needed), part("useless", useless));
    format!(
        "{}: {needed}, {useless}; the largest drop is {most} points",
        count(found.len(), "set")
    )
}

impl Tally {
    fn of(runs: &[Run<'_>]) -> Self {
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

/// The row, and `without search: 1 of 3 runs succeed, with it 3 of 3, a drop of 66 points (95% interval -3 to 94); a …`
fn worth(set: &[String], with: &Tally, without: &Tally) -> (AblationRow, String) {
    let product = |a: usize, b: usize| (a * b) as i64;
    let difference = product(with.passed, without.runs) - product(without.passed, with.runs);
    let drop = (100 * difference).div_euclid(product(with.runs, without.runs));
    let interval =
        newcombe_difference(with.rate(), without.rate(), CONFIDENCE).map(|found| found.interval);
    let (low, high) = interval.map_or((-100.0, 100.0), |found| {
        (100.0 * found.lower, 100.0 * found.upper)
    });
    let pairs = [
        ("calls", Some(with.calls), Some(without.calls)),
        ("tokens", with.tokens, without.tokens),
        ("dollars", with.cost, without.cost),
    ];
    let [calls, tokens, cost_usd] = pairs.map(|(_, with, without)| Some(without? - with?));
    let change = |(what, with, without): (&str, Option<f64>, Option<f64>)| {
        let number = |value: f64| Number::Float((value * 1e4).round() / 1e4);
        Some(format!("{} to {} {what}", number(with?), number(without?)))
    };
    let changes: Vec<String> = pairs.into_iter().filter_map(change).collect();
    let (in_its_place, instead) = in_its_place(set, with, without);
    let (runs, passed, tool) = (without.runs, without.passed, set.join(" and "));
    let said = format!(
        "without {tool}: {passed} of {runs} runs succeed, with it {} of {}, a drop of {drop} points \
         (95% interval {} to {}); a run goes from {}{in_its_place}",
        with.passed,
        with.runs,
        low.round() as i64,
        high.round() as i64,
        changes.join(", ")
    );
    (
        AblationRow {
            tool,
            runs,
            passed,
            drop,
            low,
            high,
            calls,
            tokens,
            cost_usd,
            instead,
        },
        said,
    )
}

/// Describes the tool whose calls rose most, and calls of the removed tools. Also returns that tool.
fn in_its_place(set: &[String], with: &Tally, without: &Tally) -> (String, Option<String>) {
    let before = |tool: &str| with.by_tool.get(tool).copied().unwrap_or_default();
    let is_removed = |tool: &str| {
        let (server, name) = tool
            .split_once('.')
            .map_or((None, tool), |(server, name)| (Some(server), name));
        set.iter().any(|written| is_tool(written, name, server))
    };
    let (removed, others): (Vec<_>, Vec<_>) = without
        .by_tool
        .iter()
        .map(|(tool, calls)| (tool, *calls))
        .partition(|(tool, _)| is_removed(tool));
    let risen = others
        .into_iter()
        .map(|(tool, calls)| (tool, calls - before(tool)));
    let most = risen
        .filter(|(_, rise)| *rise > 0.0)
        .max_by(|(_, a), (_, b)| a.total_cmp(b));
    let mut said = match most {
        Some((tool, rise)) => format!(
            "; {tool} is called in its place ({} more a run)",
            Number::Float(rise)
        ),
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
