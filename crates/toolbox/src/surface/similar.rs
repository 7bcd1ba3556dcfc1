//! Is a tool hardly told from another one?

use super::look::Look;
use super::rules::Spot;
use super::words::{stem, words};
use std::collections::{BTreeMap, BTreeSet};

/// The required similarity of descriptions and parameters that are hard to distinguish.
const ALIKE: f64 = 0.75;
/// The required similarity for tools whose names are forms of one name.
const ALIKE_BY_NAME: f64 = 0.5;

pub(super) fn is_near_duplicate(look: &Look<'_>, before: &[Look<'_>]) -> Vec<Spot> {
    for other in before {
        if let Some(likeness) = likeness(look, other) {
            let name = &other.tool.tool.name;
            let what = format!("it is easily confused with `{name}`: {likeness}");
            return vec![Spot::new("/description", what)];
        }
    }
    Vec::new()
}

fn likeness(one: &Look<'_>, other: &Look<'_>) -> Option<&'static str> {
    let (one_tool, other_tool) = (&one.tool.tool, &other.tool.tool);
    let may_share_a_name = one_tool.server == other_tool.server && one_tool.name != other_tool.name;
    if may_share_a_name && spelled(one) == spelled(other) {
        return Some("the names are two spellings of one name");
    }
    let described = shared_words(one, other);
    let shaped = shared_parameters(one, other);
    if described >= ALIKE && shaped >= ALIKE {
        return Some("descriptions and parameters are nearly the same");
    }
    let is_form = may_share_a_name && stemmed(one) == stemmed(other);
    (is_form && described.max(shaped) >= ALIKE_BY_NAME)
        .then_some("the names are forms of one name, with similar descriptions or parameters")
}

fn spelled(look: &Look<'_>) -> String {
    words(&look.tool.tool.name).concat()
}

fn stemmed(look: &Look<'_>) -> Vec<String> {
    words(&look.tool.tool.name)
        .iter()
        .map(|word| stem(word).to_owned())
        .collect()
}

/// The weight of the words that both descriptions have, of that of all their words.
pub(super) fn shared_words(one: &Look<'_>, other: &Look<'_>) -> f64 {
    let mut all: BTreeMap<&String, f64> = one
        .weights
        .iter()
        .map(|(word, weight)| (word, *weight))
        .collect();
    all.extend(other.weights.iter().map(|(word, weight)| (word, *weight)));
    let shared = all
        .iter()
        .filter(|(word, _)| one.weights.contains_key(**word) && other.weights.contains_key(**word));
    let shared: f64 = shared.map(|(_, weight)| weight).sum();
    let whole: f64 = all.values().sum();
    if whole > 0.0 { shared / whole } else { 0.0 }
}

/// The shared parameters, by name and type, as a part of all of them.
fn shared_parameters(one: &Look<'_>, other: &Look<'_>) -> f64 {
    let set = |look: &Look<'_>| -> BTreeSet<(String, String)> {
        look.parameters()
            .map(|part| (part.name.to_owned(), part.schema["type"].to_string()))
            .collect()
    };
    let (one, other) = (set(one), set(other));
    let whole = one.union(&other).count();
    if whole == 0 {
        1.0
    } else {
        one.intersection(&other).count() as f64 / whole as f64
    }
}
