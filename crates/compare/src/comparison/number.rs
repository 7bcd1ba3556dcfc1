//! Which numbers of the gates have shifted, beyond what chance explains?

use super::{ComparedRow, Comparison};
use crate::baseline::{DifferenceClass, TestBaseline};
use mcptest_core::gates::{Better, Gates, Target};
use mcptest_core::report::Number;
use mcptest_core::report::leaderboard::Verdict;
use mcptest_core::report::leaderboard::change::{
    ChangeAnswer, ChangeQuestion, LEVEL, answer_together, drawn_in_words,
};
use mcptest_stats::{Shift, Stratum, shift, six_decimals};
use serde::Serialize;
use std::collections::BTreeSet;

/// A number of a gate, over all tests that have it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NumberShift {
    /// The gate's key, or `expect`.
    pub gate: String,
    /// The target.
    pub target: String,
    /// The class of the shift.
    pub class: DifferenceClass,
    /// Which values are better.
    pub better: Better,
    /// Its mean over the tests before.
    pub before: f64,
    /// Its mean over the tests now.
    pub after: f64,
    /// The number of tests that have it.
    pub tests: usize,
    /// The number of values on both sides.
    pub values: usize,
    /// The p-value of the shift.
    pub p: f64,
    /// True if `p` comes from a sample of the rearrangements because there are too many to count.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub p_is_drawn: bool,
    /// `p`, adjusted for all numbers that could have shown a shift; `None` if this number could
    /// not.
    pub adjusted_p: Option<f64>,
    /// The answer of the runs.
    #[serde(skip)]
    pub verdict: Verdict,
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

    /// Returns true if it shifted for the worse.
    pub fn is_worse(&self) -> bool {
        self.verdict == Verdict::Worse
    }
}

type TestPair<'t> = (&'t TestBaseline, &'t TestBaseline);

/// A target of a gate.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct NumberName {
    gate: String,
    target: String,
}

/// A number, its values, and how these have shifted.
struct MeasuredNumber {
    name: NumberName,
    better: Better,
    values: NumberValues,
    shift: Shift,
}

/// Every number that both sides have, over all rows that can be compared.
pub(crate) fn shifts(comparison: &Comparison<'_, TestBaseline>, gates: Gates) -> Vec<NumberShift> {
    let rows: Vec<TestPair<'_>> = comparison
        .comparable()
        .map(|row| (row.before, row.after))
        .collect();
    let measured: Vec<MeasuredNumber> = names(&rows)
        .into_iter()
        .filter_map(|name| MeasuredNumber::new(name, &rows, gates))
        .collect();
    let questions: Vec<Option<ChangeQuestion>> = measured
        .iter()
        .map(|measured| Some(measured.question()))
        .collect();
    let answers = answer_together(&questions).into_iter().flatten();
    measured
        .into_iter()
        .zip(answers)
        .map(|(measured, answer)| measured.into_shift(answer))
        .collect()
}

impl MeasuredNumber {
    fn new(name: NumberName, rows: &[TestPair<'_>], gates: Gates) -> Option<Self> {
        let values = values(&name, rows);
        let shift = shift(&values.strata()).ok()?;
        Some(Self {
            better: gates
                .target(&name.target)
                .map_or(Better::High, Target::better),
            name,
            values,
            shift,
        })
    }

    /// A baseline has dozens of numbers, and a single shift ends a build. Therefore the question
    /// uses the whole p-value, not the mid-p of `compare`. Numbers that no arrangement of their
    /// values makes significant cannot be shown.
    fn question(&self) -> ChangeQuestion {
        let difference = self.shift.difference;
        ChangeQuestion {
            gain: match self.better {
                Better::High => difference,
                Better::Low => -difference,
            },
            p: self.shift.p,
            can_be_shown: self.shift.least_p <= LEVEL,
        }
    }

    fn class(&self, answer: ChangeAnswer) -> DifferenceClass {
        match answer.verdict {
            Verdict::Better | Verdict::Worse => DifferenceClass::Drift,
            Verdict::NotEnoughRuns if self.shift.difference.abs() > 0.0 => {
                DifferenceClass::Undecided
            }
            Verdict::NotEnoughRuns | Verdict::NoEvidence => DifferenceClass::Pass,
        }
    }

    fn into_shift(self, answer: ChangeAnswer) -> NumberShift {
        NumberShift {
            class: self.class(answer),
            verdict: answer.verdict,
            better: self.better,
            before: six_decimals(self.values.mean(|test| &test.before)),
            after: six_decimals(self.values.mean(|test| &test.after)),
            tests: self.values.0.len(),
            values: self.values.count(),
            p: six_decimals(self.shift.p),
            p_is_drawn: !self.shift.is_exact,
            adjusted_p: answer.p,
            gate: self.name.gate,
            target: self.name.target,
        }
    }
}

const EXPECT: &str = "expect";
const PASSED: &str = "expect.passed";

/// The numbers that tests of both sides have.
fn names(pairs: &[TestPair<'_>]) -> BTreeSet<NumberName> {
    let mut names = BTreeSet::new();
    for (before, _) in pairs {
        names.insert(NumberName {
            gate: EXPECT.to_owned(),
            target: PASSED.to_owned(),
        });
        for (gate, baseline) in &before.gates {
            names.extend(baseline.numbers.keys().map(|target| NumberName {
                gate: gate.clone(),
                target: target.clone(),
            }));
        }
    }
    names
}

/// The values of a number in each test.
struct NumberValues(Vec<TestValues>);

struct TestValues {
    before: Vec<f64>,
    after: Vec<f64>,
}

impl NumberValues {
    fn strata(&self) -> Vec<Stratum<'_>> {
        self.0
            .iter()
            .map(|test| Stratum {
                before: &test.before,
                after: &test.after,
            })
            .collect()
    }

    fn count(&self) -> usize {
        let values = self.0.iter();
        values
            .map(|test| test.before.len() + test.after.len())
            .sum()
    }

    /// The mean of the tests' means.
    fn mean(&self, side: impl Fn(&TestValues) -> &[f64]) -> f64 {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        self.0.iter().map(|test| mean(side(test))).sum::<f64>() / self.0.len() as f64
    }
}

/// The values of tests in which both sides measure the same: a gate with a changed block is
/// excluded.
fn values(name: &NumberName, pairs: &[TestPair<'_>]) -> NumberValues {
    let measures_the_same = |before: &TestBaseline, after: &TestBaseline| {
        if name.gate == EXPECT {
            return before.expect == after.expect;
        }
        let block = |test: &TestBaseline| test.gates.get(&name.gate).map(|gate| gate.block.clone());
        block(before) == block(after)
    };
    let tests = pairs
        .iter()
        .filter(|(before, after)| measures_the_same(before, after))
        .map(|(before, after)| TestValues {
            before: values_of_test(name, before),
            after: values_of_test(name, after),
        });
    NumberValues(
        tests
            .filter(|test| !test.before.is_empty() && !test.after.is_empty())
            .collect(),
    )
}

/// By run if the gate scores single runs, otherwise by test.
fn values_of_test(NumberName { gate, target }: &NumberName, test: &TestBaseline) -> Vec<f64> {
    if gate == EXPECT {
        return test.tally().outcomes();
    }
    let runs = test.runs.iter();
    if test.runs.iter().any(|run| run.numbers.contains_key(gate)) {
        let of_runs = runs.filter_map(|run| run.numbers.get(gate)?.get(target).copied().flatten());
        return of_runs.map(Number::as_f64).collect();
    }
    let of_test = test.gates.get(gate);
    let number = of_test.and_then(|gate| gate.numbers.get(target).copied().flatten());
    number.map(Number::as_f64).into_iter().collect()
}
