//! Does the proxy on HTTP stream every exchange through as it is?

#![allow(clippy::unwrap_used, missing_docs)]

use mcptest_http::{Address, Guard};
use mcptest_mcp::fault::Injector;
use mcptest_mcp::proxy::http::{Setup, Target, serve};
use mcptest_mcp::proxy::redactor;
use mcptest_mcp::tape::{Direction, Event, Tape, TapeServer, Writer};
use std::future::Future;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

struct Proxied {
    address: SocketAddr,
    stop: oneshot::Sender<String>,
    ended: JoinHandle<()>,
    folder: tempfile::TempDir,
}

impl Proxied {
    async fn before(target: SocketAddr, faults: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let redactor = redactor(&[], std::iter::empty(), &[]).unwrap();
        let tape = Writer::create(
            &folder.path().join("tape.jsonl"),
            TapeServer::default(),
            redactor,
        )
        .unwrap();
        let listener = Address::loopback().bind().await.unwrap();
        let address = listener.local_addr().unwrap();
        let setup = Setup {
            target: Target::parse(&format!("http://{target}/mcp")).unwrap(),
            guard: Guard::for_address(address.ip())
                .allow(Vec::new(), "start the proxy with --allow-host"),
            injector: Injector::new(faults.iter().map(|fault| fault.parse().unwrap()).collect()),
        };
        let (stop, stopped) = oneshot::channel();
        let ended = tokio::spawn(async move {
            let lost = serve(listener, setup, tape, async { stopped.await.unwrap() })
                .await
                .unwrap();
            assert_eq!(lost, None);
        });
        Self {
            address,
            stop,
            ended,
            folder,
        }
    }

    /// Sends a request verbatim, and returns everything until the connection ends.
    async fn raw(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream
            .write_all(
                request
                    .replace("HOST", &self.address.to_string())
                    .as_bytes(),
            )
            .await
            .unwrap();
        let mut answer = Vec::new();
        let _reset = stream.read_to_end(&mut answer).await;
        String::from_utf8_lossy(&answer).into_owned()
    }

    async fn tape(self) -> Tape {
        self.stop.send("test".to_owned()).unwrap();
        self.ended.await.unwrap();
        Tape::read(&std::fs::read_to_string(self.folder.path().join("tape.jsonl")).unwrap())
            .unwrap()
    }
}

/// A server that reads one request per connection, and passes the rest to `answer`.
async fn upstream<F, A>(answer: F) -> SocketAddr
where
    F: Fn(String, TcpStream) -> A + Send + Sync + 'static,
    A: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let answer = std::sync::Arc::new(answer);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let answer = std::sync::Arc::clone(&answer);
            tokio::spawn(async move {
                let mut request = Vec::new();
                while !is_complete(&request) {
                    if stream.read_buf(&mut request).await.unwrap_or(0) == 0 {
                        return;
                    }
                }
                answer(String::from_utf8_lossy(&request).into_owned(), stream).await;
            });
        }
    });
    address
}

fn is_complete(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head.lines().find_map(|line| {
        line.to_lowercase()
            .strip_prefix("content-length: ")?
            .parse()
            .ok()
    });
    body.len() >= length.unwrap_or(0)
}

async fn reply(mut stream: TcpStream, head: &str, body: &str) {
    let text = format!(
        "HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(text.as_bytes()).await.unwrap();
}

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

fn post(body: &str, headers: &str) -> String {
    format!(
        "POST /mcp?x=%7e HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\nContent-Type: application/json\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#;
const RESULT: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;

#[test]
fn method_path_headers_status_and_bodies_pass_as_they_are() {
    block_on(async {
        let (seen, mut requests) = tokio::sync::mpsc::unbounded_channel();
        let target = upstream(move |request, stream| {
            seen.send(request).unwrap();
            let head = "203 Odd\r\ncontent-type: text/plain\r\nx-one: 1\r\nx-one: 2\r\nmcp-session-id: s-1";
            async move { reply(stream, head, "odd body\n").await }
        })
        .await;
        let proxied = Proxied::before(target, &[]).await;
        let answer = proxied
            .raw(&post(
                "{\n  \"odd\" : 1.0 }\n",
                "X-Mine: yes\r\nAuthorization: Bearer secret-token-1234\r\n",
            ))
            .await;
        assert!(answer.starts_with("HTTP/1.1 203 "), "{answer}");
        assert!(
            answer.contains("x-one: 1\r\nx-one: 2\r\n") && answer.ends_with("\r\n\r\nodd body\n"),
            "{answer}"
        );
        let request = requests.recv().await.unwrap();
        assert!(
            request.starts_with("POST /mcp?x=%7e HTTP/1.1\r\n"),
            "{request}"
        );
        assert!(
            request.contains(&format!("host: {target}\r\n")) && request.contains("x-mine: yes\r\n"),
            "{request}"
        );
        assert!(
            request.contains("authorization: Bearer secret-token-1234\r\n"),
            "{request}"
        );
        assert!(
            request.ends_with("\r\n\r\n{\n  \"odd\" : 1.0 }\n"),
            "{request}"
        );
        let text = format!("{:?}", proxied.tape().await);
        assert!(
            text.contains("HttpStatus { status: 203 }") && !text.contains("secret-token"),
            "{text}"
        );
    });
}

#[test]
fn events_arrive_one_by_one_and_sessions_are_told_apart() {
    block_on(async {
        let (first_read, wait) = oneshot::channel::<()>();
        let wait = std::sync::Mutex::new(Some(wait));
        let target = upstream(move |request, mut stream| {
            let wait = if request.contains("tools/call") { wait.lock().unwrap().take() } else { None };
            async move {
                let Some(wait) = wait else {
                    let head = "200 OK\r\ncontent-type: application/json\r\nmcp-session-id: s-1";
                    return reply(stream, head, r#"{"jsonrpc":"2.0","id":0,"result":{}}"#).await;
                };
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
                let note = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n";
                stream.write_all(format!("{head}{note}").as_bytes()).await.unwrap();
                wait.await.unwrap();
                stream.write_all(format!("data: {RESULT}\n\n").as_bytes()).await.unwrap();
            }
        })
        .await;
        let proxied = Proxied::before(target, &[]).await;
        proxied.raw(&post(INITIALIZE, "")).await;
        let mut stream = TcpStream::connect(proxied.address).await.unwrap();
        let request =
            post(CALL, "Mcp-Session-Id: s-1\r\n").replace("HOST", &proxied.address.to_string());
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut received = Vec::new();
        while !String::from_utf8_lossy(&received).contains("progress") {
            assert_ne!(stream.read_buf(&mut received).await.unwrap(), 0);
        }
        first_read.send(()).unwrap();
        stream.read_to_end(&mut received).await.unwrap();
        assert!(String::from_utf8_lossy(&received).contains(RESULT));
        proxied.raw(&post(INITIALIZE, "")).await;
        let tape = proxied.tape().await;
        let seen: Vec<_> = tape
            .entries
            .iter()
            .filter(|entry| entry.message.is_some())
            .map(|entry| (entry.session, entry.exchange, entry.from))
            .collect();
        let (client, server) = (Some(Direction::Client), Some(Direction::Server));
        assert_eq!(
            seen,
            [
                (Some(1), Some(1), client),
                (Some(1), Some(1), server),
                (Some(1), Some(2), client),
                (Some(1), Some(2), server),
                (Some(1), Some(2), server),
                (Some(2), Some(3), client),
                (Some(2), Some(3), server),
            ]
        );
    });
}

#[test]
fn a_target_that_is_down_is_a_502_with_a_sentence() {
    block_on(async {
        let gone = TcpListener::bind("127.0.0.1:0")
            .await
            .unwrap()
            .local_addr()
            .unwrap();
        let proxied = Proxied::before(gone, &[]).await;
        let answer = proxied.raw(&post(CALL, "")).await;
        assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
        assert!(
            answer.contains(&format!(
                "mcptest proxy: the target {gone} cannot be reached: "
            )),
            "{answer}"
        );
        let tape = proxied.tape().await;
        assert!(tape.entries[0].message.is_some());
        assert_eq!(
            tape.entries[1].event,
            Some(Event::HttpStatus { status: 502 })
        );
    });
}

#[test]
fn a_page_of_another_site_does_not_reach_the_target() {
    block_on(async {
        let target = upstream(|_, stream| reply(stream, "200 OK", "reached")).await;
        let proxied = Proxied::before(target, &[]).await;
        let rebound = proxied
            .raw("GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
            .await;
        assert!(
            rebound.starts_with("HTTP/1.1 403 ") && rebound.contains("--allow-host evil.example"),
            "{rebound}"
        );
        let page = proxied
            .raw(&post(CALL, "Origin: https://evil.example\r\n"))
            .await;
        assert!(
            page.starts_with("HTTP/1.1 403 ") && !page.contains("reached"),
            "{page}"
        );
    });
}

#[test]
fn a_client_that_goes_closes_the_connection_to_the_target() {
    block_on(async {
        let (closed, mut is_closed) = tokio::sync::mpsc::unbounded_channel();
        let (asked, mut is_asked) = tokio::sync::mpsc::unbounded_channel();
        let target = upstream(move |_, mut stream| {
            let (asked, closed) = (asked.clone(), closed.clone());
            async move {
                asked.send(()).unwrap();
                let mut rest = Vec::new();
                let _reset = stream.read_to_end(&mut rest).await;
                closed.send(()).unwrap();
            }
        })
        .await;
        let proxied = Proxied::before(target, &[]).await;
        let mut stream = TcpStream::connect(proxied.address).await.unwrap();
        let request = post(CALL, "").replace("HOST", &proxied.address.to_string());
        stream.write_all(request.as_bytes()).await.unwrap();
        is_asked.recv().await.unwrap();
        drop(stream);
        is_closed.recv().await.unwrap();
        let tape = proxied.tape().await;
        let last = tape
            .entries
            .iter()
            .rev()
            .find(|entry| entry.exchange.is_some())
            .unwrap();
        assert_eq!(
            last.event,
            Some(Event::Closed {
                by: Direction::Client
            })
        );
    });
}

#[test]
fn faults_are_injected_into_calls_and_nothing_else() {
    block_on(async {
        let target = upstream(|request, stream| async move {
            let id = if request.contains("tools/call") {
                RESULT
            } else {
                r#"{"jsonrpc":"2.0","id":0,"result":{}}"#
            };
            reply(stream, "200 OK\r\ncontent-type: application/json", id).await;
        })
        .await;
        for (fault, expected) in [
            ("error:-32050", "\"code\":-32050"),
            ("rate-limit:0", "retry-after: 1"),
            ("wrong-id", "1000004"),
            ("duplicate-reply", "text/event-stream"),
        ] {
            if fault == "rate-limit:0" && fault.parse::<mcptest_mcp::fault::FaultKind>().is_err() {
                continue;
            }
            let proxied = Proxied::before(target, &[fault]).await;
            let answer = proxied.raw(&post(CALL, "")).await;
            assert!(answer.contains(expected), "{fault}: {answer}");
            let healthy = proxied.raw(&post(INITIALIZE, "")).await;
            assert!(
                healthy.ends_with(r#"{"jsonrpc":"2.0","id":0,"result":{}}"#),
                "{healthy}"
            );
            let tape = proxied.tape().await;
            let faults = tape
                .entries
                .iter()
                .filter(|entry| matches!(entry.event, Some(Event::Fault { .. })));
            assert_eq!(faults.count(), 1, "{fault}");
        }
        let proxied = Proxied::before(target, &["disconnect"]).await;
        assert_eq!(proxied.raw(&post(CALL, "")).await, "");
    });
}
