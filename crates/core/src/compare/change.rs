//! Has a pass rate changed beyond what chance explains, and what could so many runs have shown?

use super::model::{Change, Verdict};
use crate::eval::stats::{
    CONFIDENCE, Detection, Stratum, Tally, detectable_drop, difference_over_tests, runs_to_detect, shift,
    six_decimals,
};

/// A change is supported when it is as unlikely as this where there is none.
pub(super) const LEVEL: f64 = 0.05;

/// How often a change that is there must be seen, to say that so many runs would show it.
const POWER: f64 = 0.8;

const WANTED: Detection = Detection { alpha: LEVEL, power: POWER };

/// How the pass rate of the same tests changed. Runs of one test are exchangeable between the sides when nothing has
/// changed, so that the test rearranges them within each test; runs are no pairs, because run 3 of one side has nothing in
/// common with run 3 of the other.
pub(super) fn change_of(pairs: &[(Tally, Tally)]) -> Option<Change> {
    let found = difference_over_tests(pairs, CONFIDENCE).ok()?;
    let values: Vec<(Vec<f64>, Vec<f64>)> = pairs.iter().map(|(a, b)| (outcomes(*a), outcomes(*b))).collect();
    let strata: Vec<Stratum<'_>> = values.iter().map(|(before, after)| Stratum { before, after }).collect();
    let p = shift(&strata).ok()?.mid_p;
    let mean = |of: fn(&(Tally, Tally)) -> Tally| {
        pairs.iter().map(of).filter_map(Tally::rate).sum::<f64>() / pairs.len() as f64
    };
    Some(Change {
        rate_a: six_decimals(mean(|pair| pair.0)),
        rate_b: six_decimals(mean(|pair| pair.1)),
        difference: six_decimals(found.difference),
        low: six_decimals(found.interval.lower),
        high: six_decimals(found.interval.upper),
        p: six_decimals(p),
    })
}

fn outcomes(tally: Tally) -> Vec<f64> {
    let failed = tally.runs - tally.passed;
    std::iter::repeat_n(1.0, tally.passed as usize).chain(std::iter::repeat_n(0.0, failed as usize)).collect()
}

/// Whether so many runs could show the largest change: from all to none.
pub(super) fn could_show((a, b): (Tally, Tally)) -> bool {
    let all = Tally { passed: a.runs, ..a };
    change_of(&[(all, Tally { passed: 0, ..b })]).is_some_and(|change| change.p <= LEVEL)
}

/// What a p-value says of a difference.
pub(super) fn verdict(p: Option<f64>, difference: f64, could_show: bool) -> Verdict {
    match p {
        Some(p) if p <= LEVEL && difference < 0.0 => Verdict::Worse,
        Some(p) if p <= LEVEL => Verdict::Better,
        _ if could_show => Verdict::NoEvidence,
        _ => Verdict::NotEnoughRuns,
    }
}

/// What so many runs could show.
pub(super) struct Reach {
    /// The smallest drop that is shown four times in five.
    pub(super) smallest_drop: Option<f64>,
    /// Whether some change from this rate, to none or to all, is shown as often.
    pub(super) could_show: bool,
    /// How many more runs of each test on each side it takes to show this difference, or any at all.
    pub(super) more_runs: Option<u64>,
}

/// Runs are counted as if they were all of one test: that the tests differ makes the comparison sharper, not duller.
pub(super) fn reach(pairs: &[(Tally, Tally)], change: &Change) -> Reach {
    let runs = |of: fn(&(Tally, Tally)) -> Tally| pairs.iter().map(|pair| of(pair).runs).sum::<u64>();
    let sizes = (runs(|pair| pair.0), runs(|pair| pair.1));
    let shown = |rate: f64| detectable_drop(rate, sizes, WANTED).ok().flatten();
    let smallest_drop = shown(change.rate_a);
    // A rise is a drop of what fails.
    let could_show = smallest_drop.is_some() || shown(1.0 - change.rate_a).is_some();
    let largest = change.rate_a.max(1.0 - change.rate_a);
    let wanted = match change.difference {
        fall if fall < 0.0 => Some((change.rate_a, -fall)),
        rise if rise > 0.0 => Some((1.0 - change.rate_a, rise)),
        _ if could_show => None,
        _ => Some((largest, largest)),
    };
    let tests = pairs.len() as u64;
    let needed = wanted.and_then(|(rate, drop)| runs_to_detect(rate, drop, tests, WANTED).ok().flatten());
    let fewest = pairs.iter().map(|(a, b)| a.runs.min(b.runs)).min().unwrap_or_default();
    Reach {
        smallest_drop,
        could_show,
        more_runs: needed.and_then(|runs| runs.checked_sub(fewest)).filter(|more| *more > 0),
    }
}
