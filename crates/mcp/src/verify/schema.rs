//! Does a schema ask for more, or promise less, than it did?

use super::drift::{Subject, Tier};
use super::value::{brief, changed};
use mcptest_core::change::{Change, compare_parts};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The side that must satisfy the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SchemaSide {
    /// The client: more demands break it.
    Input,
    /// The server: fewer promises break the client.
    Output,
}

const WORDS: &[&str] = &[
    "description",
    "title",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "$comment",
];
const LOWER_BOUNDS: &[&str] = &[
    "minimum",
    "exclusiveMinimum",
    "minLength",
    "minItems",
    "minProperties",
];
const UPPER_BOUNDS: &[&str] = &[
    "maximum",
    "exclusiveMaximum",
    "maxLength",
    "maxItems",
    "maxProperties",
];
const EXACT_LIMITS: &[&str] = &[
    "pattern",
    "format",
    "multipleOf",
    "uniqueItems",
    "not",
    "contentEncoding",
];
const COMBINED: &[&str] = &[
    "anyOf",
    "oneOf",
    "allOf",
    "$ref",
    "$defs",
    "definitions",
    "if",
    "then",
    "else",
];
const DEEPEST: usize = 64;

/// The severity of a stricter or looser schema, for sending and for reading clients.
const TIGHTER: [Tier; 2] = [Tier::Breaking, Tier::Changed];
const LOOSER: [Tier; 2] = [Tier::Added, Tier::Changed];

/// Compares two schemas.
pub(super) fn compare(
    subject: &mut Subject<'_>,
    side: SchemaSide,
    path: &str,
    old: &Value,
    new: &Value,
) {
    at_depth(subject, side, path, (old, new), 0);
}

fn at_depth(
    subject: &mut Subject<'_>,
    side: SchemaSide,
    path: &str,
    (old, new): (&Value, &Value),
    depth: usize,
) {
    if old == new || depth > DEEPEST {
        return;
    }
    let (Value::Object(old), Value::Object(new)) = (old, new) else {
        return subject.add(Tier::Changed, path, changed(old, new));
    };
    let mut schemas = Schemas {
        subject,
        side,
        path,
        old,
        new,
        depth,
    };
    schemas.types();
    schemas.values();
    schemas.limits();
    schemas.properties();
    schemas.items();
    schemas.words();
}

/// The old and the new schema.
struct Schemas<'c, 's> {
    subject: &'c mut Subject<'s>,
    side: SchemaSide,
    path: &'c str,
    old: &'c Map<String, Value>,
    new: &'c Map<String, Value>,
    depth: usize,
}

impl Schemas<'_, '_> {
    /// Adds a difference at a key. The tiers are for an input and for an output schema.
    fn add(&mut self, [input, output]: [Tier; 2], key: &str, what: impl Into<String>) {
        let tier = if self.side == SchemaSide::Input {
            input
        } else {
            output
        };
        self.subject
            .add(tier, &format!("{}.{key}", self.path), what);
    }

    fn types(&mut self) {
        match (types_of(self.old), types_of(self.new)) {
            (None, Some(after)) => {
                self.add(TIGHTER, "type", format!("is now only {}", listed(&after)));
            }
            (Some(before), None) => {
                let what = format!("was {}, but can now be anything", listed(&before));
                self.add([Tier::Added, Tier::Breaking], "type", what);
            }
            (Some(before), Some(after)) if before != after => {
                let gone: BTreeSet<&str> = before
                    .iter()
                    .copied()
                    .filter(|kind| !takes(&after, kind))
                    .collect();
                let come: BTreeSet<&str> = after
                    .iter()
                    .copied()
                    .filter(|kind| !takes(&before, kind))
                    .collect();
                if !gone.is_empty() {
                    let what = format!("is no longer {}; it is {}", listed(&gone), listed(&after));
                    self.add(TIGHTER, "type", what);
                }
                if !come.is_empty() {
                    self.add(
                        [Tier::Added, Tier::Breaking],
                        "type",
                        format!("can now be {}", listed(&come)),
                    );
                }
            }
            _ => {}
        }
    }

    fn values(&mut self) {
        match (allowed(self.old), allowed(self.new)) {
            (None, Some(new)) => {
                self.add(
                    TIGHTER,
                    "enum",
                    format!("is now only one of {}", brief(&Value::Array(new))),
                );
            }
            (Some(_), None) => self.add(LOOSER, "enum", "is no longer one of a few values"),
            (Some(before), Some(after)) => {
                for value in before.iter().filter(|value| !after.contains(value)) {
                    self.add(
                        TIGHTER,
                        "enum",
                        format!("the value {} is gone", brief(value)),
                    );
                }
                for value in after.iter().filter(|value| !before.contains(value)) {
                    self.add(LOOSER, "enum", format!("the value {} is new", brief(value)));
                }
            }
            (None, None) => {}
        }
    }

    fn limits(&mut self) {
        let all = [
            (LOWER_BOUNDS, Some(true)),
            (UPPER_BOUNDS, Some(false)),
            (EXACT_LIMITS, None),
        ];
        for (word, is_lower) in all
            .iter()
            .flat_map(|(words, is_lower)| words.iter().map(|word| (*word, *is_lower)))
        {
            let Some(change) = self.change(word) else {
                continue;
            };
            let number = |limit: Option<&&Value>| limit.and_then(|limit| limit.as_f64());
            let is_tighter = match (number(change.before()), number(change.after()), is_lower) {
                (Some(before), Some(after), Some(true)) => after > before,
                (Some(before), Some(after), Some(false)) => after < before,
                _ => change.after().is_some(),
            };
            let tiers = if is_tighter {
                TIGHTER
            } else {
                [Tier::Changed; 2]
            };
            self.add(tiers, word, in_words(&change));
        }
    }

    fn properties(&mut self) {
        let of = |schema: &Map<String, Value>| {
            schema.get("properties").and_then(Value::as_object).cloned()
        };
        let (before, after) = (
            of(self.old).unwrap_or_default(),
            of(self.new).unwrap_or_default(),
        );
        let (was_required, is_required) = (required(self.old), required(self.new));
        // A property whose schema is the same may be required now.
        for property in compare_parts(&before, &after, |_, _| false) {
            let name = property.place.as_str();
            let key = format!("properties.{name}");
            match property.change {
                Change::Removed(_) => self.add([Tier::Breaking; 2], &key, "is gone"),
                Change::Added(_)
                    if self.side == SchemaSide::Input && is_required.contains(name) =>
                {
                    self.add([Tier::Breaking; 2], &key, "is new and required");
                }
                Change::Added(_) => self.add([Tier::Added; 2], &key, "is new"),
                Change::Changed { before, after } => {
                    match (was_required.contains(name), is_required.contains(name)) {
                        (false, true) => self.add(TIGHTER, &key, "is now required"),
                        (true, false) => {
                            let tiers = [Tier::Changed, Tier::Breaking];
                            self.add(tiers, &key, "is no longer required");
                        }
                        _ => {}
                    }
                    self.below(&key, before, after);
                }
            }
        }
    }

    /// The change of the value at a key.
    fn change(&self, key: &str) -> Option<Change<&Value>> {
        Change::between(self.old.get(key), self.new.get(key), |old, new| old == new)
    }

    fn items(&mut self) {
        if let (Some(old), Some(new)) = (self.old.get("items"), self.new.get("items")) {
            self.below("items", old, new);
        }
    }

    /// Compares the values at a key.
    fn below(&mut self, key: &str, old: &Value, new: &Value) {
        at_depth(
            self.subject,
            self.side,
            &format!("{}.{key}", self.path),
            (old, new),
            self.depth + 1,
        );
    }

    fn words(&mut self) {
        let (old, new) = (self.old, self.new);
        let is_told =
            |word: &str| matches!(word, "anyOf" | "oneOf") && types_of(old) != types_of(new);
        for word in WORDS.iter().chain(COMBINED) {
            if let Some(change) = self.change(word).filter(|_| !is_told(word)) {
                self.add([Tier::Changed; 2], word, in_words(&change));
            }
        }
        let is_closed = |schema: &Map<String, Value>| {
            schema.get("additionalProperties") == Some(&Value::Bool(false))
        };
        if is_closed(old) != is_closed(new) {
            let now = if is_closed(new) { "refused" } else { "taken" };
            self.add(
                [Tier::Changed; 2],
                "additionalProperties",
                format!("other properties are now {now}"),
            );
        }
    }
}

fn takes(types: &BTreeSet<&str>, kind: &str) -> bool {
    types.contains(kind) || (kind == "integer" && types.contains("number"))
}

/// The types of a schema and of its alternatives. `None` if it has none.
fn types_of(schema: &Map<String, Value>) -> Option<BTreeSet<&str>> {
    match schema.get("type") {
        Some(Value::String(kind)) => return Some(BTreeSet::from([kind.as_str()])),
        Some(Value::Array(kinds)) => return kinds.iter().map(Value::as_str).collect(),
        _ => {}
    }
    let alternatives = schema
        .get("anyOf")
        .or_else(|| schema.get("oneOf"))?
        .as_array()?;
    let kinds = alternatives
        .iter()
        .map(|one| one.as_object().and_then(types_of));
    Some(
        kinds
            .collect::<Option<Vec<_>>>()?
            .into_iter()
            .flatten()
            .collect(),
    )
}

fn allowed(schema: &Map<String, Value>) -> Option<Vec<Value>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(only), _) => Some(vec![only.clone()]),
        (None, Some(Value::Array(values))) => Some(values.clone()),
        _ => None,
    }
}

fn required(schema: &Map<String, Value>) -> BTreeSet<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    names
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

fn listed(kinds: &BTreeSet<&str>) -> String {
    kinds.iter().copied().collect::<Vec<_>>().join(" or ")
}

fn in_words(change: &Change<&Value>) -> String {
    match change {
        Change::Changed { before, after } => changed(before, after),
        Change::Removed(before) => format!("was {} and is gone", brief(before)),
        Change::Added(after) => format!("is new: {}", brief(after)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::drift::Findings;
    use super::*;
    use serde_json::json;

    fn tiers(side: SchemaSide, old: &Value, new: &Value) -> Vec<(Tier, String)> {
        let mut findings = Findings::default();
        compare(
            &mut findings.of("t", "tool `t`"),
            side,
            "inputSchema",
            old,
            new,
        );
        findings
            .found
            .into_iter()
            .map(|finding| (finding.tier, finding.path))
            .collect()
    }

    fn only_tier(side: SchemaSide, old: &Value, new: &Value) -> Tier {
        let tiers = tiers(side, old, new);
        assert_eq!(tiers.len(), 1, "{tiers:?}");
        tiers[0].0
    }

    #[test]
    fn more_demands_on_the_input_break_and_fewer_do_not() {
        let object = |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required});
        let old = object(json!({"a": {"type": "string"}}), json!([]));
        let cases = [
            (
                object(json!({"a": {"type": "string"}}), json!(["a"])),
                Tier::Breaking,
            ),
            (
                object(json!({"a": {"type": "string"}, "b": {}}), json!(["b"])),
                Tier::Breaking,
            ),
            (
                object(json!({"a": {"type": "string"}, "b": {}}), json!([])),
                Tier::Added,
            ),
            (object(json!({}), json!([])), Tier::Breaking),
            (
                object(json!({"a": {"type": ["string", "null"]}}), json!([])),
                Tier::Added,
            ),
            (
                object(json!({"a": {"type": "string", "maxLength": 5}}), json!([])),
                Tier::Breaking,
            ),
            (
                object(
                    json!({"a": {"type": "string", "description": "new"}}),
                    json!([]),
                ),
                Tier::Changed,
            ),
        ];
        for (new, tier) in cases {
            assert_eq!(only_tier(SchemaSide::Input, &old, &new), tier, "{new}");
        }
        let (number, integer) = (json!({"type": "number"}), json!({"type": "integer"}));
        assert_eq!(
            only_tier(SchemaSide::Input, &number, &integer),
            Tier::Breaking
        );
        assert_eq!(only_tier(SchemaSide::Input, &integer, &number), Tier::Added);
    }

    #[test]
    fn a_value_that_is_gone_breaks_and_a_new_one_is_added() {
        let of = |values: Value| json!({"enum": values});
        assert_eq!(
            only_tier(SchemaSide::Input, &of(json!(["a", "b"])), &of(json!(["a"]))),
            Tier::Breaking
        );
        assert_eq!(
            only_tier(SchemaSide::Input, &of(json!(["a"])), &of(json!(["a", "b"]))),
            Tier::Added
        );
        assert_eq!(
            only_tier(SchemaSide::Input, &json!({}), &of(json!(["a"]))),
            Tier::Breaking
        );
    }

    #[test]
    fn fewer_promises_of_the_output_break() {
        let old =
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
        let gone = json!({"type": "object", "properties": {}, "required": []});
        assert_eq!(only_tier(SchemaSide::Output, &old, &gone), Tier::Breaking);
        let maybe = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        assert_eq!(only_tier(SchemaSide::Output, &old, &maybe), Tier::Breaking);
        let nullable = json!({"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}, "required": ["a"]});
        assert_eq!(
            only_tier(SchemaSide::Output, &old, &nullable),
            Tier::Breaking
        );
    }
}
