//! How is a path followed through the recorded text, reading only the necessary parts?

use super::PathStep;
use crate::trace::fields::{Shape, TRACE};
use crate::trace::{Trace, other_names};
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt;

/// The value at a path in a trace. `tool_names` is derived; everything else is read as recorded.
pub(super) fn in_trace(steps: &[PathStep], trace: &Trace<'_>) -> Option<Value> {
    let Some((first, rest)) = steps.split_first() else {
        return in_shape(trace.text, steps, &TRACE);
    };
    match (first.unquoted_key(), rest) {
        (Some("tool_names"), _) => in_value(tool_names(trace), rest),
        // A total that is not recorded is the sum of its parts.
        (
            Some("conversation"),
            [
                PathStep::Key { name: tokens, .. },
                PathStep::Key { name: total, .. },
            ],
        ) if tokens == "tokens" && total == "total" => {
            trace.conversation.tokens.total.map(Value::from)
        }
        // No calls is an empty list, also in an envelope that does not write it out.
        (Some("tool_calls"), _) if trace.tool_calls.is_empty() => {
            in_value(Value::Array(Vec::new()), rest)
        }
        // A name is the bare one, also where it was recorded as on the wire.
        (Some("tool_calls"), [which, key, rest @ ..]) if key.unquoted_key() == Some("name") => {
            let steps: Vec<PathStep> = std::iter::once(which).chain(rest).cloned().collect();
            in_value(tool_names(trace), &steps)
        }
        _ => in_shape(trace.text, steps, &TRACE),
    }
}

fn tool_names(trace: &Trace<'_>) -> Value {
    Value::Array(trace.tool_names().map(Value::from).collect())
}

/// Resolves a path in the text of a trace, whose fields may have other names.
fn in_shape(text: &str, steps: &[PathStep], shape: &Shape) -> Option<Value> {
    let Some((step, rest)) = steps.split_first() else {
        return in_text(text, steps);
    };
    match (shape, step) {
        (
            Shape::Record(fields),
            PathStep::Key {
                name,
                quoted: false,
            },
        ) => {
            let Some(field) = fields.iter().find(|field| field.name == name) else {
                return in_text(text, steps);
            };
            let spelled = || other_names(field.name).find_map(|other| member(text, other));
            let found = member(text, name).or_else(spelled)?;
            match content_blocks(name, found, rest) {
                Some(blocks) => in_value(blocks, rest),
                None => in_shape(found, rest, &field.shape),
            }
        }
        (Shape::List(shape), PathStep::Index(index)) => in_shape(item(text, *index)?, rest, shape),
        (Shape::List(shape), PathStep::Each) => {
            each(text, rest, |item| in_shape(item, rest, shape))
        }
        (Shape::List(shape), PathStep::EachWith { key, value }) => {
            let list = items_with(text, key, value)?;
            each(&list, rest, |item| in_shape(item, rest, shape))
        }
        _ => in_text(text, steps),
    }
}

/// The values found in the items of a list; `None` if a list with items has none. `rest` are the steps within an
/// item.
fn each(text: &str, rest: &[PathStep], find: impl Fn(&str) -> Option<Value>) -> Option<Value> {
    let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    let found: Vec<Value> = items.iter().filter_map(|item| find(item.get())).collect();
    let is_present = items.is_empty() || !found.is_empty();
    let has_inner_lists = rest.iter().any(PathStep::is_each);
    let found = if has_inner_lists { flat(found) } else { found };
    is_present.then_some(Value::Array(found))
}

/// The list of the items that have this text under this key; `None` if no item has.
fn items_with(text: &str, key: &str, value: &str) -> Option<String> {
    let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    let is_such = |item: &&str| {
        let found = member(item, key).and_then(|found| serde_json::from_str::<String>(found).ok());
        found.is_some_and(|found| found == value)
    };
    let such: Vec<&str> = items
        .iter()
        .map(|item| item.get())
        .filter(is_such)
        .collect();
    (!such.is_empty()).then(|| format!("[{}]", such.join(",")))
}

/// The value that the steps lead to in a JSON text.
pub(super) fn in_text(text: &str, steps: &[PathStep]) -> Option<Value> {
    let Some((step, rest)) = steps.split_first() else {
        return serde_json::from_str(text).ok();
    };
    match step {
        PathStep::Key { name, quoted } => {
            if let Some(found) = member(text, name) {
                return match content_blocks(name, found, rest) {
                    Some(blocks) => in_value(blocks, rest),
                    None => in_text(found, rest),
                };
            }
            (name == "length" && !quoted)
                .then(|| length(text))
                .flatten()
                .and_then(|length| in_value(length, rest))
        }
        PathStep::Index(index) => in_text(item(text, *index)?, rest),
        PathStep::Each => each(text, rest, |item| in_text(item, rest)),
        PathStep::EachWith { key, value } => {
            let list = items_with(text, key, value)?;
            each(&list, rest, |item| in_text(item, rest))
        }
    }
}

/// The one block that a content written as a plain text is, for steps into a list of content blocks.
fn content_blocks(key: &str, found: &str, rest: &[PathStep]) -> Option<Value> {
    let is_asked_for_items = matches!(rest, [PathStep::Each | PathStep::Index(_), ..]);
    if key != "content" || !is_asked_for_items || !found.trim_start().starts_with('"') {
        return None;
    }
    let text: String = serde_json::from_str(found).ok()?;
    Some(json!([{ "type": "text", "text": text }]))
}

/// The items of these lists as one list: a path with two stars gives one flat list.
fn flat(lists: Vec<Value>) -> Vec<Value> {
    lists
        .into_iter()
        .flat_map(|list| match list {
            Value::Array(items) => items,
            other => vec![other],
        })
        .collect()
}

fn in_value(value: Value, steps: &[PathStep]) -> Option<Value> {
    if steps.is_empty() {
        Some(value)
    } else {
        in_text(&value.to_string(), steps)
    }
}

fn length(text: &str) -> Option<Value> {
    match text.trim_start().as_bytes().first()? {
        b'[' => serde_json::from_str::<Vec<IgnoredAny>>(text)
            .ok()
            .map(|items| items.len().into()),
        b'"' => serde_json::from_str::<Cow<'_, str>>(text)
            .ok()
            .map(|text| text.chars().count().into()),
        _ => None,
    }
}

fn member<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let found = serde_json::Deserializer::from_str(text).deserialize_map(Member(key));
    found.ok().flatten().map(RawValue::get)
}

fn item(text: &str, index: i64) -> Option<&str> {
    let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    let number = usize::try_from(index.unsigned_abs()).ok()?;
    let at = if index < 0 {
        items.len().checked_sub(number)?
    } else {
        number
    };
    items.get(at).map(|item| item.get())
}

/// The raw value of a key. If the key is written twice, the last value counts.
struct Member<'k>(&'k str);

impl<'de> Visitor<'de> for Member<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            if key == self.0 {
                found = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use crate::target::Path;
    use crate::trace::Trace;
    use serde_json::{Value, json};

    const TRACE: &str = r#"{
        "tool_calls": [
            {"name": "search", "server": "docs", "args": {"q": "rust", "odd.key": 1, "length": 7}},
            {"name": "open", "args": {"id": 3}, "vendor_mark": "z"}
        ],
        "tool_results": [{"is_error": false, "content": [{"type": "text", "text": "hi"}]}],
        "final_response": null,
        "conversation": {"tokens": {"total": 12}, "turns": [{"role": "user", "content": "héllo"}]}
    }"#;

    fn at(path: &str) -> Option<Value> {
        Path::into_trace(path)
            .unwrap()
            .resolve(&Trace::read(TRACE).unwrap())
    }

    #[test]
    fn paths_lead_where_the_trace_has_something() {
        assert_eq!(at("tool_calls[0].name"), Some(json!("search")));
        assert_eq!(at("tool_calls[-1].name"), Some(json!("open")));
        assert_eq!(at("tool_calls[*].name"), Some(json!(["search", "open"])));
        assert_eq!(at("tool_names"), Some(json!(["search", "open"])));
        assert_eq!(at("tool_names[1]"), Some(json!("open")));
        assert_eq!(at("tool_results[0].content[0].text"), Some(json!("hi")));
        assert_eq!(at("conversation.tokens.total"), Some(json!(12)));
        assert_eq!(at("tool_calls[0].args[\"odd.key\"]"), Some(json!(1)));
        assert_eq!(at("tool_calls[1]['vendor_mark']"), Some(json!("z")));
    }

    #[test]
    fn turns_are_narrowed_to_one_role() {
        let trace = r#"{"conversation": {"turns": [
            {"role": "user", "content": "is it 10?"},
            {"role": "assistant", "content": [{"type": "text", "text": "no"}]},
            {"role": "tool", "content": "10"},
            {"role": "assistant", "content": "It is 9."}
        ]}}"#;
        let trace = Trace::read(trace).unwrap();
        let at = |path: &str| Path::into_trace(path).unwrap().resolve(&trace);
        assert_eq!(
            at("conversation.turns[role=assistant].content[*].text"),
            Some(json!(["no", "It is 9."]))
        );
        assert_eq!(
            at("conversation.turns[role=tool].content"),
            Some(json!(["10"]))
        );
        assert_eq!(
            at("conversation.turns[role=system].content"),
            None,
            "a role without a turn is absent, so that no matcher holds"
        );
        let why = Path::into_trace("conversation.turns[role=system].content")
            .unwrap()
            .why_absent(&trace);
        assert_eq!(
            why,
            "no turn has the role `system`; there are assistant, tool, user"
        );
    }

    #[test]
    fn a_filter_that_no_trace_has_is_refused_with_what_to_write() {
        let refused = |path: &str| Path::into_trace(path).unwrap_err();
        assert_eq!(
            refused("conversation.turns[role=asistant].content")
                .help
                .unwrap(),
            "did you mean `conversation.turns[role=assistant]`?"
        );
        assert_eq!(
            refused("conversation.turns[rol=assistant].content")
                .help
                .unwrap(),
            "did you mean `conversation.turns[role=assistant]`?"
        );
        for path in [
            "tool_calls[name=pay].args",
            "tool_calls[0].args.list[role=user]",
        ] {
            let problem = refused(path);
            assert!(
                problem.message.contains("only the turns"),
                "{}",
                problem.message
            );
        }
    }

    #[test]
    fn a_content_that_is_a_plain_text_is_one_block_with_that_text() {
        let trace = r#"{"tool_results": [{"content": "Error: refused"},
            {"content": [{"type": "text", "text": "fine"}]}]}"#;
        let trace = Trace::read(trace).unwrap();
        let at = |path: &str| Path::into_trace(path).unwrap().resolve(&trace);
        assert_eq!(
            at("tool_results[*].content[*].text"),
            Some(json!(["Error: refused", "fine"]))
        );
        assert_eq!(
            at("tool_results[0].content[0].text"),
            Some(json!("Error: refused"))
        );
        assert_eq!(at("tool_results[0].content"), Some(json!("Error: refused")));
    }

    #[test]
    fn two_stars_make_one_flat_list() {
        let trace = r#"{"tool_calls": [{"name": "a", "args": {"to": ["x", ["y"]]}}, {"name": "a", "args": {"to": []}},
            {"name": "b"}], "tool_results": [{"content": [{"type": "text", "text": "one"}, {"type": "image"}]},
            {"content": [{"type": "text", "text": "two"}]}]}"#;
        let trace = Trace::read(trace).unwrap();
        let at = |path: &str| Path::into_trace(path).unwrap().resolve(&trace);
        assert_eq!(
            at("tool_results[*].content[*].text"),
            Some(json!(["one", "two"]))
        );
        assert_eq!(
            at("tool_calls[*].args.to[*]"),
            Some(json!(["x", ["y"]])),
            "a list that is itself an item stays one"
        );
        assert_eq!(
            at("tool_calls[*].args.to"),
            Some(json!([["x", ["y"]], []])),
            "one star does not look into the lists that it leads to"
        );
        assert_eq!(at("tool_results[*].content[*].data"), None);
    }

    #[test]
    fn length_counts_items_and_characters_and_yields_to_a_key_of_that_name() {
        assert_eq!(at("tool_calls.length"), Some(json!(2)));
        assert_eq!(at("tool_names.length"), Some(json!(2)));
        assert_eq!(at("conversation.turns[0].content.length"), Some(json!(5)));
        assert_eq!(at("tool_calls[0].args.length"), Some(json!(7)));
        assert_eq!(at("tool_calls[1].args.length"), None);
    }

    #[test]
    fn a_name_is_the_bare_one() {
        let wire = r#"{"tool_calls": [{"name": "docs__search", "server": "docs"}]}"#;
        let wire = Trace::read(wire).unwrap();
        let at = |path: &str| Path::into_trace(path).unwrap().resolve(&wire);
        assert_eq!(at("tool_calls[0].name"), Some(json!("search")));
        assert_eq!(at("tool_calls[*].name"), Some(json!(["search"])));
        assert_eq!(at("tool_calls[0].name.length"), Some(json!(6)));
        assert_eq!(
            at("tool_calls[0][\"name\"]"),
            Some(json!("docs__search")),
            "a quoted key is as recorded"
        );
    }

    #[test]
    fn what_is_not_there_is_absent() {
        for path in [
            "tool_calls[2].name",
            "tool_calls[-3].name",
            "final_response",
            "stop_reason",
            "tool_calls[0].args.city",
            "tool_calls[*].args.city",
        ] {
            assert_eq!(at(path), None, "{path}");
        }
        assert_eq!(at("tool_calls[*].args.id"), Some(json!([3])));
        let nulls = r#"{"tool_calls": [{"name": "a", "id": null, "args": {"q": null}}], "conversation": {"tokens": {"total": null}}}"#;
        let nulls = Trace::read(nulls).unwrap();
        let at = |path: &str| Path::into_trace(path).unwrap().resolve(&nulls);
        assert_eq!(
            (at("tool_calls[0].id"), at("conversation.tokens.total")),
            (None, None)
        );
        assert_eq!(
            at("tool_calls[0].args.q"),
            Some(json!(null)),
            "a null that the model wrote is a value"
        );
        let empty = Trace::read("{}").unwrap();
        let each = Path::into_trace("tool_calls[*].name").unwrap();
        assert_eq!(each.resolve(&empty), Some(json!([])));
        assert_eq!(
            Path::into_trace("tool_calls.length")
                .unwrap()
                .resolve(&empty),
            Some(json!(0))
        );
    }

    #[test]
    fn a_path_that_cannot_exist_is_refused_with_the_nearest_one() {
        let refused = |path: &str| Path::into_trace(path).unwrap_err();
        assert_eq!(
            refused("tool_cals[0].name").help.unwrap(),
            "did you mean `tool_calls`?"
        );
        assert_eq!(
            refused("tool_calls[0].nmae").help.unwrap(),
            "did you mean `tool_calls[0].name`?"
        );
        assert!(
            refused("tool_calls.name")
                .help
                .unwrap()
                .contains("tool_calls[*].name")
        );
        assert!(refused("final_response[0]").message.contains("not a list"));
        assert!(refused("tool_names[0].x").message.contains("a string"));
        assert!(refused("tool_calls[").message.contains("never closed"));
        assert!(
            refused("tool_calls[x]")
                .message
                .contains("is not a number, `*` or a quoted key")
        );
        assert!(refused("").message.contains("empty"));
    }
}
