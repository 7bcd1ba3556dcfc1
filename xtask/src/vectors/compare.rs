//! Is what was computed what the vector expects?

use serde_json::Value;

/// Integers, strings, booleans and lists exactly, floats within a tolerance relative to `max(1, |x|)`; of objects only
/// the keys that are expected.
pub(super) fn agrees(expected: &Value, got: &Value, tolerance: f64) -> bool {
    match (expected, got) {
        (Value::Object(expected), Value::Object(got)) => expected.iter().all(|(key, value)| {
            got.get(key)
                .is_some_and(|got| agrees(value, got, tolerance))
        }),
        (Value::Array(expected), Value::Array(got)) => {
            expected.len() == got.len()
                && expected
                    .iter()
                    .zip(got)
                    .all(|(expected, got)| agrees(expected, got, tolerance))
        }
        (Value::Number(expected), Value::Number(got)) if expected.is_f64() || got.is_f64() => {
            match (expected.as_f64(), got.as_f64()) {
                (Some(expected), Some(got)) => {
                    (expected - got).abs() <= tolerance * expected.abs().max(1.0)
                }
                _ => false,
            }
        }
        _ => expected == got,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_expected_keys_count_and_only_floats_may_be_near() {
        assert!(agrees(&json!({"a": 1}), &json!({"a": 1, "b": 2}), 0.0));
        assert!(!agrees(&json!({"a": 1}), &json!({"b": 2}), 0.0));
        assert!(agrees(&json!([0.5]), &json!([0.500_000_1]), 1e-6));
        assert!(!agrees(&json!([0.5]), &json!([0.500_01]), 1e-6));
        assert!(!agrees(&json!(1), &json!(2), 10.0));
        assert!(!agrees(&json!([1]), &json!([1, 2]), 0.0));
        assert!(!agrees(&json!(1), &json!(true), 0.0));
        assert!(agrees(&json!(1e9), &json!(1e9 + 0.5), 1e-9));
    }
}
