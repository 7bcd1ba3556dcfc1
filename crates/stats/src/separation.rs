//! How well does a number tell good runs from bad ones?

use super::normal::normal_quantile;
use super::special::bisect;
use super::{Interval, Result, StatsError, check_inside};

/// The degree to which values separate two groups, where high is good.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Separation {
    /// The share of pairs in which the good value is higher; a tie is half a pair.
    pub auc: f64,
    /// The interval of the true share.
    pub interval: Interval,
    /// The best threshold, if any is better than none.
    pub threshold: Option<Threshold>,
}

/// A line between good and bad: at or above it is good.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// The least good value.
    pub at: f64,
    /// The number of good values at or above it.
    pub kept: u64,
    /// The number of bad values below it.
    pub caught: u64,
}

/// Compares two groups of finite values: the area under the ROC curve, which is the Mann-Whitney statistic over the
/// number of pairs, and the threshold with the highest share kept plus share caught (Youden's J); of equal ones the
/// lowest.
pub fn separation(good: &[f64], bad: &[f64], confidence: f64) -> Result<Separation> {
    check_inside("confidence", confidence)?;
    if good.is_empty() || bad.is_empty() {
        return Err(StatsError::NoRuns);
    }
    let (good, bad) = (sorted(good), sorted(bad));
    let (n, m) = (good.len() as u64, bad.len() as u64);
    let mut half_pairs = 0_u64;
    let mut best: Option<Threshold> = None;
    // `kept * m + caught * n`, the J of a threshold in whole numbers, and `n * m` for none.
    let mut best_score = n * m;
    for (at, value) in good.iter().enumerate() {
        let below = bad.partition_point(|other| other < value) as u64;
        let up_to = bad.partition_point(|other| other <= value) as u64;
        half_pairs += below + up_to;
        let is_first = at == 0 || good[at - 1] < *value;
        let kept = n - at as u64;
        let score = kept * m + below * n;
        if is_first && score > best_score {
            best_score = score;
            best = Some(Threshold {
                at: *value,
                kept,
                caught: below,
            });
        }
    }
    let auc = half_pairs as f64 / (2 * n * m) as f64;
    Ok(Separation {
        auc,
        interval: auc_interval(auc, n, m, confidence),
        threshold: best,
    })
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values
}

/// The score interval on the variance under an exponential model: all `t` with `|auc - t| <= z sqrt(V(t))`, where
/// `V(t) = t(1-t) (1 + k(1-t)/(2-t) + kt/(1+t)) / nm` and `k = (n+m)/2 - 1`
/// (Newcombe's method 5, <https://doi.org/10.1002/sim.2324>). It does not shrink to a point when all pairs agree.
fn auc_interval(auc: f64, n: u64, m: u64, confidence: f64) -> Interval {
    let z = normal_quantile(f64::midpoint(1.0, confidence));
    let (pairs, k) = (n as f64 * m as f64, (n + m) as f64 / 2.0 - 1.0);
    let is_within = |t: f64| {
        let variance =
            t * (1.0 - t) * (1.0 + k * (1.0 - t) / (2.0 - t) + k * t / (1.0 + t)) / pairs;
        (auc - t) * (auc - t) <= z * z * variance
    };
    Interval {
        lower: if auc <= 0.0 {
            0.0
        } else {
            bisect(|t| !is_within(t), 0.0, auc)
        },
        upper: if auc >= 1.0 {
            1.0
        } else {
            bisect(is_within, auc, 1.0)
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CONFIDENCE, assert_close, wilson};
    use super::*;
    use proptest::prelude::*;

    fn by_pairs(good: &[f64], bad: &[f64]) -> f64 {
        let points = good.iter().flat_map(|good| {
            bad.iter().map(move |bad| {
                if good > bad {
                    1.0
                } else if good < bad {
                    0.0
                } else {
                    0.5
                }
            })
        });
        points.sum::<f64>() / (good.len() * bad.len()) as f64
    }

    #[test]
    fn one_pair_has_the_interval_of_one_run() {
        let one = separation(&[1.0], &[0.0], CONFIDENCE).unwrap();
        let wilson = wilson(1, 1, CONFIDENCE).unwrap();
        assert_close(one.interval.lower, wilson.lower);
        assert_close(one.interval.upper, wilson.upper);
    }

    #[test]
    fn groups_that_never_overlap_leave_doubt_by_their_size() {
        let lower = |size: i32| {
            let good: Vec<f64> = (0..size).map(|value| f64::from(value) + 100.0).collect();
            let bad: Vec<f64> = (0..size).map(f64::from).collect();
            separation(&good, &bad, CONFIDENCE).unwrap().interval.lower
        };
        assert!(
            lower(3) < 0.6 && lower(10) > 0.75 && lower(100) > 0.97,
            "{} {}",
            lower(3),
            lower(10)
        );
    }

    #[test]
    fn the_threshold_keeps_what_is_good_and_catches_what_is_bad() {
        let found = separation(&[0.9, 0.8, 0.5, 0.1], &[0.2, 0.2, 0.4], CONFIDENCE).unwrap();
        assert_eq!(
            found.threshold,
            Some(Threshold {
                at: 0.5,
                kept: 3,
                caught: 3
            })
        );
        let alike = separation(&[0.5, 0.5], &[0.5], CONFIDENCE).unwrap();
        assert_eq!((alike.auc, alike.threshold), (0.5, None));
        let turned = separation(&[0.1], &[0.9, 0.8], CONFIDENCE).unwrap();
        assert_eq!((turned.auc, turned.threshold), (0.0, None));
    }

    #[test]
    fn nothing_to_compare_is_refused() {
        assert_eq!(separation(&[], &[1.0], CONFIDENCE), Err(StatsError::NoRuns));
        assert_eq!(separation(&[1.0], &[], CONFIDENCE), Err(StatsError::NoRuns));
    }

    proptest! {
        #[test]
        fn the_area_is_the_share_of_pairs(
            good in prop::collection::vec(0_u8..6, 1..30),
            bad in prop::collection::vec(0_u8..6, 1..30),
        ) {
            let [good, bad] = [good, bad].map(|group| group.into_iter().map(f64::from).collect::<Vec<_>>());
            let found = separation(&good, &bad, CONFIDENCE).unwrap();
            prop_assert!((found.auc - by_pairs(&good, &bad)).abs() < 1e-12);
            let Interval { lower, upper } = found.interval;
            prop_assert!(0.0 <= lower && lower <= found.auc && found.auc <= upper && upper <= 1.0);
            let turned = separation(&bad, &good, CONFIDENCE).unwrap();
            prop_assert!((turned.auc + found.auc - 1.0).abs() < 1e-12);
            prop_assert!((turned.interval.upper + lower - 1.0).abs() < 1e-9);
        }
    }
}
