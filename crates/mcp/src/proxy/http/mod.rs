//! Between a client and a server on HTTP: a streaming reverse proxy that leaves bodies, statuses and headers alone.

mod door;
mod events;
mod exchange;
mod guard;
mod headers;
mod interposed;
mod scribe;
mod tee;
mod waiting;

pub use door::Door;
pub(super) use door::Doorway;
pub(super) use events::Channel;
pub(super) use exchange::{AnswerBody, Broken};
pub use guard::Guard;

use super::ProxyError;
use super::record::record;
use crate::fault::Injector;
use crate::tape::{Event, Writer};
use exchange::Shared;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use reqwest::Url;
use scribe::{HttpScribe, Seen};
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

const HEADERS_WITHIN: Duration = Duration::from_secs(30);
const CONNECT_WITHIN: Duration = Duration::from_secs(10);
const IDLE: Duration = Duration::from_secs(3);
const AFTER_ACCEPT_FAILED: Duration = Duration::from_millis(50);

/// The server that is stood in for.
#[derive(Debug, Clone)]
pub struct Target {
    url: Url,
}

impl Target {
    /// A target from its URL.
    pub fn parse(text: &str) -> Result<Self, ProxyError> {
        let refused = |reason: String| ProxyError::BadTarget { url: text.to_owned(), reason };
        let url = Url::parse(text).map_err(|error| refused(error.to_string()))?;
        match url.scheme() {
            "http" | "https" if url.has_host() => Ok(Self { url }),
            other => Err(refused(format!("`{other}` is not http or https"))),
        }
    }

    /// Where a client reaches the target's own path through the proxy.
    pub fn seen_at(&self, address: SocketAddr) -> String {
        format!("http://{address}{}", self.url.path())
    }

    /// The URL as it was given.
    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    /// The target's host and port, for sentences.
    fn authority(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        self.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// A path with the target's own query, where it is the target's own path and has none.
    fn with_own_query(&self, path_and_query: String) -> String {
        match self.url.query() {
            Some(query) if path_and_query == self.url.path() => format!("{path_and_query}?{query}"),
            _ => path_and_query,
        }
    }

    /// The URL of a request with this path and query.
    fn with_path(&self, path_and_query: &str) -> Result<Url, String> {
        let origin = self.url.origin().ascii_serialization();
        Url::parse(&format!("{origin}{path_and_query}")).map_err(|error| error.to_string())
    }
}

/// Where the proxy listens: `ADDR`, `ADDR:PORT` or `PORT`; without a port the system picks one.
pub async fn listen(written: &str) -> Result<TcpListener, ProxyError> {
    let refused = |reason: String| ProxyError::NotListening { address: written.to_owned(), reason };
    let (host, port) = host_and_port(written).ok_or_else(|| {
        refused("it is not an address; write `127.0.0.1`, `127.0.0.1:8080` or `[::1]:8080`".to_owned())
    })?;
    mcptest_http::bind((host, port)).await.map_err(|error| refused(error.to_string()))
}

fn host_and_port(written: &str) -> Option<(&str, u16)> {
    if let Ok(port) = written.parse() {
        return Some(("127.0.0.1", port));
    }
    if let Some(rest) = written.strip_prefix('[') {
        let (host, rest) = rest.split_once(']')?;
        let port = if rest.is_empty() { 0 } else { rest.strip_prefix(':')?.parse().ok()? };
        return Some((host, port));
    }
    match written.split_once(':') {
        None => (!written.is_empty()).then_some((written, 0)),
        Some((_, port)) if port.contains(':') => Some((written, 0)),
        Some((host, port)) => Some((if host.is_empty() { "127.0.0.1" } else { host }, port.parse().ok()?)),
    }
}

/// What the proxy stands in front of, and how.
#[derive(Debug)]
pub struct Setup {
    /// The server.
    pub target: Target,
    /// Who is let in.
    pub guard: Guard,
    /// What goes wrong on purpose; nothing is altered when it is idle.
    pub injector: Injector,
}

/// Serves until `stop` says why it must end; gives what kept the tape from being whole.
pub async fn serve(
    listener: TcpListener,
    setup: Setup,
    tape: Writer,
    stop: impl Future<Output = String>,
) -> Result<Option<String>, ProxyError> {
    let client = client(&setup.target)?;
    let (recorder, recording) = record(tape, HttpScribe::default());
    let shared = Arc::new(Shared::new(client, setup, recorder.clone()));
    let exchange = {
        let shared = Arc::clone(&shared);
        move |request| Arc::clone(&shared).exchange(request)
    };
    let reason = accept(listener, exchange, stop).await;
    recorder.see(0, Seen::Event(Event::Stopped { reason }));
    drop((recorder, shared));
    Ok(recording.finish().await)
}

/// Answers every request until `stop`; then all connections are closed.
async fn accept<E, F, S>(listener: TcpListener, exchange: E, stop: impl Future<Output = S>) -> S
where
    E: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = Result<Response<AnswerBody>, Broken>> + Send + 'static,
{
    let mut connections = JoinSet::new();
    tokio::pin!(stop);
    let stopped = loop {
        tokio::select! {
            stopped = &mut stop => break stopped,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let _slower = stream.set_nodelay(true);
                    connections.spawn(connection(exchange.clone(), stream));
                }
                Err(_) => tokio::time::sleep(AFTER_ACCEPT_FAILED).await,
            },
            Some(_) = connections.join_next() => {}
        }
    };
    connections.shutdown().await;
    stopped
}

async fn connection<E, F>(exchange: E, stream: tokio::net::TcpStream)
where
    E: Fn(Request<Incoming>) -> F,
    F: Future<Output = Result<Response<AnswerBody>, Broken>>,
{
    // A connection that breaks concerns only its own client, whose exchanges say so themselves.
    let _broken = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS_WITHIN)
        .serve_connection(TokioIo::new(stream), service_fn(exchange))
        .await;
}

fn client(target: &Target) -> Result<reqwest::Client, ProxyError> {
    let settle = |builder: reqwest::ClientBuilder| {
        // Servers close what is idle for five seconds; a request must not run into that.
        builder.connect_timeout(CONNECT_WITHIN).pool_idle_timeout(IDLE).tcp_nodelay(true)
    };
    mcptest_http::client(&target.url, settle)
        .map_err(|error| ProxyError::NoClient { reason: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_leave_out_its_port_or_its_host() {
        for (written, expected) in [
            ("127.0.0.1", ("127.0.0.1", 0)),
            ("localhost:80", ("localhost", 80)),
            ("8080", ("127.0.0.1", 8080)),
            (":8080", ("127.0.0.1", 8080)),
            ("[::1]:9", ("::1", 9)),
            ("::1", ("::1", 0)),
        ] {
            assert_eq!(host_and_port(written), Some(expected), "{written}");
        }
        for written in ["", "localhost:x", "[::1", "127.0.0.1:70000"] {
            assert_eq!(host_and_port(written), None, "{written}");
        }
    }
}
