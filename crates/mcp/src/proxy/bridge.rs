//! How does a program that wants a server on stdio reach a recorded one?
//!
//! It starts `mcptest bridge ADDRESS`, which copies its standard streams to a loopback socket,
//! after a token that only the two sides know.

use super::connection::connect;
use super::interpose::Interposer;
use crate::client::Endpoint;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

/// The variable that holds the token.
pub const TOKEN_VARIABLE: &str = "MCPTEST_BRIDGE_TOKEN";

const TOKEN_WITHIN: Duration = Duration::from_secs(10);
const LONGEST_TOKEN: u64 = 256;

/// Copies in both directions until the other side closes.
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
    /// The token that bridges send first.
    pub token: String,
    /// The server to start for each bridge.
    pub endpoint: Endpoint,
    /// The observer between client and server.
    pub interposer: Arc<dyn Interposer>,
}

/// Accepts bridges, each to a separate server, until `stop`. Then waits for the open ones.
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
