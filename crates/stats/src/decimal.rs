//! Which decimal did the author write, so that `0.07 * 100` is 7 and not 7.000000000000001?

use std::str::FromStr;
use thiserror::Error;

/// An exact decimal of at most 18 significant digits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Decimal {
    coefficient: i64,
    /// The value is the coefficient over ten to this power.
    scale: u32,
}

/// A text or float that is not a decimal of a usable size.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is not a decimal number of at most 18 digits")]
pub struct NotDecimal(String);

impl Decimal {
    /// The nearest double.
    pub fn as_f64(self) -> f64 {
        format!("{}e-{}", self.coefficient, self.scale)
            .parse()
            .unwrap_or_default()
    }

    /// The largest whole number that is not above this times `count`; 0 if this is negative.
    pub fn floor_times(self, count: u64) -> u64 {
        let (product, divisor) = self.times(count);
        divisor.map_or(0, |divisor| product / divisor) as u64
    }

    /// The smallest whole number that is not below this times `count`; 0 if this is negative.
    pub fn ceil_times(self, count: u64) -> u64 {
        let (product, divisor) = self.times(count);
        divisor.map_or(u128::from(product > 0), |divisor| product.div_ceil(divisor)) as u64
    }

    fn times(self, count: u64) -> (u128, Option<u128>) {
        let positive = self.coefficient.max(0).unsigned_abs();
        (
            u128::from(positive) * u128::from(count),
            10_u128.checked_pow(self.scale),
        )
    }

    /// The digits and the power of ten they are divided by.
    pub(crate) fn parts(self) -> (i64, u32) {
        (self.coefficient, self.scale)
    }
}

/// The shortest decimal that reads back as this double.
impl TryFrom<f64> for Decimal {
    type Error = NotDecimal;

    fn try_from(float: f64) -> Result<Self, NotDecimal> {
        format!("{float:e}").parse()
    }
}

impl FromStr for Decimal {
    type Err = NotDecimal;

    fn from_str(text: &str) -> Result<Self, NotDecimal> {
        read(text).ok_or_else(|| NotDecimal(text.to_owned()))
    }
}

fn read(text: &str) -> Option<Decimal> {
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let unsigned = number.strip_prefix('-').unwrap_or(number);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = [whole, fraction].concat();
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    let significant = digits.trim_start_matches('0').trim_end_matches('0');
    if !is_number || significant.len() > 18 {
        return None;
    }
    let trailing = digits.len() - digits.trim_end_matches('0').len();
    let magnitude: i64 = if significant.is_empty() {
        0
    } else {
        significant.parse().ok()?
    };
    let power = exponent
        .checked_sub(i32::try_from(fraction.len()).ok()?)?
        .checked_add(trailing as i32)?;
    let (magnitude, scale) = if magnitude == 0 {
        (0, 0)
    } else if power < 0 {
        (magnitude, power.unsigned_abs())
    } else {
        (
            magnitude.checked_mul(10_i64.checked_pow(power.unsigned_abs())?)?,
            0,
        )
    };
    let sign = if unsigned.len() < number.len() { -1 } else { 1 };
    (magnitude < 10_i64.pow(18)).then_some(Decimal {
        coefficient: sign * magnitude,
        scale,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    #[test]
    fn a_double_becomes_the_decimal_its_author_wrote() {
        for text in [
            "0.05",
            "1",
            "0.999",
            "-0.02",
            "0",
            "120",
            "0.30000000000000004",
            "1e-300",
            "2.5e3",
        ] {
            let float: f64 = text.parse().unwrap();
            assert_eq!(Decimal::try_from(float), Ok(decimal(text)), "{text}");
            assert!((decimal(text).as_f64() - float).abs() <= 0.0, "{text}");
        }
    }

    #[test]
    fn products_are_rounded_where_a_double_would_slip() {
        assert_eq!(decimal("0.07").ceil_times(100), 7);
        assert_eq!(decimal("0.29").floor_times(100), 29);
        assert_eq!(decimal("0.8").ceil_times(11), 9);
        assert_eq!(decimal("0.8").floor_times(11), 8);
        assert_eq!(decimal("1e-60").ceil_times(5), 1);
        assert_eq!(decimal("1e-60").floor_times(5), 0);
        assert_eq!(decimal("1").ceil_times(u64::MAX), u64::MAX);
        assert_eq!(decimal("-1").ceil_times(9), 0);
    }

    #[test]
    fn what_is_no_decimal_is_refused() {
        for text in [
            "",
            ".",
            "-",
            "1e",
            "abc",
            "0x1",
            "1e99",
            "inf",
            "NaN",
            "1234567890123456789",
            "1_0",
        ] {
            assert!(text.parse::<Decimal>().is_err(), "{text}");
        }
        assert!(Decimal::try_from(f64::NAN).is_err());
        assert!(Decimal::try_from(f64::INFINITY).is_err());
    }
}
