//! What arguments does a tool take, as its server wrote it?

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::ops::Deref;

/// The JSON Schema of a tool's arguments: its text, which keeps the order of properties, and its
/// value for comparison.
#[derive(Debug, Clone, Default)]
pub struct ToolSchema {
    text: Box<RawValue>,
    value: Value,
}

impl ToolSchema {
    /// The schema of this text; `None` if it is invalid.
    pub fn read(text: &RawValue) -> Option<Self> {
        Self::try_read(text).ok()
    }

    fn try_read(text: &RawValue) -> serde_json::Result<Self> {
        // Line breaks can stand between tokens only, and recordings are kept a line each.
        let text = RawValue::from_string(text.get().replace(['\n', '\r'], " "))?;
        Ok(Self {
            value: serde_json::from_str(text.get())?,
            text,
        })
    }

    /// The schema's text, on one line.
    pub fn text(&self) -> &RawValue {
        &self.text
    }
}

impl Deref for ToolSchema {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.value
    }
}

impl From<Value> for ToolSchema {
    fn from(value: Value) -> Self {
        Self {
            text: RawValue::from_string(value.to_string()).unwrap_or_default(),
            value,
        }
    }
}

impl PartialEq for ToolSchema {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Serialize for ToolSchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.text.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ToolSchema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        Self::try_read(&text).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_written_as_it_was_read_and_compared_by_what_it_says() {
        let written = r#"{"type":"object","properties":{"z":{},"a":{"minimum":1.50}}}"#;
        let schema: ToolSchema = serde_json::from_str(written).unwrap();
        assert_eq!(serde_json::to_string(&schema).unwrap(), written);
        let turned = r#"{"properties":{"a":{"minimum":1.5},"z":{}},"type":"object"}"#;
        assert_eq!(schema, serde_json::from_str(turned).unwrap());
        assert_eq!(schema["properties"]["a"]["minimum"], 1.5);
    }
}
