//! Which key occurs twice in one object of a JSON text? Readers keep one of the two values, but not
//! all keep the same.

use super::key::Key;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// The first duplicate key in one object, at any depth. `None` for text that is not JSON.
pub fn key_written_twice(text: &str) -> Option<String> {
    if is_without_repeats(text) {
        return None;
    }
    let mut search = RepeatedKeys::default();
    let mut reader = serde_json::Deserializer::from_str(text);
    // The search ends with an error where it has found something.
    let _ = search.value().deserialize(&mut reader);
    search.found
}

/// Returns true if no two keys of the whole text are equal. This quick check spares most texts the parser.
fn is_without_repeats(text: &str) -> bool {
    if text.contains('\\') {
        return false;
    }
    let mut keys: Vec<&str> = text
        .match_indices(':')
        .filter_map(|(at, _)| {
            let before = text[..at].trim_ascii_end().strip_suffix('"')?;
            let start = before.rfind('"')? + 1;
            Some(&before[start..])
        })
        .collect();
    keys.sort_unstable();
    keys.windows(2).all(|pair| pair[0] != pair[1])
}

#[derive(Default)]
struct RepeatedKeys<'t> {
    /// The keys of the open objects, the innermost last.
    keys: Vec<Key<'t>>,
    found: Option<String>,
}

impl<'t> RepeatedKeys<'t> {
    fn value(&mut self) -> Searched<'_, 't> {
        Searched(self)
    }
}

/// A value that is searched.
struct Searched<'s, 't>(&'s mut RepeatedKeys<'t>);

impl<'de> DeserializeSeed<'de> for Searched<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Searched<'_, 'de> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let search = self.0;
        let outer = search.keys.len();
        while let Some(key) = map.next_key::<Key<'de>>()? {
            search.keys.push(key);
            map.next_value_seed(search.value())?;
        }
        let own = &mut search.keys[outer..];
        own.sort_unstable();
        let twice = own.windows(2).find(|pair| pair[0] == pair[1]);
        if let Some([Key(key), _]) = twice {
            search.found = Some(key.clone().into_owned());
            return Err(A::Error::custom("found"));
        }
        search.keys.truncate(outer);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(self.0.value())?.is_some() {}
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
        assert_eq!(
            found(r#"{"a:": 1, "b" : "a:", "c": "\": ", "b"  : 2}"#).as_deref(),
            Some("b")
        );
        for text in [
            r#"{"a": {"b": 1}, "b": {"a": 1}}"#,
            r#"{"a": ":x", "b": ":x", "c": "a: b: a: b"}"#,
            "[]",
            "1",
            "{",
            "",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
