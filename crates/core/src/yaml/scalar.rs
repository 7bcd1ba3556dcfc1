//! Which value does a scalar have under the YAML 1.2 core schema, in which `no` and `1_000` are strings?

use serde_json::{Number, Value};

/// A scalar with its type. Text remembers whether it was plain: only plain text is typed again after expansion.
#[derive(Debug, Clone, PartialEq)]
pub enum Scalar {
    Null,
    Bool(bool),
    Number(Number),
    /// `.nan` and `.inf`, which JSON does not support.
    NotFinite(String),
    Text {
        text: String,
        plain: bool,
    },
}

impl From<Scalar> for Value {
    fn from(scalar: Scalar) -> Self {
        match scalar {
            Scalar::Null => Self::Null,
            Scalar::Bool(flag) => Self::Bool(flag),
            Scalar::Number(number) => Self::Number(number),
            Scalar::Text { text, .. } | Scalar::NotFinite(text) => Self::String(text),
        }
    }
}

impl Scalar {
    /// A JSON value that is not a list or a map. The JSON text of a list or a map.
    pub(crate) fn from_data(value: &Value) -> Self {
        let quoted = |text: String| Self::Text { text, plain: false };
        match value {
            Value::Null => Self::Null,
            Value::Bool(flag) => Self::Bool(*flag),
            Value::Number(number) => Self::Number(number.clone()),
            Value::String(text) => quoted(text.clone()),
            Value::Array(_) | Value::Object(_) => quoted(value.to_string()),
        }
    }

    pub fn describe(&self) -> String {
        match self {
            Self::Null => "nothing".to_owned(),
            Self::Bool(flag) => format!("`{flag}`"),
            Self::Number(number) => format!("the number {number}"),
            Self::NotFinite(text) => format!("`{text}`"),
            Self::Text { text, .. } if text.chars().count() > 40 => "a long text".to_owned(),
            Self::Text { text, .. } => format!("the string {}", Value::from(text.as_str())),
        }
    }
}

/// The type of a plain scalar.
pub fn resolve(text: &str) -> Scalar {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Scalar::Null,
        "true" | "True" | "TRUE" => return Scalar::Bool(true),
        "false" | "False" | "FALSE" => return Scalar::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Scalar::NotFinite(text.to_owned()),
        _ => {}
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Scalar::NotFinite(text.to_owned());
    }
    number(text, unsigned).unwrap_or_else(|| Scalar::Text {
        text: text.to_owned(),
        plain: true,
    })
}

fn number(text: &str, unsigned: &str) -> Option<Scalar> {
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16)
            .ok()
            .map(|n| Scalar::Number(n.into()));
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return u64::from_str_radix(digits, 8)
            .ok()
            .map(|n| Scalar::Number(n.into()));
    }
    let looks_numeric = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && unsigned.contains(|c: char| c.is_ascii_digit())
        && unsigned
            .chars()
            .all(|c| matches!(c, '0'..='9' | '.' | 'e' | 'E' | '+' | '-'));
    if !looks_numeric {
        return None;
    }
    let bare = text.strip_prefix('+').unwrap_or(text);
    if let Ok(whole) = bare.parse::<i64>() {
        return Some(Scalar::Number(whole.into()));
    }
    if let Ok(whole) = bare.parse::<u64>() {
        return Some(Scalar::Number(whole.into()));
    }
    let float = bare.parse::<f64>().ok()?;
    Some(Number::from_f64(float).map_or_else(|| Scalar::NotFinite(text.to_owned()), Scalar::Number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_core_schema_is_typed() {
        for text in [
            "no",
            "yes",
            "on",
            "1_000",
            "1:30",
            "2026-11-15",
            "1.2.3",
            "e5",
            "-",
            ".",
            "0b1",
            "1e",
        ] {
            assert!(matches!(resolve(text), Scalar::Text { .. }), "{text}");
        }
        assert_eq!(resolve("0x1F"), Scalar::Number(31.into()));
        assert_eq!(resolve("0o17"), Scalar::Number(15.into()));
        assert_eq!(resolve("+12"), Scalar::Number(12.into()));
        assert_eq!(
            resolve("-1.5e3"),
            Scalar::Number(Number::from_f64(-1500.0).unwrap())
        );
        assert_eq!(resolve("True"), Scalar::Bool(true));
        assert_eq!(resolve("~"), Scalar::Null);
        assert!(matches!(resolve("-.inf"), Scalar::NotFinite(_)));
        assert!(matches!(resolve("1e999"), Scalar::NotFinite(_)));
    }
}
