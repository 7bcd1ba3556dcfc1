//! The proxy's own responses: a string with its type, or a status and nothing else.

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use mcptest_http::Broken;

/// The body of any response, made up by the proxy or on its way from the server.
pub(crate) type ResponseBody = BoxBody<Bytes, Broken>;

pub(crate) fn json(status: StatusCode, text: String) -> Response<ResponseBody> {
    text_of_type("application/json", status, text)
}

pub(crate) fn plain(status: StatusCode, text: String) -> Response<ResponseBody> {
    text_of_type("text/plain; charset=utf-8", status, text)
}

pub(crate) fn empty(status: StatusCode) -> Response<ResponseBody> {
    let mut response = Response::new(Full::default().map_err(|never| match never {}).boxed());
    *response.status_mut() = status;
    response
}

fn text_of_type(kind: &'static str, status: StatusCode, text: String) -> Response<ResponseBody> {
    let mut response = Response::new(Full::from(text).map_err(|never| match never {}).boxed());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
