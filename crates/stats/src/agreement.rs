//! How far do raters agree, beyond what chance gives?

use super::normal::normal_quantile;
use super::{Interval, Result, StatsError, check_inside};

/// The answers of two raters (yes or no) for the same units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct YesNo {
    /// Both said yes.
    pub both: u64,
    /// Only the first said yes.
    pub first_only: u64,
    /// Only the second said yes.
    pub second_only: u64,
    /// Both said no.
    pub neither: u64,
}

/// Cohen's kappa: 1 is full agreement, 0 is the agreement by chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kappa {
    /// The share of units on which the two agree.
    pub agreement: f64,
    /// Kappa, unless both raters always give one and the same answer: then chance explains everything.
    pub kappa: Option<f64>,
    /// The interval of the true kappa (Fleiss, Cohen and Everitt's large-sample variance), within
    /// -1 and 1.
    pub interval: Option<Interval>,
}

/// Cohen's kappa of two raters.
pub fn cohen_kappa(counts: YesNo, confidence: f64) -> Result<Kappa> {
    check_inside("confidence", confidence)?;
    let YesNo {
        both,
        first_only,
        second_only,
        neither,
    } = counts;
    let n = (both + first_only + second_only + neither) as f64;
    if n == 0.0 {
        return Err(StatsError::NoRuns);
    }
    let cells = [
        [both as f64 / n, first_only as f64 / n],
        [second_only as f64 / n, neither as f64 / n],
    ];
    let rows = [cells[0][0] + cells[0][1], cells[1][0] + cells[1][1]];
    let columns = [cells[0][0] + cells[1][0], cells[0][1] + cells[1][1]];
    let agreement = cells[0][0] + cells[1][1];
    let chance = rows[0] * columns[0] + rows[1] * columns[1];
    if 1.0 - chance < super::ROUNDING {
        return Ok(Kappa {
            agreement,
            kappa: None,
            interval: None,
        });
    }
    let kappa = (agreement - chance) / (1.0 - chance);
    let table = Shares {
        cells,
        rows,
        columns,
    };
    let error = (table.spread(kappa, chance).max(0.0) / n).sqrt() / (1.0 - chance);
    let reach = normal_quantile(f64::midpoint(1.0, confidence)) * error;
    let interval = Interval {
        lower: (kappa - reach).max(-1.0),
        upper: (kappa + reach).min(1.0),
    };
    Ok(Kappa {
        agreement,
        kappa: Some(kappa),
        interval: Some(interval),
    })
}

/// The shares of units on which two raters said yes and no.
struct Shares {
    cells: [[f64; 2]; 2],
    rows: [f64; 2],
    columns: [f64; 2],
}

impl Shares {
    /// The variance of kappa for one unit, before the division by the square of the part that
    /// chance leaves.
    fn spread(&self, kappa: f64, chance: f64) -> f64 {
        let Self {
            cells,
            rows,
            columns,
        } = self;
        let mut spread = -(kappa - chance * (1.0 - kappa)).powi(2);
        for (i, row) in cells.iter().enumerate() {
            for (j, cell) in row.iter().enumerate() {
                let weight = if i == j {
                    1.0 - (rows[i] + columns[i]) * (1.0 - kappa)
                } else {
                    (columns[i] + rows[j]) * (1.0 - kappa)
                };
                spread += cell * weight * weight;
            }
        }
        spread
    }
}

/// Krippendorff's alpha for numbers (interval level; yes and no as 1 and 0 give the nominal alpha). Each unit has the
/// values of its raters, in any order and number. Units with fewer than two values are ignored. `None` if no unit has
/// two values.
pub fn krippendorff_alpha(units: &[Vec<f64>]) -> Option<f64> {
    let pairable: Vec<&Vec<f64>> = units.iter().filter(|unit| unit.len() > 1).collect();
    let all: Vec<f64> = pairable
        .iter()
        .flat_map(|unit| unit.iter().copied())
        .collect();
    if all.is_empty() {
        return None;
    }
    let expected = squared_distances(&all) / (all.len() - 1) as f64;
    if expected < super::ROUNDING {
        return None;
    }
    let observed: f64 = pairable
        .iter()
        .map(|unit| squared_distances(unit) / (unit.len() - 1) as f64)
        .sum();
    Some(1.0 - observed / expected)
}

/// The sum of the squared distances of all pairs, in one pass: `n` times the sum of squares about the mean.
fn squared_distances(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.len() as f64
        * values
            .iter()
            .map(|value| (value - mean).powi(2))
            .sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(left: f64, right: f64) {
        assert!((left - right).abs() < 5e-7, "{left} is not {right}");
    }

    #[test]
    fn kappa_and_its_interval_are_those_of_statsmodels() {
        let kappa = cohen_kappa(
            YesNo {
                both: 20,
                first_only: 5,
                second_only: 10,
                neither: 15,
            },
            0.95,
        )
        .unwrap();
        close(kappa.agreement, 0.7);
        close(kappa.kappa.unwrap(), 0.4);
        let interval = kappa.interval.unwrap();
        close(interval.lower, 0.151_092_3);
        close(interval.upper, 0.648_907_7);
    }

    #[test]
    fn kappa_is_nothing_when_chance_explains_everything() {
        let kappa = cohen_kappa(
            YesNo {
                both: 12,
                ..YesNo::default()
            },
            0.95,
        )
        .unwrap();
        assert_eq!(
            kappa,
            Kappa {
                agreement: 1.0,
                kappa: None,
                interval: None
            }
        );
        assert_eq!(cohen_kappa(YesNo::default(), 0.95), Err(StatsError::NoRuns));
        let opposed = cohen_kappa(
            YesNo {
                first_only: 5,
                second_only: 5,
                ..YesNo::default()
            },
            0.95,
        )
        .unwrap();
        close(opposed.kappa.unwrap(), -1.0);
    }

    #[test]
    fn alpha_is_that_of_krippendorffs_examples() {
        let binary = [
            (0, 1),
            (1, 1),
            (0, 1),
            (0, 0),
            (0, 0),
            (0, 1),
            (0, 0),
            (0, 0),
            (1, 0),
            (0, 0),
        ];
        let units: Vec<Vec<f64>> = binary
            .iter()
            .map(|(a, b)| vec![f64::from(*a), f64::from(*b)])
            .collect();
        close(krippendorff_alpha(&units).unwrap(), 0.095_238_1);
        let four: [&[i32]; 12] = [
            &[1, 1, 1],
            &[2, 2, 3, 2],
            &[3, 3, 3, 3],
            &[3, 3, 3, 3],
            &[2, 2, 2, 2],
            &[1, 2, 3, 4],
            &[4, 4, 4, 4],
            &[1, 1, 2, 1],
            &[2, 2, 2, 2],
            &[5, 5, 5],
            &[1, 1],
            &[3],
        ];
        let units: Vec<Vec<f64>> = four
            .iter()
            .map(|unit| unit.iter().map(|value| f64::from(*value)).collect())
            .collect();
        close(krippendorff_alpha(&units).unwrap(), 0.849_107_1);
    }

    #[test]
    fn alpha_is_nothing_without_disagreement_to_expect() {
        assert_eq!(krippendorff_alpha(&[]), None);
        assert_eq!(krippendorff_alpha(&[vec![1.0], vec![0.0]]), None);
        assert_eq!(krippendorff_alpha(&[vec![1.0, 1.0], vec![1.0, 1.0]]), None);
    }
}
