//! The result of comparing two baselines: the one model that its reporters render.

use super::{Baseline, TestBaseline, VERSION};
use crate::behaviour::{Behaviour, compare_behaviour};
use crate::comparison::number::{NumberShift, shifts};
use crate::comparison::support::{MissingRuns, Support};
use crate::comparison::{Comparison, RowPair, names};
use mcptest_core::gates::Gates;
use mcptest_core::words::count;
use serde::Serialize;

/// The meaning of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DifferenceClass {
    /// The difference is tolerated.
    Pass,
    /// There are too few runs to decide.
    Undecided,
    /// A number has shifted.
    Drift,
    /// A fact that held in every earlier run no longer holds.
    Fail,
}

impl DifferenceClass {
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
pub struct BaselineDiff {
    /// The version of this format.
    pub schema_version: u32,
    /// The worst of its tests and numbers. `Undecided` is not a failure: too few runs to tell.
    pub verdict: DifferenceClass,
    /// The baseline.
    pub before: BaselineSide,
    /// The newer side.
    pub after: BaselineSide,
    /// The number of differences of each class.
    pub counts: DifferenceCounts,
    /// The tests that both have, in the order of the first.
    pub tests: Vec<TestDiff>,
    /// The gates' numbers over all tests.
    pub numbers: Vec<NumberShift>,
    /// Tests that only the first has.
    pub only_before: Vec<String>,
    /// Tests that only the second has.
    pub only_after: Vec<String>,
}

/// One side of the comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BaselineSide {
    /// Its file.
    pub file: String,
    /// Its model.
    pub model: Option<String>,
}

/// The number of differences of each class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct DifferenceCounts {
    /// Tests that were compared.
    pub tests: usize,
    /// Facts that held in every earlier run.
    pub invariants: usize,
    /// Invariants that no longer hold.
    pub fail: usize,
    /// Numbers that have shifted.
    pub drift: usize,
    /// Invariants with too few runs to decide.
    pub undecided: usize,
    /// Differences that are tolerated.
    pub pass: usize,
    /// Tests that could not be compared.
    pub not_compared: usize,
}

/// One test side by side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TestDiff {
    /// The name of the suite's file.
    pub suite: String,
    /// The name of the row.
    pub name: String,
    /// The worst of its differences.
    pub verdict: DifferenceClass,
    /// The number of earlier runs.
    pub runs_before: usize,
    /// The number of current runs.
    pub runs_after: usize,
    /// The number of facts that held in every earlier run.
    pub invariants: usize,
    /// The number of facts that already varied and are not judged.
    pub varied: usize,
    /// The differences, the worst first.
    pub differences: Vec<Difference>,
    /// The reason that it was not compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_compared: Option<String>,
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// The class of the difference.
    pub class: DifferenceClass,
    /// The kind of fact that differs: `tool`, `order`, `arguments`, `response`, `finish`, `verdict`.
    pub kind: &'static str,
    /// The difference as a sentence.
    pub message: String,
    /// The number of runs in which it held before and holds now, if counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub support: Option<[Support; 2]>,
    /// The number of further runs needed to decide, if there are too few.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing_runs: Option<MissingRuns>,
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

/// Compares two baselines, each with its file name. `gates` define which numbers are better.
pub fn compare(
    (before, before_file): (&Baseline, &str),
    (after, after_file): (&Baseline, &str),
    gates: Gates,
) -> BaselineDiff {
    let side = |one: &Baseline, file: &str| BaselineSide {
        file: file.to_owned(),
        model: one.model.clone(),
    };
    let comparison = Comparison::new(&before.tests, &after.tests);
    BaselineDiff::new(
        side(before, before_file),
        side(after, after_file),
        &comparison,
        gates,
    )
}

/// Compares one test with its baseline.
pub fn compare_test(before: &TestBaseline, after: &TestBaseline, gates: Gates) -> BaselineDiff {
    let side = BaselineSide {
        file: String::new(),
        model: None,
    };
    let comparison = Comparison::of_row(before, after);
    BaselineDiff::new(side.clone(), side, &comparison, gates)
}

impl BaselineDiff {
    /// 2 if a test could not be compared, 1 if something is broken, 6 if a number has shifted,
    /// otherwise 0.
    pub fn exit_code(&self) -> u8 {
        match self.verdict {
            _ if self.counts.not_compared > 0 => 2,
            DifferenceClass::Fail => 1,
            DifferenceClass::Drift => 6,
            DifferenceClass::Undecided | DifferenceClass::Pass => 0,
        }
    }

    fn new(
        before: BaselineSide,
        after: BaselineSide,
        comparison: &Comparison<'_, TestBaseline>,
        gates: Gates,
    ) -> Self {
        let tests: Vec<TestDiff> = comparison.rows.iter().map(TestDiff::new).collect();
        let numbers = shifts(comparison, gates);
        let counts = DifferenceCounts::new(&tests, &numbers);
        Self {
            schema_version: VERSION,
            verdict: counts.verdict(),
            before,
            after,
            counts,
            tests,
            numbers,
            only_before: names(&comparison.only_before),
            only_after: names(&comparison.only_after),
        }
    }
}

impl TestDiff {
    fn new(row: &RowPair<'_, TestBaseline>) -> Self {
        let behaviour = match row.not_compared {
            None => compare_behaviour(row.before, row.after),
            Some(_) => Behaviour::default(),
        };
        let worst = behaviour.differences.first();
        Self {
            suite: row.before.suite.clone(),
            name: row.before.name.clone(),
            verdict: worst.map_or(DifferenceClass::Pass, |worst| worst.class),
            runs_before: row.before.runs.len(),
            runs_after: row.after.runs.len(),
            invariants: behaviour.invariants,
            varied: behaviour.varied,
            differences: behaviour.differences,
            not_compared: row.not_compared.clone(),
        }
    }
}

impl DifferenceCounts {
    fn new(tests: &[TestDiff], numbers: &[NumberShift]) -> Self {
        let differences = |class: DifferenceClass| {
            let all = tests.iter().flat_map(|test| &test.differences);
            all.filter(|one| one.class == class).count()
        };
        let not_compared = tests.iter().filter(|test| test.not_compared.is_some());
        let not_compared = not_compared.count();
        Self {
            tests: tests.len() - not_compared,
            invariants: tests.iter().map(|test| test.invariants).sum(),
            fail: differences(DifferenceClass::Fail),
            drift: numbers
                .iter()
                .filter(|one| one.class == DifferenceClass::Drift)
                .count(),
            undecided: differences(DifferenceClass::Undecided),
            pass: differences(DifferenceClass::Pass),
            not_compared,
        }
    }

    /// The worst class that is counted.
    fn verdict(self) -> DifferenceClass {
        match self {
            Self { fail: 1.., .. } => DifferenceClass::Fail,
            Self { drift: 1.., .. } => DifferenceClass::Drift,
            Self { undecided: 1.., .. } => DifferenceClass::Undecided,
            _ => DifferenceClass::Pass,
        }
    }
}
