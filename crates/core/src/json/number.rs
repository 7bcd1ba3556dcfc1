//! Which number does a JSON literal stand for, so that `1`, `1.0` and `1e0` are one?

/// A number in the one form that equal numbers share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Canonical {
    /// A whole number that fits `i64` or `u64`, never folded through a float.
    Whole(i128),
    /// The bits of any other double.
    Float(u64),
}

impl Canonical {
    /// Reads a literal; nothing when it is not a number or no double is that large.
    pub(super) fn read(literal: &str) -> Option<Self> {
        if let Some(whole) = read_whole(literal) {
            return Some(whole);
        }
        let float: f64 = literal.parse().ok()?;
        float.is_finite().then(|| Self::from_float(float))
    }

    /// The form of a parsed number.
    pub(super) fn of(number: &serde_json::Number) -> Self {
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
    fn what_no_double_can_hold_has_no_form() {
        assert_eq!(Canonical::read("1e400"), None);
        assert_eq!(Canonical::read("-"), None);
        assert_eq!(Canonical::read("1e"), None);
    }
}
