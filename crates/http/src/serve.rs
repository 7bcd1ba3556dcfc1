//! Who takes in connections, as many as there may be, and ends them in good order?

use crate::connections::{Busy, Connections, Stall};
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// The reason for which a connection ends without an answer, or in the middle of one.
pub type Broken = Box<dyn Error + Send + Sync>;

const AFTER_ACCEPT_FAILED: Duration = Duration::from_millis(5);

/// Answers every request until `stop`; then answers that are being sent have a moment to end.
pub async fn serve<E, F, B, X, S>(
    listener: TcpListener,
    limits: Limits,
    exchange: E,
    stop: impl Future<Output = S>,
) -> S
where
    E: Fn(Request<Incoming>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<Response<B>, X>> + Send + 'static,
    B: Body<Data: Send, Error: Into<Broken>> + Send + 'static,
    X: Into<Broken> + 'static,
{
    let connections = Arc::new(Connections::default());
    let (end, ended) = watch::channel(false);
    let open = |stream| {
        let has_room = connections.count() < limits.connections || connections.evict();
        has_room.then(|| {
            connection(
                stream,
                limits,
                exchange.clone(),
                Arc::clone(&connections),
                ended.clone(),
            )
        })
    };
    let (stopped, mut open) = accept(listener, open, || connections.evict(), stop).await;
    let _all_gone = end.send(true);
    if !limits.grace.is_zero() {
        let ending = async { while open.join_next().await.is_some() {} };
        let _too_slow = tokio::time::timeout(limits.grace, ending).await;
    }
    open.shutdown().await;
    stopped
}

/// Accepts connections until `stop`, and handles each in a separate task. Returns the connections that are still
/// open.
///
/// Calls `make_room` when no descriptors are left to accept with.
pub async fn accept<F, S>(
    listener: TcpListener,
    mut open: impl FnMut(TcpStream) -> Option<F>,
    make_room: impl Fn() -> bool,
    stop: impl Future<Output = S>,
) -> (S, JoinSet<()>)
where
    F: Future<Output = ()> + Send + 'static,
{
    let mut connections = JoinSet::new();
    tokio::pin!(stop);
    loop {
        tokio::select! {
            stopped = &mut stop => return (stopped, connections),
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    while connections.try_join_next().is_some() {}
                    let _slower = stream.set_nodelay(true);
                    if let Some(connection) = open(stream) {
                        connections.spawn(connection);
                    }
                }
                Err(error) if is_about_one(&error) => {}
                Err(_) => {
                    make_room();
                    tokio::time::sleep(AFTER_ACCEPT_FAILED).await;
                }
            }
        }
    }
}

/// True for a connection that was gone before it was accepted.
fn is_about_one(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionReset | Interrupted
    )
}

/// A connection that breaks concerns only its own client.
async fn connection<E, F, B, X>(
    stream: TcpStream,
    limits: Limits,
    exchange: E,
    connections: Arc<Connections>,
    mut ended: watch::Receiver<bool>,
) where
    E: Fn(Request<Incoming>) -> F,
    F: Future<Output = Result<Response<B>, X>>,
    B: Body<Error: Into<Broken>> + 'static,
    X: Into<Broken>,
{
    let connection = connections.opened();
    let service = service_fn(|request| {
        let answer = exchange(request);
        let busy = Busy::new(&connections, &connection);
        let until_sent = move |body: B| {
            body.map_err(move |error| {
                let _busy = &busy;
                error
            })
        };
        async move { answer.await.map(|answer| answer.map(until_sent)) }
    });
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_timeout)
        .max_headers(limits.headers);
    builder
        .max_header_size(limits.header_bytes)
        .half_close(false)
        .keep_alive(true);
    let io = TokioIo::new(Stall::new(stream, limits.stall_timeout));
    let serving = builder.serve_connection(io, service);
    tokio::pin!(serving);
    tokio::select! {
        _ended = serving.as_mut() => {}
        () = connection.evicted.notified() => {}
        _ = ended.changed() => {
            serving.as_mut().graceful_shutdown();
            let _ended = serving.await;
        }
    }
    connections.closed(&connection);
}

/// Limits on what one client may use of a server.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The largest body of a request.
    pub body_bytes: usize,
    /// The most bytes that the head of a request may have.
    pub header_bytes: usize,
    /// The most headers that a request may have.
    pub headers: usize,
    /// The time limit for the head of a connection's next request.
    pub header_timeout: Duration,
    /// The time limit for a client to send a body.
    pub body_timeout: Duration,
    /// The time limit for a client that reads nothing of its answer.
    pub stall_timeout: Duration,
    /// The most connections at once; past it the longest idle one is closed for a new one.
    pub connections: usize,
    /// The time limit for unfinished answers when the server stops.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 16 << 20,
            header_bytes: 64 << 10,
            headers: 100,
            header_timeout: Duration::from_secs(60),
            body_timeout: Duration::from_secs(30),
            stall_timeout: Duration::from_secs(30),
            connections: 16_384,
            grace: Duration::from_secs(1),
        }
    }
}

/// Why the body of a request could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BodyError {
    /// It is past the limit.
    #[error("the body is larger than the {0} bytes that are read")]
    TooLarge(usize),
    /// The connection broke.
    #[error("the body ended before its end")]
    Cut,
    /// It took too long.
    #[error("the body took too long to arrive")]
    TooSlow,
}

impl BodyError {
    /// The status that reports this refusal.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Cut => StatusCode::BAD_REQUEST,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
        }
    }
}

impl Limits {
    /// The whole body of a request.
    pub async fn read(&self, body: Incoming) -> Result<Bytes, BodyError> {
        let limit = self.body_bytes;
        if body.size_hint().lower() > limit as u64 {
            return Err(BodyError::TooLarge(limit));
        }
        match timeout(self.body_timeout, Limited::new(body, limit).collect()).await {
            Ok(Ok(collected)) => Ok(collected.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => Err(BodyError::TooLarge(limit)),
            Ok(Err(_)) => Err(BodyError::Cut),
            Err(_) => Err(BodyError::TooSlow),
        }
    }
}
