//! In how many ways does a schema lead to its own parts?
//!
//! For `unevaluatedProperties` and `unevaluatedItems`, the validator expands every way through the
//! adjacent schemas before any step can be counted. It also follows references into data and to
//! maps of schemas, which are not counted.

use super::steps::MAPS;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

const MOST_PATHS: u64 = 4096;
const MOST_LOOKUPS: usize = 10_000_000;
/// Nested schemas for the same value; each uses stack space.
const LONGEST_CHAIN: usize = 32;
const DEEPEST: usize = 256;
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// True for a schema that the validator must not compile.
pub(super) fn are_too_many(schema: &Value) -> bool {
    let mut found = RelevantParts::default();
    found.look(schema, false);
    let names = found.resources.len() + found.anchors.len();
    if (found.has_references_in_data && found.leads_into_data)
        || names * found.references.len() > MOST_LOOKUPS
    {
        return true;
    }
    let mut paths = Paths {
        root: schema,
        found: &found,
        counted: HashMap::default(),
    };
    let leads_to_a_map = found.references.iter().any(|(reference, _)| {
        paths
            .targets(reference)
            .iter()
            .any(|target| found.maps.contains(&place_of(target)))
    });
    leads_to_a_map
        || found.unevaluated.iter().any(|schema| paths.count(schema, 0).count > MOST_PATHS)
        // Before the draft of 2019 nothing beside a `$ref` counts, and so no step is counted there.
        || (found.is_old && found.references.iter().any(|(_, schema)| paths.count(schema, 0).depth > LONGEST_CHAIN))
}

fn place_of(schema: &Value) -> usize {
    std::ptr::from_ref(schema) as usize
}

/// Returns true if a reference leads back to its own schema for the same value, so that no rule ever decides. Not
/// detected for parts with their own addresses.
pub(super) fn are_endless(schema: &Value) -> bool {
    let mut found = RelevantParts::default();
    found.look(schema, false);
    let is_root = |resource: &Value| place_of(resource) == place_of(schema);
    if found.references.is_empty() || !found.resources.iter().all(|(_, it)| is_root(it)) {
        return false;
    }
    let mut paths = Paths {
        root: schema,
        found: &found,
        counted: HashMap::default(),
    };
    found
        .references
        .iter()
        .any(|(_, schema)| paths.count(schema, 0).is_endless)
}

/// The relevant parts of a schema.
#[derive(Default)]
struct RelevantParts<'a> {
    unevaluated: Vec<&'a Value>,
    /// Schemas with their own address.
    resources: Vec<(&'a str, &'a Value)>,
    anchors: Vec<(&'a str, &'a Value)>,
    /// References, each with the schema that has it.
    references: Vec<(&'a str, &'a Value)>,
    /// Maps of schemas, which are not schemas themselves.
    maps: HashSet<usize>,
    is_old: bool,
    has_references_in_data: bool,
    leads_into_data: bool,
}

impl<'a> RelevantParts<'a> {
    fn look(&mut self, schema: &'a Value, is_map_of_schemas: bool) {
        if is_map_of_schemas {
            self.maps.insert(place_of(schema));
        }
        match schema {
            Value::Object(fields) => {
                for (key, value) in fields {
                    match (key.as_str(), value) {
                        ("unevaluatedProperties" | "unevaluatedItems", _) => {
                            self.unevaluated.push(schema);
                        }
                        ("$schema", Value::String(name)) => self.is_old |= name.contains("draft-0"),
                        ("$id" | "id", Value::String(name)) => self.resources.push((name, schema)),
                        ("$anchor" | "$dynamicAnchor", Value::String(name)) => {
                            self.anchors.push((name, schema));
                        }
                        ("const" | "enum", _) if !is_map_of_schemas => {
                            self.has_references_in_data |= has_reference(value);
                        }
                        (key, Value::String(name)) if REFERENCES.contains(&key) => {
                            self.references.push((name, schema));
                            let name = decoded(name);
                            self.leads_into_data |=
                                name.contains("/const") || name.contains("/enum");
                        }
                        _ => {}
                    }
                    self.look(value, !is_map_of_schemas && MAPS.contains(&key.as_str()));
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.look(item, false)),
            _ => {}
        }
    }
}

/// A reference without the `%20` of addresses.
fn decoded(reference: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = reference.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = after
            .get(..2)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = hex
            .filter(|_| *first == b'%')
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn has_reference(data: &Value) -> bool {
    match data {
        Value::Object(fields) => fields
            .iter()
            .any(|(key, value)| REFERENCES.contains(&key.as_str()) || has_reference(value)),
        Value::Array(items) => items.iter().any(has_reference),
        _ => false,
    }
}

struct Paths<'a> {
    root: &'a Value,
    found: &'a RelevantParts<'a>,
    /// By the schema's address; `None` while it is being counted.
    counted: HashMap<usize, Option<Ways>>,
}

/// The paths from a schema to other schemas for the same value.
#[derive(Clone, Copy)]
struct Ways {
    count: u64,
    /// The length of the longest chain.
    depth: usize,
    /// True if a path leads back to its start.
    is_endless: bool,
}

impl<'a> Paths<'a> {
    fn count(&mut self, schema: &'a Value, depth: usize) -> Ways {
        if depth > DEEPEST {
            return Ways {
                count: u64::MAX,
                depth,
                is_endless: false,
            };
        }
        let place = place_of(schema);
        match self.counted.get(&place) {
            Some(Some(ways)) => return *ways,
            // It comes back to itself for the same value, and there is no end.
            Some(None) => {
                return Ways {
                    count: u64::MAX,
                    depth: 0,
                    is_endless: true,
                };
            }
            None => {}
        }
        self.counted.insert(place, None);
        let mut ways = Ways {
            count: 1,
            depth: 1,
            is_endless: false,
        };
        for (key, value) in schema.as_object().into_iter().flatten() {
            for other in self.beside(key, value) {
                let further = self.count(other, depth + 1);
                ways.count = ways.count.saturating_add(further.count);
                ways.depth = ways.depth.max(further.depth + 1);
                ways.is_endless |= further.is_endless;
            }
        }
        self.counted.insert(place, Some(ways));
        ways
    }

    /// The schemas under a keyword that are for the same value.
    fn beside(&self, key: &str, value: &'a Value) -> Vec<&'a Value> {
        match (key, value) {
            ("allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => schemas.iter().collect(),
            ("dependentSchemas" | "dependencies", Value::Object(schemas)) => {
                schemas.values().collect()
            }
            ("if" | "not" | "then" | "else", schema) => vec![schema],
            (key, Value::String(name)) if REFERENCES.contains(&key) => self.targets(name),
            _ => Vec::new(),
        }
    }

    /// Every schema that the reference may mean.
    fn targets(&self, reference: &str) -> Vec<&'a Value> {
        let (address, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let named =
            |name: &str| name.trim_end_matches('#').ends_with(address) || address.ends_with(name);
        let resources = std::iter::once(self.root).chain(
            self.found
                .resources
                .iter()
                .filter(|(name, _)| named(name))
                .map(|(_, resource)| *resource),
        );
        let mut targets: Vec<&'a Value> = match fragment {
            "" if address.is_empty() => vec![self.root],
            "" => resources.skip(1).collect(),
            pointer if pointer.starts_with('/') => {
                let pointer = decoded(pointer);
                resources
                    .filter_map(|resource| resource.pointer(&pointer))
                    .collect()
            }
            anchor => self
                .found
                .anchors
                .iter()
                .filter(|(name, _)| *name == anchor)
                .map(|(_, it)| *it)
                .collect(),
        };
        targets.dedup_by_key(|target| place_of(target));
        targets
    }
}
