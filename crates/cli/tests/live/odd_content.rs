//! Unusual but valid traffic in every dialect: names, results, empty answers and stop reasons.

use crate::bench::{LiveFolder, model_list, models};
use serde_json::{Value, json};

/// A suite whose agent runs in every dialect.
fn suite(rest: &str) -> String {
    format!(
        "servers:\n  my desk: {{ command: [./server, mock, --tools-from, manifest.yml] }}\n\
         agents:\n  - name: a\n    models: [{}]\n    cassette: 'r/{{model}}.jsonl'\n{rest}",
        model_list()
    )
}

fn each(bench: &LiveFolder, check: impl Fn(&str, &Value)) {
    for model in models() {
        check(model, &bench.trace(&format!("r/{model}.jsonl")));
    }
}

#[test]
fn every_kind_of_result_goes_back_and_is_recorded_as_it_was() {
    let manifest = "
mock_server:
  tools:
    - { name: empty, response: { content: [] } }
    - { name: silent, response: '' }
    - { name: structured, response: { structured_content: { degrees: 21 }, content: [] } }
    - { name: sound, response: { content: [{ type: audio, data: aGk=, mime_type: audio/wav }] } }
    - { name: link, response: { content: [{ type: resource_link, uri: 'test://notes', name: notes }] } }
    - { name: text, response: { content: [{ type: resource, resource: { uri: 'test://notes', text: Embedded. } }] } }
    - { name: blob, response: { content: [{ type: resource, resource: { uri: 'test://blob', blob: aGk= } }] } }
    - { name: pictures, response: { content: [{ type: image, data: aGk=, mime_type: image/png }, { type: image, data: aGk=, mime_type: image/bmp }] } }
    - { name: failed_picture, response: { is_error: true, content: [{ type: image, data: aGk=, mime_type: image/png }] } }
    - { name: babble, response: { raw: { content: not even a list } } }
    - { name: nothing, response: { raw: {} } }
    - { name: line_breaks, response: \"a\\r\\n\\u2028b\\0c 🦀\" }
";
    let names = [
        "empty",
        "silent",
        "structured",
        "sound",
        "link",
        "text",
        "blob",
        "pictures",
        "failed_picture",
        "babble",
        "nothing",
        "line_breaks",
    ];
    let calls: Vec<String> = names
        .iter()
        .map(|name| format!("{{ name: {name} }}"))
        .collect();
    let calls = calls.join(", ");
    // All at once, and then one by one.
    let one_by_one: Vec<String> = names
        .iter()
        .map(|name| format!("{{ calls: [{{ name: {name} }}] }}"))
        .collect();
    let script = format!(
        "steps: [{{ calls: [{calls}] }}, {}, {{ text: Done. }}]",
        one_by_one.join(", ")
    );
    let text = suite(
        "    servers: [my desk]\n    prompt: Go.\n    expect: [{ target: final_response, matcher: { exact: Done. } }]\n",
    );
    let bench = LiveFolder::with(&text, &script, manifest);
    let recorded = bench.record(&["--record"], 0);
    each(&bench, |model, trace| {
        let results = trace["tool_results"].as_array().unwrap();
        assert_eq!(results.len(), 2 * names.len(), "{model}");
        let of = |name: &str| &results[names.iter().position(|known| *known == name).unwrap()];
        assert_eq!(of("empty")["content"], json!([]), "{model}");
        assert_eq!(
            of("structured")["structured"],
            json!({ "degrees": 21 }),
            "{model}"
        );
        assert_eq!(
            of("line_breaks")["content"][0]["text"],
            "a\r\n\u{2028}b\0c 🦀",
            "{model}"
        );
        assert_eq!(of("failed_picture")["is_error"], true, "{model}");
    });
    for asked in bench
        .stub
        .log()
        .iter()
        .filter(|asked| asked.body.to_string().contains("Embedded."))
    {
        let told = asked.body.to_string();
        assert!(
            told.contains("degrees") && told.contains("test://notes"),
            "{}: {told}",
            asked.dialect
        );
    }
    assert_eq!(bench.replay(0).stdout, recorded.stdout);
}

#[test]
fn tools_of_any_name_are_offered_in_the_letters_that_providers_take_and_recorded_by_their_own() {
    let long = "a_tool_with_a_name_that_is_longer_than_any_provider_would_ever_allow_it_to_be";
    let manifest = format!(
        "mock_server:\n  tools:\n    - {{ name: files/read.all, response: read }}\n    - {{ name: files.read/all, response: also read }}\n    - {{ name: {long}, response: long }}\n    - {{ name: 7up, description: '', response: seven, input_schema: {{ $schema: 'http://json-schema.org/draft-07/schema#', type: object, properties: {{ size: {{ type: string }} }} }} }}\n"
    );
    let text = suite(
        "    servers: [my desk]\n    prompt: Go.\n    expect: [{ target: final_response, matcher: { exact: Done. } }]\n",
    );
    // The names on the wire are seen first, and then called.
    let bench = LiveFolder::with(&text, "steps: [{ text: Done. }]", &manifest);
    bench.record(&["--record", "--models", "gpt-5"], 0);
    let tools = bench.stub.log()[0].body["tools"].clone();
    let names: Vec<&str> = tools
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert_eq!(names.len(), 4);
    let calls: Vec<String> = names
        .iter()
        .map(|name| format!("{{ name: {name} }}"))
        .collect();
    let script = format!(
        "steps: [{{ calls: [{}] }}, {{ text: Done. }}]",
        calls.join(", ")
    );
    let bench = LiveFolder::with(&text, &script, &manifest);
    bench.record(&["--record"], 0);
    each(&bench, |model, trace| {
        let called: Vec<&str> = trace["tool_calls"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|call| call["name"].as_str())
            .collect();
        assert_eq!(
            called,
            ["files/read.all", "files.read/all", long, "7up"],
            "{model}"
        );
        let texts: Vec<&str> = trace["tool_results"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|result| result["content"][0]["text"].as_str())
            .collect();
        assert_eq!(texts, ["read", "also read", "long", "seven"], "{model}");
        assert!(
            trace["tool_calls"]
                .as_array()
                .unwrap()
                .iter()
                .all(|call| call["server"] == "my desk")
        );
    });
}

#[test]
fn a_model_without_tools_that_says_nothing_is_still_spoken_to() {
    let text = suite(
        "    turns: [Are you there?, And now?]\n    expect:\n      - { target: final_response, matcher: { exact: Here. } }\n      - { target: tool_calls, matcher: { exact: [] } }\n",
    );
    let bench = LiveFolder::with(&text, "steps: [{ text: '' }, { text: Here. }]", "");
    let recorded = bench.record(&["--record"], 0);
    assert_eq!(bench.stub.count(), 8);
    assert_eq!(bench.replay(0).stdout, recorded.stdout);
}

#[test]
fn why_a_model_stopped_is_told_in_the_same_word_whoever_says_it() {
    let manifest = "mock_server: { tools: [{ name: look }] }";
    for stop in ["refusal", "max_tokens"] {
        let text = suite(&format!(
            "    servers: [my desk]\n    turns: [Go., Never said.]\n    expect: [{{ target: stop_reason, matcher: {{ exact: {stop} }} }}]\n"
        ));
        let bench = LiveFolder::with(
            &text,
            &format!("steps: [{{ text: Half a, stop: {stop} }}]"),
            manifest,
        );
        bench.record(&["--record"], 0);
        assert_eq!(bench.stub.count(), 4, "{stop} ends the run");
    }
    let text = suite(
        "    servers: [my desk]\n    prompt: Go.\n    expect: [{ target: final_response, matcher: { exact: Done. } }]\n",
    );
    let bench = LiveFolder::with(
        &text,
        "steps: [{ text: Wait., stop: pause }, { text: Done. }]",
        manifest,
    );
    bench.record(&["--record", "--models", "claude-sonnet-4-5"], 0);
    assert_eq!(bench.stub.count(), 2, "a pause is no end");
}
