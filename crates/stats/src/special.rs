//! How likely are k of n, and where does a beta distribution reach a probability, even for millions
//! of runs?

/// The probability of exactly `k` of `n`, also for fractional counts: `Γ(n+1)/(Γ(k+1)Γ(n-k+1)) p^k (1-p)^(n-k)`.
pub(super) fn binomial_point(k: f64, n: f64, p: f64) -> f64 {
    ln_binomial_point(k, n, p).exp()
}

/// The logarithm of [`binomial_point`] by Loader's saddle-point expansion, which does not lose digits as n grows
/// ("Fast and Accurate Computation of Binomial Probabilities", 2000).
pub(super) fn ln_binomial_point(k: f64, n: f64, p: f64) -> f64 {
    let q = 1.0 - p;
    if k <= 0.0 {
        return if n > 0.0 { n * (-p).ln_1p() } else { 0.0 };
    }
    if k >= n {
        return n * p.ln();
    }
    let rest = n - k;
    let deviation = deviance(k, n * p) + deviance(rest, n * q);
    let scale = std::f64::consts::TAU * k * (rest / n);
    stirling_error(n) - stirling_error(k) - stirling_error(rest) - deviation - 0.5 * scale.ln()
}

/// `x ln(x/m) + m - x`, by its series where the two are close.
fn deviance(x: f64, m: f64) -> f64 {
    if m <= 0.0 {
        return f64::INFINITY;
    }
    let difference = x - m;
    if difference.abs() >= 0.1 * (x + m) {
        return x * (x / m).ln() - difference;
    }
    let v = difference / (x + m);
    let mut sum = difference * v;
    let mut term = 2.0 * x * v;
    for odd in (3..1000).step_by(2) {
        term *= v * v;
        let next = sum + term / f64::from(odd);
        if (next - sum).abs() <= 0.0 {
            break;
        }
        sum = next;
    }
    sum
}

/// `ln Γ(n+1) - (n + 1/2) ln n + n - ln(2π)/2`; small counts by recurrence up to where the series
/// is accurate.
fn stirling_error(n: f64) -> f64 {
    const SERIES_FROM: f64 = 16.0;
    if n >= SERIES_FROM {
        let square = n * n;
        let series = [
            1.0 / 1188.0,
            -1.0 / 1680.0,
            1.0 / 1260.0,
            -1.0 / 360.0,
            1.0 / 12.0,
        ];
        return series.iter().fold(0.0, |sum, term| sum / square + term) / n;
    }
    let mut shifted = n;
    let mut product = 1.0;
    while shifted < SERIES_FROM {
        shifted += 1.0;
        product *= shifted;
    }
    let stirling = |n: f64| if n > 0.0 { (n + 0.5) * n.ln() - n } else { 0.0 };
    stirling_error(shifted) + stirling(shifted) - stirling(n) - product.ln()
}

/// P(X >= k) for X binomial: `I_p(k, n - k + 1)`.
pub(super) fn binomial_at_least(k: u64, n: u64, p: f64) -> f64 {
    if k == 0 {
        1.0
    } else if k > n {
        0.0
    } else {
        beta_below(p, k as f64, (n - k) as f64 + 1.0)
    }
}

/// P(X <= k) for X binomial: `I_(1-p)(n - k, k + 1)`.
pub(super) fn binomial_at_most(k: u64, n: u64, p: f64) -> f64 {
    if k >= n {
        1.0
    } else {
        beta_above(p, k as f64 + 1.0, (n - k) as f64)
    }
}

/// The regularised incomplete beta function `I_x(a, b)`.
pub(super) fn beta_below(x: f64, a: f64, b: f64) -> f64 {
    let tail = beta_tail(x, a, b);
    if tail.is_below {
        tail.value()
    } else {
        1.0 - tail.value()
    }
}

/// `1 - I_x(a, b)`, without cancellation for small values.
fn beta_above(x: f64, a: f64, b: f64) -> f64 {
    let tail = beta_tail(x, a, b);
    if tail.is_below {
        1.0 - tail.value()
    } else {
        tail.value()
    }
}

/// The tail of the beta distribution whose continued fraction converges fast, as `exp(ln_density) *
/// factor`, with the density `x^a (1-x)^b / B(a, b)`.
pub(super) struct Tail {
    pub(super) is_below: bool,
    pub(super) ln_density: f64,
    pub(super) factor: f64,
}

impl Tail {
    fn value(&self) -> f64 {
        (self.ln_density.exp() * self.factor).clamp(0.0, 1.0)
    }
}

pub(super) fn beta_tail(x: f64, a: f64, b: f64) -> Tail {
    if x <= 0.0 || x >= 1.0 {
        return Tail {
            is_below: x <= 0.0,
            ln_density: f64::NEG_INFINITY,
            factor: 1.0,
        };
    }
    let ln_density = ln_binomial_point(a, a + b, x) + (a * (b / (a + b))).ln();
    let is_below = x < (a + 1.0) / (a + b + 2.0);
    let factor = if is_below {
        beta_fraction(x, a, b) / a
    } else {
        beta_fraction(1.0 - x, b, a) / b
    };
    Tail {
        is_below,
        ln_density,
        factor,
    }
}

/// The continued fraction of the incomplete beta function by Lentz's method (DLMF 8.17.22), in
/// about the square root of the counts in steps.
fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    const MOST_STEPS: u32 = 10_000_000;
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for step in 1..MOST_STEPS {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away_from_zero(1.0 + even * d);
        c = away_from_zero(1.0 + even / c);
        fraction *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away_from_zero(1.0 + odd * d);
        c = away_from_zero(1.0 + odd / c);
        fraction *= d * c;
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    fraction
}

/// The x with `I_x(a, b) = probability`.
pub(super) fn beta_quantile(probability: f64, a: f64, b: f64) -> f64 {
    bisect(|x| beta_below(x, a, b) < probability, 0.0, 1.0)
}

/// The point between `low` and `high` at which a condition becomes false.
pub(super) fn bisect(holds: impl Fn(f64) -> bool, mut low: f64, mut high: f64) -> f64 {
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if high - low <= 1e-16 * high {
            break;
        }
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn choose(n: u64, k: u64) -> f64 {
        (0..k).fold(1.0, |product, index| {
            product * (n - index) as f64 / (index + 1) as f64
        })
    }

    fn assert_near(a: f64, b: f64, tolerance: f64) {
        assert!((a - b).abs() <= tolerance * b.abs(), "{a} is not {b}");
    }

    #[test]
    fn a_point_of_a_large_binomial_keeps_its_digits() {
        assert_near(
            binomial_point(5e5, 1e6, 0.5),
            7.978_843_613_317_501e-4,
            1e-12,
        );
        assert_near(
            binomial_point(5e6, 1e7, 0.5),
            2.523_132_458_941_848e-4,
            1e-12,
        );
        assert_near(
            binomial_point(0.0, 1e6, 1e-6),
            (-1.000_000_500_000_333_4f64).exp(),
            1e-12,
        );
    }

    #[test]
    fn the_ends_of_the_beta_distribution_are_exact() {
        assert!(beta_below(0.0, 3.0, 4.0).abs() <= 0.0);
        assert!((beta_below(1.0, 3.0, 4.0) - 1.0).abs() <= 0.0);
        assert_near(beta_below(0.3, 1.0, 1.0), 0.3, 1e-14);
        assert_near(beta_below(0.25, 0.5, 0.5), 1.0 / 3.0, 1e-13);
        assert_near(beta_quantile(0.025, 1e7, 1.0), 0.025_f64.powf(1e-7), 1e-12);
    }

    proptest! {
        #[test]
        fn the_tails_are_the_sums_of_their_points(n in 1_u64..60, k in 0_u64..61, p in 0.0_f64..1.0) {
            let point = |k: u64| choose(n, k) * p.powf(k as f64) * (1.0 - p).powf((n - k) as f64);
            let at_least: f64 = (k..=n).map(point).sum();
            let at_most: f64 = (0..=k.min(n)).map(point).sum();
            prop_assert!((binomial_at_least(k, n, p) - at_least).abs() < 1e-12);
            prop_assert!((binomial_at_most(k, n, p) - at_most).abs() < 1e-12);
            if k <= n {
                prop_assert!((binomial_point(k as f64, n as f64, p) - point(k)).abs() < 1e-13);
            }
        }

        #[test]
        fn the_quantile_undoes_the_distribution(a in 0.5_f64..1e6, b in 0.5_f64..1e6, probability in 0.001_f64..0.999) {
            let x = beta_quantile(probability, a, b);
            prop_assert!((beta_below(x, a, b) - probability).abs() < 1e-7);
        }
    }
}
