//! The members of an object in source order.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// The members of an object, in their own order.
#[derive(Debug, Clone, Default)]
pub struct Members(pub Vec<(String, Box<RawValue>)>);

impl Members {
    /// The members of this text; none when it is not an object.
    pub fn read(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// The last member of this name.
    pub fn get(&self, name: &str) -> Option<&RawValue> {
        self.0
            .iter()
            .rev()
            .find(|(key, _)| key == name)
            .map(|(_, value)| &**value)
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        reader.deserialize_map(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_in_their_own_order() {
        let members = Members::read(r#"{"z": 1, "a": {"b": 2}, "z": 3}"#);
        let names: Vec<&str> = members.0.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["z", "a", "z"]);
        assert_eq!(members.get("z").map(RawValue::get), Some("3"));
        assert!(Members::read("[]").0.is_empty());
    }
}
