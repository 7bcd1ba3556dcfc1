//! In which way did the server break what was agreed?

use crate::jsonrpc::{Malformed, RpcError};
use mcptest_process::StartError;
use std::time::Duration;

/// Every way in which a request can fail, with the evidence.
#[derive(Debug, Clone, PartialEq)]
pub enum Misbehaviour {
    /// Its program could not be started.
    CannotStart(StartError),
    /// Its process ended.
    Exited {
        /// The time of the failure.
        moment: Moment,
        /// The exit status in words. `None` if it is unknown.
        status: Option<String>,
    },
    /// Its output ended, though its process runs on.
    ClosedOutput {
        /// The time of the failure.
        moment: Moment,
    },
    /// No answer in time.
    NoAnswer {
        /// The time waited.
        after: Duration,
        /// True if the server did not even read the request from the pipe.
        unread: bool,
    },
    /// No first answer in time: the server is slow to start, or does not start.
    NoFirstAnswer {
        /// The time waited.
        after: Duration,
        /// True if the server did not even read the request from the pipe.
        unread: bool,
    },
    /// An answer that is not a JSON-RPC message.
    Malformed {
        /// Why it is not a message.
        why: Malformed,
        /// Its beginning.
        text: String,
    },
    /// An answer with a wrong id, although only one was possible.
    WrongId {
        /// The request's.
        asked: String,
        /// The answer's.
        answered: String,
    },
    /// A message past the size limit.
    TooLong {
        /// Its size, if known.
        bytes: Option<usize>,
        /// The limit.
        limit: usize,
    },
    /// An answer that is not UTF-8.
    NotUtf8 {
        /// Its beginning, with the invalid bytes replaced.
        text: String,
    },
    /// An error that belongs to no request, while only one was open.
    ErrorWithoutId {
        /// The error.
        error: RpcError,
    },
    /// The handshake was answered with an error.
    Refused {
        /// The error.
        error: RpcError,
    },
    /// A protocol version that does not exist.
    UnknownVersion {
        /// The version that was offered.
        offered: String,
        /// The server's answer.
        answered: String,
    },
    /// No version that both sides speak.
    NoCommonVersion {
        /// The server's versions.
        supported: Vec<String>,
    },
    /// A result that lacks required members of its method.
    BadResult {
        /// The problem.
        why: String,
    },
    /// A list that begins again.
    RepeatingCursor {
        /// The repeated cursor.
        cursor: String,
        /// The number of pages read.
        pages: usize,
    },
    /// A list without an end.
    TooManyPages {
        /// The number of pages read.
        pages: usize,
    },
    /// A call that never has enough input.
    TooManyRounds {
        /// The number of repetitions.
        rounds: usize,
    },
    /// A call that needs input that the client does not give.
    InputRefused {
        /// The server's request.
        method: String,
        /// The error that answers it.
        error: RpcError,
    },
    /// The address cannot be used.
    BadAddress {
        /// The address.
        url: String,
        /// Why not.
        why: String,
    },
    /// A header cannot be sent.
    BadHeader {
        /// The name of the header.
        name: String,
    },
    /// No server listens at the address.
    ConnectionRefused {
        /// The address.
        address: String,
    },
    /// The host has no address.
    UnknownHost {
        /// The host.
        host: String,
    },
    /// The encrypted connection failed.
    Tls {
        /// The address.
        url: String,
        /// Why.
        why: String,
    },
    /// No connection in time.
    ConnectTimeout {
        /// The address.
        url: String,
        /// The time waited.
        after: Duration,
    },
    /// The connection broke before an answer.
    ConnectionLost {
        /// The address.
        url: String,
        /// Why.
        why: String,
    },
    /// An HTTP redirect, which the client does not follow.
    Redirect {
        /// The HTTP status.
        status: u16,
        /// Its target.
        location: Option<String>,
    },
    /// HTTP 401.
    Unauthorized {
        /// The `WWW-Authenticate` header.
        challenge: Option<String>,
        /// True if an `Authorization` header was sent.
        had_credentials: bool,
        /// The beginning of the answer.
        body: String,
    },
    /// HTTP 403.
    Forbidden {
        /// The beginning of the answer.
        body: String,
    },
    /// HTTP 404.
    NotFound {
        /// The address.
        url: String,
        /// The beginning of the answer.
        body: String,
    },
    /// The session ended, and a new one did not help.
    SessionExpired,
    /// HTTP 429 or 503 that waiting did not help.
    TryLater {
        /// The HTTP status.
        status: u16,
        /// The `Retry-After` header.
        retry_after: Option<String>,
        /// The number of tries.
        tries: usize,
        /// The beginning of the answer.
        body: String,
    },
    /// HTTP 5xx.
    ServerError {
        /// The HTTP status.
        status: u16,
        /// The beginning of the answer.
        body: String,
    },
    /// Any other HTTP status.
    UnexpectedStatus {
        /// The HTTP status.
        status: u16,
        /// The beginning of the answer.
        body: String,
    },
    /// A web page.
    Html {
        /// The HTTP status.
        status: u16,
        /// Its title, or its first words.
        start: String,
    },
    /// A body of a type that is neither JSON nor an event stream.
    WrongContentType {
        /// The content type. `None` if it is missing.
        found: Option<String>,
        /// The beginning of the answer.
        body: String,
    },
    /// An answer without a body.
    EmptyBody {
        /// The HTTP status.
        status: u16,
    },
    /// A body that ended too early.
    TruncatedBody {
        /// The number of bytes received.
        bytes: usize,
        /// The connection's error.
        why: String,
    },
    /// An event stream that ended before the answer.
    StreamCut {
        /// The number of events received.
        events: usize,
        /// True if it ended inside an event.
        inside_event: bool,
        /// The number of resumptions.
        resumed: usize,
        /// The connection's error, if it broke.
        why: Option<String>,
    },
}

/// The time at which a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Before the handshake was done.
    Handshake,
    /// While the request was open.
    Pending,
    /// Before the request was sent.
    Before,
}
