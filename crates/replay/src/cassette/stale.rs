//! Which inputs have changed between the recording and the current suite?

use super::excerpt::differing;
use mcptest_core::change::{
    CatalogueChange, CatalogueItem, Change, ItemPart, PlacedChange, compare_catalogues,
};
use mcptest_core::escape::escape as visible;
use mcptest_core::trace::{CatalogueTool, Header};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// One difference between a recording and the suite; shown as a short line.
#[derive(Debug, Clone, PartialEq)]
pub enum StaleInput {
    /// A field, as `prompt`, `parameters.temperature` or `tools.docs.search.description`.
    Field(PlacedChange<String, Value>),
    /// A tool that was added or removed, by its full name.
    Tool(PlacedChange<String, ()>),
}

impl fmt::Display for StaleInput {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool(tool) => write!(
                out,
                "tools: {} was {} after the recording",
                visible(&tool.place),
                tool.change.word()
            ),
            Self::Field(field) => write!(
                out,
                "{}: {}",
                visible(&field.place),
                change_in_words(&field.change)
            ),
        }
    }
}

fn change_in_words(change: &Change<Value>) -> String {
    match change {
        Change::Changed { after, .. } if is_digest(after) => {
            "it changed after the recording".to_owned()
        }
        Change::Added(after) if is_digest(after) => "the recording does not contain it".to_owned(),
        _ => {
            let (recorded, current) = shown(change.before(), change.after());
            format!("recorded {recorded}, now {current}")
        }
    }
}

fn is_digest(value: &Value) -> bool {
    value
        .as_str()
        .is_some_and(|text| text.starts_with("blake3:"))
}

fn shown(recorded: Option<&Value>, current: Option<&Value>) -> (String, String) {
    let text = |value: Option<&Value>| match value {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    let (one, other) = differing(&text(recorded), &text(current));
    let dress = |value: Option<&Value>, excerpt: String| match value {
        None => "not set".to_owned(),
        Some(Value::String(_)) => format!("\"{excerpt}\""),
        Some(_) => excerpt,
    };
    (dress(recorded, one), dress(current, other))
}

/// All differences between the recording and the header that a recording made now would have, in
/// the order of its fields; empty if it is fresh.
///
/// Compares conditions, tools and instructions only if both sides have them, and files only if they
/// still exist. The agent's name is part of the file's name instead.
pub fn staleness(recorded: &Header, expected: &Header) -> Vec<StaleInput> {
    let mut changes = StaleInputs::default();
    changes.text(
        "model",
        recorded.model.as_deref(),
        expected.model.as_deref(),
    );
    changes.prompt(&recorded.prompt, &expected.prompt);
    changes.text(
        "system_prompt",
        recorded.system_prompt.as_deref(),
        expected.system_prompt.as_deref(),
    );
    let name_of = |key: &str| format!("parameters.{key}");
    changes.entries(&recorded.parameters, &expected.parameters, name_of);
    changes.digests("variables", &recorded.variables, &expected.variables);
    changes.digests("files", &recorded.files, &expected.files);
    if let (Some(recorded), Some(expected)) = (&recorded.conditions, &expected.conditions) {
        changes.entries(recorded, expected, str::to_owned);
    }
    changes.servers(&recorded.servers, &expected.servers);
    if let (Some(recorded), Some(expected)) = (&recorded.catalogue, &expected.catalogue) {
        changes.tools(recorded, expected);
    }
    if let (Some(recorded), Some(expected)) = (&recorded.instructions, &expected.instructions) {
        changes.instructions(recorded, expected);
    }
    changes.0
}

fn keys_of_both<'k>(
    recorded: impl Iterator<Item = &'k String>,
    expected: impl Iterator<Item = &'k String>,
) -> BTreeSet<&'k String> {
    recorded.chain(expected).collect()
}

/// The differences, in the order of comparison.
#[derive(Default)]
pub(crate) struct StaleInputs(pub(crate) Vec<StaleInput>);

impl StaleInputs {
    /// Compares the entry of a server. Like tools, a manifest is compared only if both sides know it.
    pub(crate) fn server(
        &mut self,
        name: &str,
        recorded: Option<&Map<String, Value>>,
        current: Option<&Map<String, Value>>,
    ) {
        const MANIFEST: &str = "manifest";
        let is_known = [recorded, current]
            .iter()
            .flatten()
            .all(|entry| entry.contains_key(MANIFEST));
        let entry = |entry: Option<&Map<String, Value>>| {
            let mut entry = entry?.clone();
            entry.retain(|key, _| is_known || key != MANIFEST);
            Some(Value::Object(entry))
        };
        self.first_difference(
            format!("servers.{name}"),
            entry(recorded).as_ref(),
            entry(current).as_ref(),
        );
    }

    fn servers(
        &mut self,
        recorded: &BTreeMap<String, Map<String, Value>>,
        current: &BTreeMap<String, Map<String, Value>>,
    ) {
        for name in keys_of_both(recorded.keys(), current.keys()) {
            self.server(name, recorded.get(name), current.get(name));
        }
    }

    /// Compares entries by key, each under a name made of the key.
    fn entries(
        &mut self,
        recorded: &BTreeMap<String, Value>,
        current: &BTreeMap<String, Value>,
        name_of: impl Fn(&str) -> String,
    ) {
        for key in keys_of_both(recorded.keys(), current.keys()) {
            self.first_difference(name_of(key), recorded.get(key), current.get(key));
        }
    }

    fn instructions(
        &mut self,
        recorded: &BTreeMap<String, String>,
        current: &BTreeMap<String, String>,
    ) {
        for server in keys_of_both(recorded.keys(), current.keys()) {
            self.text(
                &format!("instructions.{server}"),
                recorded.get(server).map(String::as_str),
                current.get(server).map(String::as_str),
            );
        }
    }

    fn field(&mut self, place: String, change: Change<Value>) {
        self.0
            .push(StaleInput::Field(PlacedChange { place, change }));
    }

    fn value(&mut self, field: String, recorded: Option<&Value>, current: Option<&Value>) {
        let change = Change::between(recorded, current, |one, other| is_same(one, other));
        if let Some(change) = change {
            self.field(field, change.map(Value::clone));
        }
    }

    pub(crate) fn text(&mut self, field: &str, recorded: Option<&str>, current: Option<&str>) {
        let change = Change::between(recorded, current, |one, other| is_same_text(one, other));
        if let Some(change) = change {
            self.field(field.to_owned(), change.map(Value::from));
        }
    }

    /// Compares digests that both sides have.
    fn digests(
        &mut self,
        field: &str,
        recorded: &BTreeMap<String, String>,
        current: &BTreeMap<String, String>,
    ) {
        for (name, digest) in current {
            self.text(
                &format!("{field}.{name}"),
                recorded.get(name).map(String::as_str),
                Some(digest),
            );
        }
    }

    fn prompt(&mut self, recorded: &[String], current: &[String]) {
        let turns = recorded.len().max(current.len());
        for turn in 0..turns {
            let field = if turns == 1 {
                "prompt".to_owned()
            } else {
                format!("prompt[{turn}]")
            };
            let (old, new) = (recorded.get(turn), current.get(turn));
            self.text(&field, old.map(String::as_str), new.map(String::as_str));
        }
    }

    /// Compares tools by name, because servers may list them in any order.
    fn tools(&mut self, recorded: &[CatalogueTool], current: &[CatalogueTool]) {
        let recorded: Vec<CatalogueItem<'_>> = recorded.iter().map(catalogue_item).collect();
        let current: Vec<CatalogueItem<'_>> = current.iter().map(catalogue_item).collect();
        let mut changes = compare_catalogues(&recorded, &current, is_same);
        changes.sort_by_cached_key(|change| change.item().full_name());
        for change in changes {
            let place = change.item().full_name();
            match change {
                CatalogueChange::Added(_) => self.tool(place, Change::Added(())),
                CatalogueChange::Removed(_) => self.tool(place, Change::Removed(())),
                CatalogueChange::Changed { part, .. } => {
                    let field = format!("tools.{place}.{}", part.place);
                    let (before, after) = (part.change.before(), part.change.after());
                    self.first_difference(field, before.copied(), after.copied());
                }
            }
        }
    }

    fn tool(&mut self, place: String, change: Change<()>) {
        self.0
            .push(StaleInput::Tool(PlacedChange { place, change }));
    }

    /// Descends while both sides are objects, so that the line names the part that changed.
    pub(crate) fn first_difference(
        &mut self,
        field: String,
        recorded: Option<&Value>,
        current: Option<&Value>,
    ) {
        if let (Some(Value::Object(old)), Some(Value::Object(new))) = (recorded, current) {
            for key in keys_of_both(old.keys(), new.keys()) {
                self.first_difference(format!("{field}.{key}"), old.get(key), new.get(key));
            }
        } else {
            self.value(field, recorded, current);
        }
    }
}

/// A distractor belongs to no server: its name alone identifies it.
fn catalogue_item(tool: &CatalogueTool) -> CatalogueItem<'_> {
    let description = tool.description.as_deref().map(|text| ItemPart {
        key: "description",
        value: Cow::Owned(Value::from(text)),
    });
    let input_schema = tool.input_schema.as_deref().map(|schema| ItemPart {
        key: "input_schema",
        value: Cow::Borrowed(schema),
    });
    let distractor = ItemPart {
        key: "distractor",
        value: Cow::Owned(Value::from(tool.distractor)),
    };
    CatalogueItem {
        server: tool.server.as_deref().filter(|_| !tool.distractor),
        name: &tool.name,
        parts: description
            .into_iter()
            .chain(input_schema)
            .chain([distractor])
            .collect(),
    }
}

/// Equal as JSON, where `1` and `1.0` are equal.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || ((one.is_f64() || other.is_f64()) && one.as_f64() == other.as_f64())
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(key, value)| other.get(key).is_some_and(|other| is_same(value, other)))
        }
        (Value::String(one), Value::String(other)) => is_same_text(one, other),
        (one, other) => one == other,
    }
}

/// Returns true if the texts are equal except for the recording's placeholders.
fn is_same_text(recorded: &str, current: &str) -> bool {
    const OPENING: &str = "[redacted:";
    let mut pieces = recorded.split(OPENING);
    let first = pieces.next().unwrap_or_default();
    let pieces: Vec<&str> = pieces
        .map(|piece| piece.split_once(']').map_or(piece, |(_, rest)| rest))
        .collect();
    let Some((last, between)) = pieces.split_last() else {
        return recorded == current;
    };
    let rest = current
        .strip_prefix(first)
        .and_then(|rest| rest.strip_suffix(last));
    let left = between
        .iter()
        .try_fold(rest.unwrap_or_default(), |rest, piece| {
            rest.find(piece).map(|at| &rest[at + piece.len()..])
        });
    rest.is_some() && left.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn lines(recorded: &Header, expected: &Header) -> Vec<String> {
        staleness(recorded, expected)
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    fn tool(name: &str, description: &str, schema: Value) -> CatalogueTool {
        CatalogueTool {
            name: name.into(),
            server: Some("docs".into()),
            description: Some(description.into()),
            input_schema: Some(schema.into()),
            ..CatalogueTool::default()
        }
    }

    #[test]
    fn each_changed_field_is_one_short_line() {
        let recorded = Header {
            model: Some("small".into()),
            prompt: vec!["What is the weather?".into()],
            system_prompt: Some("Be brief.".into()),
            parameters: [
                ("max_tokens".into(), json!(100)),
                ("temperature".into(), json!(1)),
            ]
            .into(),
            ..Header::default()
        };
        let expected = Header {
            model: Some("large".into()),
            prompt: vec!["Tell me the weather.".into()],
            parameters: [
                ("temperature".into(), json!(1.0)),
                ("top_p".into(), json!(0.5)),
            ]
            .into(),
            ..Header::default()
        };
        assert_eq!(
            lines(&recorded, &expected),
            [
                r#"model: recorded "small", now "large""#,
                r#"prompt: recorded "What is the weather?", now "Tell me the weather.""#,
                r#"system_prompt: recorded "Be brief.", now not set"#,
                "parameters.max_tokens: recorded 100, now not set",
                "parameters.top_p: recorded not set, now 0.5",
            ]
        );
    }

    #[test]
    fn a_changed_turn_is_named_by_its_index() {
        let recorded = Header {
            prompt: vec!["a".into(), "b".into()],
            ..Header::default()
        };
        let expected = Header {
            prompt: vec!["a".into(), "c".into(), "d".into()],
            ..Header::default()
        };
        assert_eq!(
            lines(&recorded, &expected),
            [
                r#"prompt[1]: recorded "b", now "c""#,
                r#"prompt[2]: recorded not set, now "d""#
            ]
        );
    }

    #[test]
    fn tools_say_which_part_changed() {
        let city = |kind: &str| json!({"type": "object", "properties": {"city": {"type": kind}}});
        let recorded = Header {
            catalogue: Some(vec![
                tool("b", "Old.", city("string")),
                tool("gone", "", json!({})),
            ]),
            ..Header::default()
        };
        let current = vec![
            tool("new", "", json!({})),
            tool("b", "New.", city("number")),
        ];
        let expected = Header {
            catalogue: Some(current),
            ..Header::default()
        };
        assert_eq!(
            lines(&recorded, &expected),
            [
                r#"tools.docs.b.description: recorded "Old.", now "New.""#,
                r#"tools.docs.b.input_schema.properties.city.type: recorded "string", now "number""#,
                "tools: docs.gone was removed after the recording",
                "tools: docs.new was added after the recording",
            ]
        );
    }

    #[test]
    fn what_was_redacted_is_no_change_and_the_text_around_it_is() {
        let recorded = |text: &str| Header {
            catalogue: Some(vec![tool(
                "a",
                text,
                json!({"type": "object", "title": text}),
            )]),
            ..Header::default()
        };
        let current = Header {
            catalogue: recorded("Talks to north of east.").catalogue,
            ..Header::default()
        };
        for text in [
            "Talks to [redacted:A] of [redacted:B:1a2b3c].",
            "[redacted:A]",
            "Talks to [redacted:A].",
        ] {
            assert_eq!(
                lines(&recorded(text), &current),
                Vec::<String>::new(),
                "{text}"
            );
        }
        for text in [
            "Talks with [redacted:A].",
            "Talks to [redacted:A] at [redacted:B].",
            "Talks to [redacted:A]!",
            "Talks to north of east.[redacted:A].",
        ] {
            assert_eq!(lines(&recorded(text), &current).len(), 2, "{text}");
        }
    }

    #[test]
    fn tools_are_not_compared_when_one_side_does_not_know_them() {
        let known = Header {
            catalogue: Some(vec![tool("a", "", json!({}))]),
            ..Header::default()
        };
        assert!(staleness(&known, &Header::default()).is_empty());
        let expected = Header {
            catalogue: Some(vec![]),
            ..Header::default()
        };
        assert!(staleness(&Header::default(), &expected).is_empty());
    }

    #[test]
    fn a_distractor_is_the_same_on_whatever_server_it_was_put() {
        let on = |server: &str, name: &str| CatalogueTool {
            server: Some(server.into()),
            distractor: true,
            ..tool(name, "Sends a mail.", json!({}))
        };
        let recorded = Header {
            catalogue: Some(vec![on("docs", "send_mail")]),
            ..Header::default()
        };
        let expected = |name| Header {
            catalogue: Some(vec![on("mail", name)]),
            ..Header::default()
        };
        assert!(lines(&recorded, &expected("send_mail")).is_empty());
        assert_eq!(lines(&recorded, &expected("send_fax")).len(), 2);
    }
}
