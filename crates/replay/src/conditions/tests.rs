//! Is every key of a suite either compared with a recording, or listed with the reason why it is not?

use super::*;
use crate::cassette::staleness;
use crate::header::expected_header;
use mcptest_core::eval::GATES;
use mcptest_core::suite::load;
use std::collections::BTreeSet;
use std::fs;

const PAGE: &str = include_str!("../../../../docs/traces.md");

/// Two agents with every key that applies to a model.
const MODELS: &str = r#"
variables: { town: Oslo }
servers:
  s:
    command: serve
    args: [--fast]
    env: { LEVEL: low }
    cwd: here
    era: legacy
    responses: { roots: [{ uri: "file:///tmp" }] }
  u:
    url: http://localhost:1/mcp
    headers: { X-Team: red }
    auth: { bearer_token_env: FIRST_TOKEN }
  m: { mock: first.yml }
providers:
  p: { type: openai, base_url: "http://localhost:2/v1", echo_reasoning: true }
faults:
  - { name: f, target: { server: s, tool: t }, kind: slow, delay_ms: 10, real: false }
  - { name: g, target: { tool: t }, kind: recover-after, failures: 2 }
  - { name: h, target: { tool: t }, kind: hang }
agents:
  - name: a
    model: { provider: p, id: m1 }
    servers: [s, u, m]
    prompt: Weather in ${town}?
    system_prompt: Be brief.
    temperature: 0.5
    top_p: 0.9
    seed: 7
    tool_choice: required
    extra: { user: a }
    max_turns: 5
    max_tokens: 100
    max_tool_calls: 6
    token_budget: 1000
    time_budget: 60s
    tool_schemas: omit
    instructions: false
    max_result_chars: 50
    inject: [f, g, h]
    setup: [make, ready]
    teardown: [make, clean]
    expect: [{ target: final_response, matcher: { contains: sun } }]
  - name: b
    models: [claude-sonnet-4-5]
    servers: [s]
    turns: [Hello., Bye.]
    code_execution: true
    prompt_caching: false
    expect: [{ target: final_response, matcher: { contains: sun } }]
  - name: c
    model: { provider: p, model: m2, temperature: 0.1, top_p: 0.2, seed: 3, tool_choice: required, extra: { user: b } }
    servers: [s]
    prompt: Hello.
    expect: [{ target: final_response, matcher: { contains: sun } }]
  - name: d
    model: { provider: p, id: o3, reasoning_effort: low }
    servers: [s]
    prompt: Hello.
    expect: [{ target: final_response, matcher: { contains: sun } }]
  - name: e
    model: { provider: p, id: o4 }
    servers: [s]
    prompt: Hello.
    reasoning_effort: low
    expect: [{ target: final_response, matcher: { contains: sun } }]
"#;

/// A program of the user's.
const OWN: &str = r"
servers: { s: { command: [serve] } }
agents:
  - name: a
    agent: { command: [run, first.py], env: { LEVEL: low }, cwd: here, files: [first.py] }
    servers: [s]
    prompt: Hello.
    expect: [{ target: final_response, matcher: { contains: sun } }]
";

/// An agent whose mock acts on a world.
const WORLD: &str = r"
servers: { m: { mock: first.yml } }
agents:
  - { name: a, model: claude-sonnet-4-5, servers: [m], prompt: Hello. }
scenarios:
  - name: w
    agent: a
    seed: { count: 1 }
    transitions: [{ tool: t, effect: { inc: { count: 1 } } }]
    golden: { calls: [{ tool: t }] }
";

/// A key, and a change of a suite.
const CHANGES: &[(&str, &str, &str, &str)] = &[
    ("agents.model", MODELS, "id: m1", "id: m9"),
    (
        "agents.models",
        MODELS,
        "[claude-sonnet-4-5]",
        "[claude-opus-4-5]",
    ),
    ("model.id", MODELS, "id: m1", "id: m9"),
    ("model.model", MODELS, "model: m2", "model: m9"),
    (
        "model.provider",
        MODELS,
        "model: { provider: p, id: m1 }",
        "model: m1",
    ),
    ("agents.prompt", MODELS, "prompt: Hello.", "prompt: Bye."),
    ("agents.turns", MODELS, "[Hello., Bye.]", "[Hello., Ciao.]"),
    ("agents.system_prompt", MODELS, "Be brief.", "Be long."),
    (
        "agents.temperature",
        MODELS,
        "temperature: 0.5",
        "temperature: 0.6",
    ),
    ("agents.top_p", MODELS, "top_p: 0.9", "top_p: 0.8"),
    ("agents.seed", MODELS, "seed: 7", "seed: 8"),
    (
        "agents.reasoning_effort",
        MODELS,
        "    reasoning_effort: low",
        "    reasoning_effort: high",
    ),
    (
        "agents.tool_choice",
        MODELS,
        "    tool_choice: required",
        "    tool_choice: none",
    ),
    ("agents.extra", MODELS, "user: a", "user: z"),
    (
        "agents.prompt_caching",
        MODELS,
        "prompt_caching: false",
        "prompt_caching: true",
    ),
    (
        "model.temperature",
        MODELS,
        "temperature: 0.1",
        "temperature: 0.3",
    ),
    ("model.top_p", MODELS, "top_p: 0.2", "top_p: 0.3"),
    ("model.seed", MODELS, "seed: 3", "seed: 4"),
    (
        "model.reasoning_effort",
        MODELS,
        "reasoning_effort: low }",
        "reasoning_effort: high }",
    ),
    (
        "model.tool_choice",
        MODELS,
        "tool_choice: required, extra",
        "tool_choice: none, extra",
    ),
    ("model.extra", MODELS, "user: b", "user: z"),
    ("agents.max_turns", MODELS, "max_turns: 5", "max_turns: 6"),
    (
        "agents.max_tokens",
        MODELS,
        "max_tokens: 100",
        "max_tokens: 101",
    ),
    (
        "agents.max_tool_calls",
        MODELS,
        "max_tool_calls: 6",
        "max_tool_calls: 7",
    ),
    (
        "agents.token_budget",
        MODELS,
        "token_budget: 1000",
        "token_budget: 1001",
    ),
    (
        "agents.time_budget",
        MODELS,
        "time_budget: 60s",
        "time_budget: 61s",
    ),
    (
        "agents.tool_schemas",
        MODELS,
        "tool_schemas: omit",
        "tool_schemas: as-is",
    ),
    (
        "agents.instructions",
        MODELS,
        "instructions: false",
        "instructions: true",
    ),
    (
        "agents.max_result_chars",
        MODELS,
        "max_result_chars: 50",
        "max_result_chars: 51",
    ),
    (
        "agents.code_execution",
        MODELS,
        "code_execution: true",
        "code_execution: false",
    ),
    ("agents.agent", OWN, "[run, first.py]", "[run, second.py]"),
    ("agent.command", OWN, "[run, first.py]", "[run, second.py]"),
    ("agent.env", OWN, "LEVEL: low", "LEVEL: high"),
    ("agent.cwd", OWN, "cwd: here", "cwd: there"),
    (
        "agent.files",
        OWN,
        "files: [first.py]",
        "files: [second.py]",
    ),
    (
        "agents.servers",
        MODELS,
        "servers: [s, u, m]",
        "servers: [s, u]",
    ),
    (
        "servers.command",
        MODELS,
        "command: serve",
        "command: other",
    ),
    ("servers.args", MODELS, "--fast", "--slow"),
    ("servers.url", MODELS, "localhost:1/mcp", "localhost:9/mcp"),
    (
        "servers.mock",
        MODELS,
        "mock: first.yml",
        "mock: second.yml",
    ),
    ("servers.env", MODELS, "LEVEL: low", "LEVEL: high"),
    ("servers.cwd", MODELS, "cwd: here", "cwd: there"),
    ("servers.headers", MODELS, "X-Team: red", "X-Team: blue"),
    ("servers.auth", MODELS, "FIRST_TOKEN", "SECOND_TOKEN"),
    ("servers.era", MODELS, "era: legacy", "era: modern"),
    ("servers.responses", MODELS, "file:///tmp", "file:///var"),
    (
        "scenarios.seed",
        WORLD,
        "count: 1 }\n    t",
        "count: 2 }\n    t",
    ),
    (
        "scenarios.transitions",
        WORLD,
        "inc: { count: 1",
        "inc: { count: 2",
    ),
    (
        "providers.type",
        MODELS,
        "type: openai, base_url: \"http://localhost:2/v1\", echo_reasoning: true",
        "type: mistral, base_url: \"http://localhost:2/v1\"",
    ),
    ("providers.base_url", MODELS, "localhost:2", "localhost:3"),
    (
        "providers.echo_reasoning",
        MODELS,
        "echo_reasoning: true",
        "echo_reasoning: false",
    ),
    (
        "agents.inject",
        MODELS,
        "inject: [f, g, h]",
        "inject: [f, g]",
    ),
    ("faults.name", MODELS, "[f, g, h]", "[f, g]"),
    ("faults.kind", MODELS, "kind: hang", "kind: malformed"),
    ("faults.target", MODELS, "server: s, tool: t", "server: s"),
    ("faults.delay_ms", MODELS, "delay_ms: 10", "delay_ms: 11"),
    ("faults.failures", MODELS, "failures: 2", "failures: 3"),
    ("faults.real", MODELS, "real: false", "real: true"),
    ("agents.setup", MODELS, "[make, ready]", "[make, steady]"),
    ("agents.teardown", MODELS, "[make, clean]", "[make, tidy]"),
    ("variables", MODELS, "town: Oslo", "town: Rome"),
];

/// The headers that recordings of a suite would have.
fn headers(folder: &Path, text: &str) -> Vec<Header> {
    let path = folder.join("suite.yml");
    fs::write(&path, text).unwrap();
    let loaded = load(&path, &crate::host());
    let problems: Vec<&str> = loaded.problems.iter().map(|one| &*one.message).collect();
    let suite = loaded
        .suite
        .unwrap_or_else(|| panic!("{problems:?}\n{text}"));
    suite.agent_rows().map(expected_header).collect()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let manifest = "mock_server:\n  tools: [{ name: t, description: D }]\n";
    write("first.yml", manifest);
    write("second.yml", manifest);
    write("first.py", "print(1)\n");
    write("second.py", "print(2)\n");
    for inner in ["here", "there"] {
        fs::create_dir(folder.path().join(inner)).unwrap();
    }
    folder
}

/// The keys in the first column of a table of the page, between two marks.
fn keys_between(name: &str) -> Vec<String> {
    let (_, rest) = PAGE.split_once(&format!("<!-- {name} -->")).unwrap();
    let (table, _) = rest.split_once(&format!("<!-- end of {name} -->")).unwrap();
    let mut keys = Vec::new();
    for row in table.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let [written, said] = cells[..] else {
            panic!("{row}");
        };
        assert!(!said.trim().is_empty(), "{row} has no second column");
        keys.extend(written.split('`').skip(1).step_by(2).map(str::to_owned));
    }
    keys
}

/// The keys at a place of the schema.
fn keys_of(schema: &Value, at: &Value) -> BTreeSet<String> {
    if let Some(name) = at["$ref"].as_str() {
        let name = name.rsplit('/').next().unwrap();
        return keys_of(schema, &schema["$defs"][name]);
    }
    let mut keys: BTreeSet<String> = at["properties"]
        .as_object()
        .into_iter()
        .flat_map(|properties| properties.keys().cloned())
        .collect();
    for alternative in ["anyOf", "oneOf", "allOf"] {
        let shapes = at[alternative].as_array().into_iter().flatten();
        keys.extend(shapes.flat_map(|shape| keys_of(schema, shape)));
    }
    keys
}

/// Every key that decides anything about an agent, as the page writes it.
fn keys_of_suites() -> BTreeSet<String> {
    let schema = mcptest_core::suite::json_schema(GATES);
    let top = &schema["properties"];
    let parts = [
        ("agents", &top["agents"]["items"]),
        ("model", &schema["$defs"]["model"]),
        ("agent", &schema["$defs"]["agent"]["properties"]["agent"]),
        ("servers", &top["servers"]["additionalProperties"]),
        ("providers", &top["providers"]["additionalProperties"]),
        ("faults", &top["faults"]["items"]),
        ("scenarios", &top["scenarios"]["items"]),
    ];
    let is_gate = |key: &str| GATES.iter().any(|gate| gate.key == key);
    let mut keys = BTreeSet::new();
    for (part, at) in parts {
        let of_part = keys_of(&schema, at);
        assert!(!of_part.is_empty(), "{part} has no keys");
        keys.extend(of_part.into_iter().map(|key| match part {
            "agents" if is_gate(&key) => "agents.GATE".to_owned(),
            _ => format!("{part}.{key}"),
        }));
    }
    let is_part = |key: &&String| parts.iter().any(|(part, _)| part == key);
    let of_top = top.as_object().unwrap().keys();
    keys.extend(of_top.filter(|key| !is_part(key)).cloned());
    keys
}

#[test]
fn every_key_of_a_suite_is_in_the_fingerprint_or_listed_with_the_reason_why_not() {
    let compared = keys_between("keys in the fingerprint");
    let others = keys_between("keys outside the fingerprint");
    let listed: BTreeSet<String> = compared.iter().chain(&others).cloned().collect();
    assert_eq!(
        listed.len(),
        compared.len() + others.len(),
        "a key is listed twice"
    );
    let mut known = keys_of_suites();
    // The gate of this key, which may be beside `agents:`, is in a crate above this one.
    known.insert("model_compat".to_owned());
    let missing: Vec<&String> = known.difference(&listed).collect();
    let unknown: Vec<&String> = listed.difference(&known).collect();
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "docs/traces.md does not list {missing:?}, and lists {unknown:?}, which no suite has"
    );
    let changed: BTreeSet<&str> = CHANGES.iter().map(|(key, ..)| *key).collect();
    let compared: BTreeSet<&str> = compared.iter().map(String::as_str).collect();
    assert_eq!(
        changed, compared,
        "each compared key has a change that is tried"
    );
}

#[test]
fn a_change_of_any_compared_key_makes_a_recording_stale() {
    let folder = folder();
    for (key, suite, from, to) in CHANGES {
        assert!(suite.contains(from), "{key}: {from}");
        let recorded = headers(folder.path(), suite);
        let current = headers(folder.path(), &suite.replace(from, to));
        assert_eq!(recorded.len(), current.len(), "{key}");
        let changes: Vec<String> = recorded
            .iter()
            .zip(&current)
            .flat_map(|(recorded, current)| staleness(recorded, current))
            .map(|change| change.to_string())
            .collect();
        assert!(!changes.is_empty(), "{key} is not compared");
        let again = headers(folder.path(), suite);
        assert_eq!(recorded, again, "{key}: the same suite has the same header");
    }
}

#[test]
fn conditions_name_what_differs_and_keep_no_secret() {
    let folder = folder();
    let secret = MODELS.replace(
        "[make, ready]",
        "[make, --token, ghp_0123456789abcdefghijABCDEFGHIJ012345]",
    );
    let recorded = &headers(folder.path(), &secret)[0];
    let text = serde_json::to_string(recorded).unwrap();
    assert!(!text.contains("ghp_0123456789"), "{text}");
    let current = &headers(
        folder.path(),
        &secret.replace("kind: hang", "kind: malformed"),
    )[0];
    let changes: Vec<String> = staleness(recorded, current)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        changes,
        [r#"inject.h.kind: recorded "hang", now "malformed""#]
    );
}

#[test]
fn a_recording_that_does_not_say_its_conditions_is_not_compared_by_them() {
    let folder = folder();
    let current = &headers(folder.path(), MODELS)[0];
    let older = Header {
        conditions: None,
        ..current.clone()
    };
    assert_eq!(staleness(&older, current), []);
}

#[test]
fn a_dated_name_is_the_same_model_and_a_smaller_one_is_not() {
    for (recorded, asked) in [
        ("gpt-5", "gpt-5"),
        ("gpt-5-2025-08-07", "gpt-5"),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("openai/gpt-5", "gpt-5"),
    ] {
        assert!(is_same_model(recorded, asked), "{recorded}");
    }
    for (recorded, asked) in [
        ("gpt-5-mini", "gpt-5"),
        ("gpt-5", "gpt-5-mini"),
        ("m1", "m2"),
        ("m", "m-4"),
    ] {
        assert!(!is_same_model(recorded, asked), "{recorded} {asked}");
    }
}
