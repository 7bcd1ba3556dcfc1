//! Between a client and a server on HTTP: a streaming reverse proxy that does not change bodies,
//! statuses or headers.

mod entries;
mod events;
mod exchange;
mod headers;
mod interposed;
mod private;
mod tee;
mod waiting;

pub(super) use events::Channel;
pub(super) use exchange::limits;
pub(super) use private::PrivatePath;
pub use private::PrivateProxy;

use super::ProxyError;
use super::interpose::Interposer;
use super::record::ready;
use crate::fault::Injector;
use crate::tape::{Event, Writer};
use entries::{HttpEntries, HttpSeen};
use exchange::HttpProxy;
use mcptest_http::Guard;
use reqwest::Url;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::net::TcpListener;

const CONNECT_WITHIN: Duration = Duration::from_secs(10);
const IDLE: Duration = Duration::from_secs(3);

/// Why the target gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
enum TargetError {
    #[error("{0}")]
    BadPath(String),
    #[error("the target {authority} cannot be reached: {reason}")]
    Unreachable { authority: String, reason: String },
}

/// The server behind the proxy.
#[derive(Debug, Clone)]
pub struct Target {
    url: Url,
}

impl Target {
    /// A target from its URL.
    pub fn parse(text: &str) -> Result<Self, ProxyError> {
        let refused = |reason: String| ProxyError::BadTarget {
            url: text.to_owned(),
            reason,
        };
        let url = Url::parse(text).map_err(|error| refused(error.to_string()))?;
        match url.scheme() {
            "http" | "https" if url.has_host() => Ok(Self { url }),
            other => Err(refused(format!("`{other}` is not http or https"))),
        }
    }

    /// The URL of the target's path on a proxy that listens on this address.
    pub fn seen_at(&self, address: SocketAddr) -> String {
        format!("http://{address}{}", self.url.path())
    }

    /// The URL, verbatim.
    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    /// The target's host and port, for sentences.
    fn authority(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        self.url
            .port()
            .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// A path with the target's query, if it is the target's path without a query.
    fn with_own_query(&self, path_and_query: String) -> String {
        match self.url.query() {
            Some(query) if path_and_query == self.url.path() => format!("{path_and_query}?{query}"),
            _ => path_and_query,
        }
    }

    /// The URL of a request with this path and query.
    fn with_path(&self, path_and_query: &str) -> Result<Url, TargetError> {
        let origin = self.url.origin().ascii_serialization();
        Url::parse(&format!("{origin}{path_and_query}"))
            .map_err(|error| TargetError::BadPath(error.to_string()))
    }
}

/// The proxy's target and settings.
#[derive(Debug)]
pub struct Setup {
    /// The server.
    pub target: Target,
    /// The clients to accept.
    pub guard: Guard,
    /// The faults to inject. An idle injector changes nothing.
    pub injector: Injector,
}

/// Serves until `stop` returns the reason to end. Returns the reason that the tape is incomplete,
/// if any.
pub async fn serve(
    listener: TcpListener,
    setup: Setup,
    tape: Writer,
    stop: impl Future<Output = String>,
) -> Result<Option<String>, ProxyError> {
    let client = client(&setup.target)?;
    let (recorder, ready) = ready();
    let recording = ready.record(tape, HttpEntries::default());
    let Setup {
        target,
        guard,
        injector,
    } = setup;
    let interposer = (!injector.is_idle()).then(|| Arc::new(injector) as Arc<dyn Interposer>);
    let shared = Arc::new(HttpProxy {
        guard,
        interposer,
        ..HttpProxy::new(client, target, recorder.clone())
    });
    let exchange = {
        let shared = Arc::clone(&shared);
        move |request| Arc::clone(&shared).exchange(request)
    };
    let reason = mcptest_http::serve(listener, limits(), exchange, stop).await;
    recorder.see(0, (0, HttpSeen::Event(Event::Stopped { reason })));
    drop((recorder, shared));
    Ok(recording.finish().await)
}

fn client(target: &Target) -> Result<reqwest::Client, ProxyError> {
    let settle = |builder: reqwest::ClientBuilder| {
        // Servers close what is idle for five seconds; a request must not run into that.
        builder
            .connect_timeout(CONNECT_WITHIN)
            .pool_idle_timeout(IDLE)
            .tcp_nodelay(true)
    };
    mcptest_http::client(&target.url, settle)
        .map_err(|error| ProxyError::NoClient(error.to_string()))
}
