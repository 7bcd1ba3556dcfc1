//! Which tools look like the right one and are not?

use super::naming::Name;
use crate::trace::CatalogueTool;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// A difference between a near duplicate and its original.
struct Variation {
    /// The suffix of its name.
    suffix: &'static str,
    /// An addition to its description.
    says: &'static str,
    /// A change of its arguments.
    change: ArgumentChange,
}

enum ArgumentChange {
    /// Adds a required argument.
    Demands {
        name: &'static str,
        description: &'static str,
    },
    /// Adds an optional argument.
    Allows {
        name: &'static str,
        description: &'static str,
    },
    /// Only the required arguments stay.
    Narrows,
    /// A list of the original's arguments.
    Repeats,
}

const VARIATIONS: &[Variation] = &[
    Variation {
        suffix: "v2",
        says: "Version 2, in preview: results come in pages and may still change.",
        change: ArgumentChange::Allows {
            name: "page",
            description: "Which page of the results",
        },
    },
    Variation {
        suffix: "legacy",
        says: "The older interface, kept for integrations that have not moved yet.",
        change: ArgumentChange::Narrows,
    },
    Variation {
        suffix: "batch",
        says: "Takes many requests at once and answers when all of them are done.",
        change: ArgumentChange::Repeats,
    },
    Variation {
        suffix: "archived",
        says: "Works on archived data only, older than one year.",
        change: ArgumentChange::Demands {
            name: "archive_year",
            description: "Which year's archive",
        },
    },
    Variation {
        suffix: "async",
        says: "Starts a job in the background and returns its id, not the result.",
        change: ArgumentChange::Allows {
            name: "callback_url",
            description: "Where the result is sent",
        },
    },
    Variation {
        suffix: "draft",
        says: "Prepares everything, but waits for a person to confirm.",
        change: ArgumentChange::Demands {
            name: "reviewer",
            description: "Who confirms",
        },
    },
    Variation {
        suffix: "cached",
        says: "Answers from a copy that can be up to a day old.",
        change: ArgumentChange::Allows {
            name: "max_age_hours",
            description: "How old the copy may be",
        },
    },
    Variation {
        suffix: "admin",
        says: "For administrators: acts on behalf of another user.",
        change: ArgumentChange::Demands {
            name: "on_behalf_of",
            description: "The user it acts for",
        },
    },
    Variation {
        suffix: "dry_run",
        says: "Checks whether it would work, and does nothing.",
        change: ArgumentChange::Allows {
            name: "report_level",
            description: "How much the check says",
        },
    },
    Variation {
        suffix: "sandbox",
        says: "The same against the sandbox, whose data are made up.",
        change: ArgumentChange::Demands {
            name: "sandbox_id",
            description: "Which sandbox",
        },
    },
    Variation {
        suffix: "simple",
        says: "A shorter form with fewer options; results are cut to the first entry.",
        change: ArgumentChange::Narrows,
    },
    Variation {
        suffix: "history",
        says: "Shows how things stood on a day in the past.",
        change: ArgumentChange::Demands {
            name: "as_of",
            description: "The day, as 2026-03-31",
        },
    },
    Variation {
        suffix: "internal",
        says: "For calls between services; needs a service key.",
        change: ArgumentChange::Demands {
            name: "service_key",
            description: "The key of the calling service",
        },
    },
    Variation {
        suffix: "global",
        says: "Covers every workspace; slower, and limited to ten requests an hour.",
        change: ArgumentChange::Allows {
            name: "workspaces",
            description: "Only these workspaces",
        },
    },
];

/// Tools that resemble `of` but differ from it: synonyms of its verb, versions and variants, each
/// with its own description and arguments. The same tool always has the same near duplicates. All
/// names are unique and differ from the original.
pub fn near_duplicates(of: &CatalogueTool, count: usize) -> Vec<CatalogueTool> {
    let mut taken = BTreeSet::from([of.name.clone()]);
    let twisted = names(Name::new(&of.name)).filter(|(name, _)| taken.insert(name.clone()));
    twisted
        .take(count)
        .map(|(name, variation)| variant(of, name, variation))
        .collect()
}

/// Names without end, the most believable first.
fn names(name: Name) -> impl Iterator<Item = (String, &'static Variation)> {
    let renamed = name.synonyms();
    let other_verbs: Vec<_> = renamed
        .iter()
        .map(Name::written)
        .zip(VARIATIONS.iter().rev())
        .collect();
    let suffixed = |name: &Name| -> Vec<_> {
        VARIATIONS
            .iter()
            .map(|variation| (name.with_suffix(variation.suffix), variation))
            .collect()
    };
    let suffixes = suffixed(&name);
    let in_turn: Vec<_> = (0..suffixes.len())
        .flat_map(|at| [other_verbs.get(at).cloned(), suffixes.get(at).cloned()])
        .flatten()
        .collect();
    let both: Vec<_> = renamed.iter().flat_map(suffixed).collect();
    let versions = (3_usize..).map(move |version| {
        (
            name.with_suffix(&format!("v{version}")),
            &VARIATIONS[version % VARIATIONS.len()],
        )
    });
    in_turn.into_iter().chain(both).chain(versions)
}

fn variant(of: &CatalogueTool, name: String, variation: &Variation) -> CatalogueTool {
    let description = of.description.as_deref().unwrap_or_default().trim();
    let description = match description {
        "" => variation.says.to_owned(),
        said => format!("{said} {}", variation.says),
    };
    CatalogueTool {
        name,
        server: of.server.clone(),
        description: Some(description),
        input_schema: Some(changed(of.input_schema.as_deref(), &variation.change).into()),
        distractor: true,
        ..CatalogueTool::default()
    }
}

fn changed(schema: Option<&Value>, change: &ArgumentChange) -> Value {
    let empty = || Map::from_iter([("type".to_owned(), json!("object"))]);
    let mut schema = schema
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_else(empty);
    let text = |doc: &str| json!({ "type": "string", "description": doc });
    match change {
        ArgumentChange::Demands { name, description } => {
            if insert(&mut schema, "properties", name, text(description)) {
                let required = schema.entry("required").or_insert_with(|| json!([]));
                if let Value::Array(required) = required {
                    required.push(json!(name));
                }
            }
        }
        ArgumentChange::Allows { name, description } => {
            insert(&mut schema, "properties", name, text(description));
        }
        ArgumentChange::Narrows => {
            let required = schema
                .get("required")
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default();
            if let Some(Value::Object(properties)) = schema.get_mut("properties") {
                properties.retain(|name, _| required.iter().any(|required| required == name));
            }
        }
        ArgumentChange::Repeats => {
            let requests = json!({ "type": "array", "description": "The requests", "items": schema, "minItems": 1 });
            return json!({
                "type": "object",
                "properties": { "requests": requests },
                "required": ["requests"],
            });
        }
    }
    Value::Object(schema)
}

/// Inserts a value unless its key exists. Returns true if it did.
fn insert(schema: &mut Map<String, Value>, under: &str, key: &str, value: Value) -> bool {
    let Value::Object(map) = schema.entry(under).or_insert_with(|| json!({})) else {
        return false;
    };
    if map.contains_key(key) {
        return false;
    }
    map.insert(key.to_owned(), value);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::JsonSchema;
    use crate::trace::ToolSchema;
    use proptest::prelude::*;

    fn weather() -> CatalogueTool {
        CatalogueTool {
            name: "get_weather".to_owned(),
            server: Some("weather".to_owned()),
            description: Some("The weather in a city.".to_owned()),
            input_schema: Some(ToolSchema::from(json!({
                "type": "object",
                "properties": { "city": { "type": "string" }, "days": { "type": "integer" } },
                "required": ["city"],
            }))),
            ..CatalogueTool::default()
        }
    }

    #[test]
    fn other_verbs_and_variants_come_in_turn() {
        let names: Vec<String> = near_duplicates(&weather(), 7)
            .into_iter()
            .map(|tool| tool.name)
            .collect();
        assert_eq!(
            names,
            [
                "fetch_weather",
                "get_weather_v2",
                "retrieve_weather",
                "get_weather_legacy",
                "lookup_weather",
                "get_weather_batch",
                "get_weather_archived",
            ]
        );
    }

    #[test]
    fn each_says_and_takes_something_of_its_own() {
        assert!(
            VARIATIONS
                .iter()
                .all(|variation| variation.says.ends_with('.'))
        );
        let tools = near_duplicates(&weather(), 7);
        let legacy = &tools[3];
        assert!(
            legacy
                .description
                .as_ref()
                .unwrap()
                .starts_with("The weather in a city. The older interface")
        );
        assert_eq!(
            legacy.input_schema.as_ref().unwrap()["properties"],
            json!({ "city": { "type": "string" } })
        );
        let archived = tools[6].input_schema.as_ref().unwrap();
        assert_eq!(archived["required"], json!(["city", "archive_year"]));
        assert_eq!(
            tools[5].input_schema.as_ref().unwrap()["required"],
            json!(["requests"])
        );
        assert!(
            tools
                .iter()
                .all(|tool| tool.distractor && tool.server.as_deref() == Some("weather"))
        );
    }

    #[test]
    fn a_tool_with_nothing_but_a_name_has_near_duplicates_too() {
        let bare = CatalogueTool {
            name: "天気".to_owned(),
            ..CatalogueTool::default()
        };
        let tools = near_duplicates(&bare, 3);
        assert_eq!(tools[0].name, "天気_v2");
        assert!(
            tools[0]
                .description
                .as_ref()
                .unwrap()
                .starts_with("Version 2")
        );
    }

    proptest! {
        #[test]
        fn as_many_as_asked_for_all_different_and_all_valid(name in "[a-zA-Z_.-]{0,70}", count in 0_usize..120) {
            let of = CatalogueTool { name: name.clone(), ..weather() };
            let tools = near_duplicates(&of, count);
            let names: BTreeSet<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
            prop_assert_eq!((tools.len(), names.len()), (count, count));
            prop_assert!(!names.contains(name.as_str()));
            for tool in &tools {
                prop_assert!(tool.name.chars().count() <= 64.max(name.chars().count()));
                prop_assert!(JsonSchema::compile(tool.input_schema.as_ref().unwrap()).is_ok());
            }
            prop_assert_eq!(tools, near_duplicates(&of, count));
        }
    }
}
