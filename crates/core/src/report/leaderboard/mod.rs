//! How do several models do on the same tests, and do the runs support that one is better?

pub(crate) mod change;

pub use change::{RateChange, Verdict, p_value, points};

use super::{RunReport, TestReport, checks};
use change::{adjusted, change_of, direction};
use mcptest_stats::{
    CONFIDENCE, Tally, mean_rate, six_decimals, suite_pass_at_k, suite_pass_hat_k,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The models of a report side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Leaderboard {
    /// Of how many runs pass@k and pass^k speak: the fewest that any test has, up to a limit.
    pub k: u64,
    /// The models, in the order of the report.
    pub models: Vec<ModelRow>,
    /// The tests that only some of them have, which are not counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests_left_out: Vec<String>,
    /// The models that have no test in common with those above.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models_left_out: Vec<String>,
}

/// How one model did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelRow {
    /// The model, or the side of a comparison.
    pub model: String,
    /// How many tests are counted: those that all models have.
    pub tests: usize,
    /// How many runs those are.
    pub runs: u64,
    /// The share of runs that pass: the mean over the tests.
    pub pass_1: f64,
    /// The lower bound of its 95% interval over tests like these.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
    /// How likely at least one of k runs of a test passes, without bias: the mean over the tests.
    pub pass_k: f64,
    /// How likely all of k runs of a test pass, without bias: the mean over the tests.
    pub pass_hat_k: f64,
    /// Calls of tools per run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<f64>,
    /// Turns of the model per run, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<f64>,
    /// Tokens per run, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<f64>,
    /// Dollars per run, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Milliseconds per run, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
    /// The difference to the first model, over the tests that both have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<ModelDifference>,
}

/// How much more often a model passes than the first one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ModelDifference {
    /// Its pass rate less that of the first model.
    pub value: f64,
    /// The lower bound of its 95% interval.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
    /// The two-sided mid-p, adjusted for all models that are compared with the first.
    pub p: f64,
    /// Whether the runs support it.
    pub verdict: Verdict,
}

impl ModelDifference {
    pub(crate) fn of(change: RateChange, p: f64, verdict: Verdict) -> Self {
        Self {
            value: change.difference,
            low: change.low,
            high: change.high,
            p,
            verdict,
        }
    }
}

/// Tests under the name of what ran them.
pub type Group<'r> = (String, Vec<&'r TestReport>);

/// The most runs that pass@k and pass^k speak of unless more are asked for.
pub const USUAL_K: u64 = 8;

/// The tests of each model, in the order in which the models come up.
pub fn by_model(tests: &[TestReport]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for test in tests {
        let Some(model) = &test.model else { continue };
        match groups.iter_mut().find(|(name, _)| name == model) {
            Some((_, tests)) => tests.push(test),
            None => groups.push((model.clone(), vec![test])),
        }
    }
    groups
}

/// The models side by side over the tests that all of them have, the first one being what the others are compared with;
/// none where no two have runs of the same test.
pub fn leaderboard(groups: &[Group<'_>], most_k: u64) -> Option<Leaderboard> {
    let groups = with_runs(groups);
    let unlike = held_to_other_checks(&groups);
    let keys: Vec<BTreeSet<Key<'_>>> = groups
        .iter()
        .map(|(_, tests)| {
            let keys = tests.iter().map(|(test, _)| key(test));
            keys.filter(|key| !unlike.contains(key)).collect()
        })
        .collect();
    let first = (0..keys.len()).find(|&at| {
        let others = keys[at + 1..].iter();
        others.into_iter().any(|other| !keys[at].is_disjoint(other))
    })?;
    let mut common = keys[first].clone();
    let (mut kept, mut models_left_out) = (Vec::new(), Vec::new());
    for (at, ((model, tests), own)) in groups.into_iter().zip(&keys).enumerate() {
        let shared: BTreeSet<Key<'_>> = common.intersection(own).cloned().collect();
        if at < first || shared.is_empty() {
            models_left_out.push(model.to_owned());
        } else {
            common = shared;
            kept.push((model, tests));
        }
    }
    let mut left_out: Vec<&TestReport> = Vec::new();
    for (_, tests) in &mut kept {
        tests.retain(|(test, _)| {
            let is_common = common.contains(&key(test));
            if !is_common && left_out.iter().all(|known| key(known) != key(test)) {
                left_out.push(test);
            }
            is_common
        });
        tests.sort_by_cached_key(|(test, _)| key(test));
    }
    let [(_, first), others @ ..] = &kept[..] else {
        return None;
    };
    let tallies =
        |tests: &[Judged<'_>]| -> Vec<Tally> { tests.iter().map(|(_, tally)| *tally).collect() };
    let changes: Vec<Option<RateChange>> = others
        .iter()
        .map(|(_, tests)| {
            let pairs: Vec<_> = tallies(first).into_iter().zip(tallies(tests)).collect();
            change_of(&pairs)
        })
        .collect();
    let p_values = adjusted(&changes);
    let differences = changes.iter().zip(p_values).map(|(change, p)| {
        let (change, p) = ((*change)?, p?);
        let verdict = direction(Some(p), change.difference).unwrap_or(Verdict::NoEvidence);
        Some(ModelDifference::of(change, six_decimals(p), verdict))
    });
    let board = board(&kept, differences, most_k)?;
    Some(Leaderboard {
        tests_left_out: left_out.into_iter().map(without_model).collect(),
        models_left_out,
        ..board
    })
}

/// Tests that two groups hold to different blocks: their rates say nothing of each other.
fn held_to_other_checks<'r>(groups: &[JudgedGroup<'r>]) -> BTreeSet<Key<'r>> {
    let mut first: BTreeMap<Key<'r>, &'r TestReport> = BTreeMap::new();
    let mut unlike = BTreeSet::new();
    for (test, _) in groups.iter().flat_map(|(_, tests)| tests) {
        let known = *first.entry(key(test)).or_insert(test);
        if checks::changed(known, test).is_some() {
            unlike.insert(key(test));
        }
    }
    unlike
}

/// Tests under a name, each with what its runs came to.
pub(crate) type JudgedGroup<'r> = (&'r str, Vec<Judged<'r>>);

fn with_runs<'r>(groups: &'r [Group<'_>]) -> Vec<JudgedGroup<'r>> {
    let judged = groups
        .iter()
        .map(|(name, tests)| (name.as_str(), judged(tests)));
    judged.filter(|(_, tests)| !tests.is_empty()).collect()
}

/// A row for each group, and the differences of all but the first.
pub(crate) fn board(
    groups: &[JudgedGroup<'_>],
    differences: impl Iterator<Item = Option<ModelDifference>>,
    most_k: u64,
) -> Option<Leaderboard> {
    let fewest = groups
        .iter()
        .flat_map(|(_, tests)| tests)
        .map(|(_, tally)| tally.runs)
        .min()?;
    let k = fewest.min(most_k).max(1);
    let mut models = groups
        .iter()
        .map(|(name, tests)| judged_row(name, tests, k))
        .collect::<Option<Vec<_>>>()?;
    for (model, difference) in models.iter_mut().skip(1).zip(differences) {
        model.difference = difference;
    }
    Some(Leaderboard {
        k,
        models,
        tests_left_out: Vec::new(),
        models_left_out: Vec::new(),
    })
}

/// A test that has runs, and how many of them passed.
pub(crate) type Judged<'r> = (&'r TestReport, Tally);

fn judged<'r>(tests: &[&'r TestReport]) -> Vec<Judged<'r>> {
    tests
        .iter()
        .map(|test| (*test, test.tally()))
        .filter(|(_, tally)| tally.runs > 0)
        .collect()
}

/// What tells a test from the others of its model.
type Key<'r> = (&'r str, &'r str, Option<String>);

fn key(test: &TestReport) -> Key<'_> {
    let variant = test.variant.map(|variant| variant.to_string());
    (&test.suite.file, &test.name, variant)
}

/// `refunds [4-distractors]`, whatever its model.
fn without_model(test: &TestReport) -> String {
    match test.variant {
        Some(variant) => format!("{} [{variant}]", test.name),
        None => test.name.clone(),
    }
}

/// How one group did by itself; none where a test has fewer than k runs.
pub fn model_row(name: &str, tests: &[&TestReport], k: u64) -> Option<ModelRow> {
    judged_row(name, &judged(tests), k)
}

fn judged_row(name: &str, tests: &[Judged<'_>], k: u64) -> Option<ModelRow> {
    let tallies: Vec<Tally> = tests.iter().map(|(_, tally)| *tally).collect();
    let counts: Vec<(u64, u64)> = tallies
        .iter()
        .map(|tally| (tally.runs, tally.passed))
        .collect();
    let rate = mean_rate(&tallies, CONFIDENCE).ok()?;
    let mean = |of_run: &dyn Fn(&RunReport) -> Option<f64>| {
        let values: Vec<f64> = tests
            .iter()
            .flat_map(|(test, _)| &test.runs)
            .filter_map(of_run)
            .collect();
        (!values.is_empty()).then(|| six_decimals(values.iter().sum::<f64>() / values.len() as f64))
    };
    Some(ModelRow {
        model: name.to_owned(),
        tests: tests.len(),
        runs: tallies.iter().map(|tally| tally.runs).sum(),
        pass_1: six_decimals(rate.rate),
        low: six_decimals(rate.interval.lower),
        high: six_decimals(rate.interval.upper),
        pass_k: six_decimals(suite_pass_at_k(&counts, k).ok()?),
        pass_hat_k: six_decimals(suite_pass_hat_k(&counts, k).ok()?),
        calls: mean(&|run| Some(run.calls as f64)),
        turns: mean(&|run| run.turns.map(|turns| turns as f64)),
        tokens: mean(&|run| run.tokens.as_ref()?.total.map(|tokens| tokens as f64)),
        cost_usd: mean(&|run| run.cost_usd),
        duration_ms: mean(&|run| run.duration_ms.map(|time| time as f64)),
        difference: None,
    })
}
