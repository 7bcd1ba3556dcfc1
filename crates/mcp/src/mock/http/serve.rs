//! Accepting connections, as many as there may be, and ending in good order.

use super::connections::Connections;
use super::exchange::Shared;
use super::guard::Guard;
use super::sessions::Sessions;
use super::stall::Stall;
use super::{Limits, PATH};
use crate::mock::server::Server;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

/// How long answers that are being sent may take when the server ends.
const GRACE: Duration = Duration::from_secs(1);

/// A server that runs until this is dropped.
#[derive(Debug)]
pub struct Serving {
    /// Where it is.
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
        let _ended = serve(listener, server, Limits::default(), std::future::pending()).await;
    });
    Ok(Serving { url, task })
}

/// Serves until `shutdown` is done.
pub async fn serve(
    listener: TcpListener,
    server: Server,
    limits: Limits,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()> {
    let guard = Guard::of(listener.local_addr()?.ip());
    let running = Arc::new(Semaphore::new(limits.running));
    let shared = Arc::new(Shared { server, limits, guard, sessions: Sessions::default(), running });
    let connections = Arc::new(Connections::default());
    let (stop, stopped) = watch::channel(false);
    let mut tasks = JoinSet::new();
    let mut sweep =
        tokio::time::interval((limits.session_idle / 4).clamp(Duration::from_millis(10), GRACE * 30));
    tokio::pin!(shutdown);
    loop {
        tokio::select! {
            () = &mut shutdown => break,
            _ = sweep.tick() => shared.sessions.expire(&limits, Instant::now()),
            accepted = listener.accept() => {
                while tasks.try_join_next().is_some() {}
                let accepted = match accepted {
                    Ok(accepted) => accepted,
                    Err(error) if is_about_one(&error) => continue,
                    Err(_) => {
                        // No descriptors left: there is nothing to accept with until one is given back.
                        connections.evict();
                        tokio::time::sleep(Duration::from_millis(5)).await;
                        continue;
                    }
                };
                if connections.count() >= limits.connections && !connections.evict() {
                    continue;
                }
                let (shared, connections) = (Arc::clone(&shared), Arc::clone(&connections));
                tasks.spawn(connect(accepted, shared, connections, stopped.clone()));
            }
        }
    }
    drop(listener);
    shared.sessions.end_all();
    let _all_gone = stop.send(true);
    let ending = async { while tasks.join_next().await.is_some() {} };
    let _too_slow = tokio::time::timeout(GRACE, ending).await;
    Ok(())
}

/// True for a connection that was gone before it was accepted.
fn is_about_one(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted)
}

async fn connect(
    (stream, _): (TcpStream, SocketAddr),
    shared: Arc<Shared>,
    connections: Arc<Connections>,
    mut stopped: watch::Receiver<bool>,
) {
    let _best_effort = stream.set_nodelay(true);
    let connection = connections.opened();
    let limits = shared.limits;
    let service = service_fn(|request| {
        let (shared, connections, connection) = (&shared, &connections, &connection);
        async move {
            connection.is_busy();
            let answer = shared.exchange(request).await;
            connections.is_idle(connection);
            answer
        }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(limits.header_timeout).max_headers(limits.headers);
    builder.max_header_size(limits.header_bytes).half_close(false).keep_alive(true);
    let io = TokioIo::new(Stall::new(stream, limits.stall_timeout));
    let serving = builder.serve_connection(io, service);
    tokio::pin!(serving);
    tokio::select! {
        _ended = serving.as_mut() => {}
        () = connection.evicted.notified() => {}
        _ = stopped.changed() => {
            serving.as_mut().graceful_shutdown();
            let _ended = serving.await;
        }
    }
    connections.closed(&connection);
}
