//! Exchanges when faults are asked for: whole messages, some of which go wrong on purpose.

use super::exchange::{AnswerBody, Broken, Shared};
use super::scribe::{End, Seen, Side};
use crate::fault::{Action, Reply, Request, flood, refusal};
use crate::frame::DEFAULT_MAX_MESSAGE_BYTES;
use crate::jsonrpc::{self, Body, Id};
use crate::proxy::faulty::tool_of;
use crate::sse;
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use std::time::Instant;
use tokio::time::{sleep, sleep_until};

/// An answer, or the sentence that says why there is none.
type Answer = Result<Response<AnswerBody>, String>;

impl Shared {
    /// As without faults, but for requests that a fault strikes; an error closes the connection.
    pub(super) async fn ask_with_faults(
        &self,
        number: u64,
        path: &str,
        parts: Parts,
        body: Incoming,
    ) -> Result<Answer, Broken> {
        let asked = Instant::now();
        let body = Limited::new(body, DEFAULT_MAX_MESSAGE_BYTES).collect().await?.to_bytes();
        self.recorder
            .see(body.len(), Seen::Bytes { exchange: number, side: Side::Request, bytes: body.clone() });
        self.recorder.see(0, Seen::End { exchange: number, side: Side::Request, end: End::Whole });
        if self.injector.is_wedged() {
            return std::future::pending().await;
        }
        let Some((id, action)) = self.strike(number, &body) else {
            return Ok(self.ask(path, parts, whole(body)).await.map(|answer| self.pass_back(number, answer)));
        };
        match action.request {
            Request::Serve => {}
            Request::Ignore | Request::Wedge => return std::future::pending().await,
            Request::Disconnect => return Err("injected fault: disconnect".into()),
            refused => return Ok(Ok(self.pass_back(number, refused_answer(&id, refused)))),
        }
        let answer = match self.ask(path, parts, whole(body)).await {
            Ok(answer) => answer,
            Err(sentence) => return Ok(Err(sentence)),
        };
        if let Some(delay) = action.despite_cancel {
            sleep_until((asked + delay).into()).await;
        }
        if let Some(delay) = action.delay {
            sleep(delay).await;
        }
        if action.floods_stderr {
            write_flood().await;
        }
        match action.reply {
            Reply::Whole => Ok(Ok(self.pass_back(number, answer))),
            Reply::Lost => std::future::pending().await,
            reply => {
                let (head, body) = answer.into_parts();
                let body = Limited::new(body, DEFAULT_MAX_MESSAGE_BYTES).collect().await?.to_bytes();
                Ok(Ok(self.pass_back(number, altered(Response::from_parts(head, body), reply, &id))))
            }
        }
    }

    /// The request in a body and what goes wrong with it, if anything does.
    fn strike(&self, number: u64, body: &[u8]) -> Option<(Id, Action)> {
        let message = jsonrpc::parse(std::str::from_utf8(body).ok()?).ok()?;
        let Body::Request { id, method, params } = message.body else { return None };
        let action = self.injector.on_request(&method, params.and_then(tool_of).as_deref(), Instant::now());
        for fault in &action.faults {
            self.recorder.see(0, Seen::Fault { exchange: number, fault: fault.to_string() });
        }
        (!action.is_healthy()).then_some((id, action))
    }
}

fn whole(body: Bytes) -> Option<reqwest::Body> {
    (!body.is_empty()).then(|| body.into())
}

fn refused_answer(id: &Id, refused: Request) -> Response<Full<Bytes>> {
    let text = refusal(refused).map_or_else(String::new, |error| jsonrpc::error(Some(id), &error));
    let mut response = Response::new(Full::from(text));
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    if let Request::Limit { retry_after_s } = refused {
        *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(retry_after_s));
    }
    response
}

/// The answer with the message that answers `id` gone wrong; two messages need a stream.
fn altered(answer: Response<Bytes>, reply: Reply, id: &Id) -> Response<Full<Bytes>> {
    let (mut head, body) = answer.into_parts();
    let is_stream = head
        .headers
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .is_some_and(|kind| kind.starts_with("text/event-stream"));
    let text = String::from_utf8_lossy(&body).into_owned();
    let altered = if is_stream { altered_stream(&text, reply, id) } else { altered_body(text, reply) };
    if !is_stream && reply == Reply::Twice {
        head.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    }
    head.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(head, Full::from(altered))
}

fn altered_body(text: String, reply: Reply) -> String {
    match reply {
        Reply::Twice => reply.texts(text).iter().map(|text| message_event(text)).collect(),
        _ => reply.texts(text).concat(),
    }
}

fn message_event(text: &str) -> String {
    let data = Some(text.replace(['\r', '\n'], " "));
    sse::encode(&sse::Event { event: Some("message".to_owned()), data, ..sse::Event::default() })
}

fn altered_stream(text: &str, reply: Reply, id: &Id) -> String {
    let Ok(events) = sse::Parser::new(DEFAULT_MAX_MESSAGE_BYTES).feed(text.as_bytes()) else {
        return text.to_owned();
    };
    let answers = |data: &str| {
        matches!(
            jsonrpc::parse(data).map(|message| message.body),
            Ok(Body::Result { id: answered, .. } | Body::Error { id: Some(answered), .. }) if answered == *id
        )
    };
    let mut altered = String::new();
    for event in events {
        match event.data.clone().filter(|data| answers(data)) {
            Some(data) => {
                for data in reply.texts(data) {
                    altered.push_str(&sse::encode(&sse::Event { data: Some(data), ..event.clone() }));
                }
            }
            None => altered.push_str(&sse::encode(&event)),
        }
    }
    altered
}

async fn write_flood() {
    use tokio::io::AsyncWriteExt;
    let text: String = flood().collect();
    let mut errors = tokio::io::stderr();
    let _gone = errors.write_all(text.as_bytes()).await.is_ok() && errors.flush().await.is_ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &str = r#"{"jsonrpc":"2.0","id":7,"result":{}}"#;

    #[test]
    fn only_the_answer_of_a_stream_goes_wrong() {
        let note = r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#;
        let stream = format!("id: 1\ndata: {note}\n\nid: 2\ndata: {ANSWER}\n\n");
        let altered = altered_stream(&stream, Reply::Twice, &Id::Number(7));
        assert_eq!(altered.matches(note).count(), 1);
        assert_eq!(altered.matches(ANSWER).count(), 2);
        assert!(!altered_stream(&stream, Reply::WrongId, &Id::Number(7)).contains(ANSWER));
    }

    #[test]
    fn a_json_answer_that_comes_twice_becomes_a_stream() {
        let mut answer = Response::new(Bytes::from(ANSWER));
        answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let altered = altered(answer, Reply::Twice, &Id::Number(7));
        assert_eq!(altered.headers()[header::CONTENT_TYPE], "text/event-stream");
    }
}
