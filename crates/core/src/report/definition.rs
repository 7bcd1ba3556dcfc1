//! What are the gates and targets of a report, and where is each defined?

use super::{Number, TestReport};
use crate::engine::{Better, GateKind, Gates, Target, Unit};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The definition of a gate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GateDefinition {
    /// Its question, in one line.
    pub summary: String,
    /// Its page, under `docs/`.
    pub doc_anchor: String,
    /// Its targets, by name.
    pub targets: BTreeMap<String, TargetDefinition>,
}

/// The definition of a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TargetDefinition {
    /// Its meaning, in one line.
    pub doc: String,
    /// Its unit.
    pub unit: Unit,
    /// Its lowest and its highest value; `None` without a highest.
    pub range: (Number, Option<Number>),
    /// Which values are better.
    pub better: Better,
    /// The paragraph that defines it: a page under `docs/` and its anchor.
    pub anchor: String,
}

/// The definitions of these tests' gates, by their keys.
pub(super) fn definitions(tests: &[TestReport], gates: Gates) -> BTreeMap<String, GateDefinition> {
    let keys = keys_of_gates(tests);
    let occurring = gates.iter().filter(|kind| keys.contains(kind.key));
    occurring
        .map(|kind| (kind.key.to_owned(), GateDefinition::from(kind)))
        .collect()
}

/// The definitions of these tests' gates.
pub(super) fn of_gates_in(
    tests: &[TestReport],
    definitions: &BTreeMap<String, GateDefinition>,
) -> BTreeMap<String, GateDefinition> {
    let mut occurring = definitions.clone();
    let keys = keys_of_gates(tests);
    occurring.retain(|key, _| keys.contains(key.as_str()));
    occurring
}

fn keys_of_gates(tests: &[TestReport]) -> BTreeSet<&str> {
    let gates = tests.iter().flat_map(|test| &test.gates);
    gates.map(|gate| gate.key.as_str()).collect()
}

impl From<&GateKind> for GateDefinition {
    fn from(kind: &GateKind) -> Self {
        let page = format!("reference/{}.md", kind.key);
        let define = |target: &Target| {
            let definition = TargetDefinition {
                doc: target.doc.to_owned(),
                unit: target.unit(),
                range: (Number::Int(0), target.highest().map(Number::whole_or_float)),
                better: target.better(),
                anchor: format!("{page}#{}", target.anchor()),
            };
            (target.name.to_owned(), definition)
        };
        Self {
            summary: kind.summary.to_owned(),
            targets: kind.targets.iter().map(define).collect(),
            doc_anchor: page,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::GATES;

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "the test reads the pages of the book"
    )]
    fn every_target_is_defined_where_its_anchor_points() {
        let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        for kind in GATES {
            let gate = GateDefinition::from(kind);
            for (name, target) in &gate.targets {
                let (page, anchor) = target.anchor.split_once('#').unwrap();
                let text = std::fs::read_to_string(docs.join(page)).unwrap();
                let defined = format!("<a id=\"{anchor}\"></a>`{name}`");
                assert_eq!(text.matches(&defined).count(), 1, "{name} in {page}");
            }
        }
    }

    #[test]
    fn units_and_ranges_fit_each_other() {
        for target in GATES
            .iter()
            .map(GateDefinition::from)
            .flat_map(|gate| gate.targets)
        {
            let (
                name,
                TargetDefinition {
                    unit,
                    range: (_, highest),
                    ..
                },
            ) = target;
            let is_bounded = matches!(unit, Unit::Flag | Unit::Percent | Unit::Ratio);
            assert_eq!(is_bounded, highest.is_some(), "{name}");
            let suffix = match unit {
                Unit::Ms => "_ms",
                Unit::Tokens => "token",
                Unit::Usd => "cost",
                _ => "",
            };
            assert!(name.contains(suffix), "{name} in {unit:?}");
        }
    }
}
