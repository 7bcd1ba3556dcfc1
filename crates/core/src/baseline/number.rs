//! Which numbers of the gates have shifted, beyond what chance explains?

use super::TestBaseline;
use super::comparison::{Class, NumberShift};
use crate::engine::{Better, Target};
use crate::gates::GATES;
use crate::report::Number;
use mcptest_stats::{Shift, Stratum, holm, shift, six_decimals};
use std::collections::BTreeSet;

/// A shift is supported when it is as unlikely as this, among all numbers.
const LEVEL: f64 = 0.05;

type Pair<'t> = (&'t TestBaseline, &'t TestBaseline);

/// A number by its gate and its target.
type Name = (String, String);

/// Every number that both sides have, over all tests.
pub(super) fn shifts(pairs: &[Pair<'_>]) -> Vec<NumberShift> {
    let measured: Vec<(Name, Shift, Values)> = names(pairs)
        .into_iter()
        .filter_map(|name| {
            let values = values(&name, pairs);
            let found = shift(&values.strata()).ok()?;
            Some((name, found, values))
        })
        .collect();
    // A number that no arrangement of its values would make significant is no question that was asked.
    let is_asked = |found: &Shift| found.least_p <= LEVEL;
    let asked: Vec<f64> = measured
        .iter()
        .map(|(_, found, _)| found)
        .filter(|one| is_asked(one))
        .map(|one| one.p)
        .collect();
    let mut adjusted = holm(&asked).unwrap_or_default().into_iter();
    let shifts = measured.into_iter().map(|((gate, target), found, values)| {
        let adjusted_p = is_asked(&found).then(|| adjusted.next()).flatten();
        let class = match adjusted_p {
            Some(p) if p <= LEVEL => Class::Drift,
            None if found.difference.abs() > 0.0 => Class::Undecided,
            _ => Class::Pass,
        };
        NumberShift {
            class,
            better: GATES.target(&target).map_or(Better::High, Target::better),
            before: six_decimals(values.mean(|(before, _)| before)),
            after: six_decimals(values.mean(|(_, after)| after)),
            tests: values.0.len(),
            values: values
                .0
                .iter()
                .map(|(before, after)| before.len() + after.len())
                .sum(),
            p: six_decimals(found.p),
            p_is_drawn: !found.is_exact,
            adjusted_p: adjusted_p.map(six_decimals),
            gate,
            target,
        }
    });
    shifts.collect()
}

const EXPECT: &str = "expect";
const PASSED: &str = "expect.passed";
/// The numbers that tests of both sides have.
fn names(pairs: &[Pair<'_>]) -> BTreeSet<Name> {
    let of_gates = pairs.iter().flat_map(|(before, _)| {
        before.gates.iter().flat_map(|(gate, of)| {
            of.numbers
                .keys()
                .map(|target| (gate.clone(), target.clone()))
        })
    });
    let expect = (EXPECT.to_owned(), PASSED.to_owned());
    of_gates
        .chain((!pairs.is_empty()).then_some(expect))
        .collect()
}

/// The values of a number in each test, before and after.
struct Values(Vec<(Vec<f64>, Vec<f64>)>);

impl Values {
    fn strata(&self) -> Vec<Stratum<'_>> {
        self.0
            .iter()
            .map(|(before, after)| Stratum { before, after })
            .collect()
    }

    fn mean(&self, side: impl Fn(&(Vec<f64>, Vec<f64>)) -> &Vec<f64>) -> f64 {
        let mean = |values: &Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
        self.0.iter().map(|test| mean(side(test))).sum::<f64>() / self.0.len() as f64
    }
}

/// By run where the gate scores one run alone, else by test. A gate whose block has changed measures something else.
fn values((gate, target): &Name, pairs: &[Pair<'_>]) -> Values {
    let of_runs = |test: &TestBaseline| -> Vec<f64> {
        if gate == EXPECT {
            return test
                .runs
                .iter()
                .map(|run| f64::from(u8::from(run.passed)))
                .collect();
        }
        let of_run = test
            .runs
            .iter()
            .filter_map(|run| run.numbers.get(gate)?.get(target).copied().flatten());
        of_run.map(Number::as_f64).collect()
    };
    let of_test = |test: &TestBaseline| -> Vec<f64> {
        let by_run = test.runs.iter().any(|run| run.numbers.contains_key(gate));
        if by_run || gate == EXPECT {
            return of_runs(test);
        }
        let of_row = test
            .gates
            .get(gate)
            .and_then(|of| of.numbers.get(target).copied().flatten());
        of_row.map(Number::as_f64).into_iter().collect()
    };
    let is_same = |(before, after): &&Pair<'_>| {
        let block = |test: &TestBaseline| test.gates.get(gate).map(|of| of.block.clone());
        if gate == EXPECT {
            before.expect == after.expect
        } else {
            block(before) == block(after)
        }
    };
    let tests = pairs
        .iter()
        .filter(is_same)
        .map(|(before, after)| (of_test(before), of_test(after)));
    Values(
        tests
            .filter(|(before, after)| !before.is_empty() && !after.is_empty())
            .collect(),
    )
}
