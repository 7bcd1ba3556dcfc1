//! Messages that a model wrote but its provider does not accept back: provider × quirk, each a run
//! that is judged.

use crate::bench::{LiveFolder, models};
use serde_json::Value;

/// A quirk, the model's first answer with it, and the names of the called tools.
const QUIRKS: [(&str, &str, &[&str]); 14] = [
    (
        "blank text beside a call",
        "{ text: \" \\n\", calls: [{ name: look }] }",
        &["look"],
    ),
    ("blank text alone", "{ text: \" \\n\" }", &[]),
    (
        "empty text beside a call",
        "{ text: '', calls: [{ name: look }] }",
        &["look"],
    ),
    ("thoughts alone", "{ thinking: Hm. }", &[]),
    (
        "thoughts beside a call",
        "{ thinking: Hm., calls: [{ name: look }] }",
        &["look"],
    ),
    (
        "a made-up name",
        "{ calls: [{ name: multi_tool_use.parallel, args: { tool_uses: [] } }, { name: look }] }",
        &["multi_tool_use.parallel", "look"],
    ),
    ("no name", "{ calls: [{ name: '' }] }", &[""]),
    ("a long name", "{ calls: [{ name: LONG }] }", &["LONG"]),
    (
        "no id",
        "{ calls: [{ name: look, id: '' }, { name: look, id: '' }] }",
        &["look", "look"],
    ),
    (
        "one id twice",
        "{ calls: [{ name: look, id: call_1 }, { name: look, id: call_1 }] }",
        &["look", "look"],
    ),
    (
        "an odd id",
        "{ calls: [{ name: look, id: 'functions.look:LONG' }] }",
        &["look"],
    ),
    (
        "no JSON",
        "{ calls: [{ name: look, args_text: '{\"city\": \"Os' }] }",
        &["look"],
    ),
    (
        "no object",
        "{ calls: [{ name: look, args_text: '[1,2]' }] }",
        &["look"],
    ),
    (
        "errors with a picture and with nothing",
        "{ calls: [{ name: picture }, { name: nothing }] }",
        &["picture", "nothing"],
    ),
];

const MANIFEST: &str = "
mock_server:
  tools:
    - { name: look, response: Nothing yet. }
    - { name: picture, response: { is_error: true, content: [{ type: image, data: aGk=, mime_type: image/png }] } }
    - { name: nothing, response: { is_error: true, content: [' '] } }
";

fn long() -> String {
    "a_name_without_end_".repeat(8)
}

/// A suite with one agent for each quirk; every agent must finish with every provider.
fn suite() -> String {
    let mut suite = "
servers:
  desk: { command: [./server, mock, --tools-from, manifest.yml] }
providers:
  local: { type: openai, base_url: '${OPENAI_BASE_URL}' }
  moon: { type: openai, base_url: '${OPENAI_BASE_URL}', echo_reasoning: true }
agents:
"
    .to_owned();
    for (at, (quirk, ..)) in QUIRKS.iter().enumerate() {
        suite.push_str(&format!(
            "  - name: {quirk}\n    models: [{}, {{ provider: local, id: llama }}, {{ provider: moon, id: kimi }}]\n    servers: [desk]\n    turns: [{quirk}!, And now?]\n    cassette: 'r/{at}-{{model}}.jsonl'\n    expect:\n      - {{ target: stop_reason, matcher: {{ exact: end_turn }} }}\n      - {{ target: final_response, matcher: {{ exact: Done. }} }}\n",
            models().join(", ")
        ));
    }
    suite
}

fn script() -> String {
    let rule = |(quirk, step, calls): &(&str, &str, &[&str])| {
        // Whoever calls has something to say about the result, and then the user speaks again.
        let thought = if calls.is_empty() {
            ""
        } else {
            "{ text: So. },"
        };
        format!(
            "  - {{ when: {{ prompt: {quirk}! }}, steps: [{step}, {thought} {{ text: Done. }}] }}\n"
        )
    };
    let rules: String = QUIRKS.iter().map(rule).collect();
    format!("rules:\n{rules}").replace("LONG", &long())
}

#[test]
fn what_no_provider_takes_back_ends_no_run_and_stays_in_the_trace_to_the_letter() {
    let bench = LiveFolder::with(&suite(), &script(), MANIFEST);
    let recorded = bench.record(&["--record"], 0);
    let refused: Vec<String> = bench
        .stub
        .log()
        .iter()
        .filter(|asked| asked.status != 200)
        .map(|asked| format!("{}: {}", asked.dialect, asked.body))
        .collect();
    assert!(refused.is_empty(), "{refused:#?}");
    let files = bench.files();
    for (at, (quirk, step, calls)) in QUIRKS.iter().enumerate() {
        let said: Value =
            mcptest_core::suite::yaml_to_json(&step.replace("LONG", &long())).unwrap();
        for model in models().into_iter().chain(["llama", "kimi"]) {
            let is_its =
                |file: &&String| file.starts_with(&format!("r/{at}-")) && file.contains(model);
            let trace = bench.trace(files.iter().find(is_its).unwrap());
            let names = trace["tool_calls"]
                .as_array()
                .unwrap()
                .iter()
                .map(|call| call["name"].clone());
            let names: Vec<Value> = names.collect();
            let written: Vec<String> = calls
                .iter()
                .map(|name| name.replace("LONG", &long()))
                .collect();
            assert_eq!(names, written, "{quirk}, {model}");
            let text = said["text"].as_str().unwrap_or_default();
            assert_eq!(
                trace["conversation"]["turns"][1]["content"], text,
                "{quirk}, {model}"
            );
            let written = said["calls"].as_array().into_iter().flatten();
            for (call, said) in trace["tool_calls"].as_array().unwrap().iter().zip(written) {
                if let Some(id) = said["id"].as_str().filter(|id| !id.is_empty()) {
                    assert_eq!(call["id"], id, "{quirk}, {model}");
                }
                assert_eq!(call["args_text"], said["args_text"], "{quirk}, {model}");
            }
        }
    }
    assert_eq!(bench.replay(0).stdout, recorded.stdout);
}

#[test]
fn a_picture_beside_an_error_is_still_shown() {
    let bench = LiveFolder::with(&suite(), &script(), MANIFEST);
    bench.record(
        &[
            "--record",
            "--filter",
            "errors with a picture",
            "--jobs",
            "1",
        ],
        0,
    );
    for asked in bench
        .stub
        .log()
        .iter()
        .filter(|asked| asked.body.to_string().contains("So."))
    {
        assert!(
            asked.body.to_string().contains("aGk="),
            "{}: {}",
            asked.dialect,
            asked.body
        );
    }
}
