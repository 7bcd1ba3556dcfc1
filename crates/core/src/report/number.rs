//! How is a measured number written?

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A measured number: whole numbers stay whole in every report.
///
/// ```
/// use mcptest_core::Number;
///
/// assert_eq!(Number::Int(3).to_string(), "3");
/// assert_eq!(Number::Float(0.5).as_f64(), 0.5);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Number {
    /// A count, a flag or a percent.
    Int(i64),
    /// A ratio.
    Float(f64),
}

impl Number {
    /// An integer if the number is whole.
    pub(crate) fn whole_or_float(number: f64) -> Self {
        if number.fract() == 0.0 {
            Self::Int(number as i64)
        } else {
            Self::Float(number)
        }
    }

    /// The number as a float.
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Int(whole) => whole as f64,
            Self::Float(float) => float,
        }
    }

    /// The number as JSON.
    pub fn to_value(self) -> Value {
        match self {
            Self::Int(whole) => Value::from(whole),
            Self::Float(float) => Value::from(float),
        }
    }
}

/// Writes whole numbers without decimals, and other numbers with at most six.
impl std::fmt::Display for Number {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Int(whole) => write!(out, "{whole}"),
            Self::Float(float) => {
                let text = format!("{float:.6}");
                out.write_str(text.trim_end_matches('0').trim_end_matches('.'))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_print_through_one_formatter() {
        assert_eq!(Number::Int(100).to_string(), "100");
        assert_eq!(Number::Float(2.0 / 3.0).to_string(), "0.666667");
        assert_eq!(Number::Float(0.5).to_string(), "0.5");
        assert_eq!(Number::Float(1.0).to_string(), "1");
    }
}
