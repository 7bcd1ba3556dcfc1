//! What is the sum of two numbers in decimal? 10.10 and 20.20 are 30.30.

use serde_json::Number;

/// A whole number of units of a power of ten.
#[derive(Clone, Copy)]
struct Decimal {
    units: i128,
    exponent: i32,
}

/// The decimal sum or difference; `None` if it is too large for a number.
pub(super) fn sum(one: &Number, other: &Number, is_less: bool) -> Option<Number> {
    decimal_sum(one, other, is_less).or_else(|| {
        let (one, other) = (one.as_f64()?, other.as_f64()?);
        Number::from_f64(if is_less { one - other } else { one + other })
    })
}

fn decimal_sum(one: &Number, other: &Number, is_less: bool) -> Option<Number> {
    let (one, other) = (Decimal::from_number(one)?, Decimal::from_number(other)?);
    let exponent = one.exponent.min(other.exponent);
    let (one, other) = (one.units_at(exponent)?, other.units_at(exponent)?);
    let units = if is_less {
        one.checked_sub(other)?
    } else {
        one.checked_add(other)?
    };
    Decimal { units, exponent }.number()
}

impl Decimal {
    fn from_number(number: &Number) -> Option<Self> {
        let text = number.to_string();
        let (digits, exponent) = match text.split_once(['e', 'E']) {
            Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
            None => (text.as_str(), 0),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        Some(Self {
            units: format!("{whole}{fraction}").parse().ok()?,
            exponent: exponent.checked_sub(i32::try_from(fraction.len()).ok()?)?,
        })
    }

    /// The value in smaller units.
    fn units_at(self, exponent: i32) -> Option<i128> {
        let more = u32::try_from(self.exponent.checked_sub(exponent)?).ok()?;
        self.units.checked_mul(10_i128.checked_pow(more)?)
    }

    /// Whole numbers stay whole.
    fn number(mut self) -> Option<Number> {
        while self.exponent < 0 && self.units % 10 == 0 {
            self.units /= 10;
            self.exponent += 1;
        }
        if self.exponent >= 0 {
            let whole = i64::try_from(self.units_at(0)?).ok()?;
            return Some(whole.into());
        }
        let Self { units, exponent } = self;
        let float: f64 = format!("{units}e{exponent}").parse().ok()?;
        Number::from_f64(float)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn sums_are_those_of_decimal_numbers() {
        let sum = |one: Value, other: Value, is_less| {
            let number = |value: Value| value.as_number().cloned().unwrap();
            Value::from(sum(&number(one), &number(other), is_less).unwrap())
        };
        assert_eq!(sum(json!(10.10), json!(20.20), false), json!(30.3));
        assert_eq!(sum(json!(0.1), json!(0.2), false), json!(0.3));
        assert_eq!(sum(json!(1), json!(0.9), true), json!(0.1));
        assert_eq!(sum(json!(10.5), json!(10.5), false), json!(21));
        assert_eq!(sum(json!(2), json!(3), true), json!(-1));
        assert_eq!(sum(json!(1e300), json!(1), false), json!(1e300));
        assert_eq!(sum(json!(1e-7), json!(1), false), json!(1.000_000_1));
        assert_eq!(
            sum(json!(u64::MAX), json!(1), false),
            json!(1.844_674_407_370_955_2e19)
        );
        assert_eq!(
            super::sum(
                &Number::from_f64(f64::MAX).unwrap(),
                &Number::from_f64(f64::MAX).unwrap(),
                false
            ),
            None
        );
    }
}
