//! How many resources of a server may one client use, and how large may a request be?

use bytes::Bytes;
use http::StatusCode;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body, Incoming};
use std::time::Duration;
use thiserror::Error;
use tokio::time::timeout;

/// Limits on what one client may use of a server.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The largest body of a request.
    pub body_bytes: usize,
    /// The maximum size of a request's head in bytes.
    pub header_bytes: usize,
    /// The maximum number of headers of a request.
    pub headers: usize,
    /// The time limit for the head of a connection's next request.
    pub header_timeout: Duration,
    /// The time limit for a client to send a body.
    pub body_timeout: Duration,
    /// The time limit for a client that does not read its answer.
    pub stall_timeout: Duration,
    /// The maximum number of connections. Above it, the longest idle one is closed for a new one.
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
    /// It exceeds the limit.
    #[error("the body is larger than the limit of {0} bytes")]
    TooLarge(usize),
    /// The connection broke.
    #[error("the body ended too early")]
    Cut,
    /// It arrived too slowly.
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
