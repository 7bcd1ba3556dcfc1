//! The client against a reference server by other authors, on both transports and with both
//! protocols.

use mcptest_mcp::client::{Client, Scripted, ServerSpec};
use mcptest_mcp::era::Era;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

fn echo_server() -> PathBuf {
    let here = std::env::current_exe().unwrap();
    here.parent()
        .unwrap()
        .parent()
        .unwrap()
        .join("examples")
        .join("rmcp_echo")
}

struct Running(Child, String);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn start_http(arguments: &[&str]) -> Running {
    let mut child = Command::new(echo_server())
        .arg("--http")
        .args(arguments)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut url = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut url)
        .unwrap();
    Running(child, url.trim().to_owned())
}

async fn text_of(client: &Client, tool: &str, arguments: Value) -> Value {
    let called = client
        .call_tool(tool, &to_raw_value(&arguments).unwrap(), None)
        .await;
    serde_json::from_str(called.outcome.unwrap().get()).unwrap()
}

async fn is_a_good_peer(mut spec: ServerSpec, choice: Option<Era>, era: Era) {
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
    let tools = client.list_tools().await.unwrap();
    assert!(tools.complaints.is_empty(), "{:?}", tools.complaints);
    assert_eq!(
        tools
            .tools
            .iter()
            .map(|tool| tool.name.as_str())
            .collect::<Vec<_>>(),
        ["echo", "fail", "greet", "slow"]
    );
    let answer = text_of(&client, "echo", json!({"text": "héllo\n"})).await;
    assert_eq!(answer["content"][0]["text"], "héllo\n");
    assert_eq!(text_of(&client, "fail", json!({})).await["isError"], true);
    if era == Era::Modern {
        assert_eq!(
            text_of(&client, "greet", json!({})).await["content"][0]["text"],
            "Hello, Ada!"
        );
    }
    let slow = to_raw_value(&json!({"delay_ms": 80})).unwrap();
    let called = client.call_tool("slow", &slow, None).await;
    assert!(called.outcome.is_ok());
    assert_eq!(called.notifications.len(), 4, "{:?}", called.notifications);
    let slow = to_raw_value(&json!({"delay_ms": 60_000})).unwrap();
    let late = client
        .call_tool("slow", &slow, Some(Duration::from_millis(150)))
        .await
        .outcome
        .unwrap_err();
    assert!(
        late.to_string()
            .contains("no answer to tools/call slow within 150 ms"),
        "{late}"
    );
    let answer = text_of(&client, "echo", json!({"text": "still there"})).await;
    assert_eq!(answer["content"][0]["text"], "still there");
    client.close().await;
}

#[tokio::test]
async fn on_stdio_in_both_eras() {
    for (choice, era) in [
        (None, Era::Modern),
        (Some(Era::Modern), Era::Modern),
        (Some(Era::Legacy), Era::Legacy),
    ] {
        let spec = ServerSpec::command("rmcp", [echo_server().to_str().unwrap()]);
        is_a_good_peer(spec, choice, era).await;
    }
}

#[tokio::test]
async fn on_http_in_both_eras() {
    let server = start_http(&[]);
    for (choice, era) in [
        (None, Era::Modern),
        (Some(Era::Modern), Era::Modern),
        (Some(Era::Legacy), Era::Legacy),
    ] {
        is_a_good_peer(ServerSpec::url("rmcp", &server.1), choice, era).await;
    }
}

#[tokio::test]
async fn on_http_with_plain_json() {
    let server = start_http(&["--json"]);
    is_a_good_peer(ServerSpec::url("rmcp", &server.1), None, Era::Modern).await;
}
