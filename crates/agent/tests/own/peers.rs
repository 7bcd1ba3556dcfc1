//! The official Python SDK as the agent, and real servers.

use crate::support::{Run, got, json, mock, mock_server, peer, plain, repository, words};
use mcptest_agent::own::OwnOutcome;
use mcptest_mcp::client::{Endpoint, ServerSpec};
use mcptest_mock::http::serve_on_loopback;
use serde_json::{Value, json};

const EVERYTHING: &str = "tests/conformance/everything.yml";

/// The SDK's client of the conformance manifest, led to the server by this way.
fn sdk(mode: &str, way: &str) -> Vec<String> {
    let script = r#"
import json, os, sys
mode, way, script = sys.argv[1:]
entry = json.load(open(os.environ["MCPTEST_MCP_CONFIG"]))["mcpServers"]["everything"]
url = os.environ["MCPTEST_SERVER_EVERYTHING_URL"]
variables = [f"{name}={value}" for name, value in entry.get("env", {}).items()]
to = [url] if way == "url" else ["env", *variables, entry["command"], *entry["args"]]
os.execv(sys.executable, [sys.executable, script, mode, *to])
"#;
    let client = repository()
        .join("tests/peers/sdk_client.py")
        .display()
        .to_string();
    words(&[&peer("python/bin/python"), "-c", script, mode, way, &client])
}

fn is_satisfied(outcome: &OwnOutcome, mode: &str, way: &str) {
    let saw = got(outcome);
    assert_eq!(
        saw["kinds"],
        json!(["text", "image", "resource"]),
        "{mode} {way}: {saw}"
    );
    assert_eq!(
        saw["progress"],
        json!([[0.0, 100.0], [50.0, 100.0], [100.0, 100.0]]),
        "{mode} {way}: {saw}"
    );
    for (key, part) in [
        ("sampling", "Paris"),
        ("elicitation", "Ada"),
        ("rounds", "Ada"),
        ("read", "123"),
    ] {
        assert!(
            saw[key].as_str().is_some_and(|text| text.contains(part)),
            "{key} {mode} {way}: {saw}"
        );
    }
    let calls = &outcome.trace.tool_calls;
    let expected = if mode == "legacy" { 9 } else { 10 };
    let rounds = calls
        .iter()
        .filter(|call| call.name.ends_with("multi_round"))
        .count();
    assert_eq!(
        (calls.len(), rounds),
        (expected, 1),
        "a call that needs input is one call: {mode} {way}: {calls:?}"
    );
    let answered = outcome
        .trace
        .tool_results
        .iter()
        .filter(|result| result.error.is_none())
        .count();
    assert!(
        answered + 2 >= calls.len(),
        "{mode} {way}: {:?}",
        outcome.trace.tool_results
    );
    assert_eq!(outcome.trace.errors, [], "{mode} {way}");
}

#[tokio::test(flavor = "multi_thread")]
async fn all_that_the_sdk_can_do_crosses_unaltered_in_both_eras_on_every_way() {
    let text = std::fs::read_to_string(repository().join(EVERYTHING)).unwrap();
    let serving = serve_on_loopback(mock(&text)).await.unwrap();
    for mode in ["legacy", "auto", "2026-07-28"] {
        for (way, server) in [
            ("stdio", mock_server("everything", &text)),
            ("url", mock_server("everything", &text)),
            ("url", ServerSpec::url("everything", &serving.url)),
        ] {
            let outcome = Run {
                command: sdk(mode, way),
                servers: vec![server],
                ..Run::default()
            }
            .go()
            .await;
            assert_eq!(
                outcome.trace.stop_reason.as_deref(),
                Some("end_turn"),
                "{mode} {way}: {}",
                outcome.stderr
            );
            is_satisfied(&outcome, mode, way);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn real_servers_are_reached_on_stdio_and_by_url() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("note.txt"), "tea").unwrap();
    let node = peer("node_modules/.bin/node");
    let bin = std::path::Path::new(&node)
        .parent()
        .unwrap()
        .display()
        .to_string();
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap_or_default());
    let server = |name: &str, program: &str, arguments: &[&str]| {
        let mut words = vec![peer(program)];
        words.extend(arguments.iter().map(|word| (*word).to_owned()));
        ServerSpec::new(
            name,
            Endpoint::Command {
                words,
                env: vec![("PATH".into(), path.clone())],
                cwd: None,
            },
        )
    };
    let folder_text = folder.path().display().to_string();
    let servers = vec![
        server(
            "files",
            "node_modules/.bin/mcp-server-filesystem",
            &[&folder_text],
        ),
        server(
            "everything",
            "node_modules/.bin/mcp-server-everything",
            &["stdio"],
        ),
        server("time", "python/bin/mcp-server-time", &[]),
    ];
    let note = folder.path().join("note.txt").display().to_string();
    let call = |server: &str, tool: &str, arguments: &Value| json!({"server": server, "method": "tools/call", "params": {"name": tool, "arguments": arguments}});
    let mut by_url = call(
        "time",
        "get_current_time",
        &json!({"timezone": "Europe/Paris"}),
    );
    by_url["via"] = json!("url");
    let steps = json!([
        call("files", "read_text_file", &json!({"path": note})),
        call("everything", "echo", &json!({"message": "hello"})),
        by_url,
        call("everything", "no-such-tool", &json!({})),
    ]);
    let outcome = Run {
        command: plain(&steps),
        servers,
        ..Run::default()
    }
    .go()
    .await;
    let trace = json(&outcome);
    assert_eq!(
        trace["tool_results"][0]["content"][0]["text"],
        json!("tea"),
        "{trace}"
    );
    assert_eq!(
        trace["tool_results"][1]["content"][0]["text"],
        json!("Echo: hello")
    );
    assert!(
        trace["tool_results"][2]["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("Europe/Paris")
    );
    assert_eq!(trace["tool_results"][3]["is_error"], json!(true));
    assert!(
        outcome
            .catalogue
            .iter()
            .any(|tool| tool.server.as_deref() == Some("time"))
    );
    assert_eq!(outcome.trace.errors, []);
}

/// As the SDK's README has it. The task groups of the SDK wrap the exception twice.
const BUYER: &str = r#"
import asyncio, json, os
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

def price_of(order):
    return order["price"]

async def main():
    entry = json.load(open(os.environ["MCPTEST_MCP_CONFIG"]))["mcpServers"]["everything"]
    server = StdioServerParameters(command=entry["command"], args=entry["args"], env=entry.get("env"))
    async with stdio_client(server) as streams:
        async with ClientSession(*streams) as session:
            await session.initialize()
            print(price_of({"id": "A-17"}))

asyncio.run(main())
"#;

#[tokio::test(flavor = "multi_thread")]
async fn the_exception_within_the_task_groups_of_the_sdk_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("agent.py");
    std::fs::write(&program, BUYER).unwrap();
    let text = std::fs::read_to_string(repository().join(EVERYTHING)).unwrap();
    let outcome = Run {
        command: vec![peer("python/bin/python"), program.display().to_string()],
        servers: vec![mock_server("everything", &text)],
        ..Run::default()
    }
    .go()
    .await;
    let said = &outcome.trace.errors[0].message;
    assert!(
        said.starts_with("the agent ended with code 1: KeyError: 'price'"),
        "{said}"
    );
    assert!(said.contains("agent.py\", line 7, in price_of"), "{said}");
    assert!(said.trim_end().ends_with("KeyError: 'price'"), "{said}");
    assert!(!said.contains("site-packages"), "{said}");
}
