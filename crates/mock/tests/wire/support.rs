//! A client that sends exactly the given messages, and its observations.

use mcptest_mcp::fault::{FaultScope, ScopedFault};
use mcptest_mock::Server;
use mcptest_mock::http::{Limits, serve};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::net::{TcpListener, TcpStream};

/// Longer than any test takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
/// How long to wait for messages that must not arrive.
pub(crate) const QUIET: Duration = Duration::from_millis(150);

pub(crate) const WEATHER: &str = r"
mock_server:
  name: weather
  version: 1.2.0
  instructions: Ask for weather.
  store:
    notes: {key: id}
  tools:
    - name: get_weather
      description: The weather of a city.
      input_schema: {type: object, properties: {city: {type: string, x-mcp-header: City}}, required: [city]}
      response: Sunny in ${args.city}.
    - name: count
      description: One more each time.
      response: {sequence: [one, two, three]}
    - name: work
      description: Says how far it is.
      progress: [{progress: 1, total: 2}, {progress: 2, total: 2, message: done}]
      logging: [{level: warning, data: careful}, {level: debug, data: detail}]
      response: worked
    - name: greet
      description: Asks who is there.
      ask:
        who: {elicitation: {message: Who are you?, requested_schema: {type: object, properties: {name: {type: string}}}}}
      response: Hello ${who.content.name}!
    - name: later
      description: Closes its stream and answers on the next.
      reconnect: 20ms
      delay: 30ms
      response: here it is
    - name: announce
      description: Changes the list of tools.
      list_changed: [tools]
      response: announced
  resources:
    - {uri: 'note://one', name: one, text: First.}
  prompts:
    - {name: plan, description: Plans., arguments: [{name: day, required: true}], messages: [{role: user, content: 'Plan ${args.day}'}]}
";

/// A server of a manifest with faults that strike calls.
pub(crate) fn server(manifest: &str, faults: &[&str]) -> Server {
    scoped(manifest, faults, FaultScope::Tools)
}

pub(crate) fn scoped(manifest: &str, faults: &[&str], scope: FaultScope) -> Server {
    let nothing = |path: &Path| Err(format!("{} is not there", path.display()));
    let loaded =
        mcptest_mock::manifest::load_text(Path::new("weather.yml"), manifest.to_owned(), &nothing);
    let said = mcptest_core::problem::render(&loaded.problems, &loaded.sources, false);
    let manifest = loaded.manifest.unwrap_or_else(|| panic!("{said}"));
    let faults = faults.iter().map(|fault| ScopedFault {
        kind: fault.parse().unwrap(),
        scope,
    });
    Server::new(manifest, faults.collect())
}

/// Bounded, so that a bug is a failure and not a hang.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future)
        .await
        .expect("nothing came")
}

pub(crate) fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

pub(crate) fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    request(
        id,
        "tools/call",
        json!({ "name": tool, "arguments": arguments }),
    )
}

/// The request in the modern protocol.
pub(crate) fn modern(mut request: Value, capabilities: Value) -> Value {
    let meta = &mut request["params"]["_meta"];
    meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    meta["io.modelcontextprotocol/clientCapabilities"] = capabilities;
    request
}

pub(crate) fn initialize(version: &str, capabilities: Value) -> Value {
    let client = json!({ "name": "test", "version": "1" });
    let params =
        json!({ "protocolVersion": version, "capabilities": capabilities, "clientInfo": client });
    request(0, "initialize", params)
}

pub(crate) fn text_of(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer}"))
}

/// One end of a pipe to a server.
pub(crate) struct Pipe(pub(crate) BufReader<DuplexStream>);

impl Pipe {
    pub(crate) fn new(server: &Server) -> Self {
        Self(BufReader::new(server.connect()))
    }

    /// A pipe after the legacy handshake.
    pub(crate) async fn initialized(server: &Server) -> Self {
        let mut pipe = Self::new(server);
        pipe.send(&initialize("2025-11-25", json!({ "elicitation": {} })))
            .await;
        assert_eq!(pipe.next().await["result"]["protocolVersion"], "2025-11-25");
        pipe.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
            .await;
        pipe
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.send_text(&message.to_string()).await;
    }

    pub(crate) async fn send_text(&mut self, text: &str) {
        soon(self.0.write_all(format!("{text}\n").as_bytes()))
            .await
            .unwrap();
    }

    pub(crate) async fn line(&mut self) -> String {
        let mut line = String::new();
        soon(self.0.read_line(&mut line)).await.unwrap();
        line
    }

    pub(crate) async fn next(&mut self) -> Value {
        let line = self.line().await;
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line:?}: {error}"))
    }

    pub(crate) async fn ask(&mut self, message: &Value) -> Value {
        self.send(message).await;
        self.next().await
    }

    /// Asserts that no message arrives for a while.
    pub(crate) async fn is_silent(&mut self) -> bool {
        let mut line = String::new();
        tokio::time::timeout(QUIET, self.0.read_line(&mut line))
            .await
            .is_err()
    }
}

/// A server over HTTP.
pub(crate) async fn listen(server: &Server, limits: Limits) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve(
        listener,
        server.clone(),
        limits,
        Vec::new(),
        std::future::pending(),
    ));
    address
}

/// One HTTP exchange, byte by byte.
pub(crate) struct Exchange {
    stream: TcpStream,
    seen: String,
}

pub(crate) struct Http {
    pub(crate) address: SocketAddr,
    pub(crate) headers: Vec<(String, String)>,
}

impl Http {
    pub(crate) async fn new(server: &Server) -> Self {
        Self {
            address: listen(server, Limits::default()).await,
            headers: Vec::new(),
        }
    }

    /// After the legacy handshake.
    pub(crate) async fn initialized(server: &Server) -> Self {
        let mut http = Self::new(server).await;
        let mut exchange = http
            .post(&initialize("2025-11-25", json!({ "elicitation": {} })))
            .await;
        exchange.body().await;
        let id = exchange
            .header("mcp-session-id")
            .expect("a session")
            .to_owned();
        http.headers = vec![
            ("Mcp-Session-Id".into(), id),
            ("MCP-Protocol-Version".into(), "2025-11-25".into()),
        ];
        http
    }

    pub(crate) async fn post(&self, message: &Value) -> Exchange {
        self.post_with(message, &modern_headers(message)).await
    }

    pub(crate) async fn post_with(&self, message: &Value, more: &[(&str, String)]) -> Exchange {
        let accept = ("Accept", "application/json, text/event-stream".to_owned());
        let kind = ("Content-Type", "application/json".to_owned());
        let headers = [&[accept, kind], more].concat();
        self.exchange("POST", &headers, &message.to_string()).await
    }

    pub(crate) async fn exchange(
        &self,
        method: &str,
        headers: &[(&str, String)],
        body: &str,
    ) -> Exchange {
        let mut text = format!(
            "{method} /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n",
            self.address
        );
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        for (name, value) in &self.headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        Exchange::send(self.address, &text).await
    }

    /// One answer as JSON, from a JSON body or an event.
    pub(crate) async fn ask(&self, message: &Value) -> Value {
        let mut exchange = self.post(message).await;
        exchange.answer().await
    }
}

/// The headers that a modern request must have.
pub(crate) fn modern_headers(message: &Value) -> Vec<(&'static str, String)> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let params = &message["params"];
    let Some(version) = text(&params["_meta"]["io.modelcontextprotocol/protocolVersion"]) else {
        return Vec::new();
    };
    let mut headers = vec![("MCP-Protocol-Version", version)];
    headers.extend(text(&message["method"]).map(|method| ("Mcp-Method", method)));
    headers.extend(
        text(&params["name"])
            .or(text(&params["uri"]))
            .map(|name| ("Mcp-Name", name)),
    );
    headers.extend(text(&params["arguments"]["city"]).map(|city| ("Mcp-Param-City", city)));
    headers
}

impl Exchange {
    pub(crate) async fn send(address: SocketAddr, text: &str) -> Self {
        let mut stream = TcpStream::connect(address).await.unwrap();
        // A server that refuses early may close before all is written.
        let _refused = stream.write_all(text.as_bytes()).await;
        Self {
            stream,
            seen: String::new(),
        }
    }

    async fn more(&mut self) -> bool {
        let mut bytes = [0; 4096];
        match soon(self.stream.read(&mut bytes)).await {
            Ok(0) | Err(_) => false,
            Ok(count) => {
                self.seen
                    .push_str(&String::from_utf8_lossy(&bytes[..count]));
                true
            }
        }
    }

    async fn head(&mut self) {
        while !self.seen.contains("\r\n\r\n") {
            assert!(
                self.more().await,
                "the connection was closed after {:?}",
                self.seen
            );
        }
    }

    pub(crate) async fn status(&mut self) -> u16 {
        self.head().await;
        self.seen
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok())
            .expect("a status")
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let head = self.seen.split("\r\n\r\n").next()?;
        head.lines().find_map(|line| {
            let (key, value) = line.split_once(": ")?;
            key.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    /// All of the body; of an event stream too, once it ends.
    pub(crate) async fn body(&mut self) -> String {
        self.head().await;
        while self.more().await {}
        self.seen
            .split_once("\r\n\r\n")
            .expect("a head")
            .1
            .to_owned()
    }

    /// The messages of an event stream so far, at least `count`.
    pub(crate) async fn events(&mut self, count: usize) -> Vec<String> {
        loop {
            let events: Vec<String> = self
                .seen
                .split_inclusive('\n')
                .filter_map(|line| {
                    line.strip_prefix("data: ")?
                        .strip_suffix('\n')
                        .map(str::to_owned)
                })
                .filter(|data| !data.is_empty())
                .collect();
            if events.len() >= count {
                return events;
            }
            assert!(self.more().await, "the stream ended after {:?}", self.seen);
        }
    }

    /// The id of the last event so far.
    pub(crate) fn last_event_id(&self) -> &str {
        self.seen
            .lines()
            .filter_map(|line| line.strip_prefix("id: "))
            .next_back()
            .expect("an event id")
    }

    /// The answer, as JSON or as the last event.
    pub(crate) async fn answer(&mut self) -> Value {
        let body = self.body().await;
        let text = if self.header("content-type") == Some("text/event-stream") {
            self.events(1).await.pop().expect("an event")
        } else {
            body
        };
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{text:?}: {error}"))
    }

    /// The connection was closed before anything was sent.
    pub(crate) async fn is_dropped(&mut self) -> bool {
        !self.more().await && self.seen.is_empty()
    }

    /// Asserts that nothing arrives for a while, and the connection stays open.
    pub(crate) async fn is_silent(&mut self) -> bool {
        let mut bytes = [0; 64];
        tokio::time::timeout(QUIET, self.stream.read(&mut bytes))
            .await
            .is_err()
    }
}
