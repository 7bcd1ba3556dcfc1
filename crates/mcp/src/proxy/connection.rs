//! How is a separate server started for a client on a pipe, and how does it end?

use super::interpose::Interposer;
use super::interposed::{Ended, Interposed};
use super::record::Recorder;
use crate::client::{Endpoint, OpenedPipe};
use mcptest_process::{Child, StartError, status_words};
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

/// The time that a server may continue after its client is gone.
const AFTER_CLIENT: Duration = Duration::from_secs(5);
/// The time that a server's process and output may outlive each other.
const AFTER_EXIT: Duration = Duration::from_millis(300);
/// The lines of a standard error to show.
const MOST_STDERR_LINES: usize = 16;

/// The reason that no server can be connected.
#[derive(Debug, Error)]
pub(super) enum ConnectError {
    /// The command could not be started.
    #[error("cannot start it: {0}")]
    NotStarted(#[from] StartError),
    /// It has a URL instead.
    #[error("it is reached by its URL, not over a pipe")]
    NotAPipe,
}

/// Starts the server and passes messages on until one side ends. No process that it started
/// survives. Dropping the future ends it at once.
pub(super) async fn connect(
    endpoint: &Endpoint,
    interposer: Arc<dyn Interposer>,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> Result<(), ConnectError> {
    let OpenedPipe {
        reader,
        writer,
        child,
        unread: _,
    } = endpoint.open()?.ok_or(ConnectError::NotAPipe)?;
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
    if !by_server {
        interposed.client_gone();
    } else if let Some(why) = unanswered(&interposed, child.as_ref()).await {
        interposer.misbehaved(why);
    }
    if let Some(child) = child {
        child.end().await;
    }
    Ok(())
}

/// Why the server left requests unanswered, if it did.
async fn unanswered<O, E>(interposed: &Interposed<O, E>, child: Option<&Child>) -> Option<String>
where
    O: AsyncWrite + Unpin + Send + 'static,
    E: AsyncWrite + Unpin + Send + 'static,
{
    let why = why_gone(child).await;
    interposed
        .give_up(&format!("the server {why}"))
        .then_some(why)
}

async fn exited(child: Option<&Child>) {
    match child {
        Some(child) => {
            child.exited().await;
        }
        None => std::future::pending().await,
    }
}

/// Why a server ended while its client was still connected.
async fn why_gone(child: Option<&Child>) -> String {
    let Some(child) = child else {
        return "closed the connection".to_owned();
    };
    let Ok(Some(status)) = timeout(AFTER_EXIT, child.exited()).await else {
        return "closed its output".to_owned();
    };
    let status = status_words(status);
    match child.stderr().crash(MOST_STDERR_LINES) {
        crash if crash.excerpt.is_empty() => format!("exited with {status}"),
        crash => format!("exited with {status}{}", crash.said()),
    }
}
