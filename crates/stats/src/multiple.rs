//! Which of many p-values still count when all were looked at?

use super::{Result, check_probability};

/// Holm's adjusted p-values, in the given order: the running maximum of `(m - rank) p` with ranks
/// from 0 (<https://www.jstor.org/stable/4615733>).
pub fn holm(p_values: &[f64]) -> Result<Vec<f64>> {
    let order = ascending(p_values)?;
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest: f64 = 0.0;
    for (rank, &index) in order.iter().enumerate() {
        largest = largest.max((p_values.len() - rank) as f64 * p_values[index]);
        adjusted[index] = largest.min(1.0);
    }
    Ok(adjusted)
}

/// Benjamini and Hochberg's adjusted p-values, in the given order: the running minimum of `m p /
/// rank` from the largest down, with ranks from 1
/// (<https://doi.org/10.1111/j.2517-6161.1995.tb02031.x>).
pub fn benjamini_hochberg(p_values: &[f64]) -> Result<Vec<f64>> {
    let order = ascending(p_values)?;
    let mut adjusted = vec![0.0; p_values.len()];
    let mut smallest: f64 = 1.0;
    for (rank, &index) in order.iter().enumerate().rev() {
        smallest = smallest.min(p_values.len() as f64 * p_values[index] / (rank + 1) as f64);
        adjusted[index] = smallest;
    }
    Ok(adjusted)
}

fn ascending(p_values: &[f64]) -> Result<Vec<usize>> {
    p_values
        .iter()
        .try_for_each(|&p| check_probability("p", p))?;
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_all_close(adjusted: &[f64], expected: &[f64]) {
        assert_eq!(adjusted.len(), expected.len());
        for (a, b) in adjusted.iter().zip(expected) {
            super::super::assert_close(*a, *b);
        }
    }

    #[test]
    fn adjusted_values_keep_the_order_given() {
        let p = [0.01, 0.04, 0.03, 0.005];
        assert_all_close(&holm(&p).unwrap(), &[0.03, 0.06, 0.06, 0.02]);
        assert_all_close(&benjamini_hochberg(&p).unwrap(), &[0.02, 0.04, 0.04, 0.02]);
        assert_all_close(&holm(&[0.6; 3]).unwrap(), &[1.0; 3]);
        assert_all_close(&holm(&[]).unwrap(), &[]);
    }

    #[test]
    fn what_is_no_probability_is_refused() {
        assert!(holm(&[0.5, 1.1]).is_err());
        assert!(benjamini_hochberg(&[f64::NAN]).is_err());
    }
}
