//! Answers as HTTP: status, headers, body.

use crate::jsonrpc::{Id, RpcError};
use crate::mock::audience::Seat;
use crate::mock::deliver::DeferredChanges;
use crate::mock::play::MockAnswer;
use crate::mock::render;
use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use hyper::body::{Body, Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Interval, MissedTickBehavior};

/// What hyper is given.
pub(super) type HttpReply = Response<ReplyBody>;

/// A JSON message.
pub(super) fn json(status: u16, text: String) -> HttpReply {
    let mut reply = Response::new(ReplyBody::text(text));
    *reply.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    reply.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    reply
}

/// The answer to a request; what it changed is told when it is sent.
pub(super) fn answer(status: u16, answer: MockAnswer) -> HttpReply {
    let mut reply = json(status, answer.text);
    if let ReplyBody::Text { deferred, .. } = reply.body_mut() {
        *deferred = answer.deferred;
    }
    reply
}

/// A JSON-RPC error that belongs to no era.
pub(super) fn refusal(status: StatusCode, id: Option<&Id>, error: &RpcError) -> HttpReply {
    json(status.as_u16(), render::error(id, error))
}

/// A plain refusal, as a JSON-RPC error without an id.
pub(super) fn refused(status: StatusCode, message: impl Into<String>) -> HttpReply {
    refusal(status, None, &RpcError::new(crate::jsonrpc::code::INVALID_REQUEST, message))
}

/// A status and nothing else.
pub(super) fn empty(status: StatusCode) -> HttpReply {
    let mut reply = Response::new(ReplyBody::text(Bytes::new()));
    *reply.status_mut() = status;
    reply
}

/// An event stream.
pub(super) fn events(receiver: mpsc::Receiver<Bytes>, seat: Option<Seat>) -> HttpReply {
    let mut reply = Response::new(ReplyBody::events(receiver, seat));
    let headers = reply.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    reply
}

/// With one more header.
pub(super) fn with(mut reply: HttpReply, name: &'static str, value: &str) -> HttpReply {
    if let Ok(value) = HeaderValue::from_str(value) {
        reply.headers_mut().insert(name, value);
    }
    reply
}

/// How often a silent stream shows that it is alive.
const HEARTBEAT: Duration = Duration::from_secs(20);

/// What is sent back.
#[derive(Debug)]
pub(super) enum ReplyBody {
    /// All of it, until it is taken, and what is told after it.
    Text { bytes: Option<Bytes>, deferred: Option<DeferredChanges> },
    /// Events.
    Events(Box<Events>),
}

/// An event stream.
#[derive(Debug)]
pub(super) struct Events {
    receiver: mpsc::Receiver<Bytes>,
    heartbeat: Interval,
    /// Held while the stream is open, for one that listens to changes.
    _seat: Option<Seat>,
}

impl ReplyBody {
    pub(super) fn text(text: impl Into<Bytes>) -> Self {
        let bytes = text.into();
        Self::Text { bytes: (!bytes.is_empty()).then_some(bytes), deferred: None }
    }

    pub(super) fn events(receiver: mpsc::Receiver<Bytes>, seat: Option<Seat>) -> Self {
        let mut heartbeat = tokio::time::interval_at(tokio::time::Instant::now() + HEARTBEAT, HEARTBEAT);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self::Events(Box::new(Events { receiver, heartbeat, _seat: seat }))
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Self::Text { bytes, .. } => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Events(events) => {
                if let Poll::Ready(event) = events.receiver.poll_recv(context) {
                    return Poll::Ready(event.map(|bytes| Ok(Frame::data(bytes))));
                }
                if events.heartbeat.poll_tick(context).is_ready() {
                    return Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b": alive\n\n")))));
                }
                Poll::Pending
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Text { bytes: None, .. })
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Text { bytes, .. } => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Self::Events(_) => SizeHint::default(),
        }
    }
}
