//! What do providers refuse in the schema of a tool, and how is it rewritten?

use super::merge::merge_choices;
use super::tree::{Entries, Tree};
use crate::provider::Family;
use std::collections::BTreeMap;

/// A row of the table: a construct that some providers refuse, with its replacement.
#[derive(Debug)]
pub struct SchemaRule {
    /// Its name.
    pub name: &'static str,
    /// The families of providers that refuse it.
    pub families: &'static [&'static str],
    /// The construct that they refuse.
    pub refused: &'static str,
    /// The replacement, in words.
    pub mend: &'static str,
    /// True if the rule changes only the form, so that the schema keeps its meaning.
    pub is_form: bool,
    /// True if the rule applies to the whole schema instead of every part of it.
    pub(super) is_of_whole: bool,
    pub(super) apply: Apply,
}

/// Rewrites a part of a schema; returns false if the part needs no change.
type Apply = fn(&mut Entries, &mut Renamed) -> bool;

/// The server's names of arguments, by the names that the model sees.
pub(super) type Renamed = BTreeMap<String, String>;

/// The rule about the names of properties.
pub(super) const KEYS: &str = "keys";

const ALL: &[&str] = &["anthropic", "openai", "gemini", "mistral"];

/// The table, in the order in which the rules apply.
pub const RULES: &[SchemaRule] = &[
    SchemaRule {
        name: "choice",
        families: &["anthropic", "openai"],
        refused: "`anyOf`, `oneOf` or `allOf` at the top level",
        mend: "mcptest merges the choices into one object",
        is_form: false,
        is_of_whole: true,
        apply: |schema, _| merge_choices(schema),
    },
    SchemaRule {
        name: "type",
        families: ALL,
        refused: "a schema without `type: object`",
        mend: "mcptest adds `type: object`",
        is_form: true,
        is_of_whole: true,
        apply: |schema, _| write_type(schema),
    },
    SchemaRule {
        name: "properties",
        families: &["openai"],
        refused: "an object without `properties`",
        mend: "mcptest adds `properties: {}`",
        is_form: true,
        is_of_whole: true,
        apply: |schema, _| add_properties(schema),
    },
    SchemaRule {
        name: KEYS,
        families: &["anthropic"],
        refused: "a property whose name is not 1 to 64 of the characters a-z, A-Z, 0-9, `_`, `.` and `-`",
        mend: "mcptest offers it under another name; calls use its own name",
        is_form: false,
        is_of_whole: true,
        apply: rename_keys,
    },
    SchemaRule {
        name: "schema",
        families: &["gemini"],
        refused: "`$schema`",
        mend: "mcptest removes it",
        is_form: true,
        is_of_whole: false,
        apply: |schema, _| remove_declaration(schema),
    },
    SchemaRule {
        name: "tuple",
        families: ALL,
        refused: "a list as `items`",
        mend: "mcptest writes one schema for any of them",
        is_form: false,
        is_of_whole: false,
        apply: |schema, _| merge_tuple(schema),
    },
    SchemaRule {
        name: "items",
        families: &["openai", "gemini"],
        refused: "an array without `items`",
        mend: "mcptest adds `items`",
        is_form: true,
        is_of_whole: false,
        apply: |schema, _| add_items(schema),
    },
    SchemaRule {
        name: "exclusive",
        families: ALL,
        refused: "`exclusiveMinimum` or `exclusiveMaximum` that is true or false",
        mend: "mcptest writes the limit as a number",
        is_form: true,
        is_of_whole: false,
        apply: |schema, _| write_exclusive_limits(schema),
    },
    SchemaRule {
        name: "required",
        families: ALL,
        refused: "`required` that is not a list",
        mend: "mcptest removes it",
        is_form: false,
        is_of_whole: false,
        apply: |schema, _| remove_required(schema),
    },
];

fn write_type(schema: &mut Entries) -> bool {
    if schema.get("type").is_some_and(|kind| kind.is("object")) {
        return false;
    }
    schema.set("type", Tree::text("object"));
    true
}

fn add_properties(schema: &mut Entries) -> bool {
    if schema.get("properties").and_then(Tree::object).is_some() {
        return false;
    }
    schema.set("properties", Tree::empty());
    true
}

fn remove_declaration(schema: &mut Entries) -> bool {
    let is_there = schema
        .get("$schema")
        .is_some_and(|value| value.scalar::<String>().is_some());
    is_there && schema.remove("$schema").is_some()
}

fn merge_tuple(schema: &mut Entries) -> bool {
    let Some(items) = schema.get("items").and_then(Tree::list) else {
        return false;
    };
    let any = any_of(items);
    schema.set("items", any);
    true
}

fn add_items(schema: &mut Entries) -> bool {
    if !may_be_array(schema) || schema.get("items").is_some() {
        return false;
    }
    let known = schema.get("prefixItems").and_then(Tree::list);
    let any = any_of(known.unwrap_or_default());
    schema.set("items", any);
    true
}

fn write_exclusive_limits(schema: &mut Entries) -> bool {
    let low = write_exclusive_limit(schema, "exclusiveMinimum", "minimum");
    let high = write_exclusive_limit(schema, "exclusiveMaximum", "maximum");
    low || high
}

fn remove_required(schema: &mut Entries) -> bool {
    let is_wrong = schema
        .get("required")
        .is_some_and(|required| required.list().is_none());
    is_wrong && schema.remove("required").is_some()
}

fn may_be_array(schema: &Entries) -> bool {
    let Some(kind) = schema.get("type") else {
        return false;
    };
    kind.is("array")
        || kind
            .list()
            .is_some_and(|kinds| kinds.iter().any(|kind| kind.is("array")))
}

/// A schema that each of these fits; equal schemas appear once.
pub(super) fn any_of(schemas: &[Tree]) -> Tree {
    let mut distinct: Vec<Tree> = Vec::new();
    for schema in schemas {
        let text = schema.to_raw();
        if !distinct
            .iter()
            .any(|known| known.to_raw().get() == text.get())
        {
            distinct.push(schema.clone());
        }
    }
    match distinct.len() {
        0 => Tree::empty(),
        1 => distinct.remove(0),
        _ => Tree::Object(Entries(vec![("anyOf".to_owned(), Tree::List(distinct))])),
    }
}

/// In draft 4, a flag makes a limit exclusive; in later drafts, the limit is a separate number.
fn write_exclusive_limit(schema: &mut Entries, key: &str, limit: &str) -> bool {
    let Some(is_exclusive) = schema.get(key).and_then(Tree::scalar::<bool>) else {
        return false;
    };
    match schema.get(limit).cloned().filter(|_| is_exclusive) {
        Some(value) => {
            schema.set(key, value);
            schema.remove(limit);
        }
        None => {
            schema.remove(key);
        }
    }
    true
}

const LONGEST_KEY: usize = 64;

fn is_allowed(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')
}

fn is_taken(key: &str) -> bool {
    (1..=LONGEST_KEY).contains(&key.len()) && key.chars().all(is_allowed)
}

/// Renames keys. Only the names at the top level are checked.
fn rename_keys(schema: &mut Entries, renamed: &mut Renamed) -> bool {
    let Some(properties) = schema.get_mut("properties").and_then(Tree::object_mut) else {
        return false;
    };
    let mut names: Vec<String> = properties.0.iter().map(|(key, _)| key.clone()).collect();
    for (key, _) in &mut properties.0 {
        if !is_taken(key) {
            let offered = accepted(key, &names);
            names.push(offered.clone());
            renamed.insert(offered.clone(), std::mem::replace(key, offered));
        }
    }
    if let Some(Tree::List(required)) = schema.get_mut("required") {
        for name in required {
            let offered = renamed
                .iter()
                .find(|(_, own)| name.is(own))
                .map(|(offered, _)| offered);
            if let Some(offered) = offered {
                *name = Tree::text(offered);
            }
        }
    }
    !renamed.is_empty()
}

/// A name in accepted characters that differs from the existing names.
fn accepted(key: &str, names: &[String]) -> String {
    let plain: String = key
        .chars()
        .map(|c| if is_allowed(c) { c } else { '_' })
        .collect();
    let plain = if plain.is_empty() {
        "_".to_owned()
    } else {
        plain
    };
    let numbered = (1..).map(|number| {
        let end = if number == 1 {
            String::new()
        } else {
            format!("_{number}")
        };
        format!(
            "{}{end}",
            &plain[..plain.len().min(LONGEST_KEY - end.len())]
        )
    });
    let mut free = numbered.filter(|name| !names.contains(name));
    free.next().unwrap_or_default()
}

/// The maximum number of tools in a request.
pub fn most_tools(family: &Family) -> Option<usize> {
    (family.name == "openai").then_some(128)
}
