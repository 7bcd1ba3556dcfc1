//! Does a provider accept the schema of a tool, and which schema replaces a refused one?

mod merge;
mod offer;
mod rules;
#[cfg(test)]
mod tests;
mod tree;
mod wire_name;

pub use offer::{LeftOut, Offer};
pub use rules::{RULES, SchemaRule, most_tools};
pub use wire_name::{fnv, lettered, untaken, wire_name, wire_names};

use crate::json::{Members, pointer_key};
use crate::provider::Family;
use rules::{KEYS, Renamed};
use serde_json::value::RawValue;
use tree::{Entries, Tree};

/// Something in a schema that a provider refuses.
#[derive(Debug, Clone)]
pub struct SchemaFinding {
    /// The row of the table.
    pub rule: &'static SchemaRule,
    /// The place in the schema, such as `properties.tags`; empty at the top, and for names the list
    /// of names.
    pub place: String,
    /// The place as a JSON pointer; for a finding about names, the place of the names.
    pub pointer: String,
}

/// A schema that a provider accepts.
#[derive(Debug, Clone)]
pub struct Fitted {
    /// The schema to send.
    pub schema: Box<RawValue>,
    /// The parts that were rewritten.
    pub findings: Vec<SchemaFinding>,
    renamed: Renamed,
}

impl SchemaFinding {
    /// A sentence on the refused part and its place.
    pub fn refused(&self, family: &Family) -> String {
        let at = if self.place.is_empty() {
            String::new()
        } else {
            format!(" (`{}`)", self.place)
        };
        format!("{} refuses {}{at}", family.title, self.rule.refused)
    }

    /// The problem and the replacement, in a sentence.
    pub fn sentence(&self, family: &Family) -> String {
        format!("{}: {}", self.refused(family), self.rule.mend)
    }
}

/// The schema in the form that providers of this family accept, with all rewritten parts.
pub fn fit(schema: &RawValue, family: &Family) -> Fitted {
    let mut tree = Tree::read(schema);
    let mut fitting = Fitting {
        family,
        findings: Vec::new(),
        renamed: Renamed::new(),
    };
    if tree.object().is_none() {
        tree = Tree::empty();
    }
    fitting.part(&mut tree, "", "");
    let Fitting {
        findings, renamed, ..
    } = fitting;
    let schema = if findings.is_empty() {
        schema.to_owned()
    } else {
        tree.to_raw()
    };
    Fitted {
        schema,
        findings,
        renamed,
    }
}

impl Fitted {
    /// The unchanged schema, whether the provider accepts it or not.
    pub fn untouched(schema: &RawValue) -> Self {
        Self {
            schema: schema.to_owned(),
            findings: Vec::new(),
            renamed: Renamed::new(),
        }
    }

    /// The arguments that the model wrote, under the server's own names.
    pub fn restored(&self, arguments: &RawValue) -> Box<RawValue> {
        if self.renamed.is_empty() {
            return arguments.to_owned();
        }
        let members = Members::read(arguments.get()).0.into_iter();
        let own = members.map(|(key, value)| {
            (
                self.renamed.get(&key).cloned().unwrap_or(key),
                Tree::Other(value),
            )
        });
        Tree::Object(Entries(own.collect())).to_raw()
    }
}

/// The way through a schema.
struct Fitting<'f> {
    family: &'f Family,
    findings: Vec<SchemaFinding>,
    renamed: Renamed,
}

/// The keys of a schema whose value is a map of schemas.
const MAPS: [&str; 5] = [
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
];
/// a list of schemas, or one schema,
const LISTS: [&str; 5] = ["items", "prefixItems", "anyOf", "oneOf", "allOf"];
/// and one schema.
const PARTS: [&str; 8] = [
    "not",
    "if",
    "then",
    "else",
    "contains",
    "additionalProperties",
    "propertyNames",
    "unevaluatedProperties",
];

impl Fitting<'_> {
    /// Rewrites a part of the schema, from the outside in.
    fn part(&mut self, schema: &mut Tree, place: &str, pointer: &str) {
        let Some(entries) = schema.object_mut() else {
            return;
        };
        self.apply_rules(entries, place, pointer);
        for key in MAPS.iter().chain(&LISTS).chain(&PARTS) {
            let Some(part) = entries.get_mut(key) else {
                continue;
            };
            let place = if place.is_empty() {
                (*key).to_owned()
            } else {
                format!("{place}.{key}")
            };
            let pointer = format!("{pointer}/{key}");
            match part {
                Tree::Object(named) if MAPS.contains(key) => {
                    for (name, one) in &mut named.0 {
                        self.part(
                            one,
                            &format!("{place}.{name}"),
                            &format!("{pointer}/{}", pointer_key(name)),
                        );
                    }
                }
                Tree::Object(_) => self.part(part, &place, &pointer),
                Tree::List(parts) => {
                    for (index, one) in parts.iter_mut().enumerate() {
                        self.part(
                            one,
                            &format!("{place}[{index}]"),
                            &format!("{pointer}/{index}"),
                        );
                    }
                }
                Tree::Other(_) => {}
            }
        }
    }

    /// Applies the rules of the provider's family to one part, and notes each that changed it.
    fn apply_rules(&mut self, entries: &mut Entries, place: &str, pointer: &str) {
        for rule in RULES {
            let is_asked = rule.families.contains(&self.family.name)
                && (!rule.is_of_whole || place.is_empty());
            if !is_asked || !(rule.apply)(entries, &mut self.renamed) {
                continue;
            }
            let finding = if rule.name == KEYS {
                let names: Vec<&str> = self.renamed.values().map(String::as_str).collect();
                SchemaFinding {
                    rule,
                    place: names.join("`, `"),
                    pointer: format!("{pointer}/properties"),
                }
            } else {
                SchemaFinding {
                    rule,
                    place: place.to_owned(),
                    pointer: pointer.to_owned(),
                }
            };
            self.findings.push(finding);
        }
    }
}
