//! `baseline-power`: how often does a comparison of baselines report a false drift, and how often a real one?

#[cfg(test)]
mod tests;

use crate::say;
use crate::simulation::{self, Chance};
use mcptest_compare::baseline::{
    Baseline, DifferenceClass, FORMAT, GateBaseline, RunBaseline, TestBaseline, VERSION, compare,
};
use mcptest_core::report::Number;
use std::collections::BTreeMap;
use std::process::ExitCode;

const PAGE: &str = "docs/model-compatibility.md";
const BEGIN: &str = "<!-- `cargo xtask baseline-power --write` fills this -->\n";
const END: &str = "<!-- end of the power -->";
const PAIRS: usize = 400;
/// The drop in the share of right runs.
const FALLS: [f64; 4] = [0.0, 0.1, 0.2, 0.4];
/// The number of tests, and of runs of each on both sides.
const SIZES: [(usize, usize); 8] = [
    (1, 5),
    (1, 10),
    (1, 20),
    (5, 5),
    (10, 1),
    (10, 3),
    (10, 10),
    (50, 1),
];

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode, String> {
    let write = match arguments {
        [] => false,
        [flag] if flag == "--write" => true,
        _ => return Err("usage: cargo xtask baseline-power [--write]".to_owned()),
    };
    let table = table(PAIRS);
    say(&table);
    if write {
        simulation::write_table(PAGE, [BEGIN, END], &table)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn table(pairs: usize) -> String {
    let mut lines = vec![
        "| Tests | Runs of each | no shift | 90% to 80% | 90% to 70% | 90% to 50% |".to_owned(),
        "|---:|---:|---:|---:|---:|---:|".to_owned(),
    ];
    for (tests, runs) in SIZES {
        let share = |fall: f64| format!("{}%", 100 * drifts(pairs, (tests, runs), fall) / pairs);
        lines.push(format!(
            "| {tests} | {runs} | {} |",
            FALLS.map(share).join(" | ")
        ));
    }
    lines.join("\n") + "\n"
}

/// The number of pairs with a drift.
fn drifts(pairs: usize, size: (usize, usize), fall: f64) -> usize {
    let mut chance = Chance(0x5eed_0000 + (size.0 * 1000 + size.1) as u64);
    let found = (0..pairs).filter(|_| {
        // Each test is as hard as it is for both.
        let rates: Vec<f64> = (0..size.0).map(|_| 0.85 + 0.1 * chance.share()).collect();
        let before = baseline(&rates, size.1, 0.0, &mut chance);
        let after = baseline(&rates, size.1, fall, &mut chance);
        let found = compare((&before, "before"), (&after, "after"), mcptest::GATES);
        found
            .numbers
            .iter()
            .any(|number| number.class == DifferenceClass::Drift)
    });
    found.count()
}

/// Runs that are right at these rates minus the drop, with numbers that follow the outcome of each run.
fn baseline(rates: &[f64], runs: usize, fall: f64, chance: &mut Chance) -> Baseline {
    const GATE: &str = "golden_path";
    let mut test = |(at, rate): (usize, &f64)| {
        let one = |run: usize, chance: &mut Chance| {
            let passed = chance.share() < rate - fall;
            let detours = if passed {
                chance.below(2)
            } else {
                1 + chance.below(4)
            };
            let coverage = if passed {
                1.0
            } else {
                0.25 * chance.below(4) as f64
            };
            let numbers = BTreeMap::from([
                (
                    "golden_path.passed".to_owned(),
                    Some(Number::Int(i64::from(passed && detours == 0))),
                ),
                (
                    "golden_path.penalty".to_owned(),
                    Some(Number::Int(detours as i64)),
                ),
                (
                    "golden_path.coverage".to_owned(),
                    Some(Number::Float(coverage)),
                ),
            ]);
            let numbers = BTreeMap::from([(GATE.to_owned(), numbers)]);
            RunBaseline {
                run,
                passed,
                numbers,
                ..RunBaseline::default()
            }
        };
        let runs: Vec<RunBaseline> = (1..=runs).map(|run| one(run, chance)).collect();
        let numbers = runs[0].numbers[GATE]
            .keys()
            .map(|target| (target.clone(), None))
            .collect();
        let gates = BTreeMap::from([(
            GATE.to_owned(),
            GateBaseline {
                numbers,
                ..GateBaseline::default()
            },
        )]);
        TestBaseline {
            name: format!("test {at}"),
            gates,
            runs,
            ..TestBaseline::default()
        }
    };
    let tests = rates.iter().enumerate().map(&mut test).collect();
    Baseline {
        format: FORMAT.to_owned(),
        version: VERSION,
        model: None,
        tests,
    }
}
