//! How does a program that wants a server on stdio reach one that is watched by us?
//!
//! It starts `mcptest bridge ADDRESS`, which copies its standard streams to a loopback socket. A word that only the
//! two sides know comes first.

use super::interpose::Interposer;
use super::interposed::{Ended, Interposed};
use super::record::Recorder;
use crate::client::Endpoint;
use mcptest_process::{Child, StartError, status_words};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

/// The variable that holds the word.
pub const TOKEN_VARIABLE: &str = "MCPTEST_BRIDGE_TOKEN";

const TOKEN_WITHIN: Duration = Duration::from_secs(10);
const LONGEST_TOKEN: u64 = 256;

/// Copies both ways until the other side closes.
pub async fn copy(
    address: &str,
    token: &str,
    mut input: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (mut from, mut to) = stream.into_split();
    to.write_all(format!("{token}\n").as_bytes()).await?;
    let there = async {
        let copied = tokio::io::copy(&mut input, &mut to).await;
        let _closed = to.shutdown().await;
        copied
    };
    let back = async {
        let copied = tokio::io::copy(&mut from, &mut output).await;
        output.flush().await?;
        copied
    };
    tokio::pin!(there, back);
    tokio::select! {
        copied = &mut back => copied.map(|_| ()),
        _ = &mut there => back.await.map(|_| ()),
    }
}

/// A server that bridges lead to.
#[derive(Clone)]
pub struct BridgedServer {
    /// The word that bridges say first.
    pub token: String,
    /// What is started for each of them.
    pub endpoint: Endpoint,
    /// Who stands between.
    pub interposer: Arc<dyn Interposer>,
}

/// Lets bridges in, each to a server of its own, until `stop`; then waits for those that are open.
pub async fn serve(listener: TcpListener, server: BridgedServer, stop: impl Future<Output = ()>) {
    let server = Arc::new(server);
    let open = |stream| Some(land(stream, Arc::clone(&server)));
    let ((), open) = mcptest_http::accept(listener, open, || false, stop).await;
    open.join_all().await;
}

async fn land(stream: TcpStream, server: Arc<BridgedServer>) {
    let (from, to) = stream.into_split();
    let mut from = BufReader::new(from);
    let mut said = String::new();
    let mut first = (&mut from).take(LONGEST_TOKEN);
    let heard = timeout(TOKEN_WITHIN, first.read_line(&mut said)).await;
    if !matches!(heard, Ok(Ok(_))) || said.trim_end() != server.token {
        return;
    }
    let interposer = Arc::clone(&server.interposer);
    if let Err(error) = connect(&server.endpoint, interposer, from, to).await {
        server.interposer.misbehaved(error.to_string());
    }
}

/// How long a server may go on after its client has gone.
const AFTER_CLIENT: Duration = Duration::from_secs(5);
/// How long one end of a server may outlive the other: its process and its output.
const AFTER_EXIT: Duration = Duration::from_millis(300);

/// Why there is no server to connect to.
#[derive(Debug, Error)]
pub enum ConnectError {
    /// The command could not be started.
    #[error("it cannot be started: {0}")]
    NotStarted(#[from] StartError),
    /// It has an address instead.
    #[error("it is reached by its URL, not over a pipe")]
    NotAPipe,
}

/// Starts the server and passes everything on until one side ends; then nothing that it started is left. Dropping the
/// future ends it at once.
pub async fn connect(
    endpoint: &Endpoint,
    interposer: Arc<dyn Interposer>,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> Result<(), ConnectError> {
    let (reader, writer, child) = endpoint.open()?.ok_or(ConnectError::NotAPipe)?;
    let (heard, _activity) = watch::channel(Instant::now());
    let errors = Arc::new(tokio::sync::Mutex::new(tokio::io::sink()));
    let interposed = Interposed::new(Arc::clone(&interposer), Recorder::off(), output, errors);
    let to_client = Arc::clone(&interposed).to_client(reader, heard);
    tokio::pin!(to_client);
    let by_server = tokio::select! {
        ended = Arc::clone(&interposed).to_server(input, writer) => {
            if ended == Ended::ByClient {
                let _too_slow = timeout(AFTER_CLIENT, &mut to_client).await;
            }
            false
        }
        by_server = &mut to_client => by_server,
        () = exited(child.as_ref()) => {
            let _held_open = timeout(AFTER_EXIT, &mut to_client).await;
            true
        }
    };
    if by_server {
        let why = why_gone(child.as_ref()).await;
        if interposed.give_up(&format!("the server {why}")) {
            interposer.misbehaved(why);
        }
    } else {
        interposed.client_gone();
    }
    if let Some(child) = child {
        child.end().await;
    }
    Ok(())
}

async fn exited(child: Option<&Child>) {
    match child {
        Some(child) => {
            child.exited().await;
        }
        None => std::future::pending().await,
    }
}

/// How a server ended while its client was still there.
async fn why_gone(child: Option<&Child>) -> String {
    let Some(child) = child else {
        return "closed the connection".to_owned();
    };
    let Ok(Some(status)) = timeout(AFTER_EXIT, child.exited()).await else {
        return "closed its output".to_owned();
    };
    match child.stderr().tail() {
        tail if tail.is_empty() => format!("exited with {}", status_words(status)),
        tail => format!(
            "exited with {}; its standard error ends with:\n{tail}",
            status_words(status)
        ),
    }
}
