//! Which number does a JSON literal mean, so that `1`, `1.0` and `1e0` are equal?

use serde_json::Number;
use std::cmp::Ordering;

/// Compares two numbers exactly: whole numbers beyond 2^53 never become floats.
pub fn compare_numbers(one: &Number, other: &Number) -> Ordering {
    match (Canonical::new(one), Canonical::new(other)) {
        (Canonical::Whole(one), Canonical::Whole(other)) => one.cmp(&other),
        (Canonical::Whole(one), Canonical::Float(other)) => compare_with_float(one, other),
        (Canonical::Float(one), Canonical::Whole(other)) => {
            compare_with_float(other, one).reverse()
        }
        (Canonical::Float(one), Canonical::Float(other)) => {
            f64::from_bits(one).total_cmp(&f64::from_bits(other))
        }
    }
}

/// Compares a whole number with a canonical float, which has a fraction or is out of range.
fn compare_with_float(whole: i128, float: u64) -> Ordering {
    let floor = f64::from_bits(float).floor() as i128;
    if whole <= floor && floor != i128::MIN {
        Ordering::Less
    } else {
        Ordering::Greater
    }
}

/// A number in the one form that equal numbers share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Canonical {
    /// A whole number that fits `i64` or `u64`, never folded through a float.
    Whole(i128),
    /// The bits of any other double.
    Float(u64),
}

impl Canonical {
    /// Reads a literal; `None` if it is not a number or too large for a double.
    pub(super) fn read(literal: &str) -> Option<Self> {
        if let Some(whole) = read_whole(literal) {
            return Some(whole);
        }
        let float: f64 = literal.parse().ok()?;
        float.is_finite().then(|| Self::from_float(float))
    }

    /// The form of a parsed number.
    pub(super) fn new(number: &Number) -> Self {
        if let Some(whole) = number.as_i128() {
            return Self::Whole(whole);
        }
        Self::from_float(number.as_f64().unwrap_or_default())
    }

    fn from_float(float: f64) -> Self {
        const U64_END: f64 = 18_446_744_073_709_551_616.0;
        if float >= i64::MIN as f64 && float < U64_END && float.fract() == 0.0 {
            Self::Whole(float as i128)
        } else {
            Self::Float(float.to_bits())
        }
    }
}

fn read_whole(literal: &str) -> Option<Canonical> {
    let whole: i128 = literal.parse().ok()?;
    (i128::from(i64::MIN)..=i128::from(u64::MAX))
        .contains(&whole)
        .then_some(Canonical::Whole(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(literal: &str) -> Canonical {
        Canonical::read(literal).unwrap()
    }

    #[test]
    fn one_number_has_one_form() {
        for literal in ["1", "1.0", "1e0", "10e-1", "0.1e1", "1.000"] {
            assert_eq!(read(literal), Canonical::Whole(1), "{literal}");
        }
        for literal in ["0", "-0", "-0.0", "0e7"] {
            assert_eq!(read(literal), Canonical::Whole(0), "{literal}");
        }
        assert_eq!(read("0.1"), read("1e-1"));
    }

    #[test]
    fn whole_numbers_past_the_precision_of_a_double_stay_apart() {
        assert_ne!(read("9007199254740993"), read("9007199254740992"));
        assert_ne!(read("18446744073709551615"), read("18446744073709551616"));
        assert_ne!(read("18446744073709551615"), read("18446744073709551614"));
        assert_eq!(
            read("-9223372036854775808"),
            Canonical::Whole(i128::from(i64::MIN))
        );
    }

    #[test]
    fn numbers_are_ordered_exactly() {
        let number = |literal: &str| serde_json::from_str::<Number>(literal).unwrap();
        let ordered = [
            "-1e300",
            "-9223372036854775808",
            "-1.5",
            "-1",
            "-0.5",
            "0",
            "0.5",
            "1",
            "1.5",
            "9007199254740992",
            "9007199254740993",
            "18446744073709551615",
            "1e300",
        ];
        for (at, one) in ordered.iter().enumerate() {
            for (other_at, other) in ordered.iter().enumerate() {
                let order = compare_numbers(&number(one), &number(other));
                assert_eq!(order, at.cmp(&other_at), "{one} and {other}");
            }
        }
        assert_eq!(
            compare_numbers(&number("1.0"), &number("1")),
            Ordering::Equal
        );
    }

    #[test]
    fn what_no_double_can_hold_has_no_form() {
        assert_eq!(Canonical::read("1e400"), None);
        assert_eq!(Canonical::read("-"), None);
        assert_eq!(Canonical::read("1e"), None);
    }
}
