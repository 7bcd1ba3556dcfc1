//! How far can a judge be trusted, by runs whose outcome is known?

use crate::retell::Retelling;
use mcptest_stats::{CONFIDENCE, Interval, YesNo, clopper_pearson, cohen_kappa, six_decimals};
use serde::Serialize;

/// A run with a known outcome, and a judge's grades of it.
#[derive(Debug, Clone)]
pub struct CheckedRun {
    /// True if the run was right.
    pub is_good: bool,
    /// The judge's grade.
    pub grade: JudgeGrade,
    /// The judge's grades of rewritten records.
    pub retold: Vec<(Retelling, JudgeGrade)>,
}

/// A judge's grade.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JudgeGrade {
    /// True if it passed the run.
    pub passed: bool,
    /// The score, from 0 to 1.
    pub score: f64,
}

/// The quality of a judge.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgeCheck {
    /// The check that asks, by its path in the test.
    pub check: String,
    /// The models that judge.
    pub judges: Vec<String>,
    /// The least score to pass.
    pub threshold: f64,
    /// The number of good runs.
    pub good: usize,
    /// Runs that did not.
    pub bad: usize,
    /// Runs with a label that have no grade.
    pub ungraded: usize,
    /// Runs on which the judge agrees with the label.
    pub agreement: ShareOfRuns,
    /// Cohen's kappa; `null` if all labels and grades are equal.
    pub kappa: Option<f64>,
    /// The 95% confidence interval of kappa.
    pub kappa_interval: Option<[f64; 2]>,
    /// Bad runs that the judge let pass.
    pub false_passes: ShareOfRuns,
    /// Good runs that the judge failed.
    pub false_fails: ShareOfRuns,
    /// The verdicts on rewritten records of the same runs.
    pub retold: Vec<Retold>,
}

/// The changes of verdicts on rewritten records.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Retold {
    /// The kind of rewriting.
    pub how: Retelling,
    /// Verdicts that changed. Of a retelling that tries to win the judge over: bad runs that passed only then.
    pub changed: ShareOfRuns,
    /// The increase of the mean score.
    pub shift: f64,
}

/// A count out of a total, with the 95% confidence interval of the true share (Clopper-Pearson).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ShareOfRuns {
    /// The count.
    pub count: usize,
    /// The total.
    pub of: usize,
    /// The lower bound; `null` without runs.
    pub lower: Option<f64>,
    /// The upper bound; `null` without runs.
    pub upper: Option<f64>,
}

impl ShareOfRuns {
    fn new(count: usize, of: usize) -> Self {
        let interval: Option<Interval> = clopper_pearson(count as u64, of as u64, CONFIDENCE).ok();
        Self {
            count,
            of,
            lower: interval.map(|one| six_decimals(one.lower)),
            upper: interval.map(|one| six_decimals(one.upper)),
        }
    }

    /// The share; 0 without runs.
    pub fn rate(&self) -> f64 {
        if self.of == 0 {
            0.0
        } else {
            self.count as f64 / self.of as f64
        }
    }
}

impl JudgeCheck {
    /// Measures a judge by these runs.
    pub fn new(
        check: String,
        judges: Vec<String>,
        threshold: f64,
        runs: &[CheckedRun],
        ungraded: usize,
    ) -> Self {
        let counts = Agreement::count(runs);
        let (good, bad) = (counts.right + counts.missed, counts.fooled + counts.caught);
        let kappa = cohen_kappa(counts.yes_no(), CONFIDENCE).ok();
        Self {
            check,
            judges,
            threshold,
            good,
            bad,
            ungraded,
            agreement: ShareOfRuns::new(counts.right + counts.caught, runs.len()),
            kappa: kappa.and_then(|kappa| kappa.kappa).map(six_decimals),
            kappa_interval: kappa
                .and_then(|kappa| kappa.interval)
                .map(|one| [one.lower, one.upper].map(six_decimals)),
            false_passes: ShareOfRuns::new(counts.fooled, bad),
            false_fails: ShareOfRuns::new(counts.missed, good),
            retold: Retelling::ALL
                .into_iter()
                .filter_map(|how| Retold::new(how, runs))
                .collect(),
        }
    }

    /// The highest share of bad runs that the judge was persuaded to pass; `None` if that was not
    /// measured.
    pub fn persuaded(&self) -> Option<f64> {
        let tried = self
            .retold
            .iter()
            .filter(|retold| retold.how.is_persuasion() && retold.changed.of > 0);
        tried.map(|retold| retold.changed.rate()).reduce(f64::max)
    }
}

/// The number of runs for each pair of a label and a verdict.
struct Agreement {
    /// Good runs that passed.
    right: usize,
    /// Good runs that did not pass.
    missed: usize,
    /// Bad runs that passed.
    fooled: usize,
    /// Bad runs that did not pass.
    caught: usize,
}

impl Agreement {
    fn count(runs: &[CheckedRun]) -> Self {
        let count = |is_good: bool, passed: bool| {
            runs.iter()
                .filter(|run| run.is_good == is_good && run.grade.passed == passed)
                .count()
        };
        Self {
            right: count(true, true),
            missed: count(true, false),
            fooled: count(false, true),
            caught: count(false, false),
        }
    }

    fn yes_no(&self) -> YesNo {
        YesNo {
            both: self.right as u64,
            first_only: self.missed as u64,
            second_only: self.fooled as u64,
            neither: self.caught as u64,
        }
    }
}

impl Retold {
    fn new(how: Retelling, runs: &[CheckedRun]) -> Option<Self> {
        let pairs: Vec<(JudgeGrade, JudgeGrade)> = runs
            .iter()
            .filter_map(|run| {
                Some((
                    run.grade,
                    run.retold.iter().find(|(known, _)| *known == how)?.1,
                ))
            })
            .collect();
        if pairs.is_empty() {
            return None;
        }
        let changed = pairs
            .iter()
            .filter(|(before, after)| before.passed != after.passed)
            .count();
        let shift = pairs
            .iter()
            .map(|(before, after)| after.score - before.score)
            .sum::<f64>();
        Some(Self {
            how,
            changed: ShareOfRuns::new(changed, pairs.len()),
            shift: six_decimals(shift / pairs.len() as f64),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_a_check_has_six_decimals_at_most() {
        let run = |is_good: bool, passed: bool, score: f64| CheckedRun {
            is_good,
            grade: JudgeGrade { passed, score },
            retold: Retelling::ALL
                .into_iter()
                .map(|how| {
                    (
                        how,
                        JudgeGrade {
                            passed: !passed,
                            score: score / 3.0,
                        },
                    )
                })
                .collect(),
        };
        let runs = [
            run(true, true, 0.7),
            run(true, false, 0.1),
            run(false, true, 0.9),
            run(false, false, 0.2),
            run(true, true, 1.0),
            run(false, false, 0.3),
            run(true, true, 0.8),
        ];
        let check = JudgeCheck::new("eval".to_owned(), vec!["m".to_owned()], 0.5, &runs, 0);
        let text = serde_json::to_string(&check).unwrap();
        let digits = text
            .split(|letter: char| !letter.is_ascii_digit() && letter != '.')
            .filter_map(|number| number.split_once('.'));
        let mut decimals = digits.map(|(_, decimals)| decimals.len()).peekable();
        assert!(decimals.peek().is_some());
        assert!(decimals.all(|decimals| decimals <= 6), "{text}");
    }
}
