//! How are connections accepted, limited and ended cleanly?

use crate::connections::{Busy, Connections};
use crate::limits::Limits;
use crate::stall::Stall;
use http::{Request, Response};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Why a connection ends without a complete answer.
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

/// Accepts connections until `stop`, and handles each in a separate task. Returns the connections
/// that are still open.
///
/// Calls `make_room` if no descriptor is left for accepting.
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

/// True for a connection that closed before it was accepted.
fn is_about_one(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionReset | Interrupted
    )
}

/// Serves one connection. A connection that breaks affects only its client.
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
    let io = TokioIo::new(Stall::new(stream, limits.stall_timeout));
    let serving = builder(limits).serve_connection(io, service);
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

/// HTTP/1 within the limits.
fn builder(limits: Limits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_timeout)
        .max_headers(limits.headers);
    builder
        .max_header_size(limits.header_bytes)
        .half_close(false)
        .keep_alive(true);
    builder
}
