//! What do providers refuse in the schema of a tool, and what is sent in its place?

use super::merge::merge_choices;
use super::tree::{Entries, Tree};
use crate::provider::Family;
use std::collections::BTreeMap;

/// A row of the table: what which providers refuse, and how it is mended.
#[derive(Debug)]
pub struct SchemaRule {
    /// Its name.
    pub name: &'static str,
    /// The families of providers that refuse it.
    pub families: &'static [&'static str],
    /// What they refuse.
    pub refused: &'static str,
    /// What is done about it.
    pub mend: &'static str,
    /// Whether it is a matter of form, so that the schema says after it what it said before.
    pub is_form: bool,
    /// Whether it is about the whole schema, and not about every part of it.
    pub(super) is_of_whole: bool,
    pub(super) apply: Apply,
}

/// Mends a part of a schema; false when there is nothing to mend.
type Apply = fn(&mut Entries, &mut Renamed) -> bool;

/// The server's own names of arguments, by those that the model is told.
pub(super) type Renamed = BTreeMap<String, String>;

/// The rule about the names of properties.
pub(super) const KEYS: &str = "keys";

const ALL: &[&str] = &["anthropic", "openai", "gemini", "mistral"];

const fn of_part(
    name: &'static str,
    families: &'static [&'static str],
    apply: Apply,
) -> SchemaRule {
    SchemaRule {
        name,
        families,
        refused: "",
        mend: "",
        is_form: false,
        is_of_whole: false,
        apply,
    }
}

const fn of_whole(
    name: &'static str,
    families: &'static [&'static str],
    apply: Apply,
) -> SchemaRule {
    SchemaRule {
        is_of_whole: true,
        ..of_part(name, families, apply)
    }
}

impl SchemaRule {
    /// One that is a matter of form.
    const fn form(self, refused: &'static str, mend: &'static str) -> Self {
        Self {
            refused,
            mend,
            is_form: true,
            ..self
        }
    }

    /// One after which the schema says something else.
    const fn loss(self, refused: &'static str, mend: &'static str) -> Self {
        Self {
            refused,
            mend,
            ..self
        }
    }
}

/// The table, in the order in which a schema is mended.
pub const RULES: &[SchemaRule] = &[
    of_whole("choice", &["anthropic", "openai"], |schema, _| {
        merge_choices(schema)
    })
    .loss(
        "`anyOf`, `oneOf` or `allOf` at the top level",
        "the choices are merged into one object",
    ),
    of_whole("type", ALL, |schema, _| {
        let is_wrong = !schema.get("type").is_some_and(|kind| kind.is("object"));
        if is_wrong {
            schema.set("type", Tree::text("object"));
        }
        is_wrong
    })
    .form(
        "a schema without `type: object`",
        "`type: object` is written",
    ),
    of_whole("properties", &["openai"], |schema, _| {
        let is_wrong = schema.get("properties").and_then(Tree::object).is_none();
        if is_wrong {
            schema.set("properties", Tree::empty());
        }
        is_wrong
    })
    .form(
        "an object without `properties`",
        "`properties: {}` is added",
    ),
    of_whole(KEYS, &["anthropic"], rename_keys).loss(
        "a property whose name is not 1 to 64 of the characters a-z, A-Z, 0-9, `_`, `.` and `-`",
        "it is offered under another name, and called by its own",
    ),
    of_part("schema", &["gemini"], |schema, _| {
        let is_there = schema
            .get("$schema")
            .is_some_and(|value| value.scalar::<String>().is_some());
        is_there && schema.remove("$schema").is_some()
    })
    .form("`$schema`", "it is removed"),
    of_part("tuple", ALL, |schema, _| {
        let Some(items) = schema.get("items").and_then(Tree::list) else {
            return false;
        };
        let any = any_of(items);
        schema.set("items", any);
        true
    })
    .loss("a list as `items`", "`items` is any one of them"),
    of_part("items", &["openai", "gemini"], |schema, _| {
        let is_wrong = may_be_array(schema) && schema.get("items").is_none();
        if is_wrong {
            let known = schema
                .get("prefixItems")
                .and_then(Tree::list)
                .unwrap_or_default();
            let any = any_of(known);
            schema.set("items", any);
        }
        is_wrong
    })
    .form("an array without `items`", "`items` is added"),
    of_part("exclusive", ALL, |schema, _| {
        let low = exclusive(schema, "exclusiveMinimum", "minimum");
        exclusive(schema, "exclusiveMaximum", "maximum") || low
    })
    .form(
        "`exclusiveMinimum` or `exclusiveMaximum` that is true or false",
        "the limit is written as a number",
    ),
    of_part("required", ALL, |schema, _| {
        let is_wrong = schema
            .get("required")
            .is_some_and(|required| required.list().is_none());
        is_wrong && schema.remove("required").is_some()
    })
    .loss("`required` that is not a list", "it is removed"),
];

fn may_be_array(schema: &Entries) -> bool {
    let Some(kind) = schema.get("type") else {
        return false;
    };
    kind.is("array")
        || kind
            .list()
            .is_some_and(|kinds| kinds.iter().any(|kind| kind.is("array")))
}

/// A schema that each of these fits; what says the same is said once.
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

/// Draft 4 says whether a limit is exclusive; later drafts give the limit.
fn exclusive(schema: &mut Entries, key: &str, limit: &str) -> bool {
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

/// Only the names at the top are looked at there.
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

/// A name in the characters that are taken, unlike those that are there.
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

/// The most tools that a request may have.
pub fn most_tools(family: &Family) -> Option<usize> {
    (family.name == "openai").then_some(128)
}
