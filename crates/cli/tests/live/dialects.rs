//! One suite, four dialects: does the recording depend on the dialect?

use crate::bench::{LiveFolder, models};
use serde_json::{Value, json};

const PICTURE: &str = "iVBORw0KGgo=";

const SUITE: &str = "
servers:
  map: { command: [./server, mock, --tools-from, manifest.yml] }
agents:
  - name: looks around
    models: [MODELS]
    servers: [map]
    system_prompt: Be brief.
    turns: [What is in Oslo?, And in Rome?]
    max_tokens: 500
    cassette: 'r/{model}.jsonl'
    runs: 2
    expect:
      - { target: tool_names, matcher: { exact: [find, look, find, find] } }
      - { target: stop_reason, matcher: { exact: end_turn } }
      - { target: conversation.tokens.total, matcher: { exact: 600 } }
    trajectory:
      mode: strict
      calls:
        - { name: find, args: { exact: { city: Oslo, near: [1, 2.5, null] } } }
        - look
        - find
        - { name: find, args: { exact: { city: Rome } } }
";

/// Returns the temperature key; reasoning models accept none.
fn temperature(model: &str) -> &'static str {
    if model.starts_with("gpt-") {
        ""
    } else {
        ", temperature: 0.5"
    }
}

fn bench() -> LiveFolder {
    let entry = |model: &&str| format!("{{ model: {model}{} }}", temperature(model));
    let list: Vec<String> = models().iter().map(entry).collect();
    LiveFolder::with(&SUITE.replace("MODELS", &list.join(", ")), SCRIPT, MANIFEST)
}

const SCRIPT: &str = "
steps:
  - thinking: Two things to do.
    text: Let me look.
    calls:
      - { name: find, args: { city: Oslo, near: [1, 2.5, null] } }
      - { name: look, args: {} }
  - text: A castle.
  - thinking: And the other one.
    calls: [{ name: find, args: { city: nowhere } }]
  - calls: [{ name: find, args: { city: Rome } }]
  - text: \"Said: {{last_result}}\"
";

const MANIFEST: &str = "
mock_server:
  tools:
    - name: find
      description: What there is in a city.
      input_schema: { type: object, required: [city], properties: { city: { type: string } } }
      responses:
        - { when: args.city == \"nowhere\", text: There is no such city., is_error: true }
        - text: Found ${args.city}.
    - name: look
      response:
        content: [A castle., { type: image, data: iVBORw0KGgo=, mime_type: image/png }]
";

/// Removes prices, clocks and kinds of tokens, which differ between providers.
fn without_own(part: &mut Value) {
    for key in ["start_ms", "duration_ms", "cost_usd"] {
        part.as_object_mut().unwrap().remove(key);
    }
    if let Some(tokens) = part.get_mut("tokens").and_then(Value::as_object_mut) {
        tokens.retain(|kind, _| ["prompt", "completion", "total"].contains(&kind.as_str()));
    }
}

/// The trace without the parts that may differ between providers.
fn without_marks(mut trace: Value) -> Value {
    for call in trace["tool_calls"].as_array_mut().unwrap() {
        assert!(
            call["id"].as_str().is_some_and(|id| !id.is_empty()),
            "{call}"
        );
        call.as_object_mut().unwrap().remove("id");
    }
    for result in trace["tool_results"].as_array().unwrap() {
        assert!(result["duration_ms"].is_u64());
    }
    for of_calls in ["tool_calls", "tool_results"] {
        trace[of_calls]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .for_each(without_own);
    }
    trace["conversation"]["turns"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .for_each(without_own);
    without_own(&mut trace["conversation"]);
    trace
}

#[test]
fn all_dialects_record_the_same_and_the_matrix_says_so() {
    let bench = bench();
    let recorded = bench.record(&["--record"], 0);
    let first = without_marks(bench.traces("r/claude-sonnet-4-5.jsonl")[0].clone());
    assert_eq!(first["final_response"], "Said: Found Rome.");
    assert_eq!(
        first["tool_calls"][1],
        json!({ "name": "look", "server": "map", "args": {}, "turn": 0 })
    );
    assert_eq!(first["tool_calls"][2]["turn"], 2, "{first:#}");
    assert_eq!(first["tool_results"][1]["content"][1]["data"], PICTURE);
    assert_eq!(first["tool_results"][2]["is_error"], true);
    let said: Vec<&str> = first["conversation"]["turns"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|turn| turn["content"].as_str())
        .collect();
    let answer = "Said: Found Rome.";
    assert_eq!(
        said,
        [
            "What is in Oslo?",
            "Let me look.",
            "A castle.",
            "And in Rome?",
            "",
            "",
            answer
        ]
    );
    for model in models() {
        for trace in bench.traces(&format!("r/{model}.jsonl")) {
            assert_eq!(without_marks(trace), first, "{model}");
        }
        recorded.says(&format!("looks around [{model}]"));
    }
    assert_eq!(bench.replay(0).stdout, recorded.stdout);
}

#[test]
fn every_dialect_is_asked_with_all_that_the_suite_says_and_shown_the_picture() {
    let bench = bench();
    bench.record(&["--record", "--jobs", "1", "--runs", "1"], 0);
    let log = bench.stub.log();
    assert_eq!(log.len(), 5 * models().len());
    for of_model in log.chunks(5) {
        let dialect = of_model[0].dialect;
        assert!(
            of_model
                .iter()
                .all(|asked| asked.status == 200 && asked.dialect == dialect)
        );
        let first = of_model[0].body.to_string();
        for words in [
            "Be brief.",
            "What is in Oslo?",
            "map__find",
            "map__look",
            "500",
        ] {
            assert!(
                first.contains(words),
                "{dialect}: {words} is not in {first}"
            );
        }
        assert_eq!(
            first.contains(r#""temperature":0.5"#),
            dialect != "openai-responses",
            "{first}"
        );
        assert!(!first.contains("And in Rome?"), "{dialect}");
        let second = of_model[1].body.to_string();
        assert!(
            second.contains("Found Oslo.") && second.contains("A castle."),
            "{dialect}: {second}"
        );
        assert!(
            second.contains(PICTURE),
            "{dialect}: the picture is not in {second}"
        );
    }
    let dialects: std::collections::BTreeSet<&str> =
        log.iter().map(|asked| asked.dialect).collect();
    assert_eq!(dialects.len(), 4);
}
