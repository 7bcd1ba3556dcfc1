//! Which bound on a target does every good run meet?

use super::FEWEST_FOR_A_FLOOR;
use super::model::{Floor, Separated};
use super::samples::Samples;
use mcptest_core::eval::Assertion;
use mcptest_core::gates::{Better, Target};
use mcptest_core::report::{Expectation, Number};
use serde_json::Value;

/// The number of decimals to which floors are rounded, away from the good runs.
const DECIMALS: i32 = 3;

/// The floor of a target that separates good from bad, at its worst value over the good runs.
/// Otherwise the gate's own bound, if good runs can meet it.
pub(super) fn floor(
    samples: &Samples,
    target: &Target,
    separated: Option<&Separated>,
) -> Option<Floor> {
    let good = samples.numbers(target, true).count();
    if good < FEWEST_FOR_A_FLOOR {
        return None;
    }
    let tells_apart = separated.is_some_and(Separated::tells_apart);
    let asked = asked(samples, target);
    if !tells_apart && asked.is_none() {
        return None;
    }
    let met = asked.filter(|asked| !tells_apart && asked.iter().all(|one| one.passed));
    let bad = samples.numbers(target, false).count();
    if let Some(asked) = met {
        let matcher = asked.first()?.matcher.as_ref().clone();
        return Some(Floor {
            matcher,
            good,
            caught: samples.failed(target),
            bad,
        });
    }
    let (matcher, bound) = at_worst(samples, target)?;
    let is_caught = |number: &Option<Number>| match (number.map(Number::as_f64), target.better()) {
        (Some(value), Better::High) => value < bound,
        (Some(value), Better::Low) => value > bound,
        (None, _) => true,
    };
    let caught = samples.numbers(target, false).filter(is_caught).count();
    (!tells_apart || caught > 0).then_some(Floor {
        matcher,
        good,
        caught,
        bad,
    })
}

/// The block's own requirement on a target, if it is equal in every row.
fn asked<'s>(samples: &'s Samples, target: &Target) -> Option<Vec<&'s Expectation>> {
    let of_target = |one: &&Expectation| one.target == target.name;
    let asked = samples
        .good_rows
        .iter()
        .map(|row| row.expectations.iter().find(of_target));
    let asked: Vec<&Expectation> = asked.collect::<Option<_>>()?;
    let is_one = asked
        .windows(2)
        .all(|pair| pair[0].matcher == pair[1].matcher);
    (is_one && !asked.is_empty()).then_some(asked)
}

/// A bound at the worst value of the good runs, alone and together in a row, if all have a value
/// and the bound can fail.
fn at_worst(samples: &Samples, target: &Target) -> Option<(Value, f64)> {
    let values = samples
        .good_rows
        .iter()
        .map(|row| row.targets.get(target.name).copied().flatten());
    let values = values.chain(samples.numbers(target, true));
    let values: Vec<f64> = values
        .map(|value| value.map(Number::as_f64))
        .collect::<Option<_>>()?;
    let worst = match target.better() {
        Better::High => values.into_iter().reduce(f64::min)?,
        Better::Low => values.into_iter().reduce(f64::max)?,
    };
    let bound = target.outward(worst, DECIMALS);
    let assertion = Assertion::new(*target, target.bound(bound));
    assertion
        .lint(1)
        .is_none()
        .then(|| (assertion.matcher.written().as_ref().clone(), bound))
}
