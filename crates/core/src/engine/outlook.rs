//! Which values can a target still reach while some runs are missing?

use super::assertion::{Assertion, numbers_in};
use super::scores::Scores;
use super::target::{Better, Fold, Range, Target};
use crate::report::Number;
use serde_json::Value;

/// The possible values of a target once all runs exist.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Outlook {
    /// Any value, or none: the target depends on every run, like a mean.
    Open,
    /// No value, whatever the remaining runs do.
    Absent,
    /// One of these values.
    OneOf(Vec<f64>),
    /// At most this value, or none.
    AtMost(f64),
    /// At least this value, or none.
    AtLeast(f64),
}

/// Matchers whose verdict on a number changes only at the numbers that they mention.
const PIECEWISE: [&str; 12] = [
    "gte", "lte", "gt", "lt", "exact", "one-of", "oneOf", "not", "all-of", "any-of", "allOf",
    "anyOf",
];

impl Outlook {
    /// The outlook of a target to which each run contributes separately: the worst of them, or
    /// their sum.
    pub fn folded(target: &Target, scores: &Scores) -> Self {
        match (target.fold, target.better(), scores.value(target.name)) {
            (Fold::Pooled, ..) => Self::Open,
            (.., None) => Self::Absent,
            (Fold::Worst, Better::High, Some(value)) => Self::AtMost(value.as_f64()),
            (Fold::Worst | Fold::Sum, _, Some(value)) => Self::AtLeast(value.as_f64()),
        }
    }

    /// The outlook of a target that depends on the number of good runs among `of`: any remaining
    /// run may be good.
    pub fn from_good_runs(target: &Target, good: usize, runs: usize, of: usize) -> Self {
        let possible = good..=good + (of - runs);
        let values = possible
            .map(|good| target.value_of_good_runs(good as u64, of as u64))
            .collect::<Option<_>>();
        values.map_or(Self::Open, Self::OneOf)
    }

    /// Enough of the values to decide how a matcher judges all of them. `None` if no sample can decide that.
    fn samples(&self, target: &Target, matcher: &Value) -> Option<Vec<f64>> {
        let (low, high) = match self {
            Self::Open => return None,
            Self::Absent => return Some(Vec::new()),
            Self::OneOf(values) => return Some(values.clone()),
            Self::AtMost(most) => (0.0, *most),
            Self::AtLeast(least) => (*least, f64::INFINITY),
        };
        let high = target.highest().map_or(high, |highest| high.min(highest));
        let is_possible = |value: &f64| (low..=high).contains(value);
        if matches!(target.range, Range::Flag | Range::Percent) {
            return Some((0..=100).map(f64::from).filter(is_possible).collect());
        }
        if !is_piecewise(matcher) {
            return None;
        }
        let mut mentioned = vec![low];
        numbers_in(matcher, &mut mentioned);
        mentioned.extend(Some(high).filter(|high| high.is_finite()));
        mentioned.sort_by(f64::total_cmp);
        let mut samples = samples_around(&mentioned, target.is_whole());
        samples.retain(is_possible);
        Some(samples)
    }
}

/// These numbers, and numbers between and beyond them: a piecewise matcher judges every other number like one of them.
fn samples_around(sorted: &[f64], is_whole: bool) -> Vec<f64> {
    let between = sorted
        .windows(2)
        .map(|pair| f64::midpoint(pair[0], pair[1]));
    let beyond = sorted.last().map(|last| last.abs().mul_add(2.0, 1.0));
    let samples = between.chain(beyond).chain(sorted.iter().copied());
    if !is_whole {
        return samples.collect();
    }
    let neighbours = sorted
        .iter()
        .flat_map(|number| [number.floor() - 1.0, number.ceil() + 1.0]);
    samples
        .flat_map(|value| [value.floor(), value.ceil()])
        .chain(neighbours)
        .collect()
}

impl Assertion<Target> {
    /// The assertion's result, if no outcome of the remaining runs can change it. `None` while it is open.
    pub(crate) fn decided(&self, outlook: &Outlook) -> Option<bool> {
        let samples = outlook.samples(&self.target, self.matcher.written())?;
        let whole = |value: f64| {
            if self.target.is_whole() {
                Number::Int(value as i64)
            } else {
                Number::Float(value)
            }
        };
        let holds = samples
            .into_iter()
            .map(|value| self.holds(Some(whole(value))));
        let may_be_absent = !matches!(outlook, Outlook::OneOf(_));
        let absent = may_be_absent.then(|| self.matcher.accepts_absence());
        let mut verdicts = holds.chain(absent);
        let first = verdicts.next()?;
        verdicts.all(|verdict| verdict == first).then_some(first)
    }
}

fn is_piecewise(matcher: &Value) -> bool {
    match matcher {
        Value::Object(map) => map
            .iter()
            .all(|(key, inner)| PIECEWISE.contains(&key.as_str()) && is_piecewise(inner)),
        Value::Array(items) => items.iter().all(is_piecewise),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::Matcher;

    const PASSED: Target = Target::flag("t.passed", "");
    const WASTE: Target = Target::count("t.waste", "");
    const SCORE: Target = Target::ratio("t.score", "");

    fn decided(target: Target, matcher: Matcher, outlook: &Outlook) -> Option<bool> {
        Assertion::new(target, matcher).decided(outlook)
    }

    #[test]
    fn a_failed_run_decides_and_passed_ones_do_not() {
        assert_eq!(
            decided(PASSED, Matcher::at_least(1.0), &Outlook::AtMost(0.0)),
            Some(false)
        );
        assert_eq!(
            decided(PASSED, Matcher::at_least(1.0), &Outlook::AtMost(1.0)),
            None
        );
        assert_eq!(
            decided(WASTE, Matcher::at_most(2.0), &Outlook::AtLeast(3.0)),
            Some(false)
        );
        assert_eq!(
            decided(WASTE, Matcher::at_most(2.0), &Outlook::AtLeast(2.0)),
            None
        );
        assert_eq!(
            decided(SCORE, Matcher::at_least(0.5), &Outlook::AtMost(0.4999)),
            Some(false)
        );
        assert_eq!(
            decided(SCORE, Matcher::at_least(0.5), &Outlook::AtMost(0.5)),
            None
        );
    }

    #[test]
    fn what_may_still_go_absent_is_not_decided_to_pass() {
        assert_eq!(
            decided(WASTE, Matcher::at_least(2.0), &Outlook::AtLeast(3.0)),
            None
        );
        assert_eq!(
            decided(
                WASTE,
                Matcher::at_least(2.0),
                &Outlook::OneOf(vec![3.0, 4.0])
            ),
            Some(true)
        );
        assert_eq!(
            decided(WASTE, Matcher::at_least(2.0), &Outlook::Absent),
            Some(false)
        );
        assert_eq!(decided(WASTE, Matcher::at_least(2.0), &Outlook::Open), None);
    }
}
