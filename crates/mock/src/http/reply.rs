//! Answers as HTTP: status, headers, body.

use crate::audience::AudienceMember;
use crate::pending_request::MockAnswer;
use crate::render;
use bytes::Bytes;
use http::{HeaderValue, StatusCode};
use hyper::body::{Body, Frame};
use mcptest_http::Broken;
use mcptest_http::response::{self, OwnResponse};
use mcptest_mcp::jsonrpc::{Id, RpcError, code};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Interval, MissedTickBehavior};

/// The answer to a request. Its changes are announced when it is sent.
pub(super) fn answer(status: u16, answer: MockAnswer) -> OwnResponse {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    response::json_with(status, answer.text, answer.deferred)
}

/// A JSON-RPC error outside both protocols.
pub(super) fn refusal(status: StatusCode, id: Option<&Id>, error: &RpcError) -> OwnResponse {
    response::json(status, render::error(id, error))
}

/// A plain refusal, as a JSON-RPC error without an id.
pub(super) fn refused(status: StatusCode, message: impl Into<String>) -> OwnResponse {
    refusal(status, None, &RpcError::new(code::INVALID_REQUEST, message))
}

/// An event stream.
pub(super) fn events(receiver: mpsc::Receiver<Bytes>, seat: Option<AudienceMember>) -> OwnResponse {
    let mut heartbeat =
        tokio::time::interval_at(tokio::time::Instant::now() + HEARTBEAT, HEARTBEAT);
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    response::events(Events {
        receiver,
        heartbeat,
        _seat: seat,
    })
}

/// Adds a header.
pub(super) fn with(mut reply: OwnResponse, name: &'static str, value: &str) -> OwnResponse {
    if let Ok(value) = HeaderValue::from_str(value) {
        reply.headers_mut().insert(name, value);
    }
    reply
}

/// The interval at which a silent stream shows that it is alive.
const HEARTBEAT: Duration = Duration::from_secs(20);

/// The body of an event stream.
#[derive(Debug)]
struct Events {
    receiver: mpsc::Receiver<Bytes>,
    heartbeat: Interval,
    /// Held while the stream is open, for a client that listens to changes.
    _seat: Option<AudienceMember>,
}

impl Body for Events {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        if let Poll::Ready(event) = self.receiver.poll_recv(context) {
            return Poll::Ready(event.map(|bytes| Ok(Frame::data(bytes))));
        }
        let alive = || Some(Ok(Frame::data(Bytes::from_static(b": alive\n\n"))));
        self.heartbeat.poll_tick(context).map(|_| alive())
    }
}
