//! Which values can a number of runs produce, and how many runs does a floor need?

use super::{CONFIDENCE, certified_lower, percent_of, to_six_decimals};
use crate::report::Number;
use crate::words::count;

/// The most runs that a suite can ask for.
const MOST_RUNS: u64 = 100_000;

/// All values of `floor(100 c / m)` with at most `runs` choosing runs; 100 of them reach every
/// percent.
pub(super) fn accuracies(runs: usize) -> Vec<f64> {
    let reaches = |percent: usize, chose: usize| {
        let correct = (percent * chose).div_ceil(100);
        100 * correct / chose == percent
    };
    let percents =
        (0..=100).filter(|&percent| (1..=runs.min(100)).any(|chose| reaches(percent, chose)));
    percents.map(|percent| percent as f64).collect()
}

pub(super) fn floor(correct: u64, runs: u64) -> f64 {
    to_six_decimals(lower(correct, runs))
}

pub(super) fn floor_percent(correct: u64, runs: u64) -> f64 {
    percent_of(lower(correct, runs)).into()
}

fn lower(correct: u64, runs: u64) -> f64 {
    certified_lower(correct, runs, CONFIDENCE).unwrap_or_default()
}

pub(super) fn runs_for_floor(runs: usize, holds: &dyn Fn(f64) -> bool) -> Option<String> {
    runs_needed(runs, &|enough| holds(floor(enough, enough)))
}

pub(super) fn runs_for_floor_percent(runs: usize, holds: &dyn Fn(f64) -> bool) -> Option<String> {
    runs_needed(runs, &|enough| holds(floor_percent(enough, enough)))
}

fn runs_needed(runs: usize, perfect: &dyn Fn(u64) -> bool) -> Option<String> {
    let enough = (runs as u64..=MOST_RUNS).find(|&enough| perfect(enough))?;
    let best = Number::Float(floor(runs as u64, runs as u64));
    let runs = count(runs, "run");
    Some(format!(
        "{runs} can certify at most {best}, even if all choose correctly; this floor takes \
        {enough} perfect runs (`runs: {enough}`)"
    ))
}
