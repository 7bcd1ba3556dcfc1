//! How does a choice between objects become one object?

use super::rules::any_of;
use super::tree::{Entries, Tree};

/// The maximum depth of nested references and choices to follow.
const DEEPEST: usize = 8;

const CHOICES: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Merges the choices at the top of a schema into its properties. Properties that every choice
/// requires stay required.
pub(super) fn merge_choices(schema: &mut Entries) -> bool {
    let root = schema.clone();
    merge(schema, &root, 0)
}

fn merge(schema: &mut Entries, root: &Entries, depth: usize) -> bool {
    let mut is_merged = false;
    for key in CHOICES {
        let Some(choices) = schema.remove(key) else {
            continue;
        };
        is_merged = true;
        let choices = choices.list().unwrap_or_default();
        let choices: Vec<Entries> = choices
            .iter()
            .filter_map(|choice| flat(choice, root, depth + 1))
            .collect();
        let demands: Vec<Vec<String>> = choices.iter().map(required).collect();
        let is_for_all =
            |name: &String| key == "allOf" || demands.iter().all(|names| names.contains(name));
        let mut needed = required(schema);
        for name in demands.iter().flatten().filter(|name| is_for_all(name)) {
            if !needed.contains(name) {
                needed.push(name.clone());
            }
        }
        for choice in choices {
            unite(schema, choice);
        }
        if !needed.is_empty() {
            schema.set(
                "required",
                Tree::List(needed.iter().map(|name| Tree::text(name)).collect()),
            );
        }
    }
    is_merged
}

/// A choice with its reference followed and its own choices merged.
fn flat(choice: &Tree, root: &Entries, depth: usize) -> Option<Entries> {
    if depth > DEEPEST {
        return None;
    }
    let mut choice = choice.object()?.clone();
    if let Some(target) = choice.get("$ref").and_then(Tree::scalar::<String>) {
        let mut path = target.strip_prefix("#/")?.split('/');
        let first = root.get(path.next()?)?;
        let found = path.try_fold(first, |found, key| found.object()?.get(key))?;
        return flat(found, root, depth + 1);
    }
    merge(&mut choice, root, depth);
    Some(choice)
}

fn required(schema: &Entries) -> Vec<String> {
    let names = schema
        .get("required")
        .and_then(Tree::list)
        .unwrap_or_default();
    names.iter().filter_map(Tree::scalar).collect()
}

/// Adds the properties of a choice. A property that already exists may match either schema.
fn unite(schema: &mut Entries, mut choice: Entries) {
    let Some(Tree::Object(more)) = choice.remove("properties") else {
        return;
    };
    if schema.get("properties").and_then(Tree::object).is_none() {
        schema.set("properties", Tree::empty());
    }
    let Some(properties) = schema.get_mut("properties").and_then(Tree::object_mut) else {
        return;
    };
    for (key, value) in more.0 {
        let value = match properties.get(&key) {
            Some(known) => any_of(&either(known, value)),
            None => value,
        };
        properties.set(&key, value);
    }
}

/// Extends an `anyOf` made by an earlier merge, so that three choices are one list.
fn either(known: &Tree, value: Tree) -> Vec<Tree> {
    let entries = known.object().map(|entries| entries.0.as_slice());
    let mut all = match entries {
        Some([(key, Tree::List(known))]) if key == "anyOf" => known.clone(),
        _ => vec![known.clone()],
    };
    all.push(value);
    all
}
