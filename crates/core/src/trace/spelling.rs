//! Which other names do foreign traces use for a field: as in MCP, or in camel case?

use super::fields::{Field, Shape, TRACE};
use crate::json::Key;
use crate::problem::nearest;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeSet;
use std::fmt;

/// The name of a field, and another accepted name. Readers of traces list these names as aliases, and a test compares
/// them with this table.
const SPELLINGS: [(&str, &str); 25] = [
    ("args", "arguments"),
    ("args_text", "argsText"),
    ("cache_read", "cacheRead"),
    ("cache_write", "cacheWrite"),
    ("cache_write_1h", "cacheWrite1h"),
    ("call_index", "callIndex"),
    ("cost_usd", "costUsd"),
    ("duration_ms", "durationMs"),
    ("final_response", "finalResponse"),
    ("final_state", "finalState"),
    ("is_error", "isError"),
    ("message_count", "messageCount"),
    ("protocol_version", "protocolVersion"),
    ("start_ms", "startMs"),
    ("stop_reason", "stopReason"),
    ("structured", "structuredContent"),
    ("structured", "structured_content"),
    ("tool_calls", "toolCalls"),
    ("tool_results", "toolResults"),
    ("trace_id", "traceId"),
    ("unmade_calls", "unmadeCalls"),
    ("virtual_ms", "virtualMs"),
    ("prompt", "promptTokens"),
    ("completion", "completionTokens"),
    ("total", "totalTokens"),
];

/// The other names of this field.
pub(crate) fn other_names(field: &str) -> impl Iterator<Item = &'static str> {
    let of_field = SPELLINGS.iter().filter(move |(name, _)| *name == field);
    of_field.map(|(_, other)| *other)
}

/// The field with this name or alias.
fn field_named(fields: &'static [Field], key: &str) -> Option<&'static Field> {
    let of_name = |name: &str| fields.iter().find(|field| field.name == name);
    of_name(key).or_else(|| {
        let (name, _) = SPELLINGS.iter().find(|(_, other)| *other == key)?;
        of_name(name)
    })
}

/// The part of a trace to check: a field that a program writes wrongly is wrong from the first call.
const MOST_BYTES: usize = 64 * 1024;

/// Unknown fields of a trace that are similar to a known one, one line each. Only the beginning of
/// a long trace is checked.
pub fn slips(trace: &str) -> Vec<String> {
    let mut slips = Slips::default();
    let walk = SpellingWalk {
        shape: &TRACE,
        slips: &mut slips,
    };
    let mut end = trace.len().min(MOST_BYTES);
    while !trace.is_char_boundary(end) {
        end -= 1;
    }
    let beginning = &trace[..end];
    // What is cut off is an error of the reader, and a trace that is not JSON has an error elsewhere.
    let _ = walk.deserialize(&mut serde_json::Deserializer::from_str(beginning));
    slips.found.into_iter().collect()
}

/// The state of the search for slips.
#[derive(Default)]
struct Slips {
    /// The fields that lead here, with [`EVERY_ITEM`] for the items of a list.
    path: Vec<&'static str>,
    found: BTreeSet<String>,
}

const EVERY_ITEM: &str = "[*]";

impl Slips {
    fn path_of(&self, key: &str) -> String {
        let mut path = String::new();
        for part in self.path.iter().copied().chain([key]) {
            if !path.is_empty() && part != EVERY_ITEM {
                path.push('.');
            }
            path.push_str(part);
        }
        path
    }

    /// Notes a key that is close to a field of this object.
    fn note(&mut self, key: &str, fields: &'static [Field]) {
        let names = fields
            .iter()
            .flat_map(|field| std::iter::once(field.name).chain(other_names(field.name)));
        let Some(near) = nearest(key, names) else {
            return;
        };
        let line = format!(
            "`{}` is not a field of a trace, so no check reads it; did you mean `{near}`?",
            self.path_of(key)
        );
        self.found.insert(line);
    }
}

/// A value of a trace, and its possible fields.
struct SpellingWalk<'f> {
    shape: &'static Shape,
    slips: &'f mut Slips,
}

impl SpellingWalk<'_> {
    fn inner(&mut self, shape: &'static Shape) -> SpellingWalk<'_> {
        SpellingWalk {
            shape,
            slips: self.slips,
        }
    }
}

impl<'de> DeserializeSeed<'de> for SpellingWalk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        match self.shape {
            Shape::Record(_) | Shape::List(Shape::Record(_)) => reader.deserialize_any(self),
            _ => reader.deserialize_ignored_any(IgnoredAny).map(|_| ()),
        }
    }
}

impl<'de> Visitor<'de> for SpellingWalk<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a part of a trace")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
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

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let Shape::Record(fields) = self.shape else {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return Ok(());
        };
        while let Some(Key(key)) = map.next_key::<Key<'de>>()? {
            if let Some(field) = field_named(fields, &key) {
                self.slips.path.push(field.name);
                map.next_value_seed(self.inner(&field.shape))?;
                self.slips.path.pop();
            } else {
                self.slips.note(&key, fields);
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        if let Shape::List(item) = self.shape {
            self.slips.path.push(EVERY_ITEM);
            while items.next_element_seed(self.inner(item))?.is_some() {}
            self.slips.path.pop();
        } else {
            while items.next_element::<IgnoredAny>()?.is_some() {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Path;
    use crate::trace::Trace;
    use serde_json::{Value, json};

    #[test]
    fn every_spelling_is_read_by_gates_and_by_targets_alike() {
        let canonical = json!({
            "tool_calls": [{ "name": "a", "args": { "x": 1 }, "args_text": "t" }],
            "unmade_calls": [{ "name": "b" }],
            "tool_results": [{ "call_index": 0, "is_error": true, "structured": { "s": 1 }, "start_ms": 3, "duration_ms": 4 }],
            "final_response": "done", "stop_reason": "end_turn", "trace_id": "t", "final_state": { "f": 1 },
            "faults": [{ "name": "f", "kind": "hang", "call_index": 0, "virtual_ms": 7 }],
            "servers": [{ "name": "s", "era": "legacy", "protocol_version": "v" }],
            "conversation": { "message_count": 2, "cost_usd": 0.5, "duration_ms": 9,
                "tokens": { "prompt": 1, "completion": 2, "total": 3, "cache_read": 4, "cache_write": 5, "cache_write_1h": 6 } },
        });
        let paths = [
            "tool_calls[0].args.x",
            "tool_calls[*].args_text",
            "unmade_calls[0].name",
            "tool_results[0].call_index",
            "tool_results[*].is_error",
            "tool_results[0].structured.s",
            "tool_results[0].start_ms",
            "tool_results[0].duration_ms",
            "final_response",
            "stop_reason",
            "trace_id",
            "final_state.f",
            "faults[0].virtual_ms",
            "servers[0].protocol_version",
            "conversation.message_count",
            "conversation.cost_usd",
            "conversation.tokens.prompt",
            "conversation.tokens.completion",
            "conversation.tokens.total",
            "conversation.tokens.cache_read",
            "conversation.tokens.cache_write",
            "conversation.tokens.cache_write_1h",
            "tool_calls.length",
        ];
        let seen = |text: &str| {
            let trace = Trace::read(text).unwrap_or_else(|error| panic!("{error}: {text}"));
            let resolved =
                paths.map(|path| (path, Path::into_trace(path).unwrap().resolve(&trace)));
            let mut read = trace.clone();
            read.text = "";
            (resolved.to_vec(), format!("{read:?}"))
        };
        let expected = seen(&canonical.to_string());
        assert!(
            expected.0.iter().all(|(_, value)| value.is_some()),
            "{:?}",
            expected.0
        );
        for (name, other) in SPELLINGS {
            let text = canonical.to_string();
            let spelled = text.replace(&format!("\"{name}\":"), &format!("\"{other}\":"));
            assert_ne!(text, spelled, "{name} is not in the sample");
            assert_eq!(seen(&spelled), expected, "{other} for {name}");
        }
    }

    #[test]
    fn arguments_and_content_keep_their_own_names() {
        let trace = r#"{"toolCalls":[{"name":"a","args":{"isError":1}}],"toolResults":[{"content":[{"isError":2}]}]}"#;
        let trace = Trace::read(trace).unwrap();
        let at = |path: &str| Path::into_trace(path).unwrap().resolve(&trace);
        assert_eq!(at("tool_calls[0].args.isError"), Some(json!(1)));
        assert_eq!(at("tool_calls[0].args.is_error"), None::<Value>);
        assert_eq!(at("tool_results[0].content[0].is_error"), None);
    }

    #[test]
    fn a_slip_in_a_field_is_named_and_a_field_of_somebody_else_is_not() {
        let trace = r#"{"tool_calls":[{"name":"a","agrs":{"is_eror":1},"vendor_mark":1}],
            "tool_results":[{"is_eror":true},{"is_eror":true}],"mood":"calm"}"#;
        assert_eq!(
            slips(trace),
            [
                "`tool_calls[*].agrs` is not a field of a trace, so no check reads it; did you mean `args`?",
                "`tool_results[*].is_eror` is not a field of a trace, so no check reads it; did you mean `is_error`?",
            ]
        );
        let spelled = r#"{"toolResults":[{"isError":true,"structuredContent":{}}]}"#;
        assert_eq!(slips(spelled), [""; 0]);
    }
}
