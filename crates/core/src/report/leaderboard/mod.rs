//! How do several models do on the same tests, and do the runs support that one is better?

pub mod change;

pub use change::{RateChange, Verdict, p_value, points};

use super::{RunReport, TestReport, checks};
use change::{ChangeQuestion, answer_together, change_of};
use mcptest_stats::{
    CONFIDENCE, Tally, mean_rate, six_decimals, suite_pass_at_k, suite_pass_hat_k,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The models of a report side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Leaderboard {
    /// The k of pass@k and pass^k: the fewest runs of any test, up to a limit.
    pub k: u64,
    /// The models, in the order of the report.
    pub models: Vec<ModelRow>,
    /// The tests that not all of them have, which are not counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests_left_out: Vec<String>,
    /// The models that share no test with the models above.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models_left_out: Vec<String>,
}

/// The results of one model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelRow {
    /// The model, or the side of a comparison.
    pub model: String,
    /// The number of counted tests: the tests that all models have.
    pub tests: usize,
    /// The number of runs of these tests.
    pub runs: u64,
    /// The share of runs that pass: the mean over the tests.
    pub pass_1: f64,
    /// The lower bound of its 95% interval over similar tests.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
    /// The unbiased probability that at least one of k runs of a test passes: the mean over the tests.
    pub pass_k: f64,
    /// The unbiased probability that all of k runs of a test pass: the mean over the tests.
    pub pass_hat_k: f64,
    /// Calls of tools per run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<f64>,
    /// Turns of the model per run, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<f64>,
    /// Tokens per run, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<f64>,
    /// Dollars per run, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Milliseconds per run, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
    /// The difference to the first model, over the tests that both have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<ModelDifference>,
}

/// The pass rate of a model compared with the first model's.
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
    /// The verdict of the runs.
    pub verdict: Verdict,
}

impl ModelDifference {
    /// The difference with its p-value among all models that are compared with the first.
    pub fn new(change: RateChange, p: f64, verdict: Verdict) -> Self {
        Self {
            value: change.difference,
            low: change.low,
            high: change.high,
            p,
            verdict,
        }
    }
}

/// A name, and its tests.
pub type Group<'r> = (String, Vec<&'r TestReport>);

/// The default limit of k for pass@k and pass^k.
pub const USUAL_K: u64 = 8;

/// The tests of each model, in the order of the report.
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

/// The models as rows over their shared tests, compared with the first. `None` if no two have runs
/// of the same test.
pub fn leaderboard(groups: &[Group<'_>], most_k: u64) -> Option<Leaderboard> {
    let CommonTests {
        groups,
        tests_left_out,
        models_left_out,
    } = CommonTests::of(with_runs(groups))?;
    let (first, others) = groups.split_first()?;
    let changes: Vec<Option<RateChange>> = others
        .iter()
        .map(|other| {
            let pairs: Vec<(Tally, Tally)> = first.tallies().zip(other.tallies()).collect();
            change_of(&pairs)
        })
        .collect();
    let questions: Vec<Option<ChangeQuestion>> = changes
        .iter()
        .map(|change| change.map(|change| change.question(true)))
        .collect();
    let answers = answer_together(&questions);
    let differences = changes.iter().zip(answers).map(|(change, answer)| {
        let (change, answer) = ((*change)?, answer?);
        Some(ModelDifference::new(change, answer.p?, answer.verdict))
    });
    let board = board(&groups, differences, most_k)?;
    Some(Leaderboard {
        tests_left_out,
        models_left_out,
        ..board
    })
}

/// Models and their shared tests.
struct CommonTests<'r> {
    /// Two or more models, with their tests in the same order.
    groups: Vec<JudgedGroup<'r>>,
    tests_left_out: Vec<String>,
    models_left_out: Vec<String>,
}

impl<'r> CommonTests<'r> {
    /// Begins with the first model that shares a test with a later one; `None` if no two do.
    fn of(all: Vec<JudgedGroup<'r>>) -> Option<Self> {
        let unlike = held_to_other_checks(&all);
        let keys: Vec<BTreeSet<TestKey<'r>>> = all
            .iter()
            .map(|group| group.keys().filter(|key| !unlike.contains(key)).collect())
            .collect();
        let first = (0..keys.len()).find(|&at| {
            let mut later = keys[at + 1..].iter();
            later.any(|other| !keys[at].is_disjoint(other))
        })?;
        let mut common = keys[first].clone();
        let mut groups = Vec::new();
        let mut models_left_out = Vec::new();
        for (at, (group, own)) in all.into_iter().zip(&keys).enumerate() {
            let shared: BTreeSet<TestKey<'r>> = common.intersection(own).cloned().collect();
            if at < first || shared.is_empty() {
                models_left_out.push(group.name.to_owned());
            } else {
                common = shared;
                groups.push(group);
            }
        }
        let mut left_out: Vec<&TestReport> = Vec::new();
        for group in &mut groups {
            group.tests.retain(|judged| {
                let key = key(judged.test);
                let is_common = common.contains(&key);
                if !is_common && left_out.iter().all(|known| self::key(known) != key) {
                    left_out.push(judged.test);
                }
                is_common
            });
            group.tests.sort_by_cached_key(|judged| key(judged.test));
        }
        Some(Self {
            groups,
            tests_left_out: left_out.into_iter().map(without_model).collect(),
            models_left_out,
        })
    }
}

/// Tests for which two groups have different blocks, so that their rates are not comparable.
fn held_to_other_checks<'r>(groups: &[JudgedGroup<'r>]) -> BTreeSet<TestKey<'r>> {
    let mut first: BTreeMap<TestKey<'r>, &'r TestReport> = BTreeMap::new();
    let mut unlike = BTreeSet::new();
    for judged in groups.iter().flat_map(|group| &group.tests) {
        let known = *first.entry(key(judged.test)).or_insert(judged.test);
        if checks::changed(known, judged.test).is_some() {
            unlike.insert(key(judged.test));
        }
    }
    unlike
}

/// A test with runs, and the number of passed runs.
pub struct JudgedTest<'r> {
    test: &'r TestReport,
    tally: Tally,
}

impl<'r> JudgedTest<'r> {
    pub fn new(test: &'r TestReport) -> Self {
        Self {
            test,
            tally: test.tally(),
        }
    }
}

/// A name, and its judged tests.
pub struct JudgedGroup<'r> {
    pub name: &'r str,
    pub tests: Vec<JudgedTest<'r>>,
}

impl<'r> JudgedGroup<'r> {
    /// Without the tests that have no runs.
    fn new(name: &'r str, tests: &[&'r TestReport]) -> Self {
        let tests = tests.iter().map(|test| JudgedTest::new(test));
        Self {
            name,
            tests: tests.filter(|judged| judged.tally.runs > 0).collect(),
        }
    }

    fn tallies(&self) -> impl Iterator<Item = Tally> {
        self.tests.iter().map(|judged| judged.tally)
    }

    fn keys(&self) -> impl Iterator<Item = TestKey<'r>> {
        self.tests.iter().map(|judged| key(judged.test))
    }

    /// The row of the model; `None` if a test has fewer than k runs.
    fn row(&self, k: u64) -> Option<ModelRow> {
        let tallies: Vec<Tally> = self.tallies().collect();
        let counts: Vec<(u64, u64)> = tallies
            .iter()
            .map(|tally| (tally.runs, tally.passed))
            .collect();
        let rate = mean_rate(&tallies, CONFIDENCE).ok()?;
        Some(ModelRow {
            model: self.name.to_owned(),
            tests: self.tests.len(),
            runs: tallies.iter().map(|tally| tally.runs).sum(),
            pass_1: six_decimals(rate.rate),
            low: six_decimals(rate.interval.lower),
            high: six_decimals(rate.interval.upper),
            pass_k: six_decimals(suite_pass_at_k(&counts, k).ok()?),
            pass_hat_k: six_decimals(suite_pass_hat_k(&counts, k).ok()?),
            calls: self.mean(|run| Some(run.calls as f64)),
            turns: self.mean(|run| run.turns.map(|turns| turns as f64)),
            tokens: self.mean(|run| run.tokens.as_ref()?.total.map(|tokens| tokens as f64)),
            cost_usd: self.mean(|run| run.cost_usd),
            duration_ms: self.mean(|run| run.duration_ms.map(|time| time as f64)),
            difference: None,
        })
    }

    /// The mean over the runs with a known value.
    fn mean(&self, of_run: impl Fn(&RunReport) -> Option<f64>) -> Option<f64> {
        let runs = self.tests.iter().flat_map(|judged| &judged.test.runs);
        let values: Vec<f64> = runs.filter_map(of_run).collect();
        if values.is_empty() {
            return None;
        }
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        Some(six_decimals(mean))
    }
}

fn with_runs<'r>(groups: &'r [Group<'_>]) -> Vec<JudgedGroup<'r>> {
    groups
        .iter()
        .map(|(name, tests)| JudgedGroup::new(name, tests))
        .filter(|group| !group.tests.is_empty())
        .collect()
}

/// A row for each group, and the differences of all except the first.
pub fn board(
    groups: &[JudgedGroup<'_>],
    differences: impl Iterator<Item = Option<ModelDifference>>,
    most_k: u64,
) -> Option<Leaderboard> {
    let runs = groups.iter().flat_map(JudgedGroup::tallies);
    let fewest = runs.map(|tally| tally.runs).min()?;
    let k = fewest.min(most_k).max(1);
    let mut models = groups
        .iter()
        .map(|group| group.row(k))
        .collect::<Option<Vec<ModelRow>>>()?;
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

/// Identifies a test among the tests of its model.
type TestKey<'r> = (&'r str, &'r str, Option<String>);

fn key(test: &TestReport) -> TestKey<'_> {
    let variant = test.variant.map(|variant| variant.to_string());
    (&test.suite.file, &test.name, variant)
}

/// `refunds [4-distractors]`, without the model.
fn without_model(test: &TestReport) -> String {
    match test.variant {
        Some(variant) => format!("{} [{variant}]", test.name),
        None => test.name.clone(),
    }
}

/// The row of one group; `None` if a test has fewer than k runs.
pub fn model_row(name: &str, tests: &[&TestReport], k: u64) -> Option<ModelRow> {
    JudgedGroup::new(name, tests).row(k)
}
