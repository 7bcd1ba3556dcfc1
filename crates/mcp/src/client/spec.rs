//! Which server is connected to, over what, and with how much patience?

use super::Responses;
use crate::era::Era;
use crate::frame::DEFAULT_MAX_MESSAGE_BYTES;
use mcptest_process::{Child, StartError, UnreadInput, start_server};
use serde_json::Value;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};

/// The time limit of a request, unless a server sets one.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
/// The default time limit of a server's first answer: the server may have to be downloaded first.
pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(60);

/// One server, ready to connect to: every variable is filled in.
#[derive(Debug, Clone)]
pub struct ServerSpec {
    /// Its name in messages.
    pub name: String,
    /// Its address or command.
    pub endpoint: Endpoint,
    /// The protocol to use.
    pub era: Option<Era>,
    /// The time limit of a request.
    pub timeout: Duration,
    /// The time limit of the start and the first answer.
    pub connect_timeout: Duration,
    /// The scope of `timeout`.
    pub timeout_scope: TimeoutScope,
    /// The largest message to accept.
    pub max_message_bytes: usize,
    /// The capabilities to declare; `None` declares our own.
    pub capabilities: Option<Value>,
    /// The answers to the server's requests.
    pub responses: Responses,
    /// The observer of a late first answer.
    pub on_late: OnLate,
}

/// The scope of a time limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeoutScope {
    /// Each request separately; the first answer has its own limit.
    EachRequest,
    /// The connection and all its requests together.
    WholeConnection,
}

/// Reports, once per connection, that a first answer is late: the server may be downloading, or
/// hang.
#[derive(Clone, Default)]
pub struct OnLate(pub Option<TellLate>);

/// A function that receives the late server.
pub type TellLate = Arc<dyn Fn(&ServerSpec) + Send + Sync>;

impl fmt::Debug for OnLate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnLate")
    }
}

/// The address of a server.
#[derive(Clone)]
pub enum Endpoint {
    /// A program on its standard streams.
    Command {
        /// The program and its arguments.
        words: Vec<String>,
        /// Environment variables besides the usual ones of every program.
        env: Vec<(String, String)>,
        /// The folder it starts in.
        cwd: Option<PathBuf>,
    },
    /// A streamable HTTP endpoint.
    Url {
        /// The address.
        url: String,
        /// Headers of every request. Their values are never shown.
        headers: Vec<(String, String)>,
    },
    /// A server in this process, over a byte pipe. Called once for each connection.
    Pipe(Pipe),
}

/// Opens a connection to a server in this process: the end for reading, and the end for writing.
pub type Pipe = Arc<dyn Fn() -> (BoxedReader, BoxedWriter) + Send + Sync>;
/// The end to read from.
pub type BoxedReader = Box<dyn AsyncRead + Send + Unpin>;
/// The end to write to.
pub type BoxedWriter = Box<dyn AsyncWrite + Send + Unpin>;

/// A pipe to a server.
pub(crate) struct OpenedPipe {
    pub(crate) reader: BoxedReader,
    pub(crate) writer: BoxedWriter,
    /// Its process, if one was started.
    pub(crate) child: Option<Child>,
    /// A watch on the input that the process has not read, if the system has one.
    pub(crate) unread: Option<UnreadInput>,
}

impl Endpoint {
    /// Starts the program, or opens the pipe; `None` for an address.
    pub(crate) fn open(&self) -> Result<Option<OpenedPipe>, StartError> {
        match self {
            Self::Command { words, env, cwd } => {
                let (child, started) = start_server(words, env, cwd.as_deref())?;
                let unread = UnreadInput::watch(&started.stdin);
                Ok(Some(OpenedPipe {
                    reader: Box::new(started.stdout),
                    writer: Box::new(started.stdin),
                    child: Some(child),
                    unread,
                }))
            }
            Self::Pipe(open) => {
                let (reader, writer) = open();
                Ok(Some(OpenedPipe {
                    reader,
                    writer,
                    child: None,
                    unread: None,
                }))
            }
            Self::Url { .. } => Ok(None),
        }
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command { words, cwd, .. } => f
                .debug_struct("Command")
                .field("words", words)
                .field("cwd", cwd)
                .finish_non_exhaustive(),
            Self::Url { url, .. } => f
                .debug_struct("Url")
                .field("url", url)
                .finish_non_exhaustive(),
            Self::Pipe(_) => f.write_str("Pipe"),
        }
    }
}

impl ServerSpec {
    /// A server with the default patience.
    pub fn new(name: impl Into<String>, endpoint: Endpoint) -> Self {
        Self {
            name: name.into(),
            endpoint,
            era: None,
            timeout: DEFAULT_TIMEOUT,
            connect_timeout: DEFAULT_CONNECT_TIMEOUT,
            timeout_scope: TimeoutScope::EachRequest,
            max_message_bytes: DEFAULT_MAX_MESSAGE_BYTES,
            capabilities: None,
            responses: Responses::default(),
            on_late: OnLate::default(),
        }
    }

    /// A program on its standard streams.
    pub fn command(
        name: impl Into<String>,
        words: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let words = words.into_iter().map(Into::into).collect();
        Self::new(
            name,
            Endpoint::Command {
                words,
                env: Vec::new(),
                cwd: None,
            },
        )
    }

    /// A streamable HTTP endpoint.
    pub fn url(name: impl Into<String>, url: impl Into<String>) -> Self {
        Self::new(
            name,
            Endpoint::Url {
                url: url.into(),
                headers: Vec::new(),
            },
        )
    }
}
