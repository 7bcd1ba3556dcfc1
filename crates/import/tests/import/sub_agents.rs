//! Are the calls of sub-agents calls of the run, each with the agent that made it?

use crate::told::fidelity;
use mcptest_import::{about_agent, import};
use mcptest_replay::{cassette::parse, clean};
use serde_json::{Value, json};

/// Each call as `agent: name @turn`, and the hand-offs, of every run.
fn callers(text: &str) -> Vec<String> {
    let imported = import(text.as_bytes(), None).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let cassette = imported.into_cassette("a", &clean);
    let cassette = parse(cassette.as_bytes()).unwrap();
    let mut told = Vec::new();
    for run in &cassette.runs {
        let trace = run.trace.as_ref().unwrap();
        for call in &trace.tool_calls {
            let agent = call.sub_agent().unwrap_or_else(|| "main".to_owned());
            told.push(format!("{agent}: {} @{}", call.name, call.turn.unwrap()));
        }
        for handed in trace.delegations.iter().flatten() {
            told.push(format!("{} -> {}", handed.from, handed.to));
        }
    }
    told
}

fn lines(values: &[Value]) -> String {
    let lines: Vec<String> = values.iter().map(|value| format!("{value}\n")).collect();
    lines.concat()
}

/// A line of a session: a call of the main agent, or of the sub-agent with this id.
fn call(agent: Option<&str>, id: &str, name: &str, input: &Value) -> Value {
    let content = json!([{ "type": "tool_use", "id": id, "name": name, "input": input }]);
    let message = json!({ "id": format!("msg_{id}"), "role": "assistant", "content": content });
    json!({ "sessionId": "s", "isSidechain": agent.is_some(), "agentId": agent, "type": "assistant",
            "uuid": format!("u{id}"), "message": message })
}

/// A line with the result of a call, which names the sub-agent that the call started.
fn result(agent: Option<&str>, id: &str, started: Option<&str>) -> Value {
    let content = json!([{ "type": "tool_result", "tool_use_id": id, "content": "done" }]);
    json!({ "sessionId": "s", "isSidechain": agent.is_some(), "agentId": agent, "type": "user",
            "uuid": format!("r{id}"), "message": { "role": "user", "content": content },
            "toolUseResult": { "agentId": started } })
}

#[test]
fn agents_of_agents_follow_the_turn_that_started_them() {
    let task = |kind: &str| json!({ "prompt": "go", "subagent_type": kind });
    let text = lines(&[
        call(None, "t1", "Agent", &task("planner")),
        result(None, "t1", Some("p")),
        call(None, "t2", "Write", &json!({})),
        call(Some("p"), "p1", "Agent", &task("finder")),
        result(Some("p"), "p1", Some("f")),
        call(Some("f"), "f1", "Grep", &json!({})),
        call(Some("x"), "x1", "Delete", &json!({})),
    ]);
    assert_eq!(
        callers(&text),
        [
            "main: Agent @0",
            "planner: Agent @1",
            "finder: Grep @2",
            "main: Write @3",
            "x: Delete @4",
            "main -> planner",
            "planner -> finder",
            "main -> x"
        ]
    );
    assert!(fidelity(&text).starts_with("anthropic: 5 calls (3 of sub-agents), 2 results"));
}

#[test]
fn a_file_beside_an_agent_names_it_and_the_call_that_started_it() {
    let about = about_agent("a1", r#"{"agentType": "Explore", "toolUseId": "t2"}"#).unwrap();
    let text = lines(&[
        call(None, "t1", "Agent", &json!({})),
        call(None, "t2", "Agent", &json!({})),
        call(Some("a1"), "c", "Read", &json!({})),
    ]);
    let expected = [
        "main: Agent @0",
        "main: Agent @1",
        "Explore: Read @2",
        "main -> Explore",
    ];
    assert_eq!(callers(&format!("{about}\n{text}")), expected);
    assert_eq!(callers(&format!("{text}{about}\n")), expected);
}

#[test]
fn progress_tells_of_an_agent_whose_messages_are_nowhere_else_and_is_not_counted_twice() {
    let inner = call(Some("a1"), "c", "Read", &json!({}));
    let progress = json!({ "type": "progress", "sessionId": "s", "parentToolUseID": "t1",
        "data": { "type": "agent_progress", "agentId": "a1", "message": inner } });
    let started = call(None, "t1", "Task", &json!({ "subagent_type": "Explore" }));
    let expected = ["main: Task @0", "Explore: Read @1", "main -> Explore"];
    assert_eq!(
        callers(&lines(&[started.clone(), progress.clone()])),
        expected
    );
    assert_eq!(callers(&lines(&[started, progress, inner])), expected);
}

#[test]
fn the_stream_of_the_agent_sdk_names_the_call_that_started_an_agent() {
    let line = |parent: Option<&str>, id: &str, name: &str| {
        let content = json!([{ "type": "tool_use", "id": id, "name": name, "input": {} }]);
        json!({ "type": "assistant", "session_id": "s", "parent_tool_use_id": parent,
                "message": { "role": "assistant", "content": content } })
    };
    let text = lines(&[
        json!({ "type": "system", "subtype": "init", "session_id": "s", "tools": ["Task"] }),
        line(None, "t1", "Task"),
        line(Some("t1"), "c", "Read"),
        json!({ "type": "result", "subtype": "success", "session_id": "s", "result": "ok" }),
    ]);
    assert_eq!(
        callers(&text),
        ["main: Task @0", "sub-agent: Read @1", "main -> sub-agent"]
    );
    assert!(fidelity(&text).ends_with("dropped 2 lines without a message"));
}

#[test]
fn a_copy_of_the_main_conversation_is_not_read_again() {
    let text = lines(&[
        call(None, "t1", "Write", &json!({})),
        result(None, "t1", None),
        call(Some("compact"), "t1", "Write", &json!({})),
        result(Some("compact"), "t1", None),
        call(Some("fork"), "t1", "Write", &json!({})),
        result(Some("fork"), "t1", None),
        call(Some("fork"), "f1", "Read", &json!({})),
    ]);
    assert_eq!(
        callers(&text),
        ["main: Write @0", "fork: Read @1", "main -> fork"]
    );
}

#[test]
fn an_agent_alone_is_a_run_whose_calls_are_its_own() {
    let text = lines(&[call(Some("a1"), "c", "Read", &json!({}))]);
    assert_eq!(callers(&text), ["a1: Read @0", "main -> a1"]);
}

#[test]
fn calls_of_a_coding_agents_spans_name_the_agent_that_made_them() {
    let span = |id: u64, attributes: Value| {
        json!({ "name": "claude_code", "context": { "trace_id": "t", "span_id": id.to_string() },
                "start_time": format!("2026-01-01T00:00:00.00{id}Z"), "attributes": attributes })
    };
    let tool = |name: &str, agent: Option<&str>| {
        let mut attributes =
            json!({ "span.type": "tool", "tool_name": name, "gen_ai.tool.call.id": name });
        if let Some(agent) = agent {
            attributes["agent_id"] = json!(agent);
        }
        attributes
    };
    let request = json!({ "gen_ai.request.model": "m", "input_tokens": 2, "output_tokens": 9,
        "cache_read_tokens": 80, "cache_creation_tokens": 7 });
    let text = lines(&[
        span(1, request),
        span(2, tool("Agent", None)),
        span(3, tool("Read", Some("a7"))),
    ]);
    assert_eq!(callers(&text), ["main: Agent @0", "a7: Read @0"]);
    let cassette = import(text.as_bytes(), None)
        .unwrap()
        .into_cassette("a", &clean);
    let tokens =
        r#""tokens":{"prompt":89,"completion":9,"total":98,"cache_read":80,"cache_write":7}"#;
    assert!(cassette.contains(tokens), "{cassette}");
}

#[test]
fn log_records_with_one_message_each_complete_the_span_of_their_request() {
    let record = |event: &str, body: Value| {
        json!({ "body": body, "severity_number": 9, "attributes": { "event.name": event },
                "timestamp": "2026-01-01T00:00:00.001Z", "trace_id": "0x0a", "span_id": "0x0b" })
    };
    let calls = json!([{ "id": "c", "type": "function", "function": { "name": "add", "arguments": "{\"a\":1}" } }]);
    let text = lines(&[
        record("gen_ai.user.message", json!({ "content": "Add." })),
        record(
            "gen_ai.choice",
            json!({ "index": 0, "finish_reason": "tool_calls",
            "message": { "role": "assistant", "tool_calls": calls } }),
        ),
        json!({ "name": "chat m", "context": { "trace_id": "0x0a", "span_id": "0x0b" },
                "start_time": "2026-01-01T00:00:00Z", "attributes": { "gen_ai.operation.name": "chat" } }),
        json!({ "body": "warm", "severity_number": 9, "attributes": {}, "trace_id": "0x0a", "span_id": "0x0c" }),
    ]);
    assert_eq!(crate::told::told(&text), ["run: -", r#"add{"a":1} #c @0"#]);
    let told = fidelity(&text);
    assert!(told.contains("prompt, stop reason"), "{told}");
    assert!(
        told.ends_with("dropped 1 log record of another kind"),
        "{told}"
    );
}
