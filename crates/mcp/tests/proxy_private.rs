//! Private addresses and bridges: what passes through them, who observes it, and who is refused?

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use mcptest_http::bind;
use mcptest_mcp::client::{Client, Endpoint, ServerSpec};
use mcptest_mcp::era::Era;
use mcptest_mcp::jsonrpc::Body;
use mcptest_mcp::proxy::bridge::{self, BridgedServer};
use mcptest_mcp::proxy::http::PrivateProxy;
use mcptest_mcp::proxy::interpose::{
    ClientRequest, Interposer, RequestFate, Taken, Watch, WatchedReply,
};
use mcptest_mock::Server;
use mcptest_mock::http::serve_on_loopback;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const MANIFEST: &str = r"
mock_server:
  name: weather
  version: 1.2.0
  tools:
    - {name: get_weather, description: The weather., response: Sunny.}
    - {name: count, description: One more each time., response: {sequence: [one, two, three, four]}}
    - name: work
      description: Says how far it is.
      progress: [{progress: 1, total: 2}, {progress: 2, total: 2}]
      response: worked
    - {name: later, description: Answers on the next stream., reconnect: 20ms, delay: 30ms, response: here it is}
    - {name: slow, description: Takes its time., delay: 150ms, response: at last}
";

fn mock() -> Server {
    let nothing = |path: &Path| Err(format!("{} is not there", path.display()));
    let loaded =
        mcptest_mock::manifest::load_text(Path::new("mock.yml"), MANIFEST.to_owned(), &nothing);
    let said = mcptest_core::problem::render(&loaded.problems, &loaded.sources, false);
    Server::new(
        loaded.manifest.unwrap_or_else(|| panic!("{said}")),
        Vec::new(),
    )
}

fn pipe(server: Server) -> Endpoint {
    Endpoint::Pipe(Arc::new(move || {
        let (reader, writer) = tokio::io::split(server.connect());
        (Box::new(reader), Box::new(writer))
    }))
}

/// Records every call and its result.
#[derive(Default, Clone)]
struct Diary(Arc<Mutex<Vec<String>>>);

struct Page {
    diary: Diary,
    tool: String,
}

impl Diary {
    fn note(&self, text: String) {
        self.0.lock().unwrap().push(text);
    }

    fn sorted(&self) -> Vec<String> {
        let mut notes = self.0.lock().unwrap().clone();
        notes.sort();
        notes
    }
}

impl Interposer for Diary {
    fn asked(&self, request: ClientRequest<'_>) -> Taken {
        if request.method != "tools/call" {
            return Taken::default();
        }
        let params: Value = serde_json::from_str(request.params.unwrap().get()).unwrap();
        let tool = params["name"].as_str().unwrap().to_owned();
        RequestFate::Watch(Arc::new(Page {
            diary: self.clone(),
            tool,
        }))
        .into()
    }

    fn misbehaved(&self, what: String) {
        self.note(format!("misbehaved: {what}"));
    }
}

impl Watch for Page {
    fn answered(&self, answer: &Body<'_>, _text: &str) -> WatchedReply {
        let Body::Result { result, .. } = answer else {
            panic!("{answer:?}")
        };
        let result: Value = serde_json::from_str(result.get()).unwrap();
        self.diary.note(format!(
            "{}: {}",
            self.tool,
            result["content"][0]["text"].as_str().unwrap()
        ));
        WatchedReply::default()
    }

    fn unanswered(&self, why: &str) {
        self.diary.note(format!("{} unanswered: {why}", self.tool));
    }

    fn cancelled(&self) {
        self.diary.note(format!("{} cancelled", self.tool));
    }
}

/// A private address of a server.
async fn door(server: ServerSpec, diary: &Diary) -> String {
    let listener = bind(("127.0.0.1", 0)).await.unwrap();
    let proxy = PrivateProxy {
        token: "secret-word".to_owned(),
        server,
        interposer: Arc::new(diary.clone()),
    };
    let url = proxy.url(&listener).unwrap();
    tokio::spawn(proxy.serve(listener, std::future::pending()));
    url
}

async fn client(url: &str, era: Option<Era>) -> Client {
    let mut spec = ServerSpec::url("weather", url);
    spec.era = era;
    Client::connect(&spec, None).await.unwrap()
}

async fn call(client: &Client, tool: &str) -> String {
    let none = RawValue::from_string("{}".to_owned()).unwrap();
    let result = client
        .call_tool(tool, &none, None)
        .await
        .outcome
        .unwrap_or_else(|error| panic!("{tool}: {error}"));
    let result: Value = serde_json::from_str(result.get()).unwrap();
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_server_on_a_pipe_and_one_with_a_url_look_alike_through_a_door_in_both_eras() {
    let serving = serve_on_loopback(mock()).await.unwrap();
    for endpoint in [
        pipe(mock()),
        Endpoint::Url {
            url: serving.url.clone(),
            headers: Vec::new(),
        },
    ] {
        for era in [None, Some(Era::Legacy), Some(Era::Modern)] {
            let diary = Diary::default();
            let url = door(ServerSpec::new("weather", endpoint.clone()), &diary).await;
            let client = client(&url, era).await;
            assert_eq!(client.list_tools().await.unwrap().tools.len(), 5);
            let none = RawValue::from_string("{}".to_owned()).unwrap();
            let worked = client.call_tool("work", &none, None).await;
            assert_eq!(worked.notifications.len(), 2, "{era:?} {endpoint:?}");
            assert_eq!(call(&client, "get_weather").await, "Sunny.");
            client.close().await;
            assert_eq!(
                diary.sorted(),
                ["get_weather: Sunny.", "work: worked"],
                "{era:?} {endpoint:?}"
            );
        }
    }
}

#[tokio::test]
async fn an_answer_that_comes_on_the_next_stream_is_seen_too() {
    let serving = serve_on_loopback(mock()).await.unwrap();
    let diary = Diary::default();
    let url = door(ServerSpec::url("weather", &serving.url), &diary).await;
    let client = client(&url, Some(Era::Legacy)).await;
    assert_eq!(call(&client, "later").await, "here it is");
    assert_eq!(diary.sorted(), ["later: here it is"]);
}

#[tokio::test]
async fn clients_without_a_session_may_use_one_id_at_once() {
    let diary = Diary::default();
    let url = door(ServerSpec::new("weather", pipe(mock())), &diary).await;
    let (a, b) = tokio::join!(
        client(&url, Some(Era::Modern)),
        client(&url, Some(Era::Modern))
    );
    let answers = tokio::join!(
        call(&a, "slow"),
        call(&b, "slow"),
        call(&a, "get_weather"),
        call(&b, "count")
    );
    assert_eq!(
        answers,
        (
            "at last".into(),
            "at last".into(),
            "Sunny.".into(),
            "one".into()
        )
    );
    assert_eq!(diary.sorted().len(), 4);
}

/// Sends one request verbatim, and returns the status and the body of its answer.
async fn raw(url: &str, head: &str, body: &str) -> (u16, String) {
    let rest = url.strip_prefix("http://").unwrap();
    let (address, path) = rest.split_once('/').unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "POST /{path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {}\r\n{head}\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (status, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
}

#[tokio::test]
async fn a_request_by_itself_is_answered_and_all_of_them_share_one_connection() {
    let request =
        json!({"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": {"name": "count"}});
    let serving = serve_on_loopback(mock()).await.unwrap();
    for server in [
        ServerSpec::new("weather", pipe(mock())),
        ServerSpec::url("weather", &serving.url),
    ] {
        let diary = Diary::default();
        let url = door(server, &diary).await;
        for expected in ["one", "two"] {
            let (status, body) = raw(&url, "", &request.to_string()).await;
            let answer: Value = serde_json::from_str(&body).unwrap();
            assert_eq!((status, &answer["id"]), (200, &json!("x")));
            assert_eq!(answer["result"]["content"][0]["text"], json!(expected));
        }
        assert_eq!(diary.sorted(), ["count: one", "count: two"]);
    }
}

#[tokio::test]
async fn who_does_not_know_the_word_or_comes_from_a_page_is_turned_away() {
    let diary = Diary::default();
    let url = door(ServerSpec::new("weather", pipe(mock())), &diary).await;
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    assert_eq!(raw(&url, "", ping).await.0, 200);
    assert_eq!(
        raw(&url.replace("secret-word", "guess"), "", ping).await.0,
        404
    );
    assert_eq!(
        raw(&url.replace("secret-word", "secret-word-too"), "", ping)
            .await
            .0,
        404
    );
    assert_eq!(
        raw(&url, "Origin: https://evil.example\r\n", ping).await.0,
        403
    );
    let legacy = "Accept: application/json, text/event-stream\r\n";
    assert_eq!(
        raw(&url, legacy, ping).await.0,
        400,
        "a client of the protocol has to begin with a handshake"
    );
    assert_eq!(
        raw(&url, &format!("{legacy}Mcp-Session-Id: s-9\r\n"), ping)
            .await
            .0,
        404
    );
    assert_eq!(raw(&url, legacy, "{").await.0, 400);
}

#[tokio::test]
async fn a_target_gets_the_headers_and_the_query_that_the_client_never_sees() {
    let listener = bind(("127.0.0.1", 0)).await.unwrap();
    let target = format!("http://{}/mcp?key=k-1", listener.local_addr().unwrap());
    let heard = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = vec![0; 4096];
        let count = stream.read(&mut request).await.unwrap();
        stream
            .write_all(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
            .await
            .unwrap();
        String::from_utf8_lossy(&request[..count]).into_owned()
    });
    let headers = vec![("Authorization".to_owned(), "Bearer t-1".to_owned())];
    let server = ServerSpec::new(
        "web",
        Endpoint::Url {
            url: target,
            headers,
        },
    );
    let url = door(server, &Diary::default()).await;
    assert!(url.ends_with("/secret-word/mcp"), "{url}");
    let head = "Accept: text/event-stream\r\nAuthorization: Bearer other\r\n";
    raw(
        &url,
        head,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    )
    .await;
    let heard = heard.await.unwrap();
    assert!(heard.starts_with("POST /mcp?key=k-1 HTTP/1.1"), "{heard}");
    assert!(
        heard.contains("authorization: Bearer t-1") && !heard.contains("other"),
        "{heard}"
    );
    assert!(!heard.contains("secret-word"), "{heard}");
}

#[tokio::test]
async fn a_bridge_leads_to_a_server_of_its_own_and_needs_the_word() {
    let diary = Diary::default();
    let listener = bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let server = BridgedServer {
        token: "word".to_owned(),
        endpoint: pipe(mock()),
        interposer: Arc::new(diary.clone()),
    };
    tokio::spawn(bridge::serve(listener, server, std::future::pending()));
    let through = |token: &'static str| {
        let address = address.clone();
        Endpoint::Pipe(Arc::new(move || {
            let (near, far) = tokio::io::duplex(1 << 16);
            let (input, output) = tokio::io::split(far);
            let address = address.clone();
            tokio::spawn(async move { bridge::copy(&address, token, input, output).await });
            let (reader, writer) = tokio::io::split(near);
            (Box::new(reader), Box::new(writer))
        }))
    };
    let client = Client::connect(&ServerSpec::new("weather", through("word")), None)
        .await
        .unwrap();
    assert_eq!(call(&client, "count").await, "one");
    assert_eq!(diary.sorted(), ["count: one"]);
    assert!(
        Client::connect(&ServerSpec::new("weather", through("guess")), None)
            .await
            .is_err()
    );
}
