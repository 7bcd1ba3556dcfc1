//! What came out of comparing two baselines: the one model that its reporters render.

use super::VERSION;
use mcptest_core::gates::Better;
use mcptest_core::report::Number;
use mcptest_core::report::leaderboard::change::drawn_in_words;
use mcptest_core::words::count;
use serde::Serialize;

/// What a difference means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// It is tolerated.
    Pass,
    /// There are not enough runs to tell.
    Undecided,
    /// A number has shifted.
    Drift,
    /// What held in every run before holds no more.
    Fail,
}

impl Class {
    /// The word for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Undecided => "UNDECIDED",
            Self::Drift => "DRIFT",
            Self::Fail => "FAIL",
        }
    }
}

/// Two baselines side by side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The version of this format.
    pub schema_version: u32,
    /// The worst of its tests and numbers. `Undecided` is not a failure: too few runs to tell.
    pub verdict: Class,
    /// The baseline.
    pub before: BaselineSide,
    /// What is compared with it.
    pub after: BaselineSide,
    /// How many differences there are of each class.
    pub counts: Counts,
    /// The tests that both have, in the order of the first.
    pub tests: Vec<TestComparison>,
    /// The gates' numbers over all tests.
    pub numbers: Vec<NumberShift>,
    /// Tests that only the first has.
    pub only_before: Vec<String>,
    /// Tests that only the second has.
    pub only_after: Vec<String>,
}

/// One of the two.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BaselineSide {
    /// Its file.
    pub file: String,
    /// Its model.
    pub model: Option<String>,
}

/// How many differences there are of each class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Tests that were compared.
    pub tests: usize,
    /// Things that held in every run before.
    pub invariants: usize,
    /// Those that hold no more.
    pub fail: usize,
    /// Numbers that have shifted.
    pub drift: usize,
    /// Those for which there are not enough runs to tell.
    pub undecided: usize,
    /// Differences that are tolerated.
    pub pass: usize,
    /// Tests that could not be compared.
    pub not_compared: usize,
}

/// One test side by side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TestComparison {
    /// The name of the suite's file.
    pub suite: String,
    /// The name of the row.
    pub name: String,
    /// The worst of its differences.
    pub verdict: Class,
    /// How many runs there were before.
    pub runs_before: usize,
    /// How many there are now.
    pub runs_after: usize,
    /// How many things held in every run before.
    pub invariants: usize,
    /// How many varied already, so that nothing is said of them.
    pub varied: usize,
    /// The differences, the worst first.
    pub differences: Vec<Difference>,
    /// Why it was not compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_compared: Option<String>,
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// What it means.
    pub class: Class,
    /// What differs: `tool`, `order`, `arguments`, `response`, `finish`, `verdict`.
    pub kind: &'static str,
    /// The same in a sentence.
    pub message: String,
    /// In how many runs it held before and holds now, where that was counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub support: Option<[Support; 2]>,
    /// How many more runs it takes to decide, where there are too few.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing_runs: Option<MissingRuns>,
}

/// How many more runs each side needs before an invariant can be broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MissingRuns {
    /// Of the baseline.
    pub before: usize,
    /// Of what is compared with it.
    pub now: usize,
}

impl MissingRuns {
    /// How many runs of a side must be able to show an invariant before it can be broken.
    pub const ENOUGH: usize = 3;

    /// What is missing on each side; `None` where there are enough.
    pub(super) fn of(before: Support, now: Support) -> Option<Self> {
        Self::between(before.of, now.of)
    }

    /// What is missing where the two sides have this many runs; `None` where there are enough.
    pub fn between(before: usize, now: usize) -> Option<Self> {
        let missing = |runs: usize| Self::ENOUGH.saturating_sub(runs);
        let (before, now) = (missing(before), missing(now));
        (before + now > 0).then_some(Self { before, now })
    }

    /// `2 more runs on each side`, `1 more run now`.
    pub fn in_words(self) -> String {
        let more = |missing: usize| count(missing, "more run");
        match (self.before, self.now) {
            (before, now) if before == now => format!("{} on each side", more(before)),
            (before, 0) => format!("{} before", more(before)),
            (0, now) => format!("{} now", more(now)),
            (before, now) => format!("{} before and {now} now", more(before)),
        }
    }
}

/// In how many runs something holds, of those in which it can.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Support {
    /// It holds in so many.
    pub held: usize,
    /// Of so many.
    pub of: usize,
}

impl Difference {
    /// `held in 3 of 3 runs, now in 0 of 2; to decide, it takes 1 more run now`.
    pub fn support_in_words(&self) -> Option<String> {
        let [before, now] = self.support?;
        let runs = count(before.of, "run");
        let missing = self
            .missing_runs
            .map(|missing| format!("; to decide, it takes {}", missing.in_words()))
            .unwrap_or_default();
        Some(format!(
            "held in {} of {runs}, now in {} of {}{missing}",
            before.held, now.held, now.of
        ))
    }
}

/// A number of a gate, over all tests that have it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NumberShift {
    /// The gate's key, or `expect`.
    pub gate: String,
    /// The target.
    pub target: String,
    /// Whether it has shifted, stayed, or cannot be told.
    pub class: Class,
    /// Which values are good.
    pub better: Better,
    /// Its mean over the tests before.
    pub before: f64,
    /// Its mean over the tests now.
    pub after: f64,
    /// How many tests have it.
    pub tests: usize,
    /// How many values there are on both sides.
    pub values: usize,
    /// The p-value of the shift.
    pub p: f64,
    /// Whether `p` is from a fixed sample of the rearrangements, because there are too many to count them all.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub p_is_drawn: bool,
    /// The same, adjusted for all numbers that could have shown a shift; none where this one could not.
    pub adjusted_p: Option<f64>,
}

impl NumberShift {
    /// `DRIFT: golden_path.penalty went from 0.2 to 1.4, for the worse (p = 0.004)`.
    pub fn in_words(&self) -> String {
        let how = if self.is_worse() { "worse" } else { "better" };
        let (before, after) = (Number::Float(self.before), Number::Float(self.after));
        let p = Number::Float(self.adjusted_p.unwrap_or(self.p));
        let (class, target) = (self.class.word(), &self.target);
        let drawn = drawn_in_words(self.p_is_drawn);
        format!("{class}: {target} went from {before} to {after}, for the {how} (p = {p}{drawn})")
    }

    /// Whether it has shifted for the worse.
    pub fn is_worse(&self) -> bool {
        self.class == Class::Drift && (self.after < self.before) == (self.better == Better::High)
    }
}

impl Comparison {
    /// 2 when a test could not be compared, 1 when something is broken, 6 when a number has shifted, else 0.
    pub fn exit_code(&self) -> u8 {
        match self.verdict {
            _ if self.counts.not_compared > 0 => 2,
            Class::Fail => 1,
            Class::Drift => 6,
            Class::Undecided | Class::Pass => 0,
        }
    }

    pub(super) fn of(
        (before, after): (BaselineSide, BaselineSide),
        tests: Vec<TestComparison>,
        numbers: Vec<NumberShift>,
    ) -> Self {
        let count = |class| {
            tests
                .iter()
                .flat_map(|test| &test.differences)
                .filter(|one| one.class == class)
                .count()
        };
        let drift = numbers
            .iter()
            .filter(|number| number.class == Class::Drift)
            .count();
        let not_compared = tests
            .iter()
            .filter(|test| test.not_compared.is_some())
            .count();
        let counts = Counts {
            tests: tests.len() - not_compared,
            invariants: tests.iter().map(|test| test.invariants).sum(),
            fail: count(Class::Fail),
            drift,
            undecided: count(Class::Undecided),
            pass: count(Class::Pass),
            not_compared,
        };
        let verdict = match counts {
            Counts { fail: 1.., .. } => Class::Fail,
            Counts { drift: 1.., .. } => Class::Drift,
            Counts { undecided: 1.., .. } => Class::Undecided,
            _ => Class::Pass,
        };
        let (only_before, only_after) = (Vec::new(), Vec::new());
        Self {
            schema_version: VERSION,
            verdict,
            before,
            after,
            counts,
            tests,
            numbers,
            only_before,
            only_after,
        }
    }
}
