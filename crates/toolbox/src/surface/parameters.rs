//! Does the schema declare what to pass, of which type, and how much of it?

use super::look::{Look, Part, SCHEMA};
use super::rules::Spot;
use regex::Regex;
use serde_json::Value;
use std::sync::LazyLock;

fn spots<'p, 'a: 'p>(
    parts: impl Iterator<Item = &'p Part<'a>>,
    what: impl Fn(&Part<'_>) -> String,
) -> Vec<Spot> {
    parts
        .map(|part| Spot::new(part.place.clone(), what(part)))
        .collect()
}

pub(super) fn is_undocumented(look: &Look<'_>, _: &[Look<'_>]) -> Vec<Spot> {
    let Some(root) = look.schema() else {
        return Vec::new();
    };
    let is_silent = |part: &&Part<'_>| {
        !is_described(part.schema, root, 0) && !explains(look.description, part.name)
    };
    spots(look.parameters().filter(is_silent), |part| {
        format!("`{}` has no description", part.name)
    })
}

/// The depth to which references and choices are followed.
const DEEPEST: usize = 4;

fn is_described(schema: &Value, root: &Value, depth: usize) -> bool {
    let has_words = schema["description"]
        .as_str()
        .is_some_and(|text| !text.trim().is_empty());
    let follow = |one: &Value| depth < DEEPEST && is_described(one, root, depth + 1);
    let target = schema["$ref"]
        .as_str()
        .and_then(|path| root.pointer(path.strip_prefix('#')?));
    let choices = ["anyOf", "oneOf", "allOf"]
        .into_iter()
        .filter_map(|key| schema[key].as_array())
        .flatten();
    has_words || target.into_iter().chain(choices).any(follow)
}

/// Returns true if a text explains this parameter: the name is in quotes, or begins a line and a colon, an equals
/// sign or a type follows, or its form is not that of a plain word.
fn explains(text: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_odd = name.contains('_') || name.contains(char::is_uppercase);
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        let is_whole = !before.ends_with(is_word) && !after.starts_with(is_word);
        let line = before.rsplit('\n').next().unwrap_or_default();
        let begins = line.trim_matches([' ', '\t', '-', '*', '`']).is_empty();
        let is_entry = begins
            && after
                .trim_start_matches([' ', '*', '`'])
                .starts_with([':', '=', '(']);
        is_whole && (is_odd || before.ends_with(['`', '\'', '"']) || is_entry)
    })
}

const SAYS_WHAT: [&str; 8] = [
    "type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf", "not",
];

pub(super) fn is_untyped(look: &Look<'_>, _: &[Look<'_>]) -> Vec<Spot> {
    let takes_anything = |part: &&Part<'_>| {
        part.is_property && SAYS_WHAT.iter().all(|key| part.schema.get(key).is_none())
    };
    spots(look.parts.iter().filter(takes_anything), |part| {
        format!("`{}` has no type", part.name)
    })
}

fn is_of(schema: &Value, kind: &str) -> bool {
    match &schema["type"] {
        Value::Array(kinds) => kinds.iter().any(|one| one == kind),
        one => one == kind,
    }
}

fn has_any(schema: &Value, keys: &[&str]) -> bool {
    keys.iter().any(|key| schema.get(key).is_some())
}

pub(super) fn is_enum_in_prose(look: &Look<'_>, _: &[Look<'_>]) -> Vec<Spot> {
    static LISTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let quoted = r#"["'`“‘][\w.-]+["'`”’]"#;
        let between = r"\s*(?:,\s*(?:or\s+|and\s+)?|\||/|\bor\b|\band\b)\s*";
        let before = r"(?i)(?:^either\b|\b(?:one of|(?:allowed|valid|possible|supported|accepted) (?:values|options)|must be|can be)\b)[^.\n]{0,12}?";
        Regex::new(&format!("{before}{quoted}(?:{between}{quoted})+")).ok()
    });
    let Some(listed) = LISTED.as_ref() else {
        return Vec::new();
    };
    let is_free = |part: &&Part<'_>| {
        let text = part.schema["description"].as_str().unwrap_or_default();
        is_of(part.schema, "string")
            && !has_any(part.schema, &["enum", "const", "pattern"])
            && listed.is_match(text)
    };
    spots(look.parts.iter().filter(is_free), |part| {
        format!("the values of `{}` are listed only in prose", part.name)
    })
}

/// Names, without `_`, of parameters that choose a page of a list.
const PAGING: [&str; 8] = [
    "cursor",
    "limit",
    "offset",
    "page",
    "pagenumber",
    "pagesize",
    "pagetoken",
    "perpage",
];

pub(super) fn nothing_is_required(look: &Look<'_>, _: &[Look<'_>]) -> Vec<Spot> {
    let says = ["required", "anyOf", "oneOf", "allOf", "dependentRequired"];
    let says_required = look.schema().is_some_and(|schema| has_any(schema, &says));
    let is_optional = |part: &Part<'_>| {
        let text = part.schema["description"]
            .as_str()
            .unwrap_or_default()
            .to_lowercase();
        let may_be_null = part.schema["anyOf"]
            .as_array()
            .is_some_and(|all| all.iter().any(|one| is_of(one, "null")));
        has_any(part.schema, &["default", "const"])
            || may_be_null
            || is_of(part.schema, "null")
            || is_of(part.schema, "boolean")
            || ["optional", "default", "omit", "if ", "instead"]
                .iter()
                .any(|word| text.contains(word))
    };
    // A list without its page is the first page.
    let names: Vec<String> = look
        .parameters()
        .filter(|part| !PAGING.contains(&part.name.to_lowercase().replace('_', "").as_str()))
        .map(|part| format!("`{}`", part.name))
        .collect();
    if says_required || names.is_empty() || look.parameters().any(is_optional) {
        return Vec::new();
    }
    let names = names.join(", ");
    let what = format!("none of {names} is required or has a default");
    vec![Spot::new(SCHEMA, what)]
}

pub(super) fn is_required_unknown(look: &Look<'_>, _: &[Look<'_>]) -> Vec<Spot> {
    let Some(schema) = look.schema() else {
        return Vec::new();
    };
    if has_any(schema, &["anyOf", "oneOf", "allOf", "$ref"]) {
        return Vec::new();
    }
    let required = schema["required"].as_array().into_iter().flatten();
    required
        .filter_map(Value::as_str)
        .filter(|name| look.parameters().all(|part| part.name != *name))
        .map(|name| {
            let what = format!("`{name}` is required but is not a property");
            Spot::new(format!("{SCHEMA}/required"), what)
        })
        .collect()
}

pub(super) fn is_string_unbounded(look: &Look<'_>, _: &[Look<'_>]) -> Vec<Spot> {
    const BOUNDS: [&str; 5] = ["maxLength", "enum", "const", "pattern", "format"];
    let is_unbounded =
        |part: &&Part<'_>| is_of(part.schema, "string") && !has_any(part.schema, &BOUNDS);
    spots(look.parts.iter().filter(is_unbounded), |part| {
        format!("`{}` is a string of any length", part.name)
    })
}

pub(super) fn is_array_unbounded(look: &Look<'_>, _: &[Look<'_>]) -> Vec<Spot> {
    let is_unbounded = |part: &&Part<'_>| {
        is_of(part.schema, "array") && !has_any(part.schema, &["maxItems", "enum", "const"])
    };
    spots(look.parts.iter().filter(is_unbounded), |part| {
        format!("`{}` is a list of any length", part.name)
    })
}
