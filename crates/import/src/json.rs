//! How is a value at a key read, borrowed from the file's text, so that errors have a place?

use mcptest_core::json::{MAX_DEPTH, check_within};
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The deepest nesting of JSON inside a string that still fits into a trace, which nests it a little deeper.
const DEEPEST_INNER: usize = 100;

/// The text of a valid JSON value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Json<'a>(&'a str);

impl<'a> Json<'a> {
    pub(crate) fn new(raw: &'a RawValue) -> Self {
        Self(raw.get())
    }

    /// The value that a string contains as JSON text, if a trace can store it.
    pub(crate) fn inside(text: &'a str) -> Option<Self> {
        let raw: &RawValue = serde_json::from_str(text).ok()?;
        check_within(text, MAX_DEPTH - DEEPEST_INNER)
            .is_ok()
            .then(|| Self::new(raw))
    }

    /// The value of a whole text.
    pub(crate) fn whole(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok().map(Self::new)
    }

    pub(crate) fn text(self) -> &'a str {
        self.0
    }

    fn is_null(self) -> bool {
        self.0 == "null"
    }

    pub(crate) fn object(self) -> Option<Fields<'a>> {
        let mut reader = serde_json::Deserializer::from_str(self.0);
        let entries = self
            .0
            .starts_with('{')
            .then(|| reader.deserialize_map(EntriesVisitor).ok())
            .flatten()?;
        Some(Fields {
            text: self.0,
            entries,
        })
    }

    pub(crate) fn list(self) -> Option<Vec<Json<'a>>> {
        let list: Vec<&'a RawValue> = self
            .0
            .starts_with('[')
            .then(|| serde_json::from_str(self.0).ok())
            .flatten()?;
        Some(list.into_iter().map(Self::new).collect())
    }

    /// The strings at a key of each object of a list.
    pub(crate) fn each(self, key: &str) -> Vec<String> {
        self.list()
            .unwrap_or_default()
            .iter()
            .filter_map(|one| one.object()?.owned(key))
            .collect()
    }

    pub(crate) fn string(self) -> Option<Cow<'a, str>> {
        let text: Borrowed<'a> = self
            .0
            .starts_with('"')
            .then(|| serde_json::from_str(self.0).ok())
            .flatten()?;
        Some(text.0)
    }

    /// A whole number, which OTLP writes as a string.
    pub(crate) fn count(self) -> Option<u64> {
        match self.string() {
            Some(text) => text.parse().ok(),
            None => serde_json::from_str(self.0).ok(),
        }
    }

    pub(crate) fn number(self) -> Option<f64> {
        serde_json::from_str(self.0).ok()
    }

    pub(crate) fn integer(self) -> Option<i64> {
        serde_json::from_str(self.0).ok()
    }

    /// A number of seconds as milliseconds.
    pub(crate) fn seconds_as_ms(self) -> Option<u64> {
        let seconds = self.number().filter(|seconds| *seconds >= 0.0)?;
        std::time::Duration::try_from_secs_f64(seconds)
            .ok()?
            .as_millis()
            .try_into()
            .ok()
    }

    pub(crate) fn flag(self) -> Option<bool> {
        serde_json::from_str(self.0).ok()
    }

    /// The kind of value, in a person's words.
    pub(crate) fn kind(self) -> &'static str {
        match self.0.as_bytes().first() {
            Some(b'{') => "an object",
            Some(b'[') => "a list",
            Some(b'"') => "a string",
            Some(b't' | b'f') => "a truth value",
            Some(b'n') => "null",
            _ => "a number",
        }
    }

    /// The value on one line, without white space between its parts.
    pub(crate) fn compact(self) -> Box<RawValue> {
        on_one_line(self.0)
    }
}

/// An object's keys in order. A null counts as a missing key; the last of duplicate keys counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fields<'a> {
    text: &'a str,
    entries: Vec<(Cow<'a, str>, Json<'a>)>,
}

impl<'a> Fields<'a> {
    pub(crate) fn get(&self, key: &str) -> Option<Json<'a>> {
        let found = self.entries.iter().rev().find(|(name, _)| name == key);
        found
            .map(|(_, value)| *value)
            .filter(|value| !value.is_null())
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(name, _)| name.as_ref())
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = (&str, Json<'a>)> {
        self.entries
            .iter()
            .map(|(name, value)| (name.as_ref(), *value))
    }

    /// The string at a key, if any.
    pub(crate) fn string(&self, key: &str) -> Option<Cow<'a, str>> {
        self.get(key)?.string()
    }

    /// Like the borrowed string, but owned.
    pub(crate) fn owned(&self, key: &str) -> Option<String> {
        self.string(key).map(Cow::into_owned)
    }

    /// The value of the first of these keys that is present.
    pub(crate) fn first(&self, keys: &[&str]) -> Option<Json<'a>> {
        keys.iter().find_map(|key| self.get(key))
    }

    /// One side of a logged exchange: the body of the value at this key, or this object itself.
    pub(crate) fn side(&self, key: &str) -> Result<Self, Misfit> {
        let side = self.object(key)?.unwrap_or_else(|| self.clone());
        Ok(side.part("body").unwrap_or(side))
    }

    /// The string at a key. A value of another type is an error.
    pub(crate) fn optional_string(&self, key: &str) -> Result<Option<Cow<'a, str>>, Misfit> {
        self.typed(key, "a string", Json::string)
    }

    /// The string at a key, owned. A value of another type is an error.
    pub(crate) fn optional_owned(&self, key: &str) -> Result<Option<String>, Misfit> {
        Ok(self.optional_string(key)?.map(Cow::into_owned))
    }

    /// The string at a required key.
    pub(crate) fn required_string(&self, key: &str, owner: &str) -> Result<Cow<'a, str>, Misfit> {
        self.optional_string(key)?
            .ok_or_else(|| self.misfit(format!("{owner} has no `{key}`")))
    }

    /// The list at a key. A value of another type is an error.
    pub(crate) fn list(&self, key: &str) -> Result<Option<Vec<Json<'a>>>, Misfit> {
        self.typed(key, "a list", Json::list)
    }

    /// The object at a key. A value of another type is an error.
    pub(crate) fn object(&self, key: &str) -> Result<Option<Fields<'a>>, Misfit> {
        self.typed(key, "an object", Json::object)
    }

    /// The object at a key, if any.
    pub(crate) fn part(&self, key: &str) -> Option<Fields<'a>> {
        self.get(key)?.object()
    }

    /// The whole number at a key, if any.
    pub(crate) fn count(&self, key: &str) -> Option<u64> {
        self.get(key)?.count()
    }

    fn typed<T>(
        &self,
        key: &str,
        expected: &str,
        read: impl Fn(Json<'a>) -> Option<T>,
    ) -> Result<Option<T>, Misfit> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        match read(value) {
            Some(found) => Ok(Some(found)),
            None => Err(Misfit::at(
                value,
                format!("`{key}` is {}, not {expected}", value.kind()),
            )),
        }
    }

    /// The object's source text.
    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    /// Something wrong with the whole object.
    pub(crate) fn misfit(&self, message: String) -> Misfit {
        Misfit::at(Json(self.text), message)
    }
}

/// The object in a value, which errors call `what`.
pub(crate) fn object_of<'a>(value: Json<'a>, what: &str) -> Result<Fields<'a>, Misfit> {
    value
        .object()
        .ok_or_else(|| Misfit::at(value, format!("{what} is {}, not an object", value.kind())))
}

/// A string that is borrowed unless it has escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct Borrowed<'a>(#[serde(borrow)] Cow<'a, str>);

struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = Vec<(Cow<'de, str>, Json<'de>)>;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some((key, value)) = map.next_entry::<Borrowed<'de>, &RawValue>()? {
            entries.push((key.0, Json::new(value)));
        }
        Ok(entries)
    }
}

/// A part that does not fit the format, and the address of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Misfit {
    pub(crate) address: usize,
    pub(crate) message: String,
}

impl Misfit {
    pub(crate) fn at(value: Json<'_>, message: String) -> Self {
        Self {
            address: value.0.as_ptr() as usize,
            message,
        }
    }
}

/// JSON on one line, for a trace.
pub(crate) fn on_one_line(text: &str) -> Box<RawValue> {
    let mut line = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(quote) = rest.find('"') {
        push_without_space(&mut line, &rest[..quote]);
        let end = quote + string_length(&rest.as_bytes()[quote..]);
        line.push_str(&rest[quote..end]);
        rest = &rest[end..];
    }
    push_without_space(&mut line, rest);
    RawValue::from_string(line).unwrap_or_else(|_| raw(&text))
}

/// Anything that can be written as JSON.
pub(crate) fn raw<T: Serialize + ?Sized>(value: &T) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap_or_default()
}

fn push_without_space(line: &mut String, part: &str) {
    line.extend(
        part.chars()
            .filter(|character| !character.is_ascii_whitespace()),
    );
}

/// The length in bytes of the string at the front, with its quotes.
pub(crate) fn string_length(bytes: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_keeps_its_order_and_digits_on_one_line() {
        let text = "{\n  \"b\" : [1.50, 1e2,\r\n \"a b\\\" { \\\\\"],\t\"a\": {}\n}";
        assert_eq!(
            on_one_line(text).get(),
            r#"{"b":[1.50,1e2,"a b\" { \\"],"a":{}}"#
        );
    }

    #[test]
    fn a_null_is_absent_and_the_last_of_two_keys_counts() {
        let fields = Json(r#"{"a":1,"a":2,"b":null,"\u0063":"x"}"#)
            .object()
            .unwrap();
        assert_eq!(fields.count("a"), Some(2));
        assert!(!fields.has("b") && fields.string("c").unwrap() == "x");
    }

    #[test]
    fn json_in_a_string_is_taken_only_where_a_trace_can_hold_it() {
        assert!(Json::inside("{\"a\": 1}").is_some() && Json::inside(" [] ").is_some());
        for text in ["", "{", "{} {}", "1e999", "\"\\ud800\""] {
            assert!(Json::inside(text).is_none(), "{text}");
        }
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(Json::inside(&nested(100)).is_some() && Json::inside(&nested(101)).is_none());
        assert!(
            Json::inside(&format!("[{}0]", "[],".repeat(5000))).is_some(),
            "wide is not deep"
        );
    }
}
