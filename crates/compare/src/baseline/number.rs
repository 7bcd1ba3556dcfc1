//! Which numbers of the gates have shifted, beyond what chance explains?

use super::TestBaseline;
use super::comparison::{Class, NumberShift};
use mcptest_core::gates::Gates;
use mcptest_core::gates::{Better, Target};
use mcptest_core::report::Number;
use mcptest_core::report::leaderboard::change::LEVEL;
use mcptest_stats::{Shift, Stratum, holm, shift, six_decimals};
use std::collections::BTreeSet;

type Pair<'t> = (&'t TestBaseline, &'t TestBaseline);

/// What is measured: a target of a gate.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct NumberName {
    gate: String,
    target: String,
}

/// A number, its values, and how these have shifted.
struct Measured {
    name: NumberName,
    values: Values,
    shift: Shift,
}

impl Measured {
    /// A number that no arrangement of its values would make significant is no question that was asked.
    fn is_asked(&self) -> bool {
        self.shift.least_p <= LEVEL
    }

    fn into_shift(self, adjusted_p: Option<f64>, gates: Gates) -> NumberShift {
        let Self {
            name,
            values,
            shift,
        } = self;
        let class = match adjusted_p {
            Some(p) if p <= LEVEL => Class::Drift,
            None if shift.difference.abs() > 0.0 => Class::Undecided,
            _ => Class::Pass,
        };
        NumberShift {
            class,
            better: gates
                .target(&name.target)
                .map_or(Better::High, Target::better),
            before: six_decimals(values.mean(|test| &test.before)),
            after: six_decimals(values.mean(|test| &test.after)),
            tests: values.0.len(),
            values: values
                .0
                .iter()
                .map(|test| test.before.len() + test.after.len())
                .sum(),
            p: six_decimals(shift.p),
            p_is_drawn: !shift.is_exact,
            adjusted_p: adjusted_p.map(six_decimals),
            gate: name.gate,
            target: name.target,
        }
    }
}

/// Every number that both sides have, over all tests.
pub(super) fn shifts(pairs: &[Pair<'_>], gates: Gates) -> Vec<NumberShift> {
    let measured: Vec<Measured> = names(pairs)
        .into_iter()
        .filter_map(|name| {
            let values = values(&name, pairs);
            let shift = shift(&values.strata()).ok()?;
            Some(Measured {
                name,
                values,
                shift,
            })
        })
        .collect();
    let asked = measured.iter().filter(|measured| measured.is_asked());
    let p_values: Vec<f64> = asked.map(|measured| measured.shift.p).collect();
    let mut adjusted = holm(&p_values).unwrap_or_default().into_iter();
    let mut shifts = Vec::new();
    for measured in measured {
        let adjusted_p = if measured.is_asked() {
            adjusted.next()
        } else {
            None
        };
        shifts.push(measured.into_shift(adjusted_p, gates));
    }
    shifts
}

const EXPECT: &str = "expect";
const PASSED: &str = "expect.passed";

/// The numbers that tests of both sides have.
fn names(pairs: &[Pair<'_>]) -> BTreeSet<NumberName> {
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
struct Values(Vec<TestValues>);

struct TestValues {
    before: Vec<f64>,
    after: Vec<f64>,
}

impl Values {
    fn strata(&self) -> Vec<Stratum<'_>> {
        self.0
            .iter()
            .map(|test| Stratum {
                before: &test.before,
                after: &test.after,
            })
            .collect()
    }

    /// The mean of the tests' means.
    fn mean(&self, side: impl Fn(&TestValues) -> &[f64]) -> f64 {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        self.0.iter().map(|test| mean(side(test))).sum::<f64>() / self.0.len() as f64
    }
}

/// In the tests in which both sides measure the same: a gate whose block has changed measures something else.
fn values(name: &NumberName, pairs: &[Pair<'_>]) -> Values {
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
    Values(
        tests
            .filter(|test| !test.before.is_empty() && !test.after.is_empty())
            .collect(),
    )
}

/// By run where the gate scores one run alone, else by test.
fn values_of_test(NumberName { gate, target }: &NumberName, test: &TestBaseline) -> Vec<f64> {
    let runs = test.runs.iter();
    if gate == EXPECT {
        return runs.map(|run| f64::from(u8::from(run.passed))).collect();
    }
    if test.runs.iter().any(|run| run.numbers.contains_key(gate)) {
        let of_runs = runs.filter_map(|run| run.numbers.get(gate)?.get(target).copied().flatten());
        return of_runs.map(Number::as_f64).collect();
    }
    let of_test = test.gates.get(gate);
    let number = of_test.and_then(|gate| gate.numbers.get(target).copied().flatten());
    number.map(Number::as_f64).into_iter().collect()
}
