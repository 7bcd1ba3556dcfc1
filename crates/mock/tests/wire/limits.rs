//! What may a client not do to the server?

use crate::support::*;
use mcptest_http::Limits as HttpLimits;
use mcptest_mock::http::{Limits, serve};
use serde_json::json;
use std::time::Duration;

const ACCEPT: (&str, &str) = ("Accept", "application/json, text/event-stream");
const JSON: (&str, &str) = ("Content-Type", "application/json");

fn http(http: HttpLimits) -> Limits {
    Limits {
        http,
        ..Limits::default()
    }
}

async fn status(http: &Http, text: String) -> u16 {
    Exchange::send(http.address, &text).await.status().await
}

fn raw(path: &str, headers: &[(&str, &str)], body: &str) -> String {
    let mut text = format!("POST {path} HTTP/1.1\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    format!("{text}\r\n{body}")
}

#[tokio::test]
async fn only_this_machines_loopback_may_be_named() {
    let http = Http::new(&server(WEATHER, &[])).await;
    let body = initialize("2025-11-25", json!({})).to_string();
    let evil = ("Host", "evil.example.com");
    let local = ("Host", "localhost:8080");
    assert_eq!(
        status(&http, raw("/mcp", &[evil, ACCEPT, JSON], &body)).await,
        403
    );
    assert_eq!(
        status(&http, raw("/mcp", &[ACCEPT, JSON], &body)).await,
        403
    );
    let origin = ("Origin", "http://evil.example.com");
    assert_eq!(
        status(&http, raw("/mcp", &[local, origin, ACCEPT, JSON], &body)).await,
        403
    );
    let origin = ("Origin", "http://127.0.0.1:5173");
    assert_eq!(
        status(&http, raw("/mcp", &[local, origin, ACCEPT, JSON], &body)).await,
        200
    );
}

#[tokio::test]
async fn where_others_may_connect_hosts_and_origins_are_checked_too() {
    let listener = mcptest_http::bind(("0.0.0.0", 0)).await.unwrap();
    let address = (
        std::net::Ipv4Addr::LOCALHOST,
        listener.local_addr().unwrap().port(),
    )
        .into();
    tokio::spawn(serve(
        listener,
        server(WEATHER, &[]),
        Limits::default(),
        Vec::new(),
        std::future::pending(),
    ));
    let http = Http {
        address,
        headers: Vec::new(),
    };
    let body = initialize("2025-11-25", json!({})).to_string();
    for (host, origin, expected) in [
        ("192.168.0.7:8080", "http://localhost", 200),
        ("rebound.example:8080", "http://localhost", 403),
        ("192.168.0.7:8080", "http://rebound.example", 403),
    ] {
        let headers = [("Host", host), ("Origin", origin), ACCEPT, JSON];
        assert_eq!(
            status(&http, raw("/mcp", &headers, &body)).await,
            expected,
            "{host} {origin}"
        );
    }
}

#[tokio::test]
async fn each_wrong_request_has_its_status() {
    let http = Http::new(&server(WEATHER, &[])).await;
    let host = ("Host", "127.0.0.1");
    let body = initialize("2025-11-25", json!({})).to_string();
    let only = |accept| ("Accept", accept);
    for (path, headers, body, expected) in [
        ("/", vec![host, ACCEPT, JSON], body.as_str(), 404),
        ("/mcp/", vec![host, ACCEPT, JSON], &body, 404),
        (
            "/mcp",
            vec![host, only("application/json"), JSON],
            &body,
            406,
        ),
        (
            "/mcp",
            vec![host, only("text/event-stream"), JSON],
            &body,
            406,
        ),
        (
            "/mcp",
            vec![host, ACCEPT, ("Content-Type", "text/plain")],
            &body,
            415,
        ),
        ("/mcp", vec![host, ACCEPT, JSON], "nonsense", 400),
        ("/mcp", vec![host, ACCEPT, JSON], "[]", 400),
        (
            "/mcp",
            vec![host, ("Host", "evil.example.com"), ACCEPT, JSON],
            &body,
            400,
        ),
        ("/mcp", vec![host, JSON], &body, 200),
        ("/mcp", vec![host, only("*/*"), JSON], &body, 200),
    ] {
        assert_eq!(
            status(&http, raw(path, &headers, body)).await,
            expected,
            "{path} {headers:?} {body}"
        );
    }
}

#[tokio::test]
async fn a_body_or_a_head_that_is_too_large_is_refused() {
    let limits = http(HttpLimits {
        body_bytes: 1000,
        header_bytes: 8192,
        headers: 20,
        ..HttpLimits::default()
    });
    let server = server(WEATHER, &[]);
    let http = Http {
        address: listen(&server, limits).await,
        headers: Vec::new(),
    };
    let host = ("Host", "127.0.0.1");
    let large = "x".repeat(2000);
    assert_eq!(
        status(&http, raw("/mcp", &[host, ACCEPT, JSON], &large)).await,
        413
    );
    let chunked = format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n{large}\r\n0\r\n\r\n"
    );
    assert_eq!(status(&http, chunked).await, 413);
    let long = "y".repeat(20_000);
    assert_eq!(
        status(&http, raw("/mcp", &[host, ("X-Long", &long)], "")).await,
        431
    );
    let many: Vec<(&str, &str)> = std::iter::repeat_n(("X-Many", "1"), 40).collect();
    assert_eq!(status(&http, raw("/mcp", &many, "")).await, 431);
}

#[tokio::test]
async fn a_client_that_never_ends_its_request_is_let_go() {
    let brief = Duration::from_millis(50);
    let limits = http(HttpLimits {
        header_timeout: brief,
        body_timeout: brief,
        ..HttpLimits::default()
    });
    let server = server(WEATHER, &[]);
    let http = Http {
        address: listen(&server, limits).await,
        headers: Vec::new(),
    };
    let mut slow_head = Exchange::send(
        http.address,
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow",
    )
    .await;
    assert!(slow_head.is_dropped().await);
    let mut idle = Exchange::send(http.address, "").await;
    assert!(idle.is_dropped().await);
    let head = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{";
    assert_eq!(Exchange::send(http.address, head).await.status().await, 408);
}

#[tokio::test]
async fn idle_connections_past_the_limit_make_room_for_new_ones() {
    let limits = http(HttpLimits {
        connections: 8,
        ..HttpLimits::default()
    });
    let server = server(WEATHER, &[]);
    let http = Http {
        address: listen(&server, limits).await,
        headers: Vec::new(),
    };
    let mut idle = Vec::new();
    for _ in 0..40 {
        idle.push(Exchange::send(http.address, "").await);
    }
    let answer = http
        .ask(&modern(call(1, "count", json!({})), json!({})))
        .await;
    assert_eq!(text_of(&answer), "one");
    assert!(
        idle[0].is_dropped().await,
        "the longest idle one goes first"
    );
}

#[tokio::test]
async fn sessions_end_when_they_are_idle_or_too_many() {
    let limits = Limits {
        sessions: 2,
        ..Limits::default()
    };
    let server = server(WEATHER, &[]);
    let address = listen(&server, limits).await;
    let open = async || {
        let mut http = Http {
            address,
            headers: Vec::new(),
        };
        let mut exchange = http.post(&initialize("2025-11-25", json!({}))).await;
        exchange.body().await;
        http.headers = vec![(
            "Mcp-Session-Id".into(),
            exchange.header("mcp-session-id").unwrap().into(),
        )];
        http
    };
    let (first, second, third) = (open().await, open().await, open().await);
    let ping = request(1, "ping", json!({}));
    assert_eq!(first.post(&ping).await.status().await, 404);
    assert_eq!(second.post(&ping).await.status().await, 200);
    assert_eq!(third.post(&ping).await.status().await, 200);

    let limits = Limits {
        session_idle: Duration::from_millis(30),
        ..Limits::default()
    };
    let http = Http {
        address: listen(&server, limits).await,
        headers: Vec::new(),
    };
    let mut exchange = http.post(&initialize("2025-11-25", json!({}))).await;
    exchange.body().await;
    let id = exchange.header("mcp-session-id").unwrap().to_owned();
    let http = Http {
        headers: vec![("Mcp-Session-Id".into(), id)],
        ..http
    };
    let expired = async {
        while http.post(&ping).await.status().await != 404 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    soon(expired).await;
}

#[tokio::test]
async fn a_client_that_reads_nothing_is_let_go_and_the_others_are_served() {
    let big = "z".repeat(8 << 20);
    let manifest = format!(
        "mock_server: {{name: big, tools: [{{name: big, description: b, response: {big}}}]}}"
    );
    let server = server(&manifest, &[]);
    let limits = http(HttpLimits {
        stall_timeout: Duration::from_millis(100),
        ..HttpLimits::default()
    });
    let http = Http {
        address: listen(&server, limits).await,
        headers: Vec::new(),
    };
    let unread = http
        .post(&modern(call(1, "big", json!({})), json!({})))
        .await;
    let read = http
        .ask(&modern(call(2, "big", json!({})), json!({})))
        .await;
    assert_eq!(text_of(&read).len(), 8 << 20);
    tokio::time::sleep(Duration::from_millis(400)).await;
    let mut late = unread;
    assert!(
        late.body().await.len() < 8 << 20,
        "the connection was given up"
    );
}
