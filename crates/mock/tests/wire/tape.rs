//! A recorded server, served again, to clients of both eras.

use crate::support::*;
use mcptest_mcp::tape::Tape;
use mcptest_mock::Server;
use serde_json::{Value, json};

/// A tape of the messages; each begins with who sent it.
fn tape(messages: &[(&str, Value)]) -> Server {
    let mut text =
        json!({ "format": "mcptest-tape", "version": 1, "server": { "name": "recorded" } })
            .to_string();
    for (at, (from, message)) in messages.iter().enumerate() {
        text.push_str(&format!(
            "\n{}",
            json!({ "at_us": at, "from": from, "message": message })
        ));
    }
    text.push('\n');
    Server::of_tape(&Tape::read(&text).unwrap(), Vec::new())
}

fn result(id: impl Into<Value>, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "result": result })
}

fn said(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

fn legacy() -> Server {
    let info = json!({ "name": "srv", "version": "3" });
    let mut asked = call(3, "greet", json!({}));
    asked["params"]["_meta"] = json!({ "progressToken": "x" });
    let progress = json!({ "progressToken": "x", "progress": 1 });
    tape(&[
        ("client", initialize("2025-06-18", json!({}))),
        (
            "server",
            result(
                0,
                json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": {} }, "serverInfo": info }),
            ),
        ),
        ("client", request(1, "tools/list", json!({}))),
        (
            "server",
            result(
                1,
                json!({ "tools": [{ "name": "greet", "inputSchema": { "type": "object" } }] }),
            ),
        ),
        ("client", call(2, "add", json!({ "a": 1, "b": 2 }))),
        ("server", result(2, said("3"))),
        ("client", asked),
        (
            "server",
            json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": progress }),
        ),
        (
            "server",
            request("s1", "elicitation/create", json!({ "message": "Who?" })),
        ),
        ("client", result("s1", json!({ "action": "accept" }))),
        ("server", result(3, said("Hello"))),
    ])
}

#[tokio::test]
async fn a_legacy_tape_serves_a_legacy_client() {
    let mut pipe = Pipe::initialized(&legacy()).await;
    let list = pipe.ask(&request(1, "tools/list", json!({}))).await;
    assert_eq!(list["result"]["tools"][0]["name"], "greet");
    assert_eq!(
        text_of(&pipe.ask(&call(2, "add", json!({ "b": 2.0, "a": 1 }))).await),
        "3"
    );
    let refused = pipe.ask(&call(3, "add", json!({ "a": 5 }))).await;
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(
        message.contains(r#"the nearest is `tools/call` {"arguments":{"a":1,"b":2},"name":"add"}"#),
        "{message}"
    );
    let mut greet = call(4, "greet", json!({}));
    greet["params"]["_meta"] = json!({ "progressToken": 77 });
    let progress = pipe.ask(&greet).await;
    assert_eq!(
        progress["params"],
        json!({ "progressToken": 77, "progress": 1 })
    );
    let asked = pipe.next().await;
    assert_eq!(asked["params"], json!({ "message": "Who?" }));
    let answer = json!({ "action": "decline" });
    assert_eq!(
        text_of(&pipe.ask(&result(asked["id"].clone(), answer)).await),
        "Hello"
    );
}

#[tokio::test]
async fn a_legacy_tape_serves_a_modern_client() {
    let http = Http::new(&legacy()).await;
    let caps = || json!({ "elicitation": {} });
    let discovered = http
        .ask(&modern(request(1, "server/discover", json!({})), caps()))
        .await;
    assert_eq!(discovered["result"]["capabilities"], json!({ "tools": {} }));
    let list = http
        .ask(&modern(request(2, "tools/list", json!({})), caps()))
        .await;
    assert_eq!(list["result"]["resultType"], "complete");
    assert_eq!(list["result"]["ttlMs"], 0);
    let greet = || modern(call(3, "greet", json!({})), caps());
    let asked = http.ask(&greet()).await;
    assert_eq!(
        asked["result"]["inputRequests"]["elicitation"]["params"],
        json!({ "message": "Who?" })
    );
    let mut again = greet();
    again["params"]["requestState"] = asked["result"]["requestState"].clone();
    again["params"]["inputResponses"] = json!({ "elicitation": { "action": "decline" } });
    assert_eq!(text_of(&http.ask(&again).await), "Hello");
}

#[tokio::test]
async fn a_modern_tape_serves_both_eras() {
    let complete = |text: &str| {
        let mut result = said(text);
        result["resultType"] = json!("complete");
        result
    };
    let question =
        json!({ "who": { "method": "elicitation/create", "params": { "message": "Who?" } } });
    let caps = || json!({ "elicitation": {} });
    let mut again = modern(call(2, "greet", json!({})), caps());
    again["params"]["requestState"] = json!("opaque");
    again["params"]["inputResponses"] = json!({ "who": { "action": "accept" } });
    let meta = json!({ "io.modelcontextprotocol/serverInfo": { "name": "new", "version": "9" } });
    let server = tape(&[
        (
            "client",
            modern(request(0, "server/discover", json!({})), caps()),
        ),
        (
            "server",
            result(
                0,
                json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} }, "_meta": meta }),
            ),
        ),
        ("client", modern(call(1, "greet", json!({})), caps())),
        (
            "server",
            result(
                1,
                json!({ "resultType": "input_required", "inputRequests": question, "requestState": "opaque" }),
            ),
        ),
        ("client", again),
        ("server", result(2, complete("Hello"))),
    ]);
    let mut pipe = Pipe::new(&server);
    let handshake = pipe.ask(&initialize("2025-06-18", caps())).await;
    assert_eq!(
        handshake["result"]["serverInfo"],
        json!({ "name": "new", "version": "9" })
    );
    let asked = pipe.ask(&call(1, "greet", json!({}))).await;
    assert_eq!(asked["method"], "elicitation/create");
    let answer = pipe
        .ask(&result(asked["id"].clone(), json!({ "action": "accept" })))
        .await;
    assert_eq!(
        answer["result"],
        said("Hello"),
        "no modern keys for a legacy client"
    );
    let asked = pipe.ask(&modern(call(2, "greet", json!({})), caps())).await;
    assert_eq!(asked["result"]["inputRequests"], question);
}

#[tokio::test]
async fn a_tape_of_http_tells_exchanges_with_one_id_apart() {
    let mut text = json!({ "format": "mcptest-tape", "version": 1, "server": {} }).to_string();
    let mut entry = |at: u64, exchange: u64, from: &str, message: Value| {
        let line = json!({ "at_us": at, "session": 1, "exchange": exchange, "from": from, "message": message });
        text.push_str(&format!("\n{line}"));
    };
    entry(1, 1, "client", modern(call(1, "a", json!({})), json!({})));
    entry(2, 2, "client", modern(call(1, "b", json!({})), json!({})));
    entry(3, 1, "server", result(1, said("A")));
    entry(4, 2, "server", result(1, said("B")));
    text.push('\n');
    let server = Server::of_tape(&Tape::read(&text).unwrap(), Vec::new());
    let mut pipe = Pipe::new(&server);
    for (tool, expected) in [("b", "B"), ("a", "A")] {
        assert_eq!(
            text_of(&pipe.ask(&modern(call(1, tool, json!({})), json!({}))).await),
            expected
        );
    }
}
