//! Has a pass rate changed beyond chance, and how large a change could the runs have shown?

use crate::report::Number;
use mcptest_stats::{
    CONFIDENCE, DRAWS, Detection, Stratum, Tally, detectable_drop, difference_over_tests, holm,
    runs_to_detect, shift, six_decimals,
};
use serde::{Deserialize, Serialize};

/// A change is supported if its p-value is at most this.
pub const LEVEL: f64 = 0.05;

/// The required probability of finding an existing change, for runs to count as enough.
const POWER: f64 = 0.8;

/// The verdict of the runs on a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The second passes more often, beyond what chance explains.
    Better,
    /// The second passes less often, beyond what chance explains.
    Worse,
    /// Chance explains the difference.
    NoEvidence,
    /// Too few runs to show even the largest difference.
    NotEnoughRuns,
}

impl Verdict {
    /// The words for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::NoEvidence => "no evidence of change",
            Self::NotEnoughRuns => "not enough runs",
        }
    }
}

/// A difference of two pass rates, the second less the first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RateChange {
    /// The pass rate of the first: the mean over the tests.
    pub rate_a: f64,
    /// The pass rate of the second.
    pub rate_b: f64,
    /// The second pass rate less the first.
    pub difference: f64,
    /// The lower bound of its 95% interval.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
    /// The two-sided mid-p of the permutation test within each test.
    pub p: f64,
    /// True if `p` is from a fixed sample of the rearrangements, because they are too many to count.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub p_is_drawn: bool,
}

/// Tests how the pass rate of the same tests changed. If nothing has changed, runs of one test are exchangeable
/// between the sides. The permutation test therefore rearranges them within each test. Runs are not paired: run 3 of
/// one side has nothing to do with run 3 of the other.
pub fn change_of(pairs: &[(Tally, Tally)]) -> Option<RateChange> {
    let found = difference_over_tests(pairs, CONFIDENCE).ok()?;
    let values: Vec<(Vec<f64>, Vec<f64>)> = pairs
        .iter()
        .map(|(a, b)| (outcomes(*a), outcomes(*b)))
        .collect();
    let strata: Vec<Stratum<'_>> = values
        .iter()
        .map(|(before, after)| Stratum { before, after })
        .collect();
    let shifted = shift(&strata).ok()?;
    let mean = |of: fn(&(Tally, Tally)) -> Tally| {
        pairs.iter().map(of).filter_map(Tally::rate).sum::<f64>() / pairs.len() as f64
    };
    Some(RateChange {
        rate_a: six_decimals(mean(|pair| pair.0)),
        rate_b: six_decimals(mean(|pair| pair.1)),
        difference: six_decimals(found.difference),
        low: six_decimals(found.interval.lower),
        high: six_decimals(found.interval.upper),
        p: six_decimals(shifted.mid_p),
        p_is_drawn: !shifted.is_exact,
    })
}

fn outcomes(tally: Tally) -> Vec<f64> {
    let failed = tally.runs - tally.passed;
    std::iter::repeat_n(1.0, tally.passed as usize)
        .chain(std::iter::repeat_n(0.0, failed as usize))
        .collect()
}

/// Returns true if runs of these numbers could show the largest change, from all passed to none.
fn could_show((a, b): (Tally, Tally)) -> bool {
    let all = Tally {
        passed: a.runs,
        ..a
    };
    change_of(&[(all, Tally { passed: 0, ..b })]).is_some_and(|change| change.p <= LEVEL)
}

/// The changes that the runs of the same tests show.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Shown {
    /// The change over all tests.
    pub change: Option<RateChange>,
    /// Its p-value, adjusted for all sides.
    pub p_holm: Option<f64>,
    /// Better or worse over all tests, where the runs show it.
    pub together: Option<Verdict>,
    /// The change of each test.
    pub tests: Vec<ShownTest>,
}

/// The change that the runs of one test show.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShownTest {
    /// Its change.
    pub change: Option<RateChange>,
    /// The p-value among all tests that could have shown a change.
    pub p_holm: Option<f64>,
    /// The verdict; `None` if a side has no runs.
    pub verdict: Option<Verdict>,
}

impl Shown {
    /// Worse where all tests together are worse, or any one of them; else better in the same way.
    pub fn verdict(&self) -> Option<Verdict> {
        let said = |wanted: Verdict| {
            self.together == Some(wanted)
                || self.tests.iter().any(|test| test.verdict == Some(wanted))
        };
        [Verdict::Worse, Verdict::Better]
            .into_iter()
            .find(|wanted| said(*wanted))
    }
}

/// Computes the changes that the runs of these tests show, together and for each test. A test without runs on a side
/// shows nothing.
pub fn shown(pairs: &[(Tally, Tally)]) -> Shown {
    shown_beside(&[pairs]).pop().unwrap_or_default()
}

/// The same for each of several sides beside the first: p-values are adjusted for all sides, and for all tests of all.
pub fn shown_beside(sides: &[&[(Tally, Tally)]]) -> Vec<Shown> {
    let changes: Vec<Option<RateChange>> = sides
        .iter()
        .map(|pairs| change_of(&with_runs(pairs)))
        .collect();
    let mut of_sides = adjusted(&changes);
    let ask = |pair: &(Tally, Tally)| (change_of(&[*pair]), could_show(*pair));
    let asked: Vec<Vec<_>> = sides
        .iter()
        .map(|pairs| pairs.iter().map(ask).collect())
        .collect();
    let able = asked
        .iter()
        .flatten()
        .map(|(change, can_show)| change.filter(|_| *can_show));
    let mut of_tests = adjusted(&able.collect::<Vec<_>>());
    let mut of_test = |(change, can_show): &(Option<RateChange>, bool)| {
        let p_holm = of_tests.next().flatten().map(six_decimals);
        let unshown = if *can_show {
            Verdict::NoEvidence
        } else {
            Verdict::NotEnoughRuns
        };
        let verdict = change.map(|change| direction(p_holm, change.difference).unwrap_or(unshown));
        ShownTest {
            change: *change,
            p_holm,
            verdict,
        }
    };
    let of_side = |(asked, change): (&Vec<_>, Option<RateChange>)| {
        let p_holm = of_sides.next().flatten().map(six_decimals);
        let together = change.and_then(|change| direction(p_holm, change.difference));
        Shown {
            change,
            p_holm,
            together,
            tests: asked.iter().map(&mut of_test).collect(),
        }
    };
    asked.iter().zip(changes).map(of_side).collect()
}

/// Adjusts the p-values of these changes by Holm's method. A missing change has none.
pub fn adjusted(changes: &[Option<RateChange>]) -> impl Iterator<Item = Option<f64>> + use<> {
    let p_values: Vec<Option<f64>> = changes
        .iter()
        .map(|change| Some(change.as_ref()?.p))
        .collect();
    let known: Vec<f64> = p_values.iter().flatten().copied().collect();
    let mut adjusted = holm(&known).unwrap_or_default().into_iter();
    p_values
        .into_iter()
        .map(move |p| p.and_then(|_| adjusted.next()))
}

/// The tests that have runs on both sides.
pub fn with_runs(pairs: &[(Tally, Tally)]) -> Vec<(Tally, Tally)> {
    pairs
        .iter()
        .filter(|(a, b)| a.runs > 0 && b.runs > 0)
        .copied()
        .collect()
}

/// Better or worse, where chance hardly explains the difference.
pub fn direction(p: Option<f64>, difference: f64) -> Option<Verdict> {
    let verdict = if difference < 0.0 {
        Verdict::Worse
    } else {
        Verdict::Better
    };
    p.filter(|p| *p <= LEVEL).map(|_| verdict)
}

/// The changes that the given number of runs can show.
pub struct Reach {
    /// The smallest drop that is shown four times in five.
    pub smallest_drop: Option<f64>,
    /// True if some change from this rate, to none or to all, is shown as often.
    pub could_show: bool,
    /// The number of further runs of each test on each side that would show this difference, or any at all.
    pub more_runs: Option<u64>,
}

/// Counts all runs as if they were of one test, which is conservative: differences between tests sharpen the
/// comparison. The sides share the level.
pub fn reach(pairs: &[(Tally, Tally)], change: &RateChange, sides: usize) -> Reach {
    let detection = Detection {
        alpha: LEVEL / sides as f64,
        power: POWER,
    };
    let runs =
        |of: fn(&(Tally, Tally)) -> Tally| pairs.iter().map(|pair| of(pair).runs).sum::<u64>();
    let sizes = (runs(|pair| pair.0), runs(|pair| pair.1));
    let shown = |rate: f64| detectable_drop(rate, sizes, detection).ok().flatten();
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
    let needed =
        wanted.and_then(|(rate, drop)| runs_to_detect(rate, drop, tests, detection).ok().flatten());
    let fewest = pairs
        .iter()
        .map(|(a, b)| a.runs.min(b.runs))
        .min()
        .unwrap_or_default();
    Reach {
        smallest_drop,
        could_show,
        more_runs: needed
            .and_then(|runs| runs.checked_sub(fewest))
            .filter(|more| *more > 0),
    }
}

/// A share in percent, with at most one decimal.
pub fn points(share: f64) -> String {
    Number::Float((share * 1000.0).round() / 10.0).to_string()
}

/// The note after a p-value from a sample of the rearrangements.
pub fn drawn_in_words(p_is_drawn: bool) -> String {
    if p_is_drawn {
        format!(" from {DRAWS} drawn rearrangements")
    } else {
        String::new()
    }
}

/// `p = 0.0314`, or that it is smaller than what is shown.
pub fn p_value(p: f64) -> String {
    if p < 1e-6 {
        "p < 0.000001".to_owned()
    } else {
        format!("p = {}", Number::Float(p))
    }
}
