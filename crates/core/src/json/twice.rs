//! Which key does a JSON text write twice in one object? Readers take one of the two, and not the same one.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// The first key that is written twice in one object, at any depth; `None` in what is not JSON.
pub fn key_written_twice(text: &str) -> Option<String> {
    let mut found = None;
    let mut reader = serde_json::Deserializer::from_str(text);
    // The search ends with an error where it has found something.
    let _ = Search(&mut found).deserialize(&mut reader);
    found
}

struct Search<'f>(&'f mut Option<String>);

impl<'de> DeserializeSeed<'de> for Search<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Search<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut keys: Vec<Cow<'de, str>> = Vec::new();
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            keys.push(key);
            map.next_value_seed(Search(self.0))?;
        }
        keys.sort_unstable();
        if let Some(pair) = keys.windows(2).find(|pair| pair[0] == pair[1]) {
            *self.0 = Some(pair[0].clone().into_owned());
            return Err(A::Error::custom("found"));
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(Search(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_written_twice_in_one_object_is_found_at_any_depth() {
        let found = |text: &str| key_written_twice(text);
        assert_eq!(found(r#"{"a": 1, "b": 2, "a": 3}"#).as_deref(), Some("a"));
        assert_eq!(
            found(r#"[{"x": [{"b": 1, "\u0062": 2}]}]"#).as_deref(),
            Some("b")
        );
        for text in [r#"{"a": {"b": 1}, "b": {"a": 1}}"#, "[]", "1", "{", ""] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
