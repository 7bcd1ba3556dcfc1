//! What does a gate compute: which targets, in which ranges, and how do they combine the runs of a test?

use crate::matcher::Matcher;
use mcptest_stats::first_false;
use serde::{Deserialize, Serialize};

/// One number that a gate computes and a suite can assert.
#[must_use]
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// The name that `expect:` uses.
    pub name: &'static str,
    /// The meaning of the target, in one line.
    pub doc: &'static str,
    /// The values it can have.
    pub range: Range,
    /// The rule that combines the values of several runs.
    pub fold: Fold,
    /// The highest value it can have.
    most: f64,
    reachable: Option<Values>,
    advice: Option<Advice>,
    /// True if the target is the share of runs that meet the block's assertions on each run.
    pub(crate) is_pass_rate: bool,
    better: Better,
    unit: Option<Unit>,
}

/// The possible values for a number of runs.
#[derive(Debug, Clone, Copy)]
enum Values {
    /// All values that this number of runs can give.
    All(fn(usize) -> Vec<f64>),
    /// The value for a number of good runs among all. It never falls with another good run.
    Rising(fn(u64, u64) -> f64),
}

/// Advice if no reachable value passes, given the number of runs and a test for values.
type Advice = fn(usize, &dyn Fn(f64) -> bool) -> Option<String>;

/// The values a target can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Range {
    /// 0 or 1; matchers may also write `false` and `true`.
    Flag,
    /// 0 to 100, whole.
    Percent,
    /// 0 to 1.
    Ratio,
    /// 0 and up, whole.
    Count,
    /// 0 and up.
    Amount,
}

/// The unit of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// 1 if something holds, otherwise 0.
    Flag,
    /// Hundredths.
    Percent,
    /// A share of 1.
    Ratio,
    /// Things.
    Count,
    /// Milliseconds.
    Ms,
    /// Tokens of a model.
    Tokens,
    /// US dollars.
    Usd,
    /// Any other amount.
    Score,
}

/// Which values of a target are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// High ones.
    High,
    /// Low ones.
    Low,
}

/// The rule that combines the values of several runs into one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    /// The value of the worst run: the lowest if high is good, the highest if low is good.
    Worst,
    /// All together.
    Sum,
    /// The gate computes it over all runs at once.
    Pooled,
}

impl Target {
    /// A target that the worst run decides.
    const fn new(name: &'static str, doc: &'static str, range: Range, better: Better) -> Self {
        let (fold, most) = (Fold::Worst, f64::INFINITY);
        Self {
            name,
            doc,
            range,
            fold,
            most,
            reachable: None,
            advice: None,
            is_pass_rate: false,
            better,
            unit: None,
        }
    }

    /// 1 if something holds, otherwise 0; the worst run decides.
    pub const fn flag(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, doc, Range::Flag, Better::High)
    }

    /// A ratio from 0 to 1 where high is good; the worst run decides.
    pub const fn ratio(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, doc, Range::Ratio, Better::High)
    }

    /// A whole percent where high is good; the worst run decides.
    pub const fn percent(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, doc, Range::Percent, Better::High)
    }

    /// A count of something unwanted; the worst run decides.
    pub const fn count(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, doc, Range::Count, Better::Low)
    }

    /// An amount such as milliseconds or money; the worst run decides.
    pub const fn amount(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, doc, Range::Amount, Better::Low)
    }

    /// The share of runs that meet the block's requirements. A gate that has this target scores run
    /// by run.
    pub const fn pass_rate(name: &'static str) -> Self {
        let rate = Self::ratio(
            name,
            "share of the runs that meet the block's requirements for each run",
        );
        let rate = rate
            .pooled()
            .rising(|passed, runs| passed as f64 / runs as f64);
        Self {
            is_pass_rate: true,
            ..rate
        }
    }

    /// Sets the unit.
    pub const fn in_unit(mut self, unit: Unit) -> Self {
        self.unit = Some(unit);
        self
    }

    /// The unit.
    pub fn unit(&self) -> Unit {
        self.unit.unwrap_or(match self.range {
            Range::Flag => Unit::Flag,
            Range::Percent => Unit::Percent,
            Range::Ratio => Unit::Ratio,
            Range::Count => Unit::Count,
            Range::Amount => Unit::Score,
        })
    }

    /// The highest value, if it has one.
    pub fn highest(&self) -> Option<f64> {
        let of_range = match self.range {
            Range::Flag | Range::Ratio => 1.0,
            Range::Percent => 100.0,
            Range::Count | Range::Amount => f64::INFINITY,
        };
        Some(of_range.min(self.most)).filter(|most| most.is_finite())
    }

    /// The anchor of its definition in the page of its gate.
    pub fn anchor(&self) -> String {
        self.name.replace('.', "-")
    }

    /// Returns true if the number is the share of runs that pass.
    pub fn is_pass_rate(&self) -> bool {
        self.is_pass_rate
    }

    /// Computes the target over all runs at once.
    pub const fn pooled(mut self) -> Self {
        self.fold = Fold::Pooled;
        self
    }

    /// Adds up the runs.
    pub const fn summed(mut self) -> Self {
        self.fold = Fold::Sum;
        self
    }

    /// Marks high values as better.
    pub const fn wanted(mut self) -> Self {
        self.better = Better::High;
        self
    }

    /// Marks low values as better.
    pub const fn unwanted(mut self) -> Self {
        self.better = Better::Low;
        self
    }

    /// Limits the target to the values that this number of runs can give.
    pub const fn reaching(mut self, values: fn(usize) -> Vec<f64>) -> Self {
        self.reachable = Some(Values::All(values));
        self
    }

    /// Computes the target from the number of good runs among all. It never falls with another good
    /// run.
    pub const fn rising(mut self, value: fn(u64, u64) -> f64) -> Self {
        self.reachable = Some(Values::Rising(value));
        self
    }

    /// Adds advice for expectations that no reachable value meets.
    pub const fn advising(mut self, advice: Advice) -> Self {
        self.advice = Some(advice);
        self
    }

    /// The advice for a bound that no value of this many runs can meet.
    pub(crate) fn advice(&self, runs: usize, passes: &dyn Fn(f64) -> bool) -> Option<String> {
        self.advice?(runs, passes)
    }

    /// Sets the highest value.
    pub const fn up_to(mut self, most: f64) -> Self {
        self.most = most;
        self
    }

    /// Returns true if the possible values depend on the number of runs.
    pub(crate) fn depends_on_runs(&self) -> bool {
        self.reachable.is_some()
    }

    /// The value for a number of good runs among all, if that number decides the value.
    pub(crate) fn value_of_good_runs(&self, good: u64, runs: u64) -> Option<f64> {
        match self.reachable? {
            Values::Rising(value) => Some(value(good, runs)),
            Values::All(_) => None,
        }
    }

    /// Values for testing a matcher, computed lazily. If none passes, the assertion cannot pass. If
    /// all pass, it cannot fail.
    pub(crate) fn candidates<'m>(
        &self,
        runs: usize,
        mentioned: &'m [f64],
    ) -> Box<dyn Iterator<Item = f64> + 'm> {
        match self.reachable {
            Some(Values::All(values)) => Box::new(values(runs).into_iter()),
            Some(Values::Rising(value)) => Box::new(rising(value, runs as u64, mentioned)),
            None => self.candidates_of_range(mentioned),
        }
    }

    /// Candidates for an unknown number of runs: values of the whole range.
    pub(crate) fn candidates_of_range<'m>(
        &self,
        mentioned: &'m [f64],
    ) -> Box<dyn Iterator<Item = f64> + 'm> {
        let (steps, per, beyond) = match self.range {
            Range::Flag | Range::Percent => (100, 1.0, None),
            Range::Ratio => (1000, 1000.0, None),
            Range::Count => (100, 1.0, Some(1e9)),
            Range::Amount => (100, 1.0, Some(1e12)),
        };
        let (highest, is_whole) = (self.highest().unwrap_or(f64::INFINITY), self.is_whole());
        let around = mentioned.iter().flat_map(|&number| {
            [
                number - 1.0,
                number,
                number + 1.0,
                number + 1e-9,
                number - 1e-9,
            ]
        });
        let values = (0..=steps)
            .map(move |step| f64::from(step) / per)
            .chain(around)
            .chain(beyond);
        let is_possible =
            move |x: &f64| (0.0..=highest).contains(x) && (!is_whole || x.fract() == 0.0);
        Box::new(values.filter(is_possible))
    }

    /// Which values are better.
    pub fn better(&self) -> Better {
        self.better
    }

    /// Rounds a bound towards a weaker requirement; a whole number stays.
    pub fn outward(&self, value: f64, decimals: i32) -> f64 {
        let scale = 10_f64.powi(decimals);
        match self.better {
            Better::High => (value * scale).floor() / scale,
            Better::Low => (value * scale).ceil() / scale,
        }
    }

    /// A matcher that this value just meets.
    pub fn bound(&self, value: f64) -> Matcher {
        match self.better {
            Better::High => Matcher::at_least(value),
            Better::Low => Matcher::at_most(value),
        }
    }

    /// Returns true if values are shown and matched as whole numbers.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.range, Range::Flag | Range::Percent | Range::Count)
    }
}

/// The number of values to try besides the values around the mentioned numbers.
const SPREAD: u64 = 64;

/// The best and the worst value, the values on both sides of each mentioned number, and some in
/// between.
fn rising(value: fn(u64, u64) -> f64, runs: u64, mentioned: &[f64]) -> impl Iterator<Item = f64> {
    let around = mentioned.iter().flat_map(move |&number| {
        let reaching = first_false(runs + 1, |good| value(good, runs) < number);
        let above = first_false(runs + 1, |good| value(good, runs) <= number);
        [reaching.checked_sub(1), Some(reaching), Some(above)]
            .into_iter()
            .flatten()
    });
    let spread = (0..=runs).step_by((runs / SPREAD).max(1) as usize);
    let tried = [runs, 0].into_iter().chain(around).chain(spread);
    tried
        .filter(move |&good| good <= runs)
        .map(move |good| value(good, runs))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALVES: Target =
        Target::percent("t.halves", "").rising(|good, runs| (50 * good / runs) as f64);

    #[test]
    fn a_rising_value_is_tried_on_both_sides_of_every_mentioned_number() {
        let runs = 100_000;
        for number in [0.0, 17.0, 49.0, 50.0] {
            let tried: Vec<f64> = HALVES.candidates(runs, &[number]).collect();
            assert!(tried.len() < 80 && tried.contains(&number), "{number}");
            assert!(number <= 0.0 || tried.contains(&(number - 1.0)), "{number}");
            assert!(
                number >= 50.0 || tried.contains(&(number + 1.0)),
                "{number}"
            );
        }
        assert_eq!(HALVES.candidates(runs, &[]).next(), Some(50.0));
        assert!(!HALVES.candidates(runs, &[80.0]).any(|tried| tried > 50.0));
    }
}
