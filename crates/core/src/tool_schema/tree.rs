//! A schema that can be changed without losing the order of its keys.

use crate::json::Members;
use serde::de::DeserializeOwned;
use serde::ser::{Serialize, Serializer};
use serde_json::value::RawValue;

/// JSON with its members in order, and verbatim numbers and texts.
#[derive(Debug, Clone)]
pub(super) enum Tree {
    Object(Entries),
    List(Vec<Self>),
    Other(Box<RawValue>),
}

/// The members of an object, each key once: the last value counts, at the place of the first.
#[derive(Debug, Clone, Default)]
pub(super) struct Entries(pub(super) Vec<(String, Tree)>);

impl Tree {
    pub(super) fn read(raw: &RawValue) -> Self {
        match raw.get().trim_start().as_bytes().first() {
            Some(b'{') => {
                let mut entries = Entries::default();
                for (key, value) in Members::read(raw.get()).0 {
                    entries.set(&key, Self::read(&value));
                }
                Self::Object(entries)
            }
            Some(b'[') => {
                let items: Vec<Box<RawValue>> = serde_json::from_str(raw.get()).unwrap_or_default();
                Self::List(items.iter().map(|item| Self::read(item)).collect())
            }
            _ => Self::Other(raw.to_owned()),
        }
    }

    pub(super) fn text(text: &str) -> Self {
        Self::Other(serde_json::value::to_raw_value(text).unwrap_or_default())
    }

    pub(super) fn empty() -> Self {
        Self::Object(Entries::default())
    }

    pub(super) fn to_raw(&self) -> Box<RawValue> {
        serde_json::value::to_raw_value(self).unwrap_or_default()
    }

    pub(super) fn object(&self) -> Option<&Entries> {
        if let Self::Object(entries) = self {
            Some(entries)
        } else {
            None
        }
    }

    pub(super) fn object_mut(&mut self) -> Option<&mut Entries> {
        if let Self::Object(entries) = self {
            Some(entries)
        } else {
            None
        }
    }

    pub(super) fn list(&self) -> Option<&[Self]> {
        if let Self::List(items) = self {
            Some(items)
        } else {
            None
        }
    }

    /// The text or the flag, if it is one.
    pub(super) fn scalar<T: DeserializeOwned>(&self) -> Option<T> {
        if let Self::Other(raw) = self {
            serde_json::from_str(raw.get()).ok()
        } else {
            None
        }
    }

    pub(super) fn is(&self, text: &str) -> bool {
        self.scalar::<String>().as_deref() == Some(text)
    }
}

impl Entries {
    pub(super) fn get(&self, key: &str) -> Option<&Tree> {
        self.0
            .iter()
            .find(|(known, _)| known == key)
            .map(|(_, value)| value)
    }

    pub(super) fn get_mut(&mut self, key: &str) -> Option<&mut Tree> {
        self.0
            .iter_mut()
            .find(|(known, _)| known == key)
            .map(|(_, value)| value)
    }

    /// Replaces the value of a key, or adds it at the end.
    pub(super) fn set(&mut self, key: &str, value: Tree) {
        match self.get_mut(key) {
            Some(known) => *known = value,
            None => self.0.push((key.to_owned(), value)),
        }
    }

    pub(super) fn remove(&mut self, key: &str) -> Option<Tree> {
        let at = self.0.iter().position(|(known, _)| known == key)?;
        Some(self.0.remove(at).1)
    }
}

impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Object(entries) => {
                serializer.collect_map(entries.0.iter().map(|(key, value)| (key, value)))
            }
            Self::List(items) => items.serialize(serializer),
            Self::Other(raw) => raw.serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_changed_is_written_as_it_was_read() {
        let text = r#"{"z":[1.50,{"b":null,"a":"\u00e9"}],"a":{},"t":-0}"#;
        let raw = RawValue::from_string(text.to_owned()).unwrap();
        assert_eq!(Tree::read(&raw).to_raw().get(), text);
    }
}
