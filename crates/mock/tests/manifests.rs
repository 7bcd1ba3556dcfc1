//! Do the manifests of the repository load, and does the published JSON Schema agree with the loader about them?

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::panic,
    missing_docs
)]

use mcptest_core::problem::render;
use mcptest_core::schema::JsonSchema;
use mcptest_core::suite::{Host, yaml_to_json};
use mcptest_mock::manifest::{
    AskKind, Inputs, Manifest, State, catalogue, json_schema, load, load_text,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Every key that a manifest can have.
const RICH: &str = r#"
mock_server:
  name: rich
  title: Rich
  version: "1"
  instructions: Ask.
  cache: { ttl: 1s, scope: public }
  fault: [slow:5, { kind: hang, scope: all }]
  store:
    things: { key: id, id: "${next}", seed: [{ id: 7, of: you }] }
  tools:
    - name: all
      title: All
      description: All.
      input_schema: { type: object, properties: { x: { type: string } } }
      output_schema: { type: object }
      annotations: { readOnlyHint: true }
      icons: [{ src: a.png }]
      execution: { taskSupport: forbidden }
      _meta: { a: 1 }
      validate_input: true
      validate_output: false
      delay: 5ms
      reconnect: 1s
      fault: malformed
      progress: [{ progress: 1, total: 2.5, message: "${args.x}", delay: 1ms }]
      logging: [started, { level: debug, logger: me, data: [1], delay: 1ms }]
      list_changed: [tools, prompts]
      updated: test://a
      request_state: true
      ask:
        - a: { elicitation: { mode: form, message: m, requested_schema: { type: object }, _meta: { a: 1 } } }
          b: { roots: {}, optional: true }
        - c: { elicitation: { mode: url, message: m, url: "https://example.com", elicitation_id: e } }
          d:
            sampling:
              messages: [{ role: assistant, content: [one, { type: text, text: two }] }]
              max_tokens: 1
              system_prompt: s
              model_preferences: { hints: [] }
              include_context: none
              stop_sequences: [x]
              tool_choice: { mode: auto }
              temperature: 0.5
              tools: []
              metadata: {}
              _meta: {}
      responses:
        - { when: args.x == "a", text: a, is_error: true, _meta: { a: 1 } }
        - { when: has(args.x), result: { structured_content: { a: "${args.x}" } } }
        - { when: a.action == "accept", error: { code: -1, message: m, data: [1] } }
        - { when: args.x == "b", sequence: [one, { text: two }], then: cycle }
        - { when: args.x == "c", raw: { odd: true } }
        - { when: args.x == "d", read: things, key: "${args.x}", not_found: { text: none }, text: "${record}" }
        - { when: args.x == "e", update: things, record: { a: 1 } }
        - { when: args.x == "f", list: things, where: { a: 1 } }
        - content:
            - { type: text, text: t, annotations: { priority: 1 }, _meta: {} }
            - { type: image, data: aGk=, mime_type: image/png }
            - { type: resource, resource: { uri: "test://a", mimeType: text/plain, text: t, _meta: {} } }
            - { type: resource_link, uri: "test://a", name: n, title: t, description: d, size: 1, icons: [], mimeType: a/b }
    - { name: simple, sampling: hi, elicitation: hi, roots: {}, response: "${sampling.content.text}" }
    - { name: made, response: { create: things } }
    - { name: gone, response: { delete: things } }
  resources:
    - { uri: "test://a", name: a, title: A, description: d, mime_type: text/plain, size: 1, annotations: {}, icons: [], _meta: {}, text: t }
    - { uri: "test://b", blob: aGk=, elicitation: Sure? }
  resource_templates:
    - { uri_template: "test://t/{id}", name: t, text: "${id}" }
  prompts:
    - name: p
      title: P
      description: d
      arguments: [{ name: x, title: X, description: d, required: true }]
      icons: []
      _meta: {}
      messages: [{ role: user, content: "${args.x}" }]
  completions:
    prompts: { p: { x: [a, 1] } }
    resource_templates: { "test://t/{id}": { id: [a] } }
"#;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn from_disk(path: &str) -> Manifest {
    let read = |path: &Path| std::fs::read(path).map_err(|error| error.to_string());
    let loaded = load(&repository().join(path), &read);
    assert!(
        loaded.problems.is_empty(),
        "{}",
        render(&loaded.problems, &loaded.sources, false)
    );
    loaded.manifest.unwrap()
}

fn is_refused(manifest: &Value) -> bool {
    let read = |_: &Path| Err("no such file".to_owned());
    load_text(Path::new("m.yml"), manifest.to_string(), &read).is_refused()
}

fn faults(manifest: &Value) -> Vec<String> {
    let reasons = JsonSchema::compile(&json_schema())
        .unwrap()
        .reasons(manifest);
    reasons
        .into_iter()
        .map(|(at, why)| format!("{at}: {why}"))
        .collect()
}

const FILES: [&str; 3] = [
    "examples/servers/weather.tools.yml",
    "examples/servers/tickets.tools.yml",
    "tests/conformance/everything.yml",
];

#[test]
fn the_schema_is_one_and_accepts_every_manifest_that_the_loader_accepts() {
    jsonschema::draft202012::meta::validate(&json_schema()).unwrap();
    let rich = yaml_to_json(RICH).unwrap();
    assert!(!is_refused(&rich), "{:#?}", {
        let read = |_: &Path| Err(String::new());
        load_text(Path::new("m.yml"), RICH.to_owned(), &read).problems
    });
    assert_eq!(faults(&rich), Vec::<String>::new());
    for file in FILES {
        from_disk(file);
        let value =
            yaml_to_json(&std::fs::read_to_string(repository().join(file)).unwrap()).unwrap();
        assert_eq!(faults(&value), Vec::<String>::new(), "{file}");
    }
}

/// Keys whose contents are free.
const FREE: &[&str] = &[
    "seed",
    "input_schema",
    "output_schema",
    "annotations",
    "icons",
    "execution",
    "_meta",
    "requested_schema",
    "roots",
    "model_preferences",
    "tool_choice",
    "metadata",
    "data",
    "raw",
    "structured_content",
    "record",
    "where",
];

/// The pointers of all maps with known keys.
fn known_maps(value: &Value, at: &str, into: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            let names_are_free = [
                "/store",
                "/ask",
                "/ask/0",
                "/ask/1",
                "/prompts",
                "/resource_templates",
                "/p",
                "}",
            ]
            .iter()
            .any(|end| at.ends_with(end));
            if !names_are_free {
                into.push(at.to_owned());
            }
            for (key, value) in map.iter().filter(|(key, _)| !FREE.contains(&key.as_str())) {
                known_maps(
                    value,
                    &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")),
                    into,
                );
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

#[test]
fn an_unknown_key_is_refused_and_a_note_is_accepted_at_every_level_by_both() {
    let rich = yaml_to_json(RICH).unwrap();
    let validator = JsonSchema::compile(&json_schema()).unwrap();
    let mut pointers = Vec::new();
    known_maps(&rich, "", &mut pointers);
    for pointer in &pointers {
        let with = |key: &str| {
            let mut changed = rich.clone();
            changed.pointer_mut(pointer).unwrap()[key] = json!(1);
            changed
        };
        let (unknown, note) = (with("zzz_unknown"), with("x-note"));
        assert!(
            is_refused(&unknown),
            "the loader takes {pointer}/zzz_unknown"
        );
        assert!(
            !validator.is_valid(&unknown),
            "the schema takes {pointer}/zzz_unknown"
        );
        assert!(!is_refused(&note), "the loader refuses {pointer}/x-note");
        assert!(
            validator.is_valid(&note),
            "the schema refuses {pointer}/x-note"
        );
    }
    assert!(
        pointers.len() > 40,
        "only {} levels were tried",
        pointers.len()
    );
}

#[test]
fn every_tool_and_prompt_of_the_conformance_manifest_answers_whatever_the_client_says() {
    let manifest = from_disk("tests/conformance/everything.yml");
    let state = State::new(&manifest, None);
    let args = json!({"prompt": "p", "message": "m", "region": "r", "email": "e", "arg1": "a", "arg2": "b", "resourceUri": "test://x"});
    let answer = |kind: AskKind| match kind {
        AskKind::Sampling => {
            json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "hi"}})
        }
        AskKind::Elicitation => json!({"action": "decline"}),
        AskKind::Roots => json!({"roots": []}),
    };
    for tool in &manifest.tools {
        let mut inputs = Inputs::new();
        for _ in 0..3 {
            for request in tool.requests(&args, &inputs, &|_| true).unwrap() {
                let _: Value = serde_json::from_str(&request.params).unwrap();
                inputs.insert(request.name, answer(request.kind));
            }
        }
        assert!(
            tool.requests(&args, &inputs, &|_| true).unwrap().is_empty(),
            "{}",
            tool.name
        );
        let result: Value =
            serde_json::from_str(&tool.reply(&args, &state, &inputs).unwrap().text).unwrap();
        assert!(
            !result["content"].as_array().unwrap().is_empty(),
            "{}",
            tool.name
        );
    }
    for prompt in &manifest.prompts {
        let inputs = Inputs::from([("user_context".to_owned(), answer(AskKind::Elicitation))]);
        prompt.check(&args).unwrap();
        let result: Value = serde_json::from_str(&prompt.answer(&args, &inputs).unwrap()).unwrap();
        assert!(
            result["messages"][0]["content"]["type"].is_string(),
            "{}",
            prompt.name
        );
    }
    assert!(manifest.tools[0].check(&json!({})).is_ok());
    let schema = &manifest
        .tool("test_elicitation_sep1034_defaults")
        .unwrap()
        .requests(&args, &Inputs::new(), &|_| true)
        .unwrap()[0]
        .params;
    assert!(
        schema.contains(r#""default":30}"#) && schema.contains(r#""default":95.5}"#),
        "{schema}"
    );
}

#[test]
fn a_suite_is_refused_for_what_is_wrong_in_the_manifest_of_its_mock() {
    let suite = "servers:\n  one: {mock: 'm/${CITY}.yml'}\n  two: {mock: m/Oslo.yml}\n  three: {mock: '${UNSET}.yml'}\nagents: []\n";
    let manifest =
        "mock_server:\n  tools:\n    - {name: a, response: 'in ${arg.city}'}\n    - {nmae: b}\n";
    let read = |path: &Path| match path.to_str() {
        Some("s/a.yml") => Ok(suite.as_bytes().to_vec()),
        Some("s/m/Oslo.yml") => Ok(manifest.as_bytes().to_vec()),
        _ => Err("no such file".to_owned()),
    };
    let environment = |name: &str| (name == "CITY").then(|| "Oslo".to_owned());
    let host = Host {
        mock: &catalogue,
        ..Host::new(&read, &environment)
    };
    let loaded = mcptest_core::suite::load(Path::new("s/a.yml"), &host);
    let errors = loaded.problems.iter().map(|problem| {
        let position = loaded.sources.position(problem.span.unwrap());
        format!("{position}: {}", problem.message)
    });
    assert_eq!(
        errors.collect::<Vec<_>>(),
        [
            "s/m/Oslo.yml:3:33: `arg` is not defined here",
            "s/m/Oslo.yml:4:8: unknown key `nmae`"
        ]
    );
}
