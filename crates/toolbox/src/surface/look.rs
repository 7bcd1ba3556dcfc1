//! What do the rules look at in a tool?

use super::words::{stems, words};
use super::{SurfaceTool, tokens_of};
use mcptest_core::json::pointer_key;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A tool, prepared once for all rules.
pub(super) struct Look<'a> {
    pub(super) tool: &'a SurfaceTool,
    pub(super) tokens: Option<usize>,
    /// Its description; empty if missing.
    pub(super) description: &'a str,
    /// The words of the name, without a word that most names of the surface begin with.
    pub(super) name: Vec<String>,
    /// The stems of the description, each with its weight: less, the more tools use it.
    pub(super) weights: BTreeMap<String, f64>,
    /// Every part of the input schema.
    pub(super) parts: Vec<Part<'a>>,
    /// Every text of the entry that a model or a person reads, with its place.
    pub(super) texts: Vec<PlacedText<'a>>,
    /// The names of other servers' tools that this server lacks.
    pub(super) foreign: BTreeSet<&'a str>,
    /// The names of this server's tools.
    pub(super) own: BTreeSet<&'a str>,
}

/// A text of a tool's entry.
pub(super) struct PlacedText<'a> {
    pub(super) place: String,
    pub(super) text: &'a str,
}

impl<'a> PlacedText<'a> {
    fn new(place: &str, text: &'a str) -> Self {
        Self {
            place: place.to_owned(),
            text,
        }
    }
}

/// A schema within the input schema.
pub(super) struct Part<'a> {
    pub(super) place: String,
    /// The parameter that it belongs to; empty at the top.
    pub(super) name: &'a str,
    pub(super) schema: &'a Value,
    /// True if it is the complete schema of a property.
    pub(super) is_property: bool,
    /// True if the property is a parameter of the tool itself.
    pub(super) is_parameter: bool,
}

pub(super) const SCHEMA: &str = "/inputSchema";

impl<'a> Look<'a> {
    pub(super) fn at_all(tools: &'a [SurfaceTool]) -> Vec<Self> {
        let names: Vec<Vec<String>> = tools.iter().map(|tool| words(&tool.tool.name)).collect();
        let prefix = common_prefix(&names);
        let mut looks: Vec<Self> = tools
            .iter()
            .zip(names)
            .map(|(tool, name)| Self::at(tool, name))
            .collect();
        let mut uses: BTreeMap<String, f64> = BTreeMap::new();
        for word in looks.iter().flat_map(|look| look.weights.keys()) {
            *uses.entry(word.clone()).or_default() += 1.0;
        }
        for look in &mut looks {
            if look.name.len() > 1 && prefix.as_ref() == look.name.first() {
                look.name.remove(0);
            }
            for (word, weight) in &mut look.weights {
                *weight = uses.get(word).map_or(1.0, |uses| 1.0 / uses);
            }
            let server = &look.tool.tool.server;
            for other in tools {
                let name = other.tool.name.as_str();
                if other.tool.server == *server {
                    look.own.insert(name);
                } else {
                    look.foreign.insert(name);
                }
            }
            for name in &look.own {
                look.foreign.remove(name);
            }
        }
        looks
    }

    fn at(tool: &'a SurfaceTool, name: Vec<String>) -> Self {
        let description = tool.tool.description.as_deref().unwrap_or_default().trim();
        let mut parts = Vec::new();
        let mut texts = vec![PlacedText::new("/name", &tool.tool.name)];
        if let Some(title) = &tool.title {
            texts.push(PlacedText::new("/title", title));
        }
        if let Some(description) = &tool.tool.description {
            texts.push(PlacedText::new("/description", description));
        }
        if let Some(schema) = &tool.tool.input_schema {
            let top = Part {
                place: SCHEMA.to_owned(),
                name: "",
                schema,
                is_property: false,
                is_parameter: false,
            };
            walk(top, &mut parts);
            texts_in(SCHEMA, schema, &mut texts);
        }
        if let Some(annotations) = &tool.annotations {
            texts_in("/annotations", annotations, &mut texts);
        }
        let weights = stems(description)
            .into_iter()
            .map(|word| (word, 1.0))
            .collect();
        Self {
            tool,
            tokens: tokens_of(tool),
            description,
            name,
            weights,
            parts,
            texts,
            // Known when all tools have been looked at.
            foreign: BTreeSet::new(),
            own: BTreeSet::new(),
        }
    }

    /// The input schema.
    pub(super) fn schema(&self) -> Option<&'a Value> {
        self.tool.tool.input_schema.as_deref()
    }

    /// The parameters of the tool itself.
    pub(super) fn parameters(&self) -> impl Iterator<Item = &Part<'a>> {
        self.parts.iter().filter(|part| part.is_parameter)
    }
}

/// The word that most names begin with, if there are enough names.
fn common_prefix(names: &[Vec<String>]) -> Option<String> {
    let first = names.first()?.first()?;
    let count = |word: &String| {
        names
            .iter()
            .filter(|name| name.first() == Some(word))
            .count()
    };
    (names.len() >= 3 && count(first) * 2 > names.len()).then(|| first.clone())
}

/// Schema keywords whose value is a map of schemas, and keywords whose value is one schema or a
/// list.
const MAPS: [&str; 4] = ["properties", "patternProperties", "$defs", "definitions"];
const PARTS: [&str; 6] = [
    "items",
    "prefixItems",
    "anyOf",
    "oneOf",
    "allOf",
    "additionalProperties",
];

fn walk<'a>(part: Part<'a>, parts: &mut Vec<Part<'a>>) {
    let (place, name, schema) = (part.place.clone(), part.name, part.schema);
    parts.push(part);
    for key in MAPS {
        if let Some(map) = schema.get(key).and_then(Value::as_object) {
            walk_map(&place, key, map, parts);
        }
    }
    for key in PARTS {
        let below = |at: String, schema: &'a Value| Part {
            place: format!("{place}/{key}{at}"),
            name,
            schema,
            is_property: false,
            is_parameter: false,
        };
        match schema.get(key) {
            Some(Value::Array(list)) => {
                for (at, item) in list.iter().enumerate() {
                    walk(below(format!("/{at}"), item), parts);
                }
            }
            Some(one @ Value::Object(_)) => walk(below(String::new(), one), parts),
            _ => {}
        }
    }
}

/// Walks the schemas that are members of a map, as properties are.
fn walk_map<'a>(
    place: &str,
    key: &str,
    map: &'a serde_json::Map<String, Value>,
    parts: &mut Vec<Part<'a>>,
) {
    // Whether a map keeps an order depends on who else is in the build.
    let sorted: BTreeMap<&String, &Value> = map.iter().collect();
    for (name, schema) in sorted {
        let is_property = key == "properties";
        let below = Part {
            place: format!("{place}/{key}/{}", pointer_key(name)),
            name,
            schema,
            is_property,
            is_parameter: is_property && place == SCHEMA,
        };
        walk(below, parts);
    }
}

/// Every text of a value, including its keys.
fn texts_in<'a>(place: &str, value: &'a Value, texts: &mut Vec<PlacedText<'a>>) {
    match value {
        Value::String(text) => texts.push(PlacedText::new(place, text)),
        Value::Array(list) => {
            for (at, item) in list.iter().enumerate() {
                texts_in(&format!("{place}/{at}"), item, texts);
            }
        }
        Value::Object(map) => {
            let sorted: BTreeMap<&String, &Value> = map.iter().collect();
            for (key, value) in sorted {
                texts.push(PlacedText::new(place, key));
                texts_in(&format!("{place}/{}", pointer_key(key)), value, texts);
            }
        }
        _ => {}
    }
}
