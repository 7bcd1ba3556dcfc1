//! Every limit of a run ends it in order, with a reason that can be asserted.

use crate::bench::{LiveFolder, model_list};

const MANIFEST: &str = "
mock_server:
  tools:
    - { name: look, response: Nothing yet. }
    - { name: wait, fault: hang }
";

/// Agents that never finish, each with its limit, stop reason and number of calls.
const LIMITED: [(&str, &str, &str, usize); 7] = [
    ("max_turns: 3", "for ever", "max_turns", 3),
    ("max_tool_calls: 3", "two by two", "max_tool_calls", 3),
    ("max_tool_calls: 4", "two by two, too", "max_tool_calls", 4),
    ("max_tokens: 20", "at length", "max_tokens", 0),
    (
        "token_budget: 240",
        "for ever, at a price",
        "token_budget",
        2,
    ),
    ("time_budget: 5s", "for ever, slowly", "time_budget", 1),
    (
        "time_budget: 4900ms",
        "until the tool answers",
        "time_budget",
        1,
    ),
];

const SCRIPT: &str = "
rules:
  - when: { prompt: two by two }
    then: repeat
    steps: [{ calls: [{ name: look }, { name: look }] }]
  - when: { prompt: at length }
    steps: [{ text: Once upon a, stop: max_tokens }]
  - when: { prompt: slowly }
    steps: [{ calls: [{ name: look }] }, { text: too late, delay_ms: 60000 }]
  - when: { prompt: until the tool }
    steps: [{ calls: [{ name: wait }] }]
  - when: {}
    then: repeat
    steps: [{ calls: [{ name: look }] }]
";

#[test]
fn each_limit_ends_the_run_with_its_stop_reason() {
    let mut suite =
        "servers:\n  desk: { command: [./server, mock, --tools-from, manifest.yml] }\nagents:\n"
            .to_owned();
    let models = model_list();
    for (at, (limit, prompt, reason, calls)) in LIMITED.iter().enumerate() {
        suite.push_str(&format!(
            "  - name: '{limit}'\n    models: [{models}]\n    servers: [desk]\n    prompt: {prompt}\n    {limit}\n    cassette: 'r/{at}-{{model}}.jsonl'\n    expect:\n      - {{ target: stop_reason, matcher: {{ exact: {reason} }} }}\n      - {{ target: tool_calls.length, matcher: {{ exact: {calls} }} }}\n"
        ));
    }
    let bench = LiveFolder::with(&suite, SCRIPT, MANIFEST);
    let recorded = bench.record(&["--record", "--jobs", "28"], 0);
    assert_eq!(bench.replay(0).stdout, recorded.stdout);
    for (at, (limit, ..)) in LIMITED.iter().enumerate() {
        for trace in bench.traces(&format!("r/{at}-gpt-5.jsonl")) {
            let (calls, results) = (&trace["tool_calls"], &trace["tool_results"]);
            assert_eq!(
                calls.as_array().unwrap().len(),
                results.as_array().unwrap().len(),
                "{limit}"
            );
            assert!(trace["errors"].is_null(), "{limit}: {trace:#}");
            let unmade = trace["unmade_calls"].as_array().map_or(0, Vec::len);
            let over = match *limit {
                "max_tool_calls: 3" => 1,
                "max_tool_calls: 4" => 2,
                _ => 0,
            };
            assert_eq!(unmade, over, "{limit}: {trace:#}");
        }
    }
    let cut = &bench.traces("r/3-gpt-5.jsonl")[0];
    assert_eq!(cut["final_response"], "Once upon a");
    let waited = &bench.traces("r/6-gpt-5.jsonl")[0];
    assert!(
        waited["tool_results"][0]["error"]["message"]
            .as_str()
            .unwrap()
            .contains("time_budget"),
        "{waited:#}"
    );
}

#[test]
fn no_call_of_an_answer_that_was_cut_off_is_made_and_the_trace_says_which() {
    for stop in ["max_tokens", "refusal"] {
        let suite = format!(
            "servers:\n  desk: {{ command: [./server, mock, --tools-from, manifest.yml] }}\nagents:\n  - name: a\n    models: [{}]\n    servers: [desk]\n    turns: [Go., Never said.]\n    cassette: '{{model}}.jsonl'\n    tool_edges: {{ restricted: [wait] }}\n    expect:\n      - {{ target: stop_reason, matcher: {{ exact: {stop} }} }}\n      - {{ target: tool_calls, matcher: {{ exact: [] }} }}\n      - {{ target: 'unmade_calls[*].name', matcher: {{ exact: [look, wait] }} }}\n      - {{ target: 'unmade_calls[1].args_text', matcher: {{ exact: '{{\"for\": \"tw' }} }}\n",
            model_list()
        );
        let script = format!(
            "steps: [{{ text: Half a, calls: [{{ name: look }}, {{ name: wait, args_text: '{{\"for\": \"tw' }}], stop: {stop} }}]"
        );
        let bench = LiveFolder::with(&suite, &script, MANIFEST);
        let recorded = bench.record(&["--record"], 0);
        assert_eq!(bench.stub.count(), 4, "{stop} ends the run");
        assert_eq!(bench.replay(0).stdout, recorded.stdout);
        let shown = bench.run(&["show", "gpt-5.jsonl"]);
        shown.says("not made desk.look");
    }
}

#[test]
fn a_limit_that_is_not_reached_changes_nothing() {
    let suite = "
servers:
  desk: { command: [./server, mock, --tools-from, manifest.yml] }
agents:
  - name: a
    model: gpt-5
    servers: [desk]
    prompt: Go.
    max_turns: 3
    max_tool_calls: 2
    token_budget: 361
    time_budget: 5m
    cassette: a.jsonl
    expect: [{ target: stop_reason, matcher: { exact: end_turn } }]
";
    let script =
        "steps: [{ calls: [{ name: look }] }, { calls: [{ name: look }] }, { text: There. }]";
    let bench = LiveFolder::with(suite, script, MANIFEST);
    bench.record(&["--record"], 0);
    assert_eq!(bench.trace("a.jsonl")["final_response"], "There.");
}
