//! Which traffic is recorded, and which passes unaltered?

use crate::support::{Run, SHOP, got, json, mock, mock_server, plain, sh, shop};
use mcptest_core::eval::distractors::near_duplicates;
use mcptest_core::trace::CatalogueTool;
use mcptest_core::trace::RecordedError;
use mcptest_mcp::client::ServerSpec;
use mcptest_mock::http::serve_on_loopback;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

fn call(server: &str, tool: &str, arguments: &Value) -> Value {
    json!({"server": server, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_are_recorded_in_order_over_all_servers_with_their_results() {
    let steps = json!([
        call("shop", "find", &json!({"what": "tea", "n": 1.0})),
        call("other", "count", &json!({})),
        call("shop", "buy", &json!({})),
        call("shop", "sell", &json!({})),
        {"server": "shop", "method": "resources/read", "params": {"uri": "note://one"}},
        {"server": "shop", "method": "tools/call", "params": {"name": "count"}},
    ]);
    let events = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&events);
    let servers = vec![shop(), mock_server("other", SHOP)];
    let run = Run {
        command: plain(&steps),
        servers,
        ..Run::default()
    };
    let outcome = run
        .heard(move |server, tool| heard.lock().unwrap().push(format!("{server} {tool}")))
        .await;
    let trace = json(&outcome);
    let calls = trace["tool_calls"].as_array().unwrap();
    let named: Vec<_> = calls
        .iter()
        .map(|call| (&call["server"], &call["name"], &call["turn"]))
        .collect();
    assert_eq!(
        json!(named),
        json!([
            ["shop", "find", 0],
            ["other", "count", 1],
            ["shop", "buy", 2],
            ["shop", "sell", 3],
            ["shop", "count", 4],
        ])
    );
    let written = outcome.trace.tool_calls[0].args.as_ref().unwrap().get();
    assert!(
        written.contains("1.0"),
        "arguments stay as they were written: {written}"
    );
    assert!(calls[4].get("args").is_none());
    let results = &trace["tool_results"];
    assert_eq!(
        results[0]["content"],
        json!([{"type": "text", "text": "found tea"}])
    );
    assert_eq!(
        (&results[2]["is_error"], &results[2].get("error")),
        (&json!(true), &None)
    );
    assert_eq!(results[3]["error"]["code"], json!(-32602));
    assert!(results[0]["duration_ms"].is_u64());
    assert_eq!(got(&outcome)[4]["contents"][0]["text"], json!("First."));
    assert_eq!(outcome.catalogue.len(), 8);
    assert_eq!(outcome.trace.errors, []);
    let events = events.lock().unwrap();
    assert_eq!(events[..2], ["shop find", "other count"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_are_sent_together_share_a_turn() {
    let steps = json!([
        [
            call("shop", "count", &json!({})),
            call("shop", "find", &json!({})),
            call("shop", "buy", &json!({}))
        ],
        call("shop", "count", &json!({})),
    ]);
    let outcome = Run {
        command: plain(&steps),
        servers: vec![shop()],
        ..Run::default()
    }
    .go()
    .await;
    let turns: Vec<_> = outcome
        .trace
        .tool_calls
        .iter()
        .map(|call| call.turn.unwrap())
        .collect();
    assert_eq!(turns, [0, 0, 0, 1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_asked_with_one_plain_request_wherever_it_is() {
    let serving = serve_on_loopback(mock(SHOP)).await.unwrap();
    let by = |server: &str, tool: &str| {
        let mut step = call(server, tool, &json!({"what": "tea"}));
        step["via"] = json!("url");
        step
    };
    let steps = json!([
        by("shop", "find"),
        by("web", "find"),
        by("shop", "count"),
        by("shop", "count"),
        by("web", "no")
    ]);
    let servers = vec![shop(), ServerSpec::url("web", &serving.url)];
    let outcome = Run {
        command: plain(&steps),
        servers,
        ..Run::default()
    }
    .go()
    .await;
    let seen = got(&outcome);
    assert_eq!(seen[0]["content"][0]["text"], json!("found tea"));
    assert_eq!(seen[1]["content"][0]["text"], json!("found tea"));
    assert_eq!(
        (
            &seen[2]["content"][0]["text"],
            &seen[3]["content"][0]["text"]
        ),
        (&json!("one"), &json!("two"))
    );
    assert_eq!(seen[4]["code"], json!(-32602));
    let names: Vec<_> = outcome
        .trace
        .tool_calls
        .iter()
        .map(|call| call.server.clone().unwrap())
        .collect();
    assert_eq!(names, ["shop", "web", "shop", "shop", "web"]);
    assert_eq!(outcome.trace.errors, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_know_the_word_does_not_come_in() {
    let script = r#"
        code() { curl -s -o /dev/null -w '%{http_code} ' -X POST -d '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' "$@"; }
        code "$MCPTEST_SERVER_SHOP_URL"
        code "${MCPTEST_SERVER_SHOP_URL%/*/mcp}/mcp"
        code -H 'Origin: https://evil.example' "$MCPTEST_SERVER_SHOP_URL"
    "#;
    let outcome = Run {
        command: sh(script),
        servers: vec![shop()],
        ..Run::default()
    }
    .go()
    .await;
    assert_eq!(outcome.trace.final_response.as_deref(), Some("200 404 403"));
}

#[tokio::test(flavor = "multi_thread")]
async fn distractors_are_listed_and_marked_and_a_call_to_one_is_unknown() {
    let steps = json!([
        {"server": "shop", "method": "tools/list"},
        call("shop", "find_v2", &json!({"what": "tea"})),
        call("shop", "find", &json!({"what": "tea"})),
    ]);
    let distract = |offered: &[CatalogueTool]| {
        let find = offered.iter().find(|tool| tool.name == "find").unwrap();
        let mut near = near_duplicates(find, 3);
        near.push(CatalogueTool {
            name: "find_v2".to_owned(),
            ..find.clone()
        });
        near
    };
    let run = Run {
        command: plain(&steps),
        servers: vec![shop()],
        distractors: Some(&distract),
        ..Run::default()
    };
    let outcome = run.go().await;
    let seen = got(&outcome);
    let listed: Vec<_> = seen[0]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    assert!(
        listed.len() >= 7 && listed.contains(&&json!("find_v2")),
        "{listed:?}"
    );
    assert_eq!(
        seen[1],
        json!({"code": -32602, "message": "unknown tool: find_v2"})
    );
    let trace = json(&outcome);
    assert_eq!(trace["tool_calls"][0]["distractor"], json!(true));
    assert!(trace["tool_calls"][1].get("distractor").is_none());
    assert_eq!(trace["tool_results"][0]["error"]["code"], json!(-32602));
    let marked: Vec<_> = outcome
        .catalogue
        .iter()
        .filter(|tool| tool.distractor)
        .map(|tool| &tool.name)
        .collect();
    assert_eq!(marked.len(), listed.len() - 4);
    assert_eq!(outcome.catalogue.len(), listed.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_dies_in_a_call_or_writes_nonsense_is_evidence() {
    let script = r#"
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    method, answer = message.get("method"), None
    if method == "initialize":
        answer = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}
    elif method == "tools/list":
        answer = {"tools": [{"name": "die", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        print("about to die", flush=True)
        print("last words", file=sys.stderr, flush=True)
        sys.exit(7)
    if answer is not None and "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer}), flush=True)
"#;
    let mut fragile = ServerSpec::command(
        "fragile",
        [&crate::support::peer("python/bin/python"), "-c", script],
    );
    fragile.era = Some(mcptest_mcp::era::Era::Legacy);
    let steps = json!([
        call("fragile", "die", &json!({})),
        call("fragile", "die", &json!({}))
    ]);
    let outcome = Run {
        command: plain(&steps),
        servers: vec![fragile],
        ..Run::default()
    }
    .go()
    .await;
    let seen = got(&outcome);
    assert_eq!(
        seen,
        json!(["closed", "about to die\n", "closed", "about to die\n"])
    );
    let trace = json(&outcome);
    for result in trace["tool_results"].as_array().unwrap() {
        let said = result["error"]["message"].as_str().unwrap();
        assert!(
            said.contains("code 7") && said.contains("last words"),
            "{said}"
        );
    }
    let errors: Vec<_> = outcome
        .trace
        .errors
        .iter()
        .map(|error| &error.message)
        .collect();
    assert!(
        errors.iter().any(|error| error.contains("about to die")),
        "{errors:?}"
    );
    assert!(
        errors.iter().any(|error| error.contains("code 7")),
        "{errors:?}"
    );
    assert_eq!(outcome.trace.stop_reason.as_deref(), Some("end_turn"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_of_fifty_megabytes_crosses_on_every_way() {
    let script = r#"
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    answers = {
        "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}},
        "tools/list": {"tools": [{"name": "much", "inputSchema": {"type": "object"}}]},
        "tools/call": {"content": [{"type": "text", "text": "x" * 50_000_000}]},
    }
    if "id" in message and method in answers:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answers[method]}), flush=True)
"#;
    let mut big = ServerSpec::command(
        "big",
        [&crate::support::peer("python/bin/python"), "-c", script],
    );
    big.era = Some(mcptest_mcp::era::Era::Legacy);
    let mut by_url = call("big", "much", &json!({}));
    by_url["via"] = json!("url");
    let steps = json!([call("big", "much", &json!({})), by_url]);
    let mut command = plain(&steps);
    command.push("lengths".to_owned());
    let outcome = Run {
        command,
        servers: vec![big],
        ..Run::default()
    }
    .go()
    .await;
    assert_eq!(got(&outcome), json!([50_000_043, 50_000_043]));
    for result in &outcome.trace.tool_results {
        assert!(result.content.as_ref().unwrap().get().len() > 50_000_000);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_cannot_be_started_is_evidence_and_the_agent_goes_on() {
    let nowhere = ServerSpec::command("nowhere", ["no-such-server-qqq"]);
    let script = r#"curl -s -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}' "$MCPTEST_SERVER_NOWHERE_URL" > /dev/null; echo went on"#;
    let outcome = Run {
        command: sh(script),
        servers: vec![nowhere, shop()],
        ..Run::default()
    }
    .go()
    .await;
    assert_eq!(outcome.trace.final_response.as_deref(), Some("went on"));
    let is_said = |error: &RecordedError| {
        error
            .message
            .starts_with("server \"nowhere\": its tools are unknown:")
            && error.message.contains("no-such-server-qqq")
    };
    assert!(
        outcome.trace.errors.iter().any(is_said),
        "{:?}",
        outcome.trace.errors
    );
    assert_eq!(outcome.catalogue.len(), 4);
}
