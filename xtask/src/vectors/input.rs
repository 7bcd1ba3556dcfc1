//! How are a vector's inputs read?

use mcptest_core::eval::stats::{CONFIDENCE, Decimal};
use serde_json::Value;

/// The input of one vector. Each reader reports the wrong key.
pub(super) struct Input<'a>(pub(super) &'a Value);

impl<'a> Input<'a> {
    pub(super) fn value(&self, key: &str) -> Result<&'a Value, String> {
        self.0.get(key).ok_or_else(|| format!("`{key}` is missing"))
    }

    pub(super) fn count(&self, key: &str) -> Result<u64, String> {
        self.value(key)?
            .as_u64()
            .ok_or_else(|| format!("`{key}` is not a count"))
    }

    /// A number, or a decimal as text.
    pub(super) fn number(&self, key: &str) -> Result<f64, String> {
        read_number(self.value(key)?).ok_or_else(|| format!("`{key}` is not a number"))
    }

    pub(super) fn number_or(&self, key: &str, default: f64) -> Result<f64, String> {
        if self.0.get(key).is_some() {
            self.number(key)
        } else {
            Ok(default)
        }
    }

    pub(super) fn confidence(&self) -> Result<f64, String> {
        self.number_or("confidence", CONFIDENCE)
    }

    pub(super) fn decimal(&self, key: &str) -> Result<Decimal, String> {
        read_decimal(self.value(key)?).ok_or_else(|| format!("`{key}` is not a decimal"))
    }

    pub(super) fn list(&self, key: &str) -> Result<&'a [Value], String> {
        let list = self
            .value(key)?
            .as_array()
            .ok_or_else(|| format!("`{key}` is not a list"))?;
        Ok(list)
    }

    /// An optional list.
    pub(super) fn list_or_empty(&self, key: &str) -> Result<&'a [Value], String> {
        if self.0.get(key).is_none_or(Value::is_null) {
            Ok(&[])
        } else {
            self.list(key)
        }
    }

    pub(super) fn flags(&self, key: &str) -> Result<Vec<bool>, String> {
        self.list_of(key, Value::as_bool)
    }

    pub(super) fn texts(&self, key: &str) -> Result<Vec<&'a str>, String> {
        self.list_of(key, Value::as_str)
    }

    pub(super) fn numbers(&self, key: &str) -> Result<Vec<f64>, String> {
        self.list_of(key, read_number)
    }

    pub(super) fn decimals(&self, key: &str) -> Result<Vec<Decimal>, String> {
        self.list_of(key, read_decimal)
    }

    fn list_of<T>(
        &self,
        key: &str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Vec<T>, String> {
        let items = self.list(key)?.iter().map(read).collect::<Option<Vec<T>>>();
        items.ok_or_else(|| format!("`{key}` has an item of the wrong type"))
    }
}

fn read_number(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => text.parse().ok(),
        other => other.as_f64(),
    }
}

fn read_decimal(value: &Value) -> Option<Decimal> {
    match value {
        Value::String(text) => text.parse().ok(),
        other => Decimal::try_from(other.as_f64()?).ok(),
    }
}

/// An error as a vector's `error`.
pub(super) fn text(error: impl std::error::Error) -> String {
    error.to_string()
}
