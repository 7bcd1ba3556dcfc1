//! The official Python SDK as a client of the mock server, and as a server for the client, with
//! both transports and both protocols.

use crate::installed::{peer, repository};
use crate::programs::{mcptest, start};
use mcptest_mcp::client::{Client, Observed, Scripted, ServerSpec};
use mcptest_mcp::era::Era;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use std::process::{Command, Stdio};

const MANIFEST: &str = "tests/conformance/everything.yml";

fn python(script: &str) -> Vec<String> {
    vec![
        peer("python/bin/python"),
        repository()
            .join("tests/peers")
            .join(script)
            .display()
            .to_string(),
    ]
}

/// The mock server's output as seen by the SDK in this mode.
fn seen_by_the_sdk(mode: &str, server: &[&str]) -> Value {
    let words = python("sdk_client.py");
    let output = Command::new(&words[0])
        .args(&words[1..])
        .arg(mode)
        .args(server)
        .current_dir(repository())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{mode} {server:?}: {said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn is_satisfied(mode: &str, server: &[&str]) {
    let saw = seen_by_the_sdk(mode, server);
    let (version, no_resource, event) = match mode {
        "legacy" => ("2025-11-25", -32002, Value::Null),
        _ => ("2026-07-28", -32602, json!("ToolsListChanged")),
    };
    let expected = json!({
        "version": version,
        "text": [{"type": "text", "text": "This is a simple text response for testing."}],
        "kinds": ["text", "image", "resource"],
        "is_error": true,
        "progress": [[0.0, 100.0], [50.0, 100.0], [100.0, 100.0]],
        "unknown_tool": -32602,
        "bad_arguments": -32602,
        "resources": ["test://static-text", "test://static-binary", "test://watched-resource"],
        "unknown_resource": no_resource,
        "event": event,
    });
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&saw[key], value, "{key} in mode {mode}: {saw}");
    }
    for (key, part) in [
        ("sampling", "Paris"),
        ("elicitation", "Ada"),
        ("rounds", "Ada"),
        ("read", "123"),
    ] {
        assert!(
            saw[key].as_str().unwrap().contains(part),
            "{key} in mode {mode}: {saw}"
        );
    }
    assert!(
        saw["prompt"][0]["text"].as_str().unwrap().contains("one"),
        "{saw}"
    );
    assert_eq!(saw["tools"][0], "test_simple_text");
}

#[test]
fn the_sdk_is_satisfied_by_the_mock_on_stdio() {
    for mode in ["legacy", "auto", "2026-07-28"] {
        is_satisfied(
            mode,
            &[
                env!("CARGO_BIN_EXE_mcptest"),
                "mock",
                "--tools-from",
                MANIFEST,
            ],
        );
    }
}

#[test]
fn the_sdk_is_satisfied_by_the_mock_over_http() {
    let mock = start(
        mcptest(&["mock", "--tools-from", MANIFEST, "--http", "127.0.0.1:0"]),
        true,
    );
    for mode in ["legacy", "auto", "2026-07-28"] {
        is_satisfied(mode, &[&mock.url]);
    }
}

#[test]
fn the_sdk_judges_and_explains_through_the_server_for_coding_agents() {
    let calls = json!([
        ["run", {"paths": ["examples/selection-f1.yml"]}],
        ["run", {"paths": ["demo/red"]}],
        ["show_failure", {"paths": ["demo/red"], "test": "no such test"}],
        ["explain", {"topic": "golden_path"}],
        ["draft_suite", {"cassette": "examples/cassettes/selection-f1/hands-the-pager-over-claude-sonnet-4-5-96437191ecf5.jsonl"}],
        ["run", {"paths": ["/etc"]}],
    ]);
    let words = python("sdk_calls.py");
    for mode in ["legacy", "2026-07-28"] {
        let mut client = Command::new(&words[0]);
        client.arg(&words[1]).args([
            mode,
            &calls.to_string(),
            env!("CARGO_BIN_EXE_mcptest"),
            "mcp",
        ]);
        let output = client
            .current_dir(repository())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let saw: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(
            saw["tools"],
            json!(["run", "show_failure", "explain", "draft_suite"])
        );
        let result = |at: usize| &saw["results"][at];
        let text = |at: usize| result(at)["text"].as_str().unwrap().to_owned();
        assert_eq!(result(0)["data"]["exit_code"], 0, "{saw}");
        assert!(
            result(1)["data"]["failed"].as_u64().unwrap() > 0 && text(1).contains("mcptest run"),
            "{saw}"
        );
        assert!(
            result(2)["is_error"] == true && text(2).contains("no test is named `no such test`"),
            "{saw}"
        );
        assert!(text(3).starts_with("# `golden_path"), "{}", text(3));
        assert!(text(4).contains("agents:"), "{}", text(4));
        assert!(
            result(5)["is_error"] == true && text(5).contains("outside the working directory"),
            "{saw}"
        );
    }
}

async fn result_of(client: &Client, tool: &str, arguments: Value) -> Value {
    let called = client
        .call_tool(tool, &to_raw_value(&arguments).unwrap(), None)
        .await;
    serde_json::from_str(called.outcome.unwrap().get()).unwrap()
}

async fn is_served(mut spec: ServerSpec, choice: Option<Era>, era: Era) {
    spec.era = choice;
    let accept = Ok(json!({"action": "accept", "content": {"name": "Ada"}}));
    spec.responses.scripted.insert(
        "elicitation/create".into(),
        vec![Scripted {
            when: None,
            answer: accept,
        }],
    );
    let client = Client::connect(&spec, None).await.unwrap();
    assert_eq!(client.server().era, era);
    assert_eq!(
        (
            client.server().name.as_str(),
            client.server().version.as_str()
        ),
        ("python-peer", "1.2.3")
    );
    assert_eq!(client.server().instructions.as_deref(), Some("Be kind."));
    let tools = client.list_tools().await.unwrap();
    assert!(tools.complaints.is_empty(), "{:?}", tools.complaints);
    let names: Vec<&str> = tools.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["echo", "weather", "fail", "count", "greet"]);
    assert!(tools.tools[1].output_schema.is_some());
    let answer = result_of(&client, "echo", json!({"text": "héllo\n"})).await;
    assert_eq!(answer["content"][0]["text"], "héllo\n");
    let answer = result_of(&client, "weather", json!({"city": "Oslo"})).await;
    assert_eq!(
        answer["structuredContent"],
        json!({"city": "Oslo", "celsius": 21.5})
    );
    assert_eq!(result_of(&client, "fail", json!({})).await["isError"], true);
    assert_eq!(
        result_of(&client, "greet", json!({})).await["content"][0]["text"],
        "Hello, Ada!"
    );
    let called = client
        .call_tool("count", &to_raw_value(&json!({"to": 3})).unwrap(), None)
        .await;
    assert!(called.outcome.is_ok());
    assert_eq!(called.notifications.len(), 3, "{:?}", called.notifications);
    let about = client
        .request("resources/read", Some(json!({"uri": "peer://about"})))
        .await
        .unwrap();
    assert!(about.get().contains("a peer"));
    let prompt = json!({"name": "review", "arguments": {"code": "x = 1"}});
    assert!(
        client
            .request("prompts/get", Some(prompt))
            .await
            .unwrap()
            .get()
            .contains("Review x = 1")
    );
    let asked = client.observed().into_iter().any(|seen| {
        matches!(
            seen,
            Observed::ServerRequest {
                is_scripted: true,
                ..
            }
        )
    });
    assert!(asked, "the question for the name is told");
    client.close().await;
}

const WAYS: [(Option<Era>, Era); 3] = [
    (None, Era::Modern),
    (Some(Era::Modern), Era::Modern),
    (Some(Era::Legacy), Era::Legacy),
];

#[tokio::test]
async fn the_client_is_served_by_the_sdk_on_stdio() {
    for (choice, era) in WAYS {
        is_served(
            ServerSpec::command("python", python("sdk_server.py")),
            choice,
            era,
        )
        .await;
    }
}

#[tokio::test]
async fn the_client_is_served_by_the_sdk_over_http() {
    let words = python("sdk_server.py");
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).arg("http");
    let server = start(command, false);
    for (choice, era) in WAYS {
        is_served(ServerSpec::url("python", &server.url), choice, era).await;
    }
}
