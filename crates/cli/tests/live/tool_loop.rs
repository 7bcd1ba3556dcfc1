//! What does a model do with its tools, right or wrong, and what does it receive?

use crate::bench::{LiveFolder, models};
use serde_json::{Value, json};

const MANIFEST: &str = "
mock_server:
  tools:
    - name: get_weather
      input_schema: { type: object, required: [city], properties: { city: { type: string } } }
      response: It is sunny in ${args.city}.
    - name: refuse
      response: { error: { code: -32050, message: The desk is closed. } }
    - name: never
      fault: hang
";

fn agent(rest: &str) -> String {
    format!(
        "servers:\n  desk: {{ command: [./server, mock, --tools-from, manifest.yml], timeout: 300ms }}\n\
         agents:\n  - name: a\n    model: claude-sonnet-4-5\n    servers: [desk]\n    prompt: Go.\n    cassette: a.jsonl\n{rest}"
    )
}

fn error_of(trace: &Value, at: usize) -> String {
    let result = &trace["tool_results"][at];
    assert_eq!(
        (&result["call_index"], &result["is_error"]),
        (&json!(at), &json!(true)),
        "{trace:#}"
    );
    result["error"]["message"]
        .as_str()
        .unwrap_or_else(|| panic!("{trace:#}"))
        .to_owned()
}

#[test]
fn whatever_a_model_gets_wrong_comes_back_to_it_as_an_error_and_is_recorded() {
    let suite = agent(
        "    expect:
      - { target: \"tool_results[*].is_error\", matcher: { exact: [true, true, true, true, true, false] } }
      - { target: \"tool_results[3].error.code\", matcher: { exact: -32050 } }
      - { target: \"tool_calls[2].args_text\", matcher: { contains: Os } }
      - { target: final_response, matcher: { exact: It is sunny in Oslo. } }\n",
    );
    let script = "
steps:
  - calls: [{ name: get_wether, args: { city: Oslo } }]
  - calls: [{ name: get_weather, args: { town: Oslo } }]
  - calls: [{ name: get_weather, args_text: '{\"city\": \"Os' }]
  - calls: [{ name: refuse }]
  - calls: [{ name: never }]
  - calls: [{ name: get_weather, args: { city: Oslo } }]
  - text: '{{last_result}}'
";
    for model in models() {
        let bench = LiveFolder::with(&suite.replace("claude-sonnet-4-5", model), script, MANIFEST);
        let recorded = bench.record(&["--record"], 0);
        let trace = bench.trace("a.jsonl");
        assert_eq!(
            error_of(&trace, 0),
            "unknown tool \"get_wether\"; did you mean \"get_weather\"?"
        );
        assert!(error_of(&trace, 1).contains("city"), "{trace:#}");
        assert!(
            error_of(&trace, 2).starts_with("the arguments are not a JSON object"),
            "{trace:#}"
        );
        assert_eq!(trace["tool_calls"][2]["args"], Value::Null);
        assert_eq!(error_of(&trace, 3), "The desk is closed.");
        assert!(error_of(&trace, 4).contains("300 ms"), "{trace:#}");
        assert_eq!(trace["stop_reason"], "end_turn");
        let log = bench.stub.log();
        let told = log.last().unwrap().body.to_string();
        for words in [
            "unknown tool",
            "not a JSON object",
            "The desk is closed.",
            "-32050",
            "300 ms",
        ] {
            assert!(told.contains(words), "{model}: {words} is not in {told}");
        }
        if model.starts_with("claude") {
            assert_eq!(told.matches("\"is_error\":true").count(), 5, "{told}");
        }
        assert_eq!(bench.replay(0).stdout, recorded.stdout);
    }
}

/// Answers `slow` only after `fast` was called, so sequential calls would never finish.
const RENDEZVOUS: &str = r#"
import json, sys
held, count = None, 0
def send(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()
def answer(id, text):
    send({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": text}]}})
for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        send({"jsonrpc": "2.0", "id": id, "result": {"protocolVersion": version, "capabilities": {"tools": {}},
              "serverInfo": {"name": "rendezvous", "version": "1"}}})
    elif method == "tools/list":
        tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ("slow", "fast", "count")]
        send({"jsonrpc": "2.0", "id": id, "result": {"tools": tools}})
    elif method == "tools/call":
        if message["params"]["name"] == "count":
            count += 1
            answer(id, str(count))
        elif message["params"]["name"] == "slow":
            held = id
        else:
            answer(id, "fast")
            answer(held, "slow")
    elif id is not None:
        send({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no such method"}})
"#;

fn rendezvous(rest: &str) -> String {
    let command = "./server, mock, --tools-from, manifest.yml";
    agent(rest)
        .replace(command, "python3, rendezvous.py")
        .replace("300ms", "30s")
}

#[test]
fn calls_of_one_message_are_made_at_once_and_kept_in_their_order() {
    let bench =
        LiveFolder::new("steps: [{ calls: [{ name: slow }, { name: fast }] }, { text: done }]");
    bench.write("rendezvous.py", RENDEZVOUS);
    let expected = "    expect: [{ target: tool_names, matcher: { exact: [slow, fast] } }]\n";
    bench.write("suite.yml", &rendezvous(expected));
    bench.record(&["--record"], 0);
    let trace = bench.trace("a.jsonl");
    for (at, text) in ["slow", "fast"].into_iter().enumerate() {
        let result = &trace["tool_results"][at];
        assert_eq!(
            (&result["call_index"], &result["is_error"]),
            (&json!(at), &json!(false)),
            "{trace:#}"
        );
        assert_eq!(result["content"][0]["text"], text);
        assert_eq!(trace["tool_calls"][at]["turn"], 0);
    }
    let told = bench.stub.log()[1].body["messages"][2]["content"].clone();
    let texts: Vec<&str> = told
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|block| block["content"][0]["text"].as_str())
        .collect();
    assert_eq!(texts, ["slow", "fast"], "{told:#}");
}

#[test]
fn who_called_is_kept() {
    let script = "
steps:
  - calls:
      - { name: get_weather, args: { city: Oslo }, caller: { type: code_execution_20250825, tool_id: srv_1 } }
      - { name: get_weather, args: { city: Rome } }
";
    let suite = agent(
        "    expect: [{ target: \"tool_calls[0].caller.tool_id\", matcher: { exact: srv_1 } }]\n",
    );
    let bench = LiveFolder::with(&suite, script, MANIFEST);
    bench.record(&["--record"], 0);
    let trace = bench.trace("a.jsonl");
    assert_eq!(trace["tool_calls"][1]["caller"], Value::Null);
}

#[test]
fn two_servers_may_have_a_tool_of_the_same_name() {
    let suite = "
servers:
  east: { command: [./server, mock, --tools-from, manifest.yml] }
  west: { command: [./server, mock, --tools-from, west.yml] }
agents:
  - name: a
    model: gpt-5
    servers: [east, west]
    prompt: Go.
    cassette: a.jsonl
    trajectory: { mode: strict, calls: [west.get_weather, east.get_weather] }
";
    let script = "
steps:
  - calls: [{ name: west__get_weather, args: { city: Oslo } }, { name: east__get_weather, args: { city: Oslo } }]
  - calls: [{ name: west__refuse }]
  - calls: [{ name: get_weather, args: { city: Oslo } }]
  - text: done
";
    let bench = LiveFolder::with(suite, script, MANIFEST);
    bench.write(
        "west.yml",
        "mock_server: { tools: [{ name: get_weather, response: It rains. }] }",
    );
    bench.record(&["--record"], 1);
    let (header, _) = bench.cassette("a.jsonl");
    let trace = bench.trace("a.jsonl");
    let called: Vec<(&str, Option<&str>)> = trace["tool_calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| (call["name"].as_str().unwrap(), call["server"].as_str()))
        .collect();
    let (east, west) = (Some("east"), Some("west"));
    assert_eq!(
        called,
        [
            ("get_weather", west),
            ("get_weather", east),
            ("refuse", west),
            ("get_weather", None)
        ],
        "a tool of the other server, and one that might be either's, are nobody's"
    );
    assert_eq!(trace["tool_results"][0]["content"][0]["text"], "It rains.");
    assert_eq!(
        trace["tool_results"][1]["content"][0]["text"],
        "It is sunny in Oslo."
    );
    assert!(error_of(&trace, 2).starts_with("unknown tool \"refuse\""));
    assert!(error_of(&trace, 3).starts_with("unknown tool \"get_weather\""));
    let offered: Vec<&str> = header["catalogue"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["server"].as_str())
        .collect();
    assert_eq!(offered, ["east", "east", "east", "west"]);
    bench.replay(1).says("+  3 refuse");
}

#[test]
fn calls_of_one_message_reach_the_server_and_their_faults_in_the_order_they_were_written() {
    let calls = vec!["{ name: count }"; 24].join(", ");
    let suite = rendezvous(
        "    runs: 8\n    expect: [{ target: tool_calls.length, matcher: { exact: 24 } }]\n",
    );
    let script = format!("steps: [{{ calls: [{calls}] }}]");
    let bench = LiveFolder::new(&script);
    bench.write("rendezvous.py", RENDEZVOUS);
    bench.write("suite.yml", &suite);
    bench.record(&["--record"], 0);
    let expected: Vec<String> = (1..=24).map(|number| number.to_string()).collect();
    let texts = |trace: &Value| -> Vec<String> {
        let results = trace["tool_results"].as_array().unwrap();
        results
            .iter()
            .map(|result| result["content"][0]["text"].as_str().unwrap().to_owned())
            .collect()
    };
    for trace in bench.traces("a.jsonl") {
        assert_eq!(texts(&trace), expected);
    }

    let faulty = suite.replace(
        "agents:",
        "faults: [{ name: f, target: { tool: count }, kind: 'recover-after:5' }]\nagents:",
    );
    bench.write(
        "suite.yml",
        &faulty.replace("    runs: 8\n", "    runs: 8\n    inject: [f]\n"),
    );
    bench.record(&["--record"], 0);
    for trace in bench.traces("a.jsonl") {
        let struck: Vec<u64> = trace["faults"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|event| event["call_index"].as_u64())
            .collect();
        assert_eq!(struck, [0, 1, 2, 3, 4]);
    }
}
