//! Streamable HTTP at `/mcp`.

use crate::support::*;
use serde_json::{Value, json};

#[tokio::test]
async fn a_session_is_opened_used_and_ended() {
    let http = Http::initialized(&server(WEATHER, &[])).await;
    let mut told = http
        .post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
        .await;
    assert_eq!(told.status().await, 202);
    let answer = http
        .ask(&call(1, "get_weather", json!({ "city": "Oslo" })))
        .await;
    assert_eq!(text_of(&answer), "Sunny in Oslo.");
    let refused = http.ask(&call(2, "get_weather", json!({}))).await;
    assert_eq!(refused["error"]["code"], -32602);
    assert_eq!(http.exchange("DELETE", &[], "").await.status().await, 200);
    assert_eq!(
        http.post(&call(3, "count", json!({}))).await.status().await,
        404
    );
    assert_eq!(http.exchange("DELETE", &[], "").await.status().await, 404);
}

#[tokio::test]
async fn sessions_do_not_mix_although_their_ids_do() {
    let server = server(WEATHER, &[]);
    let (one, two) = (
        Http::initialized(&server).await,
        Http::initialized(&server).await,
    );
    assert_ne!(one.headers, two.headers);
    let asked = |mut exchange: Exchange| async move {
        let events = exchange.events(1).await;
        (exchange, serde_json::from_str::<Value>(&events[0]).unwrap())
    };
    let (mut first, question) = asked(one.post(&call(7, "greet", json!({}))).await).await;
    let (mut second, other) = asked(two.post(&call(7, "greet", json!({}))).await).await;
    let answer = |question: &Value, name: &str| {
        let content = json!({ "action": "accept", "content": { "name": name } });
        json!({ "jsonrpc": "2.0", "id": question["id"], "result": content })
    };
    assert_eq!(two.post(&answer(&other, "Grace")).await.status().await, 202);
    assert_eq!(
        one.post(&answer(&question, "Ada")).await.status().await,
        202
    );
    assert_eq!(text_of(&first.answer().await), "Hello Ada!");
    assert_eq!(text_of(&second.answer().await), "Hello Grace!");
}

#[tokio::test]
async fn a_request_without_a_session_or_metadata_is_told_what_to_do() {
    let http = Http::new(&server(WEATHER, &[])).await;
    let mut exchange = http.post(&request(1, "tools/list", json!({}))).await;
    assert_eq!(exchange.status().await, 400);
    assert!(exchange.body().await.contains("send `initialize` first"));
}

#[tokio::test]
async fn a_modern_request_needs_no_session_and_has_its_own_statuses() {
    let http = Http::new(&server(WEATHER, &[])).await;
    let plain = |request| modern(request, json!({}));
    let weather = plain(call(1, "get_weather", json!({ "city": "Oslo" })));
    assert_eq!(text_of(&http.ask(&weather).await), "Sunny in Oslo.");
    let status_of = async |message: &Value, headers: &[(&str, String)]| {
        let mut exchange = http.post_with(message, headers).await;
        (
            exchange.status().await,
            exchange.answer().await["error"]["code"].as_i64(),
        )
    };
    let unknown = plain(request(1, "tools/pet", json!({})));
    assert_eq!(
        status_of(&unknown, &modern_headers(&unknown)).await,
        (404, Some(-32601))
    );
    let ping = plain(request(1, "ping", json!({})));
    assert_eq!(
        status_of(&ping, &modern_headers(&ping)).await,
        (404, Some(-32601))
    );
    let greet = plain(call(1, "greet", json!({})));
    assert_eq!(
        status_of(&greet, &modern_headers(&greet)).await,
        (400, Some(-32021))
    );
    let bare = request(1, "server/discover", json!({}));
    assert_eq!(status_of(&bare, &[]).await, (400, Some(-32602)));
    for missing in [
        "MCP-Protocol-Version",
        "Mcp-Method",
        "Mcp-Name",
        "Mcp-Param-City",
    ] {
        let mut headers = modern_headers(&weather);
        headers.retain(|(name, _)| *name != missing);
        assert_eq!(
            status_of(&weather, &headers).await,
            (400, Some(-32020)),
            "{missing}"
        );
        headers.push((missing, "other".to_owned()));
        assert_eq!(
            status_of(&weather, &headers).await,
            (400, Some(-32020)),
            "{missing}"
        );
    }
    for method in ["GET", "DELETE", "PUT"] {
        assert_eq!(
            http.exchange(method, &[], "").await.status().await,
            405,
            "{method}"
        );
    }
}

#[tokio::test]
async fn progress_comes_on_the_stream_of_its_call() {
    let http = Http::initialized(&server(WEATHER, &[])).await;
    let mut work = call(1, "work", json!({}));
    work["params"]["_meta"] = json!({ "progressToken": 5 });
    let mut exchange = http.post(&work).await;
    exchange.body().await;
    assert_eq!(exchange.header("content-type"), Some("text/event-stream"));
    let events = exchange.events(5).await;
    assert_eq!(
        events.len(),
        5,
        "two logs, two steps and the answer: {events:?}"
    );
    assert_eq!(
        text_of(&serde_json::from_str(&events[4]).unwrap()),
        "worked"
    );
}

#[tokio::test]
async fn a_stream_that_was_closed_is_resumed_where_it_was_left() {
    let http = Http::initialized(&server(WEATHER, &[])).await;
    let mut exchange = http.post(&call(1, "later", json!({}))).await;
    let first = exchange.body().await;
    assert!(
        first.contains("retry: 20") && !first.contains("here it is"),
        "{first}"
    );
    let id = exchange.last_event_id().to_owned();
    let headers = [
        ("Accept", "text/event-stream".to_owned()),
        ("Last-Event-ID", id),
    ];
    let mut resumed = http.exchange("GET", &headers, "").await;
    assert_eq!(
        text_of(&serde_json::from_str(&resumed.events(1).await[0]).unwrap()),
        "here it is"
    );
}

#[tokio::test]
async fn an_event_that_is_not_known_resumes_nothing() {
    let http = Http::initialized(&server(WEATHER, &[])).await;
    for id in ["nonsense", "77-1", "0-9"] {
        let headers = [
            ("Accept", "text/event-stream".to_owned()),
            ("Last-Event-ID", id.to_owned()),
        ];
        let mut refused = http.exchange("GET", &headers, "").await;
        assert_eq!(refused.status().await, 400, "{id}");
        let said = refused.body().await;
        assert!(said.contains(&format!("has the event `{id}`")), "{said}");
    }
}

#[tokio::test]
async fn a_version_that_nobody_speaks_is_named_with_those_that_are() {
    let mut http = Http::initialized(&server(WEATHER, &[])).await;
    http.headers[1].1 = "1999-01-01".to_owned();
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 9 } });
    for message in [call(1, "count", json!({})), cancel] {
        let mut refused = http.post(&message).await;
        assert_eq!(refused.status().await, 400);
        let error = refused.answer().await["error"].clone();
        let message = error["message"].as_str().unwrap();
        assert!(
            message.starts_with("Unsupported protocol version: 1999-01-01; this server"),
            "{message}"
        );
        assert_eq!(error["data"]["supported"][3], "2025-11-25");
    }
    let accept = ("Accept", "text/event-stream".to_owned());
    assert_eq!(
        http.exchange("GET", &[accept], "").await.status().await,
        400
    );
}

#[tokio::test]
async fn what_belongs_to_no_request_comes_on_the_standing_stream() {
    let server = server(WEATHER, &[]);
    let http = Http::initialized(&server).await;
    let accept = ("Accept", "text/event-stream".to_owned());
    let mut standing = http
        .exchange("GET", std::slice::from_ref(&accept), "")
        .await;
    assert_eq!(standing.status().await, 200);
    http.ask(&call(1, "announce", json!({}))).await;
    assert!(standing.events(1).await[0].contains("notifications/tools/list_changed"));
    let subscribe = request(2, "resources/subscribe", json!({ "uri": "note://one" }));
    assert_eq!(http.ask(&subscribe).await["result"], json!({}));
    let last = ("Last-Event-ID", standing.last_event_id().to_owned());
    drop(standing);
    server.tell(&mcptest_mock::ServerChange::Updated("note://two".into()));
    server.tell(&mcptest_mock::ServerChange::Updated("note://one".into()));
    let mut again = http.exchange("GET", &[accept, last], "").await;
    let seen = again.events(1).await;
    assert_eq!(
        seen.len(),
        1,
        "neither what was seen before nor what was not subscribed to: {seen:?}"
    );
    assert!(seen[0].contains("note://one"), "{seen:?}");
}

#[tokio::test]
async fn a_modern_listener_hears_only_what_it_asked_for() {
    let http = Http::new(&server(WEATHER, &[])).await;
    let filter = json!({ "notifications": { "toolsListChanged": true } });
    let mut listening = http
        .post(&modern(
            request(1_700_000_000_000_i64, "subscriptions/listen", filter),
            json!({}),
        ))
        .await;
    let acknowledged = listening.events(1).await.remove(0);
    assert!(
        acknowledged.contains(r#""io.modelcontextprotocol/subscriptionId":1700000000000"#),
        "{acknowledged}"
    );
    http.ask(&modern(call(2, "announce", json!({})), json!({})))
        .await;
    let events = listening.events(2).await;
    assert!(
        events[1].contains("notifications/tools/list_changed"),
        "{events:?}"
    );
}

#[tokio::test]
async fn a_cancelled_call_ends_its_stream_without_an_answer() {
    let http = Http::initialized(&server(WEATHER, &[])).await;
    let mut exchange = http.post(&call(9, "greet", json!({}))).await;
    exchange.events(1).await;
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 9 } });
    assert_eq!(http.post(&cancel).await.status().await, 202);
    assert!(!exchange.body().await.contains("result"));
}

#[tokio::test]
async fn a_server_in_the_process_is_reached_on_loopback_until_it_is_dropped() {
    let serving = mcptest_mock::http::serve_on_loopback(server(WEATHER, &[]))
        .await
        .unwrap();
    let address = serving
        .url
        .strip_prefix("http://")
        .and_then(|url| url.strip_suffix("/mcp"))
        .unwrap();
    let http = Http {
        address: address.parse().unwrap(),
        headers: Vec::new(),
    };
    let answer = http
        .ask(&modern(call(1, "count", json!({})), json!({})))
        .await;
    assert_eq!(text_of(&answer), "one");
}
