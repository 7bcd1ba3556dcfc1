//! `compare-power`: how often does `compare` report a false drop, and how often a real one?

use crate::say;
use crate::simulation::{Chance, write_table};
use mcptest_compare::comparison::pass_rate::pass_rates;
use mcptest_core::eval::stats::{Detection, Tally, detectable_drop};
use mcptest_core::report::leaderboard::Verdict;
use std::process::ExitCode;

const PAGE: &str = "docs/comparing.md";
const MARKS: [&str; 2] = [
    "<!-- `cargo xtask compare-power --write` fills this -->\n",
    "<!-- end of the power -->",
];
const PAIRS: usize = 1000;
/// The promise of `compare`.
const PROMISED: Detection = Detection {
    alpha: 0.05,
    power: 0.8,
};
/// The number of tests, and of runs of each on both sides.
const SIZES: [(usize, u64); 8] = [
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
        _ => return Err("usage: cargo xtask compare-power [--write]".to_owned()),
    };
    let table = table(PAIRS);
    say(&table);
    if write {
        write_table(PAGE, MARKS, &table)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn table(pairs: usize) -> String {
    let mut lines = vec![
        "| Tests | Runs of each | no change | 90% to 70% | 90% to 50% | drop by the plan | found at that drop |".to_owned(),
        "|---:|---:|---:|---:|---:|---:|---:|".to_owned(),
    ];
    for (tests, runs) in SIZES {
        let share = |fall: f64| {
            format!(
                "{:.1}%",
                100.0 * found(pairs, (tests, runs), fall) as f64 / pairs as f64
            )
        };
        let all = tests as u64 * runs;
        let drop = detectable_drop(0.9, (all, all), PROMISED).ok().flatten();
        let planned = drop.map_or("none".to_owned(), |drop| {
            format!("{:.1} points", 100.0 * drop)
        });
        let at_that = drop.map_or(String::new(), share);
        let falls = [0.0, 0.2, 0.4].map(share).join(" | ");
        lines.push(format!(
            "| {tests} | {runs} | {falls} | {planned} | {at_that} |"
        ));
    }
    lines.join("\n") + "\n"
}

/// The number of pairs in which the second side is worse.
fn found(pairs: usize, (tests, runs): (usize, u64), fall: f64) -> usize {
    let mut chance = Chance(0x5eed_1000 + tests as u64 * 1000 + runs);
    let is_worse = |_: &usize| {
        // Each test is as hard as it is for both.
        let rates: Vec<f64> = (0..tests).map(|_| 0.85 + 0.1 * chance.share()).collect();
        let mut side = |fall: f64| -> Vec<Tally> {
            let passed = |rate: &f64, chance: &mut Chance| {
                (0..runs).filter(|_| chance.share() < rate - fall).count()
            };
            rates
                .iter()
                .map(|rate| Tally {
                    passed: passed(rate, &mut chance) as u64,
                    runs,
                })
                .collect()
        };
        let (before, after) = (side(0.0), side(fall));
        let sides: Vec<(Tally, Tally)> = before.into_iter().zip(after).collect();
        pass_rates(&sides).shown() == Some(Verdict::Worse)
    };
    (0..pairs).filter(is_worse).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drop_that_is_none_is_seldom_found_and_a_large_one_often() {
        let of = |size: (usize, u64), fall: f64| found(200, size, fall);
        assert!(of((5, 5), 0.0) <= 10 && of((1, 20), 0.0) <= 10 && of((10, 1), 0.0) <= 10);
        assert!(of((5, 5), 0.4) >= 160 && of((1, 5), 0.4) < 160);
    }
}
