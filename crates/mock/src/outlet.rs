//! The way back to a client: a pipe, or an event stream over HTTP.

use super::stream::Stream;
use std::sync::Arc;
use tokio::sync::mpsc;

/// The way back to a client.
#[derive(Debug, Clone)]
pub(super) enum Outlet {
    /// A pipe, which carries all messages line by line.
    Pipe(mpsc::Sender<String>),
    /// An event stream over HTTP.
    Stream(Arc<Stream>),
}

impl Outlet {
    /// Sends a message. Returns false if the client is gone for good.
    pub(super) async fn send(&self, message: String) -> bool {
        match self {
            Self::Pipe(pipe) => pipe.send(message).await.is_ok(),
            Self::Stream(stream) => stream.send(&message).await,
        }
    }

    /// Sends a message without waiting. Returns false if the client is gone or does not keep up.
    pub(super) fn push(&self, message: String) -> bool {
        match self {
            Self::Pipe(pipe) => pipe.try_send(message).is_ok(),
            Self::Stream(stream) => stream.push(&message),
        }
    }
}
