//! Which tools look like the right one and are not?

use super::naming::Name;
use crate::trace::CatalogueTool;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// A difference between a near duplicate and its original: the suffix of its name, an addition to its description,
/// and a change of its arguments.
struct Twist {
    suffix: &'static str,
    says: &'static str,
    change: ArgumentChange,
}

enum ArgumentChange {
    /// One more argument that must be given: its name and what it is.
    Demands(&'static str, &'static str),
    /// One more argument that may be given.
    Allows(&'static str, &'static str),
    /// Only the required arguments stay.
    Narrows,
    /// A list of the original's arguments.
    Repeats,
}

const fn twist(suffix: &'static str, change: ArgumentChange) -> Twist {
    Twist {
        suffix,
        says: "",
        change,
    }
}

impl Twist {
    const fn says(self, says: &'static str) -> Self {
        Self { says, ..self }
    }
}

use ArgumentChange::{Allows, Demands, Narrows, Repeats};

const TWISTS: &[Twist] = &[
    twist("v2", Allows("page", "Which page of the results"))
        .says("Version 2, in preview: results come in pages and may still change."),
    twist("legacy", Narrows)
        .says("The older interface, kept for integrations that have not moved yet."),
    twist("batch", Repeats)
        .says("Takes many requests at once and answers when all of them are done."),
    twist("archived", Demands("archive_year", "Which year's archive"))
        .says("Works on archived data only, older than one year."),
    twist("async", Allows("callback_url", "Where the result is sent"))
        .says("Starts a job in the background and returns its id, not the result."),
    twist("draft", Demands("reviewer", "Who confirms"))
        .says("Prepares everything, but waits for a person to confirm."),
    twist("cached", Allows("max_age_hours", "How old the copy may be"))
        .says("Answers from a copy that can be up to a day old."),
    twist("admin", Demands("on_behalf_of", "The user it acts for"))
        .says("For administrators: acts on behalf of another user."),
    twist("dry_run", Allows("report_level", "How much the check says"))
        .says("Checks whether it would work, and does nothing."),
    twist("sandbox", Demands("sandbox_id", "Which sandbox"))
        .says("The same against the sandbox, whose data are made up."),
    twist("simple", Narrows)
        .says("A shorter form with fewer options; results are cut to the first entry."),
    twist("history", Demands("as_of", "The day, as 2026-03-31"))
        .says("Shows how things stood on a day in the past."),
    twist(
        "internal",
        Demands("service_key", "The key of the calling service"),
    )
    .says("For calls between services; needs a service key."),
    twist("global", Allows("workspaces", "Only these workspaces"))
        .says("Covers every workspace; slower, and limited to ten requests an hour."),
];

/// Tools that look like `of` but differ from it: other words for its verb, other versions and variants, each with its
/// own description and arguments. The same tool always has the same near duplicates. Each name occurs once, and never
/// equals the original's name.
pub fn near_duplicates(of: &CatalogueTool, count: usize) -> Vec<CatalogueTool> {
    let mut taken = BTreeSet::from([of.name.clone()]);
    let twisted = names(Name::of(&of.name)).filter(|(name, _)| taken.insert(name.clone()));
    twisted
        .take(count)
        .map(|(name, twist)| variant(of, name, twist))
        .collect()
}

/// Names without end, the most believable first.
fn names(name: Name) -> impl Iterator<Item = (String, &'static Twist)> {
    let renamed = name.synonyms();
    let other_verbs: Vec<_> = renamed
        .iter()
        .map(Name::written)
        .zip(TWISTS.iter().rev())
        .collect();
    let suffixed = |name: &Name| -> Vec<_> {
        TWISTS
            .iter()
            .map(|twist| (name.with_suffix(twist.suffix), twist))
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
            &TWISTS[version % TWISTS.len()],
        )
    });
    in_turn.into_iter().chain(both).chain(versions)
}

fn variant(of: &CatalogueTool, name: String, twist: &Twist) -> CatalogueTool {
    let description = of.description.as_deref().unwrap_or_default().trim();
    let description = match description {
        "" => twist.says.to_owned(),
        said => format!("{said} {}", twist.says),
    };
    CatalogueTool {
        name,
        server: of.server.clone(),
        description: Some(description),
        input_schema: Some(changed(of.input_schema.as_deref(), &twist.change).into()),
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
        Demands(argument, doc) => {
            if insert(&mut schema, "properties", argument, text(doc)) {
                let required = schema.entry("required").or_insert_with(|| json!([]));
                if let Value::Array(required) = required {
                    required.push(json!(argument));
                }
            }
        }
        Allows(argument, doc) => {
            insert(&mut schema, "properties", argument, text(doc));
        }
        Narrows => {
            let required = schema
                .get("required")
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default();
            if let Some(Value::Object(properties)) = schema.get_mut("properties") {
                properties.retain(|name, _| required.iter().any(|required| required == name));
            }
        }
        Repeats => {
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

/// Inserts a value unless its place is taken. Returns true if it did.
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
        assert!(TWISTS.iter().all(|twist| twist.says.ends_with('.')));
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
