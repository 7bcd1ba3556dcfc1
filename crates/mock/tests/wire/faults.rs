//! Every fault as it is documented, on a pipe and over HTTP.

use crate::support::*;
use mcptest_mcp::fault::FaultScope;
use serde_json::{Value, json};

fn weather(id: i64) -> Value {
    call(id, "get_weather", json!({ "city": "Oslo" }))
}

fn cancel(id: i64) -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } })
}

#[tokio::test]
async fn none_changes_nothing() {
    let server = server(WEATHER, &["none"]);
    assert_eq!(
        text_of(&Pipe::initialized(&server).await.ask(&weather(1)).await),
        "Sunny in Oslo."
    );
    assert_eq!(
        text_of(&Http::initialized(&server).await.ask(&weather(1)).await),
        "Sunny in Oslo."
    );
}

#[tokio::test]
async fn hang_never_answers_a_call_and_everything_else() {
    let server = server(WEATHER, &["hang"]);
    let mut pipe = Pipe::initialized(&server).await;
    pipe.send(&weather(1)).await;
    assert_eq!(
        pipe.ask(&request(2, "tools/list", json!({}))).await["id"],
        2
    );
    assert!(pipe.is_silent().await);
    let http = Http::initialized(&server).await;
    assert!(http.post(&weather(1)).await.is_silent().await);
    assert_eq!(
        http.ask(&request(2, "tools/list", json!({}))).await["id"],
        2
    );
}

#[tokio::test]
async fn wedged_answers_no_call_any_more_and_all_else() {
    let wedged = server(WEATHER, &["wedged"]);
    let mut pipe = Pipe::initialized(&wedged).await;
    pipe.send(&weather(1)).await;
    pipe.send(&weather(2)).await;
    assert_eq!(
        pipe.ask(&request(3, "tools/list", json!({}))).await["id"],
        3
    );
    assert!(pipe.is_silent().await);
    let wedged = server(WEATHER, &["wedged"]);
    let http = Http::initialized(&wedged).await;
    assert!(http.post(&weather(1)).await.is_silent().await);
    assert!(http.post(&weather(2)).await.is_silent().await);
    assert_eq!(http.ask(&request(3, "ping", json!({}))).await["id"], 3);
}

#[tokio::test]
async fn slow_answers_late_and_others_overtake() {
    let server = server(WEATHER, &["slow:120"]);
    let mut pipe = Pipe::initialized(&server).await;
    pipe.send(&weather(1)).await;
    pipe.send(&request(2, "ping", json!({}))).await;
    assert_eq!(pipe.next().await["id"], 2);
    assert_eq!(text_of(&pipe.next().await), "Sunny in Oslo.");
    let http = Http::initialized(&server).await;
    assert_eq!(text_of(&http.ask(&weather(1)).await), "Sunny in Oslo.");
}

#[tokio::test]
async fn a_slow_call_that_is_cancelled_is_not_answered() {
    let server = server(WEATHER, &["slow:100"]);
    let mut pipe = Pipe::initialized(&server).await;
    pipe.send(&weather(1)).await;
    pipe.send(&cancel(1)).await;
    assert!(pipe.is_silent().await);
    // So slow that the answer comes after the end of the test, unless the call is cancelled.
    let http = Http::initialized(&self::server(WEATHER, &["slow:600000"])).await;
    let mut exchange = http.post(&weather(1)).await;
    let mut body = std::pin::pin!(exchange.body());
    // What is cancelled before the call was read is the cancellation of nothing, so it is sent again.
    let body = loop {
        match tokio::time::timeout(std::time::Duration::from_millis(30), &mut body).await {
            Ok(body) => break body,
            Err(_) => http.post(&cancel(1)).await.status().await,
        };
    };
    assert_eq!(body, "");
}

#[tokio::test]
async fn recover_after_hangs_the_first_calls_only() {
    let recovering = server(WEATHER, &["recover-after:2"]);
    let mut pipe = Pipe::initialized(&recovering).await;
    for id in 1..=3 {
        pipe.send(&weather(id)).await;
    }
    assert_eq!(pipe.next().await["id"], 3);
    let recovering = server(WEATHER, &["recover-after:1"]);
    let http = Http::initialized(&recovering).await;
    assert!(http.post(&weather(1)).await.is_silent().await);
    assert_eq!(text_of(&http.ask(&weather(2)).await), "Sunny in Oslo.");
}

#[tokio::test]
async fn reply_after_cancel_answers_a_call_that_was_cancelled() {
    let server = server(WEATHER, &["reply-after-cancel:60"]);
    let mut pipe = Pipe::initialized(&server).await;
    pipe.send(&weather(1)).await;
    pipe.send(&cancel(1)).await;
    assert_eq!(text_of(&pipe.next().await), "Sunny in Oslo.");
    assert_eq!(text_of(&pipe.ask(&weather(2)).await), "Sunny in Oslo.");
    let http = Http::initialized(&server).await;
    let mut exchange = http.post(&weather(1)).await;
    http.post(&cancel(1)).await.status().await;
    assert_eq!(text_of(&exchange.answer().await), "Sunny in Oslo.");
}

#[tokio::test]
async fn error_refuses_with_the_code() {
    let server = server(WEATHER, &["error:-32050"]);
    for answer in [
        Pipe::initialized(&server).await.ask(&weather(1)).await,
        Http::initialized(&server).await.ask(&weather(1)).await,
    ] {
        assert_eq!(answer["error"]["code"], -32050, "{answer}");
        assert_eq!(answer["id"], 1);
    }
}

#[tokio::test]
async fn rate_limit_refuses_with_retry_after() {
    let server = server(WEATHER, &["rate-limit:0"]);
    let refused = Pipe::initialized(&server).await.ask(&weather(1)).await;
    assert_eq!(refused["error"]["code"], -32029, "{refused}");
    assert_eq!(refused["error"]["data"], json!({ "retryAfterMs": 1000 }));
    let mut exchange = Http::initialized(&server).await.post(&weather(1)).await;
    assert_eq!(exchange.status().await, 429);
    assert_eq!(exchange.header("retry-after"), Some("1"));
    assert_eq!(exchange.answer().await["error"]["code"], -32029);
}

#[tokio::test]
async fn malformed_answers_broken_json() {
    let server = server(WEATHER, &["malformed"]);
    let mut pipe = Pipe::initialized(&server).await;
    pipe.send(&weather(1)).await;
    let line = pipe.line().await;
    assert!(
        serde_json::from_str::<Value>(&line).is_err() && line.ends_with('\n'),
        "{line}"
    );
    assert_eq!(pipe.ask(&request(2, "ping", json!({}))).await["id"], 2);
    let mut exchange = Http::initialized(&server).await.post(&weather(1)).await;
    let body = exchange.body().await;
    assert!(
        serde_json::from_str::<Value>(&body).is_err() && !body.is_empty(),
        "{body}"
    );
    assert_eq!(exchange.header("content-type"), Some("application/json"));
}

#[tokio::test]
async fn disconnect_closes_the_connection_in_place_of_an_answer() {
    let server = server(WEATHER, &["disconnect"]);
    let mut pipe = Pipe::initialized(&server).await;
    pipe.send(&weather(1)).await;
    assert_eq!(pipe.line().await, "");
    let http = Http::initialized(&server).await;
    assert!(http.post(&weather(1)).await.is_dropped().await);
    assert_eq!(http.ask(&request(2, "ping", json!({}))).await["id"], 2);
}

#[tokio::test]
async fn lost_response_does_the_work_and_says_nothing() {
    let manifest = r"
mock_server:
  name: tickets
  store:
    tickets: {key: id}
  tools:
    - name: create
      description: Creates.
      input_schema: {type: object, properties: {id: {type: string}}, required: [id]}
      fault: lost-response
      response: {create: tickets, record: {id: '${args.id}'}}
    - name: read
      description: Reads.
      input_schema: {type: object, properties: {id: {type: string}}, required: [id]}
      response: {read: tickets}
";
    let server = server(manifest, &[]);
    let mut pipe = Pipe::initialized(&server).await;
    pipe.send(&call(1, "create", json!({ "id": "T-1" }))).await;
    let read = pipe.ask(&call(2, "read", json!({ "id": "T-1" }))).await;
    assert_eq!(read["id"], 2);
    assert!(read["result"].to_string().contains("T-1"), "{read}");
    let http = Http::initialized(&server).await;
    assert!(
        http.post(&call(3, "create", json!({ "id": "T-2" })))
            .await
            .is_silent()
            .await
    );
    let read = http.ask(&call(4, "read", json!({ "id": "T-2" }))).await;
    assert!(read["result"].to_string().contains("T-2"), "{read}");
}

#[tokio::test]
async fn flood_stderr_writes_far_more_than_a_pipe_holds_and_then_answers() {
    #[derive(Clone, Default)]
    struct Counted(std::sync::Arc<std::sync::atomic::AtomicUsize>);
    impl std::io::Write for Counted {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0
                .fetch_add(bytes.len(), std::sync::atomic::Ordering::Relaxed);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let server = server(WEATHER, &["flood-stderr"]);
    let written = Counted::default();
    server.set_stderr(written.clone());
    let seen = || written.0.load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!(
        text_of(&Pipe::initialized(&server).await.ask(&weather(1)).await),
        "Sunny in Oslo."
    );
    assert!(seen() > 4_000_000, "{}", seen());
    assert_eq!(
        text_of(&Http::initialized(&server).await.ask(&weather(1)).await),
        "Sunny in Oslo."
    );
    assert!(seen() > 8_000_000, "{}", seen());
}

#[tokio::test]
async fn wrong_id_answers_nobodys_request() {
    let server = server(WEATHER, &["wrong-id"]);
    for answer in [
        Pipe::initialized(&server).await.ask(&weather(1)).await,
        Http::initialized(&server).await.ask(&weather(1)).await,
    ] {
        assert_eq!(text_of(&answer), "Sunny in Oslo.");
        assert_ne!(answer["id"], 1);
    }
}

#[tokio::test]
async fn duplicate_reply_answers_twice() {
    let server = server(WEATHER, &["duplicate-reply"]);
    let mut pipe = Pipe::initialized(&server).await;
    assert_eq!(pipe.ask(&weather(1)).await, pipe.next().await);
    let mut exchange = Http::initialized(&server).await.post(&weather(1)).await;
    exchange.body().await;
    let events = exchange.events(2).await;
    assert_eq!(events.len(), 2);
    assert_eq!(events[0], events[1]);
}

#[tokio::test]
async fn faults_strike_modern_calls_and_calls_that_stream_too() {
    let server = server(WEATHER, &["duplicate-reply"]);
    let http = Http::new(&server).await;
    let mut work = modern(call(1, "work", json!({})), json!({}));
    work["params"]["_meta"]["progressToken"] = json!(1);
    let mut exchange = http.post(&work).await;
    exchange.body().await;
    let events = exchange.events(4).await;
    assert_eq!(
        events.len(),
        4,
        "two steps and the answer twice: {events:?}"
    );
    assert_eq!(events[2], events[3]);
}

#[tokio::test]
async fn a_manifest_names_the_tools_that_are_ill() {
    let manifest = WEATHER.replace(
        "name: count\n",
        "name: count\n      fault: [error:-32001]\n",
    );
    let mut pipe = Pipe::initialized(&server(&manifest, &[])).await;
    assert_eq!(
        pipe.ask(&call(1, "count", json!({}))).await["error"]["code"],
        -32001
    );
    assert_eq!(text_of(&pipe.ask(&weather(2)).await), "Sunny in Oslo.");
}

#[tokio::test]
async fn with_the_scope_all_even_the_handshake_fails() {
    let server = scoped(WEATHER, &["error:-32001"], FaultScope::All);
    let refused = Pipe::new(&server)
        .ask(&initialize("2025-11-25", json!({})))
        .await;
    assert_eq!(refused["error"]["code"], -32001);
    let http = Http::new(&server).await;
    assert_eq!(
        http.ask(&initialize("2025-11-25", json!({}))).await["error"]["code"],
        -32001
    );
    let silent = scoped(WEATHER, &["hang"], FaultScope::All);
    assert!(
        Http::new(&silent)
            .await
            .post(&initialize("2025-11-25", json!({})))
            .await
            .is_silent()
            .await
    );
}
