//! Has a pass rate changed beyond chance, and how large a change could the runs have shown?

use crate::report::Number;
use mcptest_stats::{
    CONFIDENCE, DRAWS, Stratum, Tally, difference_over_tests, holm, shift, six_decimals,
};
use serde::{Deserialize, Serialize};

/// A change is supported if its p-value is at most this.
pub const LEVEL: f64 = 0.05;

/// The verdict of the runs on a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The second passes more often, and chance hardly explains it.
    Better,
    /// The second passes less often, and chance hardly explains it.
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
        .map(|(a, b)| (a.outcomes(), b.outcomes()))
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

/// A question about two sides: is the second better or worse?
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangeQuestion {
    /// The gain of the second side; negative if it is worse.
    pub gain: f64,
    /// The p-value of the gain.
    pub p: f64,
    /// False if no outcome of these runs could have shown a change.
    pub can_be_shown: bool,
}

/// The answer of the runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangeAnswer {
    /// The p-value, adjusted for all questions asked together. `None` if the runs could not show a
    /// change.
    pub p: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
}

impl RateChange {
    /// The question whether the pass rate changed.
    pub fn question(self, can_be_shown: bool) -> ChangeQuestion {
        ChangeQuestion {
            gain: self.difference,
            p: self.p,
            can_be_shown,
        }
    }
}

impl ChangeQuestion {
    fn answer(self, p: Option<f64>) -> ChangeAnswer {
        let verdict = match p {
            Some(p) if p <= LEVEL && self.gain < 0.0 => Verdict::Worse,
            Some(p) if p <= LEVEL => Verdict::Better,
            Some(_) => Verdict::NoEvidence,
            None => Verdict::NotEnoughRuns,
        };
        ChangeAnswer { p, verdict }
    }
}

/// Answers questions that are asked together, at one level for all of them (Holm). A question that the runs could not
/// answer takes no share of the level. A missing question has no answer.
pub fn answer_together(questions: &[Option<ChangeQuestion>]) -> Vec<Option<ChangeAnswer>> {
    let can_be_shown = questions.iter().flatten().filter(|one| one.can_be_shown);
    let p_values: Vec<f64> = can_be_shown.map(|question| question.p).collect();
    let mut adjusted = holm(&p_values).unwrap_or_default().into_iter();
    let mut answer = |question: ChangeQuestion| {
        let p = if question.can_be_shown {
            adjusted.next().map(six_decimals)
        } else {
            None
        };
        question.answer(p)
    };
    questions
        .iter()
        .map(|question| question.map(&mut answer))
        .collect()
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

/// `p = 0.0314`, or a bound if it is too small to show.
pub fn p_value(p: f64) -> String {
    if p < 1e-6 {
        "p < 0.000001".to_owned()
    } else {
        format!("p = {}", Number::Float(p))
    }
}
