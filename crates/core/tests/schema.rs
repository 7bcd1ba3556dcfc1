//! Does the published JSON Schema agree with the loader: on every example, and on unknown keys at every level?

#![allow(clippy::unwrap_used, clippy::disallowed_methods, missing_docs)]

use mcptest_core::eval::GATES;
use mcptest_core::problem::{Level, render};
use mcptest_core::schema::JsonSchema;
use mcptest_core::suite::{Host, Loaded, json_schema, load, load_to_capture, yaml_to_json};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Every key of a suite except its gates, which come from the registry.
const RICH: &str = r#"
variables: { city: Oslo }
servers:
  weather:
    command: weather-server
    args: [--port, 1]
    env: { KEY: "${WEATHER_KEY}" }
    cwd: .
    era: auto
    timeout: 30s
    connect_timeout: 1.5s
    max_message_bytes: 100
    shared: true
    responses:
      roots: [{ uri: "file:///tmp", name: tmp }, { uri: "${ROOT}" }]
      sampling:
        - { when: { maxTokens: 10 }, text: sunny }
        - { result: { role: assistant } }
        - { decline: true }
      elicitation:
        - { when: { message: Your name? }, accept: { name: Ada } }
        - { accept: true }
        - { decline: true }
        - { cancel: true }
  listed: { command: [npx, server] }
  remote:
    url: https://example.com/mcp
    headers: { A: b, B: { env: TOKEN } }
    auth: { bearer_token_env: TOKEN }
  saved: { mock: tools.json }
providers:
  house: { type: openai, base_url: http://localhost, api_key_env: KEY, jobs: 4 }
faults:
  - { name: late, target: { server: weather, tool: get_weather }, kind: slow, delay_ms: 5, real: true }
  - { name: again, target: { tool: get_weather }, kind: recover_after, failures: 2 }
budget: { per_test_usd: 1, per_suite_usd: 2.5, per_run_tokens: 1000 }
run_options: { stale: warn }
redact: ["account (?<account>[0-9]+)", { name: customer, pattern: "C-[0-9]{6}" }]
tools:
  - name: answers
    server: weather
    tool: get_weather
    args: { city: Oslo }
    timeout: 5s
    tags: [smoke]
    skip: waits for the server
    only: false
    expect:
      - { target: result.isError, matcher: { exact: false }, message: it failed }
agents:
  - name: asks the weather tool
    models: [claude-sonnet-4-5, { provider: house, id: large }]
    servers: [weather, remote]
    prompt: Is it sunny in ${city}?
    system_prompt: Be brief.
    max_turns: 4
    max_tokens: 100
    max_tool_calls: 3
    temperature: 0.5
    token_budget: 1000
    time_budget: 2m
    runs: 2
    inject: [late]
    tags: [smoke]
    cassette: "cassettes/{model}.jsonl"
    expect:
      - { target: tool_names, matcher: { contains: get_weather } }
      - { target: tool_names, matcher: { length: { gte: 1 } } }
      - target: tool_names
        matcher: { not: { any-of: [{ exact: [] }, { allOf: [{ length: 9 }, { absent: false }] }] } }
      - { target: "tool_calls[0].args", matcher: { schema: { type: object, properties: { city: { type: string } } } } }
      - { target: "tool_calls[0].args", matcher: { subset: { city: Oslo } } }
      - { target: final_response, matcher: { regex: "sun|rain" } }
  - name: chats
    model: { provider: house, id: large }
    turns: [Hello., Is it sunny?]
    skip: waits for the tides
    only: false
    cassette: [a.json, "b/*.json"]
    expect:
      - { target: final_response, matcher: { contains-any: [sun, rain] } }
  - name: of my own
    agent: { command: [python, "${SCRIPT}"], env: { MODE: fast }, cwd: . }
    prompt: Is it sunny?
    time_budget: 2m
    runs: 5
    stop: decided
    setup: [./reset, "${DATABASE}"]
    teardown: ./clean
    expect:
      - { target: final_response, matcher: { contains: sun } }
judge: { model: { provider: house, id: large }, request_timeout: 60s }
evals:
  - { name: tone, agent: chats, rubric: It is polite., tags: [prose], skip: waits for the rubric, only: false }
  - name: files
    traces: [a.json, "b/*.json"]
    rubric: { criteria: [{ name: grounded, text: It is true., required: true }, It is short.], strict: true }
    jurors: [gpt-5, { model: { provider: house, id: large } }]
    threshold: 0.8
    samples: 2
    quorum: 0.67
    max_cost: 1
    min_pass_rate: 0.9
  - { name: words, texts: ["Sun in ${city}."], rubric: It is short., model: gpt-5, sees: text }
scenarios:
  - name: of a file
    cassette: [a.jsonl]
    seed: { n: 1, list: [1] }
    transitions:
      - tool: go
        when: { n: { eq: 1, ne: 2, min: 0, max: "{most}", in: [1, 2], exists: true }, args.x: a }
        effect: { set: { n: 2 }, inc: { m: 1 }, dec: { m: "{most}" }, append: { list: 2 }, remove: { list: 1 }, unset: n }
    forbidden: [{ tool: go, when: { n: 2 }, reason: it is two }]
    golden: { calls: [look, { tool: go, args: { x: a, most: 3 } }], alternates: [[look]] }
    expect_state: { n: { exists: false } }
    refusal: false
    escalation: { tool: hand_over, expected: false }
    successful: { not: { starts-with: Error } }
    min_pass_rate: 0.9
    tags: [state]
    skip: later
    only: false
  - { name: of an agent, agent: chats, refusal: true }
"#;

/// Keys whose contents are free.
const FREE: [&str; 12] = [
    "variables",
    "env",
    "headers",
    "schema",
    "exact",
    "subset",
    "contains",
    "contains-all",
    "contains-any",
    "equals-json",
    "one-of",
    "oneOf",
];

/// Free keys within a scenario: places of the state, and arguments.
const OF_WORLD: [&str; 9] = [
    "seed",
    "when",
    "set",
    "inc",
    "dec",
    "append",
    "remove",
    "args",
    "expect_state",
];

fn validator() -> JsonSchema {
    JsonSchema::compile(&json_schema(GATES)).unwrap()
}

fn load_text(text: &str) -> Loaded {
    let read = |path: &Path| match path.to_str() {
        Some("mcptest.yml") => Ok(text.as_bytes().to_vec()),
        Some("tools.json") => Ok(br#"{"tools": [{"name": "get_weather"}]}"#.to_vec()),
        _ => Err("no such file".to_owned()),
    };
    // The baselines that gates name are no matter of the schema.
    load_to_capture(Path::new("mcptest.yml"), &Host::new(&read, &|_| None))
}

fn errors(loaded: &Loaded) -> String {
    let errors: Vec<_> = loaded
        .problems
        .iter()
        .filter(|problem| problem.level == Level::Error)
        .cloned()
        .collect();
    render(&errors, &loaded.sources, false)
}

/// The full suite, and the example of every gate.
fn suites() -> Vec<(String, Value)> {
    let rich = ("the rich suite".to_owned(), yaml_to_json(RICH).unwrap());
    let examples = GATES
        .iter()
        .map(|gate| (gate.key.to_owned(), yaml_to_json(gate.example).unwrap()));
    std::iter::once(rich).chain(examples).collect()
}

/// The pointers of all maps with known keys.
fn known_maps(value: &Value, at: &str, into: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            into.push(at.to_owned());
            for (key, value) in map {
                let here = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
                let is_of_tool_test = at.starts_with("/tools/") && key == "args";
                let is_of_response = at.contains("/responses/")
                    && ["when", "accept", "result"].contains(&key.as_str());
                let is_of_world = at.contains("/scenario") && OF_WORLD.contains(&key.as_str());
                if key.starts_with("x-") || is_of_tool_test || is_of_response || is_of_world {
                    continue;
                }
                if !FREE.contains(&key.as_str()) {
                    known_maps(value, &here, into);
                } else if let (Value::Object(inner), "headers") = (value, key.as_str()) {
                    inner.iter().for_each(|(name, value)| {
                        known_maps(value, &format!("{here}/{name}"), into);
                    });
                }
            }
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, item)| known_maps(item, &format!("{at}/{index}"), into));
        }
        _ => {}
    }
}

fn with_key(suite: &Value, pointer: &str, key: &str) -> Value {
    let mut suite = suite.clone();
    suite.pointer_mut(pointer).unwrap()[key] = json!(1);
    suite
}

#[test]
fn the_schema_is_one() {
    jsonschema::draft202012::meta::validate(&json_schema(GATES)).unwrap();
}

#[test]
fn the_loader_and_the_schema_accept_the_rich_suite_and_every_gates_example() {
    let validator = validator();
    for (name, suite) in suites() {
        let loaded = load_text(&suite.to_string());
        assert!(!loaded.is_refused(), "{name}: {}", errors(&loaded));
        let faults: Vec<String> = validator
            .reasons(&suite)
            .into_iter()
            .map(|(at, why)| format!("{at}: {why}"))
            .collect();
        assert!(faults.is_empty(), "{name}: {faults:#?}");
    }
}

#[test]
fn an_unknown_key_is_refused_at_every_level_by_both() {
    let validator = validator();
    let mut tried = 0;
    for (name, suite) in suites() {
        let mut pointers = Vec::new();
        known_maps(&suite, "", &mut pointers);
        for pointer in pointers {
            let changed = with_key(&suite, &pointer, "zzz_unknown");
            assert!(
                load_text(&changed.to_string()).is_refused(),
                "the loader takes {pointer}/zzz_unknown in {name}"
            );
            assert!(
                !validator.is_valid(&changed),
                "the schema takes {pointer}/zzz_unknown in {name}"
            );
            tried += 1;
        }
    }
    assert!(tried > 60, "only {tried} levels were tried");
}

#[test]
fn a_note_of_ones_own_is_accepted_at_every_level_by_both() {
    let validator = validator();
    for (name, suite) in suites() {
        let mut pointers = Vec::new();
        known_maps(&suite, "", &mut pointers);
        for pointer in pointers {
            let changed = with_key(&suite, &pointer, "x-note");
            let loaded = load_text(&changed.to_string());
            assert!(!loaded.is_refused(), "{name}{pointer}: {}", errors(&loaded));
            assert!(
                validator.is_valid(&changed),
                "the schema refuses {pointer}/x-note in {name}"
            );
        }
    }
}

#[test]
fn the_schema_accepts_every_suite_of_the_repository_that_the_loader_accepts() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let validator = validator();
    let environment = |_: &str| Some("1".to_owned());
    let read = |path: &Path| std::fs::read(path).map_err(|error| error.to_string());
    let mut files = Vec::new();
    for folder in ["examples", "demo", "tests/cases"] {
        collect(&root.join(folder), &mut files);
    }
    let mut accepted = 0;
    for file in files {
        // Gates of crates above this one.
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        if text.contains("model_compat:") || text.contains("tool_quality:") {
            continue;
        }
        let loaded = load(&file, &Host::new(&read, &environment));
        let is_example = !file.starts_with(root.join("tests"));
        assert!(
            !is_example || !loaded.is_refused(),
            "{}: {}",
            file.display(),
            errors(&loaded)
        );
        if loaded.is_refused() {
            continue;
        }
        let suite = yaml_to_json(&std::fs::read_to_string(&file).unwrap()).unwrap();
        if validator.reasons(&suite).is_empty() {
            accepted += 1;
            continue;
        }
        let faults: Vec<String> = validator
            .reasons(&filled_in(suite))
            .into_iter()
            .map(|(at, why)| format!("{at}: {why}"))
            .collect();
        assert!(faults.is_empty(), "{}: {faults:#?}", file.display());
        accepted += 1;
    }
    assert!(accepted > 30, "only {accepted} suites were found");
}

/// Replaces texts that are only a variable by a number, which a schema cannot know.
fn filled_in(value: Value) -> Value {
    match value {
        Value::String(text) if text.starts_with("${") && text.ends_with('}') => json!(1),
        Value::Array(items) => items.into_iter().map(filled_in).collect(),
        Value::Object(map) => map
            .into_iter()
            .map(|(key, value)| (key, filled_in(value)))
            .collect(),
        other => other,
    }
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            collect(&path, into);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "yml" || extension == "yaml")
        {
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            if mcptest_core::suite::is_suite(&text) {
                into.push(path);
            }
        }
    }
}
