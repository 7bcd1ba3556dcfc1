//! Calls that a model's code makes: are they recorded, told from its own, and judged like them?

use crate::bench::LiveFolder;
use serde_json::{Value, json};

const SUITE: &str = "
servers:
  desk: { command: [./server, mock, --tools-from, manifest.yml] }
agents:
  - name: a
    model: MODEL
    servers: [desk]
    prompt: Go.
    cassette: a.jsonl
    code_execution: true
    trajectory: { mode: strict, calls: [find, find, find, note] }
    expect:
      - { target: \"tool_calls[*].caller.type\", matcher: { exact: [CALLER, CALLER, CALLER] } }
      - { target: \"tool_calls[3].caller\", matcher: { absent: true } }
      - { target: final_response, matcher: { exact: Three cities. } }
";

const MANIFEST: &str = "
mock_server:
  tools:
    - name: find
      input_schema: { type: object, required: [city], properties: { city: { type: string } } }
      response: Found ${args.city}.
    - { name: note, response: Noted. }
";

/// The code makes two concurrent calls and another one; then the model makes a call.
const SCRIPT: &str = "
steps:
  - text: I write a program.
    code: 'for city in cities: print(await find(city))'
    calls: [{ name: find, args: { city: Oslo } }, { name: find, args: { city: Rome } }]
  - calls: [{ name: find, args: { city: Bern } }]
  - { output: three, text: Let me note that., calls: [{ name: note }] }
  - text: Three cities.
";

fn suite(model: &str, caller: &str) -> String {
    SUITE.replace("MODEL", model).replace("CALLER", caller)
}

fn callers(trace: &Value) -> Vec<Value> {
    trace["tool_calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| call["caller"].clone())
        .collect()
}

#[test]
fn anthropics_code_calls_tools_in_one_container_and_each_call_says_so() {
    let caller = "code_execution_20260120";
    let bench = LiveFolder::with(&suite("claude-sonnet-4-5", caller), SCRIPT, MANIFEST);
    bench.record(&["--record"], 0);
    let by_code = json!({ "type": caller, "tool_id": "srvtoolu_stub0x0" });
    assert_eq!(
        callers(&bench.trace("a.jsonl")),
        [by_code.clone(), by_code.clone(), by_code, Value::Null],
        "the model's own call says nothing, though its provider says that it was direct"
    );
    let log = bench.stub.log();
    let asked: Vec<&Value> = log.iter().map(|request| &request.body).collect();
    assert_eq!(asked.len(), 4);
    assert_eq!(
        asked[0]["tools"][0],
        json!({ "type": caller, "name": "code_execution" })
    );
    assert_eq!(
        asked[0]["tools"][1]["allowed_callers"],
        json!(["direct", caller])
    );
    let containers: Vec<&Value> = asked.iter().map(|body| &body["container"]).collect();
    let container = json!("container_stub0x0");
    assert_eq!(
        containers,
        [&Value::Null, &container, &container, &container]
    );
    let last = asked[3]["messages"].as_array().unwrap();
    assert_eq!(
        last[1]["content"][1],
        json!({
            "type": "server_tool_use", "id": "srvtoolu_stub0x0", "name": "code_execution",
            "input": { "code": "for city in cities: print(await find(city))" },
        })
    );
    assert_eq!(last[5]["content"][0]["type"], "code_execution_tool_result");
    assert_eq!(last[5]["content"][0]["content"]["stdout"], "three");
    bench.replay(0);
}

#[test]
fn a_program_of_responses_calls_tools_and_each_call_says_so() {
    let bench = LiveFolder::with(&suite("gpt-5.6-terra", "program"), SCRIPT, MANIFEST);
    bench.record(&["--record"], 0);
    let by_code = json!({ "type": "program", "caller_id": "call_program_stub0x0" });
    assert_eq!(
        callers(&bench.trace("a.jsonl")),
        [
            by_code.clone(),
            by_code.clone(),
            by_code.clone(),
            Value::Null
        ]
    );
    let log = bench.stub.log();
    assert_eq!(
        log[0].body["tools"][0],
        json!({ "type": "programmatic_tool_calling" })
    );
    assert_eq!(
        log[0].body["tools"][1]["allowed_callers"],
        json!(["direct", "programmatic"])
    );
    let input = log[3].body["input"].as_array().unwrap();
    let kinds: Vec<&str> = input
        .iter()
        .filter_map(|item| item["type"].as_str())
        .collect();
    let (call, output) = ("function_call", "function_call_output");
    assert_eq!(
        kinds,
        [
            "message",
            "program",
            call,
            call,
            output,
            output,
            call,
            output,
            "program_output",
            "message",
            call,
            output
        ]
    );
    assert_eq!(
        (&input[5]["caller"], &input[12]["caller"]),
        (&by_code, &Value::Null)
    );
    bench.replay(0);
}

#[test]
fn the_switch_is_part_of_what_a_recording_was_made_with() {
    let bench = LiveFolder::with(
        &suite("claude-sonnet-4-5", "code_execution_20260120"),
        SCRIPT,
        MANIFEST,
    );
    bench.record(&["--record"], 0);
    assert_eq!(
        bench.cassette("a.jsonl").0["parameters"],
        json!({ "code_execution": true })
    );
    let off = bench
        .read("suite.yml")
        .replace("    code_execution: true\n", "");
    bench.write("suite.yml", &off);
    bench
        .replay(2)
        .says("parameters.code_execution: recorded true, now not set");
    // Off and left out are one recording and one request.
    let silent = "    expect: [{ target: final_response, matcher: { exact: ok } }]\n";
    let quiet = format!("{}{silent}", off.split("    trajectory:").next().unwrap());
    for text in [
        quiet.clone(),
        quiet.replace("    expect", "    code_execution: false\n    expect"),
    ] {
        let bench = LiveFolder::with(&text, "steps: [{ text: ok }]", MANIFEST);
        bench.record(&["--record"], 0);
        assert_eq!(bench.cassette("a.jsonl").0["parameters"], json!({}));
        let body = bench.stub.log()[0].text.clone();
        assert!(
            !body.contains("allowed_callers") && !body.contains("code_execution"),
            "{body}"
        );
    }
}

#[test]
fn a_provider_that_runs_no_code_is_refused_before_anything_is_asked() {
    let which = "Anthropic's models from Opus 4.5";
    for model in [
        "claude-haiku-4-5",
        "gpt-5",
        "gemini-2.5-pro",
        "mistral-large-latest",
    ] {
        let bench = LiveFolder::with(&suite(model, "x"), SCRIPT, MANIFEST);
        for command in [["validate", "suite.yml"], ["run", "suite.yml"]] {
            let ran = bench.run(&command);
            assert_eq!(ran.exit, Some(2), "{model}: {ran:?}");
            ran.says(&format!("the provider of `{model}` runs no code for it"))
                .says(which)
                .says("suite.yml:10:5");
        }
    }
    let local = suite("{ provider: here, id: any }", "x");
    let local =
        format!("{local}providers:\n  here: {{ type: openai, base_url: 'http://127.0.0.1:1' }}\n");
    let bench = LiveFolder::with(&local, SCRIPT, MANIFEST);
    let ran = bench.run(&["validate", "suite.yml"]);
    assert_eq!(ran.exit, Some(2));
    ran.says("the provider of `here/any` runs no code for it");

    let bench = LiveFolder::with(&suite("claude-sonnet-4-5", "x"), SCRIPT, MANIFEST);
    let ran = bench.run(&["run", "suite.yml", "--models", "gpt-5"]);
    assert_eq!(ran.exit, Some(2), "{ran:?}");
    ran.says("`a` has `code_execution: true`, but the provider of `gpt-5` runs no code for it");
    assert_eq!(bench.stub.count(), 0);
}
