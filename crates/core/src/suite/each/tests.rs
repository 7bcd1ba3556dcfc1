//! Does a block with `each:` make the tests that its data say, and are bad data refused in their place?

use crate::suite::{Host, Loaded, Suite, load};
use serde_json::json;
use std::path::Path;

const DATA: &str = "cities.csv";

/// Loads a suite with one data file beside it.
fn load_with(suite: &str, data: (&str, &str)) -> Loaded {
    let read = |path: &Path| match path.to_str() {
        Some("suite.yml") => Ok(suite.as_bytes().to_vec()),
        Some(path) if path == data.0 => Ok(data.1.as_bytes().to_vec()),
        _ => Err("no such file".to_owned()),
    };
    let environment = |name: &str| (name == "SECRET_KEY").then(|| "hidden".to_owned());
    load(Path::new("suite.yml"), &Host::new(&read, &environment))
}

fn suite_of(suite: &str, data: (&str, &str)) -> Suite {
    let loaded = load_with(suite, data);
    assert!(!loaded.is_refused(), "{:#?}", loaded.problems);
    loaded.suite.unwrap()
}

/// The problems of the suite with these data, each as `FILE:LINE:COLUMN: MESSAGE`.
fn problems(suite: &str, data: &str) -> Vec<String> {
    let loaded = load_with(suite, (DATA, data));
    let shown = |problem: &crate::problem::Problem| match problem.span {
        Some(span) => format!("{}: {}", loaded.sources.position(span), problem.message),
        None => problem.message.clone(),
    };
    loaded.problems.iter().map(shown).collect()
}

const SUITE: &str = "
servers: { weather: { command: [weather] } }
tools:
  - each: cities.csv
    name: the weather in ${city}
    server: weather
    tool: get_weather
    args: { city: '${city}', days: '${days}' }
";

#[test]
fn each_line_is_a_test_with_its_values() {
    let suite = suite_of(
        SUITE,
        (
            DATA,
            "city,days\nOslo,3\n\"Paris, France\",\r\n\n\"a \"\"b\"\"\",x",
        ),
    );
    let tests: Vec<_> = suite
        .tools
        .iter()
        .map(|test| (test.name.as_str(), test.args.clone().unwrap()))
        .collect();
    assert_eq!(
        tests,
        [
            ("the weather in Oslo", json!({"city": "Oslo", "days": "3"})),
            (
                "the weather in Paris, France",
                json!({"city": "Paris, France", "days": ""})
            ),
            (
                "the weather in a \"b\"",
                json!({"city": "a \"b\"", "days": "x"})
            ),
        ]
    );
    assert_eq!(suite.tools[0].args, suite.tools[0].args_template);
}

#[test]
fn a_value_of_a_json_line_that_is_the_whole_text_keeps_its_type() {
    let suite = "
servers: { weather: { command: [weather] } }
variables: { unit: suite, home: Rome }
tools:
  - each: cities.ndjson
    name: case ${id}
    server: weather
    tool: get_weather
    tags: '${tags}'
    args: { zip: '${zip}', days: '${days}', at: '${at}', unit: '${unit}', none: '${none}', text: 'in ${days} days, ${home}, ${unit:-default}' }
";
    let data = r#"
{"id": 7, "zip": "0123", "days": 3, "at": {"lat": 59.9, "note": "${SECRET_KEY}"}, "unit": "${SECRET_KEY}", "none": null, "tags": ["a", "b"]}
{"id": "x", "zip": true, "days": [1], "at": "${", "unit": "", "none": 0, "tags": []}
"#;
    let suite = suite_of(suite, ("cities.ndjson", data));
    let [first, second] = &suite.tools[..] else {
        panic!("two tests")
    };
    assert_eq!(
        (first.name.as_str(), second.name.as_str()),
        ("case 7", "case x")
    );
    assert_eq!(first.tags, ["a", "b"]);
    let args = json!({
        "zip": "0123", "days": 3, "at": {"lat": 59.9, "note": "${SECRET_KEY}"}, "unit": "${SECRET_KEY}", "none": null,
        "text": "in 3 days, Rome, ${SECRET_KEY}",
    });
    assert_eq!(first.args, Some(args.clone()));
    assert_eq!(first.args_template, Some(args));
    let args = json!({
        "zip": true, "days": [1], "at": "${", "unit": "", "none": 0,
        "text": "in [1] days, Rome, default",
    });
    assert_eq!(second.args, Some(args));
}

#[test]
fn data_are_never_yaml_and_never_variables() {
    let suite = "
agents:
  - each: cities.csv
    name: ${name}
    model: gpt-5
    prompt: ${prompt}
    expect: [{ target: final_response, matcher: { contains: '${says}' } }]
";
    let data =
        "name,prompt,says\nplain,\"a: [b]\n- c # d\",${SECRET_KEY}\n{x: y},${name}${,*anchor\n";
    let suite = suite_of(suite, (DATA, data));
    let prompts: Vec<&str> = suite
        .agents
        .iter()
        .map(|agent| agent.turns[0].value.as_str())
        .collect();
    assert_eq!(prompts, ["a: [b]\n- c # d", "${name}${"]);
    assert_eq!(suite.agents[1].name, "{x: y}");
    assert!(suite.secret_names().next().is_none());
}

#[test]
fn a_changed_value_changes_the_digest_of_the_gate_of_its_line_alone() {
    let suite = "
agents:
  - each: cities.csv
    name: ${name}
    model: gpt-5
    prompt: Will it rain?
    golden_path: { calls: ['${tool}'] }
";
    let digests = |data: &str| {
        let suite = suite_of(suite, (DATA, data));
        suite
            .agents
            .iter()
            .map(|agent| agent.gates[0].digest().to_owned())
            .collect::<Vec<_>>()
    };
    let before = digests("name,tool\na,get_weather\nb,get_rain\n");
    let after = digests("name,tool\na,get_weather\nb,get_snow\n");
    assert_eq!(before[0], after[0]);
    assert_ne!(before[1], after[1]);
}

#[test]
fn every_problem_of_the_data_is_reported_in_its_place() {
    assert_eq!(
        problems(
            SUITE,
            "city,days\nOslo\nRome,1,2\nParis,2\nLima,\"3\nQuito,4\n"
        ),
        [
            "cities.csv:2:5: this line has 1 value, but the header has 2 columns",
            "cities.csv:3:8: this line has 3 values, but the header has 2 columns",
            "cities.csv:5:6: this quote is never closed",
        ]
    );
    assert_eq!(
        problems(SUITE, "city,city,,days\nOslo,1,2,3\n"),
        [
            "cities.csv:1:6: two columns are called `city`",
            "cities.csv:1:11: a column of the header has no name",
        ]
    );
    assert_eq!(
        problems(SUITE, ""),
        ["cities.csv:1:1: `cities.csv` is empty"]
    );
    assert_eq!(
        problems(SUITE, "city,days\n\n"),
        ["cities.csv:1:1: `cities.csv` has a header, but no line of data"]
    );
    assert_eq!(
        problems(SUITE, "city,days\nOslo,1\nRome,2\nOslo,3\n"),
        ["cities.csv:4:1: two lines of data make a test called `the weather in Oslo`"]
    );
}

#[test]
fn json_lines_are_refused_in_their_place() {
    let suite = SUITE.replace("cities.csv", "cities.jsonl");
    let problems = |data: &str| {
        let loaded = load_with(&suite, ("cities.jsonl", data));
        let shown = |problem: &crate::problem::Problem| {
            format!(
                "{}: {}",
                loaded.sources.position(problem.span.unwrap()),
                problem.message
            )
        };
        loaded.problems.iter().map(shown).collect::<Vec<_>>()
    };
    assert_eq!(
        problems("{\"city\": \"Oslo\", \"days\": 1}\n[1]\n{\"city\": \"Ro\n"),
        [
            "cities.jsonl:2:1: each line is a JSON object, but this is a JSON array",
            "cities.jsonl:3:12: this line is not JSON: EOF while parsing a string",
        ]
    );
    assert_eq!(
        problems("[\n  {\"city\": \"Oslo\"}\n]\n"),
        ["cities.jsonl:1:1: the file is one JSON array, not a JSON object on each line"]
    );
    assert_eq!(
        problems("{\"city\": \"Oslo\", \"days\": 1}\n{\"city\": \"Rome\"}\n"),
        ["suite.yml:8:36: the column `days` has no value in this line of the data"]
    );
}

#[test]
fn a_missing_column_is_reported_once_and_an_unused_one_is_a_warning() {
    assert_eq!(
        problems(SUITE, "citi,days,x-note,task id\nOslo,1,a,b\nRome,2,c,d\n"),
        [
            "suite.yml:5:11: `city` is not a column of the data, nor a variable that is set",
            "suite.yml:8:19: `city` is not a column of the data, nor a variable that is set",
            "cities.csv:1:1: the columns `citi`, `task id` are not used",
        ]
    );
    let without_column = SUITE.replace("the weather in ${city}", "the weather");
    assert_eq!(
        problems(&without_column, "city,days\nOslo,1\nRome,2\n"),
        ["suite.yml:5:5: every line of `cities.csv` makes a test called `the weather`"]
    );
}

#[test]
fn a_problem_of_one_line_shows_the_line() {
    let suite = SUITE.replace("    args:", "    timeout: ${days}\n    args:");
    let loaded = load_with(&suite, (DATA, "city,days\nOslo,1s\nRome,soon\n"));
    let [problem] = &loaded.problems[..] else {
        panic!("{:#?}", loaded.problems)
    };
    let (line, label) = problem.also.clone().unwrap();
    assert_eq!(loaded.sources.position(line).to_string(), "cities.csv:3:1");
    assert_eq!(label, "in the test of this line");
}

#[test]
fn a_file_that_is_not_data_is_refused_where_it_is_named() {
    for (file, message) in [
        (
            "cities.xlsx",
            "suite.yml:4:11: `cities.xlsx` is not a data file: its name must end in `.csv`, `.jsonl`, `.ndjson`",
        ),
        (
            "nowhere.csv",
            "suite.yml:4:11: cannot read nowhere.csv: no such file",
        ),
    ] {
        assert_eq!(problems(&SUITE.replace(DATA, file), ""), [message]);
    }
    let on_a_server = "servers: { weather: { command: [weather], each: cities.csv } }";
    assert_eq!(
        problems(on_a_server, ""),
        ["suite.yml:1:43: unknown key `each`"]
    );
}
