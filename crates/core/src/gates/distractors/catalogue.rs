//! Which tools of the bundled catalogue have nothing to do with the task?

use crate::trace::CatalogueTool;
use crate::words::words_in;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

#[derive(Debug, Deserialize)]
struct Bundled {
    domain: String,
    name: String,
    description: String,
    input_schema: Value,
}

static CATALOGUE: LazyLock<Vec<Bundled>> =
    LazyLock::new(|| serde_json::from_str(include_str!("catalogue.json")).unwrap_or_default());

/// The number of tools in the bundled catalogue.
pub(super) fn size() -> usize {
    CATALOGUE.len()
}

/// Tools of the bundled catalogue, drawn from its domains in turn, with each domain as a server.
/// Skips tools that share a name or two words of it with a tool to avoid, so the result may have
/// fewer than `count` tools.
pub fn distractors_from_catalogue(count: usize, avoid: &[&str]) -> Vec<CatalogueTool> {
    let avoid: Vec<(&str, BTreeSet<String>)> =
        avoid.iter().map(|name| (*name, words(name))).collect();
    let mut by_domain: BTreeMap<&str, Vec<&Bundled>> = BTreeMap::new();
    for tool in CATALOGUE
        .iter()
        .filter(|tool| !avoid.iter().any(|known| is_like(&tool.name, known)))
    {
        by_domain.entry(&tool.domain).or_default().push(tool);
    }
    let rounds = by_domain.values().map(Vec::len).max().unwrap_or_default();
    let in_turn =
        (0..rounds).flat_map(|round| by_domain.values().filter_map(move |tools| tools.get(round)));
    in_turn.take(count).map(|tool| offered(tool)).collect()
}

fn offered(tool: &Bundled) -> CatalogueTool {
    CatalogueTool {
        name: tool.name.clone(),
        server: Some(tool.domain.clone()),
        description: Some(tool.description.clone()),
        input_schema: Some(tool.input_schema.clone().into()),
        distractor: true,
        ..CatalogueTool::default()
    }
}

fn is_like(name: &str, (known, known_words): &(&str, BTreeSet<String>)) -> bool {
    let own = words(name);
    name == *known || own == *known_words || own.intersection(known_words).count() >= 2
}

/// The words of a tool's name in lower case, split at marks and camelCase, plurals as singulars.
fn words(name: &str) -> BTreeSet<String> {
    let singular = |word: String| match word.strip_suffix('s') {
        Some(stem) if stem.len() >= 3 && !stem.ends_with('s') => stem.to_owned(),
        _ => word,
    };
    words_in(name)
        .map(str::to_lowercase)
        .map(singular)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::JsonSchema;
    use serde_json::json;

    #[test]
    fn the_catalogue_is_large_varied_and_free_of_duplicates() {
        let domains: BTreeSet<&str> = CATALOGUE.iter().map(|tool| tool.domain.as_str()).collect();
        assert!(
            CATALOGUE.len() >= 100 && domains.len() >= 10,
            "{} in {}",
            CATALOGUE.len(),
            domains.len()
        );
        let names: BTreeSet<&str> = CATALOGUE.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names.len(), CATALOGUE.len());
        let descriptions: BTreeSet<&str> = CATALOGUE
            .iter()
            .map(|tool| tool.description.as_str())
            .collect();
        assert_eq!(descriptions.len(), CATALOGUE.len());
    }

    #[test]
    fn every_schema_compiles_describes_each_property_and_requires_only_what_it_has() {
        for tool in CATALOGUE.iter() {
            let schema = JsonSchema::compile(&tool.input_schema);
            let schema = schema.unwrap_or_else(|problem| panic!("{}: {problem:?}", tool.name));
            assert!(
                !schema.is_valid(&json!({ "no such argument": 1 })),
                "{}",
                tool.name
            );
            let properties = tool.input_schema["properties"].as_object().unwrap();
            assert!(
                properties
                    .values()
                    .all(|property| property["description"].is_string()),
                "{}",
                tool.name
            );
            for required in tool.input_schema["required"]
                .as_array()
                .into_iter()
                .flatten()
            {
                assert!(
                    properties.contains_key(required.as_str().unwrap()),
                    "{}: {required}",
                    tool.name
                );
            }
        }
    }

    #[test]
    fn tools_are_taken_from_the_domains_in_turn_and_always_the_same() {
        let chosen = distractors_from_catalogue(16, &[]);
        let servers: BTreeSet<_> = chosen.iter().map(|tool| tool.server.clone()).collect();
        assert_eq!(servers.len(), 16);
        assert!(chosen.iter().all(|tool| tool.distractor));
        assert_eq!(chosen, distractors_from_catalogue(16, &[]));
        assert_eq!(chosen[..5], distractors_from_catalogue(5, &[]));
    }

    #[test]
    fn tools_like_those_to_avoid_are_left_out() {
        let all = distractors_from_catalogue(usize::MAX, &[]);
        assert_eq!(all.len(), size());
        let rest = distractors_from_catalogue(usize::MAX, &["web.searchFlight", "get_lyrics", "x"]);
        let left_out: Vec<&str> = all
            .iter()
            .filter(|tool| !rest.contains(tool))
            .map(|tool| tool.name.as_str())
            .collect();
        assert_eq!(left_out, ["search_flights", "get_lyrics"]);
    }
}
