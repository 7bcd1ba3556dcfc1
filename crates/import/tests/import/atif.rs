//! Does a run that is written as ATIF come back as it was?

use crate::fixtures;
use crate::written::conversation;
use mcptest_import::{atif, import};
use mcptest_replay::{cassette::parse, clean};
use proptest::prelude::*;
use serde_json::{Value, json};

/// The runs of a cassette, each as a cassette that was written as ATIF and read again.
fn there_and_back(cassette: &str, agent: &str) -> Vec<String> {
    let parsed = parse(cassette.as_bytes()).unwrap();
    let header = parsed.header.as_ref();
    let written = parsed
        .runs
        .iter()
        .map(|run| atif(run.trace.as_ref().unwrap(), header));
    written
        .map(|text| {
            let imported =
                import(text.as_bytes(), None).unwrap_or_else(|error| panic!("{error}\n{text}"));
            let told = imported.fidelity().to_string();
            assert!(told.starts_with("atif: "), "{told}");
            imported.into_cassette(agent, &clean)
        })
        .collect()
}

/// The trace on each line of a cassette, and the line of its header.
fn lines(cassette: &str) -> (Value, Vec<Value>) {
    let mut lines = cassette
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let header = lines.next().unwrap();
    (
        header,
        lines
            .map(|line: Value| without_texts_of_tools(&line["trace"]))
            .collect(),
    )
}

/// A trace whose messages are those of the user and the model: ATIF has the texts of tools in
/// their results, in the order of the calls.
fn without_texts_of_tools(trace: &Value) -> Value {
    let mut trace = trace.clone();
    let conversation = trace["conversation"].as_object_mut().unwrap();
    conversation.remove("message_count");
    if let Some(turns) = conversation.get_mut("turns").and_then(Value::as_array_mut) {
        turns.retain(|turn| turn["role"] != "tool");
    }
    trace
}

fn assert_comes_back(cassette: &str, name: &str) {
    let (header, traces) = lines(cassette);
    let again = there_and_back(cassette, header["agent"].as_str().unwrap());
    assert_eq!(again.len(), traces.len());
    for (trace, again) in traces.iter().zip(&again) {
        let (header_again, traces_again) = lines(again);
        assert_eq!(json!([trace]), json!(traces_again), "{name}");
        for key in ["model", "system_prompt", "catalogue"] {
            if !header[key].is_null() {
                assert_eq!(header[key], header_again[key], "{name}: {key}");
            }
        }
    }
}

#[test]
fn every_fixture_of_every_format_comes_back() {
    for (_, path) in fixtures::all() {
        let bytes = std::fs::read(&path).unwrap();
        let cassette = import(&bytes, None)
            .unwrap()
            .into_cassette("fixture", &clean);
        assert_comes_back(&cassette, &path.display().to_string());
    }
}

#[test]
fn what_only_a_native_trace_has_comes_back() {
    let header = r#"{"format":"mcptest-cassette","version":1,"agent":"a","prompt":["go"]}"#;
    let trace = json!({
        "tool_calls": [
            { "name": "a", "args": [1.50, null], "turn": 0 },
            { "name": "b", "server": "docs", "args_text": "{broken", "id": "x", "turn": 0 },
            { "name": "c", "id": "x", "turn": 1, "caller": { "type": "code_execution", "tool_id": "x" } },
            { "name": "d", "args": null },
            { "name": "e", "args": {}, "distractor": true },
        ],
        "tool_results": [
            { "call_index": 0, "is_error": false, "error": { "code": -32000, "message": "closed" } },
            { "call_index": 1, "is_error": true, "content": [
                { "type": "text", "text": "one" }, { "type": "image", "data": "AAAA", "mimeType": "image/png" }] },
            { "call_index": 2, "is_error": false, "structured": { "a": 1 } },
            { "call_index": 3, "is_error": false, "content": [] },
            { "call_index": 4, "is_error": false, "content": [
                { "type": "text", "text": "one" }, { "type": "text", "text": "two" }],
              "structured": [2] },
        ],
        "unmade_calls": [{ "name": "f", "args": { "q": 1 }, "id": "y", "turn": 3 }],
        "final_response": "Done.",
        "stop_reason": "max_turns",
        "trace_id": "t",
        "labels": { "reward": 0.5, "task_id": "7" },
        "errors": [{ "kind": "provider", "message": "overloaded" }],
        "delegations": [{ "from": "main", "to": "helper" }],
        "conversation": {
            "tokens": { "prompt": 10, "completion": 4, "total": 20, "cache_read": 3, "cache_write": 2,
                        "cache_write_1h": 1, "reasoning": 2 },
            "turns": [
                { "role": "user", "content": "go" },
                { "role": "assistant", "content": "I go.", "tokens": { "prompt": 4, "completion": 1, "total": 5 } },
                { "role": "tool", "content": "" },
            ],
            "duration_ms": 1200,
            "cost_usd": 0.25,
        },
    });
    let cassette = format!("{header}\n{}\n", json!({ "run": 1, "trace": trace }));
    let again = there_and_back(&cassette, "a");
    let (_, traces) = lines(&again[0]);
    for key in trace
        .as_object()
        .unwrap()
        .keys()
        .filter(|key| *key != "conversation")
    {
        assert_eq!(trace[key], traces[0][key], "{key}");
    }
    for key in ["tokens", "duration_ms", "cost_usd"] {
        assert_eq!(
            trace["conversation"][key], traces[0]["conversation"][key],
            "{key}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_conversation_comes_back(one in conversation()) {
        let text = json!({ "model": "m", "system": "s", "messages": one.anthropic() }).to_string();
        let cassette = import(text.as_bytes(), None).unwrap().into_cassette("a", &clean);
        assert_comes_back(&cassette, &text);
    }
}
