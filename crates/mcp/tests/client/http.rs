//! How does the client handle HTTP answers, complete and broken?

use crate::script::{initialized, result};
use mcptest_mcp::client::{Client, Observed, ServerSpec};
use mcptest_mcp::era::Era;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A received request.
struct Request {
    verb: String,
    headers: BTreeMap<String, String>,
    body: Value,
}

impl Request {
    fn asks(&self, method: &str) -> bool {
        self.body["method"] == method
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

async fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut lines = head.lines();
    let verb = lines.next()?.split(' ').next()?.to_owned();
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length: usize = headers
        .get("content-length")
        .map_or(0, |length| length.parse().unwrap());
    while bytes.len() < end + length {
        stream.read_buf(&mut bytes).await.ok()?;
    }
    let body = serde_json::from_slice(&bytes[end..]).unwrap_or_default();
    Some(Request {
        verb,
        headers,
        body,
    })
}

/// A server that writes the bytes of this function, and closes the connection.
async fn serve(answer: impl Fn(&Request) -> String + Send + Sync + 'static) -> ServerSpec {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let answer = Arc::new(answer);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let answer = Arc::clone(&answer);
            tokio::spawn(async move {
                if let Some(request) = read(&mut stream).await {
                    let _ = stream.write_all(answer(&request).as_bytes()).await;
                    let _ = stream.shutdown().await;
                }
            });
        }
    });
    let mut spec = ServerSpec::url("weather", url);
    spec.era = Some(Era::Legacy);
    spec.timeout = Duration::from_secs(5);
    spec
}

fn reply(status: &str, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n{body}",
        body.len()
    )
}

fn json_reply(headers: &str, body: &str) -> String {
    reply(
        "200 OK",
        &format!("Content-Type: application/json\r\n{headers}"),
        body,
    )
}

/// A stream that ends with the connection, because it has no length.
fn events(text: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\n\r\n{text}")
}

/// A healthy legacy server with a session, which answers tool calls with this function.
async fn tool_server(call: impl Fn(&Request) -> String + Send + Sync + 'static) -> ServerSpec {
    serve(move |request| {
        if request.asks("initialize") {
            return json_reply(
                "Mcp-Session-Id: s1\r\n",
                &result(&request.body, &initialized("2025-11-25")),
            );
        }
        if request.asks("tools/call") || !request.header("last-event-id").is_empty() {
            assert_eq!(request.header("mcp-protocol-version"), "2025-11-25");
            return call(request);
        }
        if request.verb == "GET" {
            return reply("405 Method Not Allowed", "", "");
        }
        reply("202 Accepted", "", "")
    })
    .await
}

async fn call(spec: &ServerSpec) -> (Result<String, String>, Client) {
    let client = Client::connect(spec, None).await.unwrap();
    let arguments = to_raw_value(&json!({})).unwrap();
    let called = client.call_tool("get_weather", &arguments, None).await;
    let outcome = called
        .outcome
        .map(|raw| raw.get().to_owned())
        .map_err(|failure| failure.to_string());
    (outcome, client)
}

async fn failure(spec: &ServerSpec) -> String {
    let text = call(spec).await.0.unwrap_err();
    text.strip_prefix("server \"weather\": ")
        .unwrap_or_else(|| panic!("{text}"))
        .to_owned()
}

async fn refusal(spec: &ServerSpec) -> String {
    Client::connect(spec, None).await.err().unwrap().to_string()
}

#[tokio::test]
async fn each_bad_status_has_its_own_sentence() {
    let rows = [
        (
            reply("302 Found", "Location: https://example.com/login\r\n", ""),
            "tools/call get_weather was redirected (HTTP 302) to https://example.com/login: put that address into `url` if it is the right one; mcptest does not follow redirects",
        ),
        (
            reply(
                "401 Unauthorized",
                "WWW-Authenticate: Bearer realm=\"x\"\r\n",
                "",
            ),
            "the server refused tools/call get_weather with HTTP 401 (WWW-Authenticate: Bearer realm=\"x\"); it requires credentials: set `auth: {bearer_token_env: NAME}`, or a header such as `Authorization: {env: NAME}`",
        ),
        (
            reply("403 Forbidden", "", "no"),
            "the server refused tools/call get_weather with HTTP 403: it does not allow the credentials, or the `Origin` and `Host` of the request; the answer: \"no\"",
        ),
        (
            reply("429 Too Many Requests", "Retry-After: 3600\r\n", ""),
            "the server answered tools/call get_weather with HTTP 429 with Retry-After: 3600; tried once within the timeout",
        ),
        (
            reply("500 Internal Server Error", "", "oops"),
            "the server answered tools/call get_weather with HTTP 500, an error inside the server; the answer: \"oops\"",
        ),
        (
            reply(
                "200 OK",
                "Content-Type: text/html\r\n",
                "<html><title>Log in</title></html>",
            ),
            "the server answered tools/call get_weather with a web page (HTTP 200, \"Log in\"): is this the address of an MCP endpoint (often `/mcp`)?",
        ),
        (
            reply("200 OK", "Content-Type: text/plain\r\n", "hello"),
            "the server answered tools/call get_weather as \"text/plain\" instead of application/json or text/event-stream; the answer: \"hello\"",
        ),
        (
            reply("202 Accepted", "", ""),
            "the server answered tools/call get_weather with HTTP 202 and no body",
        ),
        (
            json_reply("", "{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}"),
            "the answer to tools/call get_weather has the id 77 instead of 2",
        ),
        (
            events(
                "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\ndata: {\"jso",
            ),
            "the event stream ended before the answer to tools/call get_weather, after 1 event, inside an event",
        ),
    ];
    for (answer, expected) in rows {
        let spec = tool_server(move |_| answer.clone()).await;
        assert_eq!(failure(&spec).await, expected);
    }
}

#[tokio::test]
async fn a_body_that_ends_too_early_is_told() {
    let short = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{\"jsonrpc\"";
    let text = failure(&tool_server(move |_| short.to_owned()).await).await;
    assert!(
        text.starts_with("the answer to tools/call get_weather was cut off after 10 bytes"),
        "{text}"
    );
}

#[tokio::test]
async fn a_server_that_asks_to_wait_is_asked_again() {
    let tries = AtomicUsize::new(0);
    let spec = tool_server(move |request| match tries.fetch_add(1, Ordering::Relaxed) {
        0 => reply("429 Too Many Requests", "Retry-After: 0.1\r\n", ""),
        _ => json_reply("", &result(&request.body, &json!({"ok": 1}))),
    })
    .await;
    let (outcome, client) = call(&spec).await;
    assert_eq!(outcome.unwrap(), "{\"ok\":1}");
    assert!(client.observed().contains(&Observed::Retried {
        status: 429,
        after_ms: 100
    }));
}

#[tokio::test]
async fn a_stream_that_is_cut_off_is_continued_after_its_last_event() {
    let spec = tool_server(|request| match request.header("last-event-id") {
        "" => events("id: e1\nretry: 10\ndata:\n\n"),
        "e1" => {
            let answer = json!({"jsonrpc": "2.0", "id": 2, "result": {"resumed": true}});
            events(&format!("id: e2\ndata: {answer}\n\n"))
        }
        other => panic!("{other}"),
    })
    .await;
    let (outcome, client) = call(&spec).await;
    assert_eq!(outcome.unwrap(), "{\"resumed\":true}");
    assert!(
        client
            .observed()
            .contains(&Observed::StreamResumed { after: "e1".into() })
    );
}

#[tokio::test]
async fn a_forgotten_session_is_begun_again_once() {
    let sessions = AtomicUsize::new(0);
    let spec = serve(move |request| {
        if request.asks("initialize") {
            let number = sessions.fetch_add(1, Ordering::Relaxed) + 1;
            let headers = format!("Mcp-Session-Id: s{number}\r\n");
            return json_reply(&headers, &result(&request.body, &initialized("2025-03-26")));
        }
        if !request.asks("tools/call") {
            return reply("202 Accepted", "", "");
        }
        assert_eq!(
            request.header("mcp-protocol-version"),
            "",
            "the header came with 2025-06-18"
        );
        match request.header("mcp-session-id") {
            "s1" => reply("404 Not Found", "", ""),
            _ => json_reply("", &result(&request.body, &json!({"ok": 1}))),
        }
    })
    .await;
    let (outcome, client) = call(&spec).await;
    assert_eq!(outcome.unwrap(), "{\"ok\":1}");
    assert!(client.observed().contains(&Observed::SessionRenewed));
}

#[tokio::test]
async fn a_session_is_ended_at_the_end() {
    let verbs: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&verbs);
    let spec = serve(move |request| {
        seen.lock().unwrap().push(format!(
            "{} {}",
            request.verb,
            request.header("mcp-session-id")
        ));
        if request.asks("initialize") {
            return json_reply(
                "Mcp-Session-Id: s1\r\n",
                &result(&request.body, &initialized("2025-11-25")),
            );
        }
        reply("405 Method Not Allowed", "", "")
    })
    .await;
    Client::connect(&spec, None).await.unwrap().close().await;
    let verbs = verbs.lock().unwrap();
    assert_eq!((verbs[0].as_str(), verbs[1].as_str()), ("POST ", "POST s1"));
    assert!(verbs.contains(&"DELETE s1".to_owned()), "{verbs:?}");
}

#[tokio::test]
async fn a_modern_server_gets_the_headers_of_its_era() {
    let spec = serve(|request| {
        assert_eq!(request.header("mcp-protocol-version"), "2026-07-28");
        assert_eq!(request.header("mcp-method"), request.body["method"]);
        let answer = if request.asks("server/discover") {
            json!({"supportedVersions": ["2026-07-28"], "capabilities": {}})
        } else if request.asks("tools/list") {
            let schema =
                json!({"type": "object", "properties": {"city": {"type": "string", "x-mcp-header": "City"}}});
            json!({"tools": [{"name": "get_weather", "inputSchema": schema}]})
        } else {
            assert_eq!(request.header("mcp-name"), "get_weather");
            assert_eq!(request.header("mcp-param-city"), "=?base64?WsO8cmljaA==?=");
            json!({"content": []})
        };
        json_reply("", &result(&request.body, &answer))
    })
    .await;
    let client = Client::connect(&ServerSpec { era: None, ..spec }, None)
        .await
        .unwrap();
    assert_eq!(client.server().era, Era::Modern);
    let arguments = to_raw_value(&json!({"city": "Zürich"})).unwrap();
    client
        .call_tool("get_weather", &arguments, None)
        .await
        .outcome
        .unwrap();
}

#[tokio::test]
async fn a_version_that_is_refused_and_offered_is_asked_once_more() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let spec = serve(move |request| {
        if count.fetch_add(1, Ordering::SeqCst) == 0 {
            let data = json!({"supported": ["2026-07-28"], "requested": "2026-07-28"});
            let error = json!({"code": -32022, "message": "no", "data": data});
            let text =
                json!({"jsonrpc": "2.0", "id": request.body["id"], "error": error}).to_string();
            return reply(
                "400 Bad Request",
                "Content-Type: application/json\r\n",
                &text,
            );
        }
        let found = json!({"supportedVersions": ["2026-07-28"], "capabilities": {}});
        json_reply("", &result(&request.body, &found))
    })
    .await;
    let client = Client::connect(&ServerSpec { era: None, ..spec }, None)
        .await
        .unwrap();
    assert_eq!(
        (client.server().era, asked.load(Ordering::SeqCst)),
        (Era::Modern, 2)
    );
}

#[tokio::test]
async fn the_stream_of_a_session_is_open_before_the_first_call() {
    let verbs: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&verbs);
    let spec = serve(move |request| {
        let method = request.body["method"].as_str().unwrap_or_default();
        seen.lock()
            .unwrap()
            .push(format!("{} {method}", request.verb));
        match (request.verb.as_str(), method) {
            ("GET", _) => events(": hello\n\n"),
            (_, "initialize") => json_reply(
                "Mcp-Session-Id: s1\r\n",
                &result(&request.body, &initialized("2025-11-25")),
            ),
            (_, "tools/call") => json_reply("", &result(&request.body, &json!({"content": []}))),
            _ => reply("202 Accepted", "", ""),
        }
    })
    .await;
    call(&spec).await.0.unwrap();
    let verbs = verbs.lock().unwrap();
    assert_eq!(verbs[2..4], ["GET ", "POST tools/call"], "{verbs:?}");
}

#[tokio::test]
async fn a_4xx_without_a_modern_error_means_the_older_era() {
    let spec = serve(|request| match request.body["method"].as_str() {
        Some("initialize") => json_reply("", &result(&request.body, &initialized("2025-11-25"))),
        Some("server/discover") => {
            let text = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: Server not initialized"}}"#;
            reply("400 Bad Request", "Content-Type: application/json\r\n", text)
        }
        _ => reply("202 Accepted", "", ""),
    })
    .await;
    let client = Client::connect(&ServerSpec { era: None, ..spec }, None)
        .await
        .unwrap();
    assert_eq!(client.server().era, Era::Legacy);
}

#[tokio::test]
async fn a_place_where_nobody_listens_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let text = refusal(&ServerSpec::url("weather", format!("http://{address}/mcp"))).await;
    assert_eq!(
        text,
        format!(
            "server \"weather\": nothing listens at http://{address}/mcp (connection refused): is the server running, and is the port right?"
        )
    );
    let text = refusal(&ServerSpec::url(
        "weather",
        "http://no-such-host.invalid/mcp",
    ))
    .await;
    assert!(
        text.contains("unknown host \"no-such-host.invalid\""),
        "{text}"
    );
}

#[tokio::test]
async fn a_plain_server_behind_https_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            stream
                .write_all(reply("400 Bad Request", "", "").as_bytes())
                .await
                .unwrap();
        }
    });
    let text = refusal(&ServerSpec::url("weather", url)).await;
    assert!(
        text.contains("the server does not speak TLS: is the address `http://…` instead?"),
        "{text}"
    );
}
