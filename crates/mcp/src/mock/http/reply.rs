//! Answers as HTTP: status, headers, body.

use super::body::ReplyBody;
use crate::jsonrpc::{Id, RpcError};
use crate::mock::audience::Seat;
use crate::mock::play::MockAnswer;
use crate::mock::render;
use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use tokio::sync::mpsc;

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
