//! What do mcptest's servers send over HTTP: a text with its type, events, or only a status?

use crate::Broken;
use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Body;

/// A response of ours.
pub type OwnResponse = Response<BoxBody<Bytes, Broken>>;

/// A JSON text.
pub fn json(status: StatusCode, text: String) -> OwnResponse {
    json_with(status, text, ())
}

/// A JSON response, and a value that is dropped once it is sent.
pub fn json_with(
    status: StatusCode,
    text: String,
    kept: impl Send + Sync + 'static,
) -> OwnResponse {
    let body = Full::from(text).map_err(move |never| {
        let _until_it_is_sent = &kept;
        match never {}
    });
    of_type("application/json", status, body)
}

/// A plain text.
pub fn plain(status: StatusCode, text: String) -> OwnResponse {
    of_type(
        "text/plain; charset=utf-8",
        status,
        Full::from(text).map_err(|never| match never {}),
    )
}

/// A response with only a status.
pub fn empty(status: StatusCode) -> OwnResponse {
    let mut response = Response::new(Full::default().map_err(|never| match never {}).boxed());
    *response.status_mut() = status;
    response
}

/// An event stream.
pub fn events(
    body: impl Body<Data = Bytes, Error = Broken> + Send + Sync + 'static,
) -> OwnResponse {
    let mut response = of_type("text/event-stream", StatusCode::OK, body);
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

fn of_type(
    kind: &'static str,
    status: StatusCode,
    body: impl Body<Data = Bytes, Error = Broken> + Send + Sync + 'static,
) -> OwnResponse {
    let mut response = Response::new(body.boxed());
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
