//! The server over streamable HTTP, at `/mcp`.

mod exchange;
mod headers;
mod reply;
mod sessions;

use super::server::Server;
use exchange::MockService;
use mcptest_http::Guard;
use sessions::Sessions;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// Limits for one client of the server.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The limits of connections and requests.
    pub http: mcptest_http::Limits,
    /// The maximum number of sessions. Above it, the longest idle one is ended for a new one.
    pub sessions: usize,
    /// The time that a session may be idle.
    pub session_idle: Duration,
    /// The maximum number of concurrent calls that take time.
    pub running: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            http: mcptest_http::Limits::default(),
            sessions: 10_000,
            session_idle: Duration::from_secs(30 * 60),
            running: 10_000,
        }
    }
}

/// The only path that is served.
pub const PATH: &str = "/mcp";

/// A server that runs until this is dropped.
#[derive(Debug)]
pub struct Serving {
    /// The address.
    pub url: String,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Serves on a free port of the loopback address. Needs a runtime.
pub async fn serve_on_loopback(server: Server) -> io::Result<Serving> {
    let listener = mcptest_http::bind(("127.0.0.1", 0)).await?;
    let url = format!("http://{}{PATH}", listener.local_addr()?);
    let task = tokio::spawn(async move {
        let _ended = serve(
            listener,
            server,
            Limits::default(),
            Vec::new(),
            std::future::pending(),
        )
        .await;
    });
    Ok(Serving { url, task })
}

/// Serves until `shutdown` completes. Accepts requests for this machine and for `allowed_hosts`.
pub async fn serve(
    listener: TcpListener,
    server: Server,
    limits: Limits,
    allowed_hosts: Vec<String>,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let guard = Guard::for_address(listener.local_addr()?.ip())
        .allow(allowed_hosts, "start the mock with --allow-host");
    let running = Arc::new(Semaphore::new(limits.running));
    let shared = Arc::new(MockService {
        server,
        limits,
        guard,
        sessions: Sessions::default(),
        running,
    });
    let enter = Arc::clone(&shared);
    let exchange = move |request| Arc::clone(&enter).exchange(request);
    let stop = async {
        shutdown.await;
        shared.sessions.end_all();
    };
    let sweep = async {
        let longest = Duration::from_secs(30);
        let every = (limits.session_idle / 4).clamp(Duration::from_millis(10), longest);
        let mut sweep = tokio::time::interval(every);
        loop {
            sweep.tick().await;
            shared.sessions.expire(&limits, Instant::now());
        }
    };
    tokio::select! {
        () = mcptest_http::serve(listener, limits.http, exchange, stop) => Ok(()),
        () = sweep => Ok(()),
    }
}
