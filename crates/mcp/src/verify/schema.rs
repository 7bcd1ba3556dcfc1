//! Does a schema ask for more, or promise less, than it did?

use super::drift::{Subject, Tier};
use super::value::brief;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Who must keep to the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// The client: more demands break it.
    Input,
    /// The server: fewer promises break the client.
    Output,
}

const WORDS: &[&str] = &["description", "title", "default", "examples", "deprecated", "readOnly", "$comment"];
const LOWER_BOUNDS: &[&str] = &["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];
const UPPER_BOUNDS: &[&str] = &["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];
const EXACT_LIMITS: &[&str] = &["pattern", "format", "multipleOf", "uniqueItems", "not", "contentEncoding"];
const COMBINED: &[&str] = &["anyOf", "oneOf", "allOf", "$ref", "$defs", "definitions", "if", "then", "else"];
const DEEPEST: usize = 64;

/// Compares two schemas.
pub(super) fn compare(subject: &mut Subject<'_>, side: Side, path: &str, old: &Value, new: &Value) {
    at_depth(subject, side, path, (old, new), 0);
}

fn at_depth(subject: &mut Subject<'_>, side: Side, path: &str, (old, new): (&Value, &Value), depth: usize) {
    if old == new || depth > DEEPEST {
        return;
    }
    let (Value::Object(old), Value::Object(new)) = (old, new) else {
        subject.add(Tier::Changed, path, format!("was {} and is {}", brief(old), brief(new)));
        return;
    };
    types(subject, side, path, old, new);
    values(subject, side, path, old, new);
    limits(subject, side, path, old, new);
    properties(subject, side, path, (old, new), depth);
    if let (Some(old), Some(new)) = (old.get("items"), new.get("items")) {
        at_depth(subject, side, &format!("{path}.items"), (old, new), depth + 1);
    }
    for word in WORDS.iter().chain(COMBINED) {
        if old.get(*word) != new.get(*word) && !(is_union(word) && types_of(old) != types_of(new)) {
            subject.add(Tier::Changed, &format!("{path}.{word}"), said(old.get(*word), new.get(*word)));
        }
    }
    let is_closed =
        |schema: &Map<String, Value>| schema.get("additionalProperties") == Some(&Value::Bool(false));
    if is_closed(old) != is_closed(new) {
        let now = if is_closed(new) {
            "other properties are refused now"
        } else {
            "other properties are taken now"
        };
        subject.add(Tier::Changed, &format!("{path}.additionalProperties"), now);
    }
}

fn is_union(word: &str) -> bool {
    matches!(word, "anyOf" | "oneOf")
}

fn types(
    subject: &mut Subject<'_>,
    side: Side,
    path: &str,
    old: &Map<String, Value>,
    new: &Map<String, Value>,
) {
    let (before, after) = (types_of(old), types_of(new));
    let at = format!("{path}.type");
    match (before, after) {
        (None, Some(after)) => {
            let tier = if side == Side::Input { Tier::Breaking } else { Tier::Changed };
            subject.add(tier, &at, format!("is only {} now", listed(&after)));
        }
        (Some(before), None) => {
            let tier = if side == Side::Input { Tier::Added } else { Tier::Breaking };
            subject.add(tier, &at, format!("was {} and can be anything now", listed(&before)));
        }
        (Some(before), Some(after)) if before != after => {
            let gone: BTreeSet<&str> = before.iter().copied().filter(|kind| !takes(&after, kind)).collect();
            let come: BTreeSet<&str> = after.iter().copied().filter(|kind| !takes(&before, kind)).collect();
            let (narrower, wider) = match side {
                Side::Input => (Tier::Breaking, Tier::Added),
                Side::Output => (Tier::Changed, Tier::Breaking),
            };
            if !gone.is_empty() {
                subject.add(
                    narrower,
                    &at,
                    format!("is no longer {}; it is {}", listed(&gone), listed(&after)),
                );
            }
            if !come.is_empty() {
                subject.add(wider, &at, format!("can be {} now", listed(&come)));
            }
        }
        _ => {}
    }
}

fn takes(types: &BTreeSet<&str>, kind: &str) -> bool {
    types.contains(kind) || (kind == "integer" && types.contains("number"))
}

/// The types of a schema, also those of its alternatives; `None` when it does not say.
fn types_of(schema: &Map<String, Value>) -> Option<BTreeSet<&str>> {
    match schema.get("type") {
        Some(Value::String(kind)) => return Some(BTreeSet::from([kind.as_str()])),
        Some(Value::Array(kinds)) => return kinds.iter().map(Value::as_str).collect(),
        _ => {}
    }
    let alternatives = schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()?;
    let kinds = alternatives.iter().map(|one| one.as_object().and_then(types_of));
    Some(kinds.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect())
}

fn values(
    subject: &mut Subject<'_>,
    side: Side,
    path: &str,
    old: &Map<String, Value>,
    new: &Map<String, Value>,
) {
    let at = format!("{path}.enum");
    match (allowed(old), allowed(new)) {
        (None, Some(new)) => {
            let tier = if side == Side::Input { Tier::Breaking } else { Tier::Changed };
            subject.add(tier, &at, format!("is only one of {} now", brief(&Value::Array(new))));
        }
        (Some(_), None) => {
            let tier = if side == Side::Input { Tier::Added } else { Tier::Changed };
            subject.add(tier, &at, "is no longer one of a few values");
        }
        (Some(before), Some(after)) => {
            let tier = if side == Side::Input { Tier::Breaking } else { Tier::Changed };
            for value in before.iter().filter(|value| !after.contains(value)) {
                subject.add(tier, &at, format!("the value {} is gone", brief(value)));
            }
            let tier = if side == Side::Input { Tier::Added } else { Tier::Changed };
            for value in after.iter().filter(|value| !before.contains(value)) {
                subject.add(tier, &at, format!("the value {} is new", brief(value)));
            }
        }
        (None, None) => {}
    }
}

fn allowed(schema: &Map<String, Value>) -> Option<Vec<Value>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(only), _) => Some(vec![only.clone()]),
        (None, Some(Value::Array(values))) => Some(values.clone()),
        _ => None,
    }
}

fn limits(
    subject: &mut Subject<'_>,
    side: Side,
    path: &str,
    old: &Map<String, Value>,
    new: &Map<String, Value>,
) {
    for (words, is_lower) in [(LOWER_BOUNDS, Some(true)), (UPPER_BOUNDS, Some(false)), (EXACT_LIMITS, None)] {
        for word in words {
            let (before, after) = (old.get(*word), new.get(*word));
            if before == after {
                continue;
            }
            let is_tighter = match (before.and_then(Value::as_f64), after.and_then(Value::as_f64), is_lower) {
                (Some(before), Some(after), Some(true)) => after > before,
                (Some(before), Some(after), Some(false)) => after < before,
                _ => after.is_some(),
            };
            let tier = if is_tighter && side == Side::Input { Tier::Breaking } else { Tier::Changed };
            subject.add(tier, &format!("{path}.{word}"), said(before, after));
        }
    }
}

fn properties(
    subject: &mut Subject<'_>,
    side: Side,
    path: &str,
    (old, new): (&Map<String, Value>, &Map<String, Value>),
    depth: usize,
) {
    let none = Map::new();
    let of = |schema: &'_ Map<String, Value>| schema.get("properties").and_then(Value::as_object).cloned();
    let (before, after) = (of(old).unwrap_or_else(|| none.clone()), of(new).unwrap_or(none));
    let (was_required, is_required) = (required(old), required(new));
    for (name, old) in &before {
        let at = format!("{path}.properties.{name}");
        let Some(new) = after.get(name) else {
            subject.add(Tier::Breaking, &at, "is gone");
            continue;
        };
        match (was_required.contains(name.as_str()), is_required.contains(name.as_str())) {
            (false, true) => {
                let tier = if side == Side::Input { Tier::Breaking } else { Tier::Changed };
                subject.add(tier, &at, "is required now");
            }
            (true, false) => {
                let tier = if side == Side::Input { Tier::Changed } else { Tier::Breaking };
                subject.add(tier, &at, "is no longer required");
            }
            _ => {}
        }
        at_depth(subject, side, &at, (old, new), depth + 1);
    }
    for name in after.keys().filter(|name| !before.contains_key(*name)) {
        let at = format!("{path}.properties.{name}");
        if side == Side::Input && is_required.contains(name.as_str()) {
            subject.add(Tier::Breaking, &at, "is new and required");
        } else {
            subject.add(Tier::Added, &at, "is new");
        }
    }
}

fn required(schema: &Map<String, Value>) -> BTreeSet<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str).collect()
}

fn listed(kinds: &BTreeSet<&str>) -> String {
    kinds.iter().copied().collect::<Vec<_>>().join(" or ")
}

fn said(before: Option<&Value>, after: Option<&Value>) -> String {
    match (before, after) {
        (Some(before), Some(after)) => format!("was {} and is {}", brief(before), brief(after)),
        (Some(before), None) => format!("was {} and is gone", brief(before)),
        (None, Some(after)) => format!("is {} and was not there", brief(after)),
        (None, None) => "differs".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::drift::Findings;
    use super::*;
    use serde_json::json;

    fn tiers(side: Side, old: &Value, new: &Value) -> Vec<(Tier, String)> {
        let mut findings = Findings::default();
        compare(&mut findings.of("t", "tool `t`"), side, "inputSchema", old, new);
        findings.found.into_iter().map(|finding| (finding.tier, finding.path)).collect()
    }

    fn only_tier(side: Side, old: &Value, new: &Value) -> Tier {
        let tiers = tiers(side, old, new);
        assert_eq!(tiers.len(), 1, "{tiers:?}");
        tiers[0].0
    }

    #[test]
    fn more_demands_on_the_input_break_and_fewer_do_not() {
        let object = |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required});
        let old = object(json!({"a": {"type": "string"}}), json!([]));
        let cases = [
            (object(json!({"a": {"type": "string"}}), json!(["a"])), Tier::Breaking),
            (object(json!({"a": {"type": "string"}, "b": {}}), json!(["b"])), Tier::Breaking),
            (object(json!({"a": {"type": "string"}, "b": {}}), json!([])), Tier::Added),
            (object(json!({}), json!([])), Tier::Breaking),
            (object(json!({"a": {"type": ["string", "null"]}}), json!([])), Tier::Added),
            (object(json!({"a": {"type": "string", "maxLength": 5}}), json!([])), Tier::Breaking),
            (object(json!({"a": {"type": "string", "description": "new"}}), json!([])), Tier::Changed),
        ];
        for (new, tier) in cases {
            assert_eq!(only_tier(Side::Input, &old, &new), tier, "{new}");
        }
        let (number, integer) = (json!({"type": "number"}), json!({"type": "integer"}));
        assert_eq!(only_tier(Side::Input, &number, &integer), Tier::Breaking);
        assert_eq!(only_tier(Side::Input, &integer, &number), Tier::Added);
    }

    #[test]
    fn a_value_that_is_gone_breaks_and_a_new_one_is_added() {
        let of = |values: Value| json!({"enum": values});
        assert_eq!(only_tier(Side::Input, &of(json!(["a", "b"])), &of(json!(["a"]))), Tier::Breaking);
        assert_eq!(only_tier(Side::Input, &of(json!(["a"])), &of(json!(["a", "b"]))), Tier::Added);
        assert_eq!(only_tier(Side::Input, &json!({}), &of(json!(["a"]))), Tier::Breaking);
    }

    #[test]
    fn fewer_promises_of_the_output_break() {
        let old = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
        let gone = json!({"type": "object", "properties": {}, "required": []});
        assert_eq!(only_tier(Side::Output, &old, &gone), Tier::Breaking);
        let maybe = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        assert_eq!(only_tier(Side::Output, &old, &maybe), Tier::Breaking);
        let nullable = json!({"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}, "required": ["a"]});
        assert_eq!(only_tier(Side::Output, &old, &nullable), Tier::Breaking);
    }
}
