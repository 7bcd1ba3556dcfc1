//! Which tools are chosen, which are confused, and what does a change do?

use super::*;
use serde_json::json;

fn tool(name: &str, description: &str, parameter: &str) -> SurfaceTool {
    let schema = json!({ "type": "object", "properties": { parameter: { "type": "string" } } });
    let entry = json!({ "name": name, "description": description, "inputSchema": schema });
    SurfaceTool::listed(&serde_json::value::to_raw_value(&entry).unwrap(), None).unwrap()
}

fn surface() -> Vec<SurfaceTool> {
    vec![
        tool(
            "get_weather",
            "Says how warm, wet and windy it is in a city. Returns metric units.",
            "city",
        ),
        tool(
            "send_email",
            "Sends a message to one or more people.",
            "recipient",
        ),
        tool(
            "search_flights",
            "Finds flights between two airports on a day, cheapest first.",
            "airport",
        ),
    ]
}

fn intents(text: &str) -> Intents {
    Intents::read("intents.yml", text.to_owned(), &surface())
        .unwrap_or_else(|(problems, _)| panic!("{problems:?}"))
}

const INTENTS: &str = "
intents:
  - { ask: Will it be windy in this city?, tool: get_weather }
  - { ask: Mail the message to my people, tools: [send_email] }
  - { ask: Are there cheap flights on that day?, tool: search_flights }
  - { ask: Write a poem about autumn leaves, none: true }
  - { ask: What is the weather at the airport on that day?, tool: get_weather }
";

#[test]
fn words_choose_and_what_is_attracted_is_told() {
    let bench = lexical(&surface(), &intents(INTENTS).intents);
    let chosen: Vec<Option<&str>> = bench
        .choices
        .iter()
        .map(|choice| choice.chosen.as_deref())
        .collect();
    assert_eq!(
        chosen[..4],
        [
            Some("get_weather"),
            Some("send_email"),
            Some("search_flights"),
            None
        ]
    );
    assert_eq!(
        bench.right(),
        bench
            .choices
            .iter()
            .filter(|choice| choice.is_right)
            .count()
    );
    let interval = bench.interval().unwrap();
    assert!(interval.lower < 0.8 && interval.upper <= 1.0);
    let counted: usize = bench.matrix().values().flat_map(BTreeMap::values).sum();
    assert_eq!(counted, 5);
    assert_eq!(bench.matrix()[NONE][NONE], 1);
}

#[test]
fn a_greedy_description_attracts_what_is_not_its_own() {
    let mut tools = surface();
    tools[1] = tool(
        "send_email",
        "Windy city, windy city, windy city: messages to people.",
        "recipient",
    );
    let all = intents(INTENTS).intents;
    let bench = lexical(&tools, &all);
    let attracted = bench.attracted();
    assert!(
        attracted["send_email"].contains(&"Will it be windy in this city?"),
        "{attracted:?}"
    );
    let honest = lexical(&surface(), &all);
    assert!(honest.right() > bench.right());
}

#[test]
fn a_change_says_what_it_loses_and_wins() {
    let all = intents(INTENTS).intents;
    let found = mutations(&surface(), &all);
    let of = |change: &str| {
        found
            .iter()
            .find(|one| one.tool == "send_email" && one.change == change)
            .unwrap()
    };
    assert!(
        of("description dropped")
            .lost
            .contains(&"Mail the message to my people".to_owned())
    );
    for one in &found {
        assert_eq!(
            one.after + one.lost.len(),
            one.before + one.won.len(),
            "{one:?}"
        );
    }
    let first = found
        .iter()
        .filter(|one| one.change == "first sentence only");
    assert_eq!(
        first.map(|one| one.tool.as_str()).collect::<Vec<_>>(),
        ["get_weather"]
    );
}

#[test]
fn an_intent_is_listed_once() {
    let twice = |second: &str| {
        let text = format!("{INTENTS}  - {{ ask: Mail the message to my people, {second} }}\n");
        Intents::read("i.yml", text, &surface())
    };
    let (problems, _) = twice("tool: get_weather").unwrap_err();
    assert_eq!(
        problems[0].message,
        "this intent is listed twice, with different tools"
    );
    assert!(problems[0].span.is_some());
    assert!(twice("tool: send_email").is_ok(), "that is a warning");
}

#[test]
fn what_is_wrong_with_a_file_is_told_at_once() {
    let text = "intents:\n  - { ask: a, tool: get_wether }\n  - { ask: b }\n  - { ask: c, none: true, tool: send_email }\n  - { ask: d, tol: x }\nmodel: x\n";
    let (problems, _) = Intents::read("i.yml", text.to_owned(), &surface()).unwrap_err();
    let told: Vec<String> = problems
        .iter()
        .map(|one| {
            format!(
                "{} ({})",
                one.message,
                one.help.as_deref().unwrap_or_default()
            )
        })
        .collect();
    assert!(
        told.iter()
            .any(|one| one == "no tool is named `get_wether` (did you mean `get_weather`?)"),
        "{told:#?}"
    );
    assert!(
        told.iter()
            .filter(|one| one.starts_with("an intent has exactly one of"))
            .count()
            >= 2,
        "{told:#?}"
    );
    assert!(told.len() >= 5, "{told:#?}");
    assert!(Intents::read("i.yml", "intents: []".to_owned(), &surface()).is_err());
}
