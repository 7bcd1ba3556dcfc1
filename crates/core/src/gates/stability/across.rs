//! Do the runs of a test agree in their steadiness and in their path?

use super::pairs::compare;
use super::score::Premises;
use super::session::Session;
use serde_json::Value;
use thiserror::Error;

/// The combined scores of several runs of one test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StabilityAcross {
    /// The mean of the runs' weakest scores.
    pub score: f64,
    /// The lowest weakest score.
    pub weakest_score: f64,
    /// Their population variance.
    pub variance: f64,
    /// The mean over pairs of runs: longest common subsequence of tool names over the longer length.
    pub tool_sequence_similarity: f64,
    /// The mean over pairs of runs: the share of equal arguments among the steps at which both
    /// called the same tool.
    pub argument_consistency: f64,
    /// The mean over pairs of runs: equal arguments along the longest common subsequence of tools.
    pub aligned_argument_consistency: f64,
    /// True if most pairs that diverge do so at the first or second call.
    pub early_divergence: bool,
}

/// Why runs cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StabilityError {
    /// There are fewer than two runs.
    #[error("stability compares runs: {0} is not enough; it needs at least 2")]
    TooFewRuns(usize),
}

/// The distribution of the weakest scores of several runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Their mean.
    pub mean: f64,
    /// The lowest.
    pub lowest: f64,
    /// Their population variance.
    pub variance: f64,
}

/// Folds the envelopes of at least two runs.
pub fn agent_stability_across(envelopes: &[Value]) -> Result<StabilityAcross, StabilityError> {
    let sessions: Vec<Session<'_>> = envelopes.iter().map(Session::from_envelope).collect();
    let weakest: Vec<f64> = sessions
        .iter()
        .map(|session| Premises::NONE.report(session).weakest_score())
        .collect();
    let spread = spread(&weakest)?;
    let agreement = compare(&sessions);
    Ok(StabilityAcross {
        score: spread.mean,
        weakest_score: spread.lowest,
        variance: spread.variance,
        tool_sequence_similarity: agreement.similarity.mean(),
        argument_consistency: agreement.consistency.mean(),
        aligned_argument_consistency: agreement.aligned.mean(),
        early_divergence: agreement.early_divergence(),
    })
}

/// Mean, minimum and population variance of at least two scores; equal scores have no variance at all.
pub fn spread(scores: &[f64]) -> Result<Spread, StabilityError> {
    let [first, _, ..] = *scores else {
        return Err(StabilityError::TooFewRuns(scores.len()));
    };
    let mean_of = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / scores.len() as f64;
    let mean = first + mean_of(&mut scores.iter().map(|score| score - first));
    let variance = mean_of(&mut scores.iter().map(|score| (score - mean).powi(2)));
    Ok(Spread {
        mean,
        lowest: scores.iter().copied().fold(first, f64::min),
        variance,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn equal_scores_have_no_variance() {
        for score in [0.8, 0.1, 1.0 / 3.0] {
            let found = spread(&[score; 7]).unwrap();
            assert_eq!(
                found,
                Spread {
                    mean: score,
                    lowest: score,
                    variance: 0.0
                }
            );
        }
        let found = spread(&[0.5, 0.7, 0.9]).unwrap();
        assert!((found.mean - 0.7).abs() < 1e-12 && (found.variance - 0.08 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn one_run_is_not_compared() {
        assert_eq!(
            agent_stability_across(&[json!({})]),
            Err(StabilityError::TooFewRuns(1))
        );
        assert_eq!(spread(&[]), Err(StabilityError::TooFewRuns(0)));
    }

    #[test]
    fn one_looping_run_pulls_the_lowest_down_and_the_variance_up() {
        let run = |args: [u32; 4]| json!({ "tool_calls": args.map(|i| json!({ "name": "a", "args": { "i": i } })) });
        let found = agent_stability_across(&[run([0, 1, 2, 3]), run([0, 0, 0, 0])]).unwrap();
        assert!((found.score - 0.625).abs() < 1e-12 && (found.weakest_score - 0.25).abs() < 1e-12);
        assert!((found.variance - 0.140_625).abs() < 1e-12);
        assert!((found.argument_consistency - 0.25).abs() < 1e-12);
        assert!((found.tool_sequence_similarity - 1.0).abs() < 1e-12 && !found.early_divergence);
    }
}
