//! One message per line.

use crate::support::*;
use serde_json::json;

#[tokio::test]
async fn every_legacy_version_is_agreed_on_and_an_unknown_one_becomes_the_newest() {
    let server = server(WEATHER, &[]);
    for (asked, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
    ] {
        let answer = Pipe::new(&server).ask(&initialize(asked, json!({}))).await;
        assert_eq!(answer["result"]["protocolVersion"], agreed, "{asked}");
        assert_eq!(
            answer["result"]["serverInfo"],
            json!({ "name": "weather", "version": "1.2.0" })
        );
        assert_eq!(answer["result"]["instructions"], "Ask for weather.");
    }
}

#[tokio::test]
async fn a_request_before_the_handshake_is_told_what_to_do() {
    let mut pipe = Pipe::new(&server(WEATHER, &[]));
    assert_eq!(
        pipe.ask(&request(1, "ping", json!({}))).await["result"],
        json!({})
    );
    let refused = pipe.ask(&request(2, "tools/list", json!({}))).await;
    assert!(
        refused["error"]["message"]
            .as_str()
            .unwrap()
            .contains("send `initialize` first"),
        "{refused}"
    );
}

#[tokio::test]
async fn both_eras_are_served_on_one_pipe() {
    let mut pipe = Pipe::initialized(&server(WEATHER, &[])).await;
    let city = || call("a\"b", "get_weather", json!({ "city": "Oslo" }));
    let legacy = pipe.ask(&city()).await;
    assert_eq!(
        legacy["result"],
        json!({ "content": [{ "type": "text", "text": "Sunny in Oslo." }] })
    );
    assert_eq!(legacy["id"], "a\"b");
    let answer = pipe.ask(&modern(city(), json!({}))).await;
    assert_eq!(text_of(&answer), "Sunny in Oslo.");
    assert_eq!(answer["result"]["resultType"], "complete");
    let list = pipe
        .ask(&modern(request(3, "tools/list", json!({})), json!({})))
        .await;
    assert_eq!(list["result"]["cacheScope"], "private");
    assert_eq!(list["result"]["tools"].as_array().map(Vec::len), Some(6));
}

#[tokio::test]
async fn a_raw_result_is_sent_as_it_is_written_in_both_eras() {
    let manifest = "mock_server: {tools: [{name: odd, description: d, response: {sequence: [{raw: {resultType: z, ttlMs: 1, content: 5}}, {raw: {a: '${args.x}'}}], then: cycle}}]}";
    let server = server(manifest, &[]);
    let mut pipe = Pipe::initialized(&server).await;
    for (id, era) in [(1, "legacy"), (3, "modern")] {
        for (id, expected) in [
            (id, r#"{"resultType":"z","ttlMs":1,"content":5}"#),
            (id + 1, r#"{"a":7}"#),
        ] {
            let call = call(id, "odd", json!({ "x": 7 }));
            pipe.send(&if era == "modern" {
                modern(call, json!({}))
            } else {
                call
            })
            .await;
            let expected = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{expected}}}"#);
            assert_eq!(pipe.line().await.trim_end(), expected, "{era}");
        }
    }
}

#[tokio::test]
async fn lists_come_page_by_page_when_the_manifest_says_so() {
    let manifest = WEATHER.replace("  version: 1.2.0\n", "  version: 1.2.0\n  page_size: 4\n");
    let mut pipe = Pipe::initialized(&server(&manifest, &[])).await;
    let first = pipe.ask(&request(1, "tools/list", json!({}))).await;
    assert_eq!(first["result"]["tools"].as_array().map(Vec::len), Some(4));
    let cursor = first["result"]["nextCursor"].clone();
    let second = pipe
        .ask(&modern(
            request(2, "tools/list", json!({ "cursor": cursor })),
            json!({}),
        ))
        .await;
    assert_eq!(second["result"]["tools"].as_array().map(Vec::len), Some(2));
    assert!(second["result"].get("nextCursor").is_none());
    let refused = pipe
        .ask(&request(3, "tools/list", json!({ "cursor": "after-9" })))
        .await;
    assert_eq!(refused["error"]["code"], -32602);
    let prompts = pipe.ask(&request(4, "prompts/list", json!({}))).await;
    assert_eq!(
        prompts["result"]["prompts"].as_array().map(Vec::len),
        Some(1)
    );
}

#[tokio::test]
async fn what_is_wrong_with_a_line_is_said_and_the_next_one_is_served() {
    let mut pipe = Pipe::initialized(&server(WEATHER, &[])).await;
    for (line, code) in [
        ("nonsense", -32700),
        ("[1]", -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}"#,
            -32602,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_waether"}}"#,
            -32602,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_weather"}}"#,
            -32602,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/pet"}"#, -32601),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"note://two"}}"#,
            -32002,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"loud"}}"#,
            -32602,
        ),
    ] {
        pipe.send_text(line).await;
        let answer = pipe.next().await;
        assert_eq!(answer["error"]["code"], code, "{line}: {answer}");
    }
    let answer = pipe
        .ask(&call(5, "get_weather", json!({ "city": "Rome" })))
        .await;
    assert_eq!(text_of(&answer), "Sunny in Rome.");
}

#[tokio::test]
async fn progress_comes_with_the_callers_token_and_logs_at_the_level_that_was_set() {
    let mut pipe = Pipe::initialized(&server(WEATHER, &[])).await;
    pipe.ask(&request(1, "logging/setLevel", json!({ "level": "info" })))
        .await;
    let mut work = call(2, "work", json!({}));
    work["params"]["_meta"] = json!({ "progressToken": "t" });
    pipe.send(&work).await;
    let mut methods = Vec::new();
    loop {
        let message = pipe.next().await;
        if message.get("id").is_some() {
            assert_eq!(text_of(&message), "worked");
            break;
        }
        if message["method"] == "notifications/progress" {
            assert_eq!(message["params"]["progressToken"], "t");
        } else {
            assert_eq!(
                message["params"],
                json!({ "level": "warning", "data": "careful" })
            );
        }
        methods.push(
            message["method"]
                .as_str()
                .unwrap()
                .rsplit('/')
                .next()
                .unwrap()
                .to_owned(),
        );
    }
    methods.sort();
    assert_eq!(methods, ["message", "progress", "progress"]);
    let quiet = pipe
        .ask(&modern(call(3, "work", json!({})), json!({})))
        .await;
    assert_eq!(
        quiet["id"], 3,
        "without a token or a level nothing comes before the answer"
    );
}

#[tokio::test]
async fn a_legacy_client_is_asked_on_the_way_and_a_modern_one_in_the_result() {
    let server = server(WEATHER, &[]);
    let mut pipe = Pipe::initialized(&server).await;
    let asked = pipe.ask(&call(1, "greet", json!({}))).await;
    assert_eq!(asked["method"], "elicitation/create");
    let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
    let said = pipe
        .ask(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": answer }))
        .await;
    assert_eq!(text_of(&said), "Hello Ada!");

    let greet = || modern(call(2, "greet", json!({})), json!({ "elicitation": {} }));
    let asked = pipe.ask(&greet()).await;
    assert_eq!(asked["result"]["resultType"], "input_required");
    assert_eq!(
        asked["result"]["inputRequests"]["who"]["method"],
        "elicitation/create"
    );
    let mut again = greet();
    again["params"]["inputResponses"] = json!({ "who": answer });
    assert_eq!(text_of(&pipe.ask(&again).await), "Hello Ada!");

    let unable = pipe
        .ask(&modern(call(3, "greet", json!({})), json!({})))
        .await;
    assert_eq!(unable["error"]["code"], -32021);
    assert_eq!(
        unable["error"]["data"],
        json!({ "requiredCapabilities": { "elicitation": {} } })
    );
}

#[tokio::test]
async fn changes_are_told_to_sessions_and_to_those_who_listen() {
    let server = server(WEATHER, &[]);
    let mut legacy = Pipe::initialized(&server).await;
    // An answer shows that the handshake was taken.
    legacy.ask(&request(1, "ping", json!({}))).await;
    let mut listener = Pipe::new(&server);
    let filter = json!({ "notifications": { "toolsListChanged": true } });
    let acknowledged = listener
        .ask(&modern(
            request("sub", "subscriptions/listen", filter),
            json!({}),
        ))
        .await;
    assert_eq!(
        acknowledged["method"],
        "notifications/subscriptions/acknowledged"
    );
    assert_eq!(
        acknowledged["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
        "sub"
    );
    let mut other = Pipe::new(&server);
    let announced = other
        .ask(&modern(call(1, "announce", json!({})), json!({})))
        .await;
    assert_eq!(text_of(&announced), "announced");
    assert_eq!(
        legacy.next().await["method"],
        "notifications/tools/list_changed"
    );
    let told = listener.next().await;
    assert_eq!(told["method"], "notifications/tools/list_changed");
    assert_eq!(
        told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
        "sub"
    );
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "sub" } });
    listener.send(&cancel).await;
    listener
        .ask(&modern(request(1, "server/discover", json!({})), json!({})))
        .await;
    other
        .ask(&modern(call(2, "announce", json!({})), json!({})))
        .await;
    assert!(listener.is_silent().await);
}

#[tokio::test]
async fn what_a_call_changes_is_told_after_its_answer() {
    for faults in [&[][..], &["slow:1"]] {
        let mut pipe = Pipe::initialized(&server(WEATHER, faults)).await;
        let answer = pipe.ask(&call(1, "announce", json!({}))).await;
        assert_eq!(text_of(&answer), "announced");
        assert_eq!(
            pipe.next().await["method"],
            "notifications/tools/list_changed"
        );
    }
}

#[tokio::test]
async fn a_version_that_is_not_spoken_is_refused_with_those_that_are() {
    let mut pipe = Pipe::new(&server(WEATHER, &[]));
    let mut discover = modern(request(1, "server/discover", json!({})), json!({}));
    discover["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2031-01-01");
    let refused = pipe.ask(&discover).await;
    assert_eq!(refused["error"]["code"], -32022);
    assert_eq!(
        refused["error"]["data"],
        json!({ "supported": ["2026-07-28"], "requested": "2031-01-01" })
    );
    let bare = pipe.ask(&request(2, "server/discover", json!({}))).await;
    assert_eq!(bare["error"]["code"], -32602);
}

#[tokio::test]
async fn all_answers_are_written_before_the_end_when_the_client_closes_its_end() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let (mut near, far) = tokio::io::duplex(1 << 20);
    let (reader, writer) = tokio::io::split(far);
    let serving = tokio::spawn(mcptest_mock::serve_pipe(
        server(WEATHER, &["slow:40"]),
        reader,
        writer,
    ));
    for id in 0..20 {
        let message = modern(
            call(id, "get_weather", json!({ "city": "Oslo" })),
            json!({}),
        );
        near.write_all(format!("{message}\n").as_bytes())
            .await
            .unwrap();
    }
    near.shutdown().await.unwrap();
    let mut text = String::new();
    soon(near.read_to_string(&mut text)).await.unwrap();
    assert_eq!(text.lines().count(), 20);
    assert_eq!(soon(serving).await.unwrap(), mcptest_mock::Ended::Closed);
}
