//! Observed exchanges: whole messages, some of which are changed.

use super::TargetError;
use super::entries::{BodyEnd, HttpSeen};
use super::events::follow;
use super::exchange::{HttpProxy, session_of};
use super::waiting::{Held, SessionId};
use crate::fault::flood;
use crate::frame::DEFAULT_MAX_MESSAGE_BYTES;
use crate::jsonrpc::{self, Body, Message};
use crate::proxy::interpose::{
    ClientRequest, Instead, Interposer, RequestFate, Taken, WatchedReply,
};
use crate::sse;
use crate::tape::{Direction, Event};
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, Limited};
use mcptest_http::response::OwnResponse;
use mcptest_http::{Broken, media_type};
use std::sync::Arc;
use std::time::Instant;
use tokio::time::sleep;

/// An answer, or why the target gave none.
type ProxyResponse = Result<OwnResponse, TargetError>;

impl HttpProxy {
    /// Passes a request on, unless the interposer takes it. An error closes the connection.
    pub(super) async fn ask_interposed(
        self: &Arc<Self>,
        number: u64,
        path: &str,
        (parts, body): (Parts, Bytes),
        interposer: &dyn Interposer,
    ) -> Result<ProxyResponse, Broken> {
        self.note_request(number, &body);
        if !interposer.lets_pass() {
            return std::future::pending().await;
        }
        let session = session_of(&parts.headers);
        let message = std::str::from_utf8(&body)
            .ok()
            .and_then(|text| jsonrpc::parse(text).ok());
        let Some(Message {
            body: Body::Request { id, method, params },
            ..
        }) = message
        else {
            if message.is_some_and(|message| self.is_ignored_cancel(&session, &message.body)) {
                return Ok(Ok(self.pass_back(number, accepted())));
            }
            return Ok(self.pass_on(number, path, parts, body).await);
        };
        let Taken { onward, faults } = interposer.asked(ClientRequest {
            id: &id,
            method: &method,
            params,
        });
        self.note_faults(number, faults);
        match onward {
            RequestFate::Pass => Ok(self.pass_on(number, path, parts, body).await),
            RequestFate::Watch(watch) => {
                let held = self.waiting.hold(session, id, watch);
                self.ask_watched(number, path, (parts, body), held).await
            }
            RequestFate::Swallow(watch) => {
                let _held = watch.map(|watch| self.waiting.hold(session, id, watch));
                std::future::pending().await
            }
            RequestFate::Disconnect => Err("injected fault: disconnect".into()),
            RequestFate::Answer(instead) => {
                sleep(instead.hold).await;
                Ok(Ok(self.pass_back(number, instead_of_answer(instead))))
            }
        }
    }

    /// Passes on a request with a waiting observer.
    async fn ask_watched(
        self: &Arc<Self>,
        number: u64,
        path: &str,
        (parts, body): (Parts, Bytes),
        held: Held,
    ) -> Result<ProxyResponse, Broken> {
        let session = session_of(&parts.headers);
        match self.ask(path, parts, whole(body)).await {
            Err(error) => {
                held.unanswered(&error.to_string());
                Ok(Err(error))
            }
            Ok(answer) if is_stream(&answer) => {
                Ok(Ok(self.follow(number, answer, session, Some(held))))
            }
            Ok(answer) => Ok(Ok(self.answer_whole(number, answer, held).await?)),
        }
    }

    /// Returns true for a cancellation that the target must not see, because the answer must arrive
    /// anyway.
    fn is_ignored_cancel(&self, session: &SessionId, body: &Body<'_>) -> bool {
        body.cancelled_id()
            .is_some_and(|id| !self.waiting.cancelled(session, &id))
    }

    /// Puts the whole body of a request on the tape.
    fn note_request(&self, number: u64, body: &Bytes) {
        let bytes = HttpSeen::Bytes {
            from: Direction::Client,
            bytes: body.clone(),
        };
        self.recorder.see(body.len(), (number, bytes));
        let end = HttpSeen::End {
            from: Direction::Client,
            end: BodyEnd::Whole,
        };
        self.recorder.see(0, (number, end));
    }

    fn note_faults(&self, number: u64, faults: Vec<String>) {
        for fault in faults {
            self.recorder
                .see(0, (number, HttpSeen::Event(Event::Fault { fault })));
        }
    }

    /// Passes on messages without an observer. A stream may still carry awaited answers.
    async fn pass_on(
        self: &Arc<Self>,
        number: u64,
        path: &str,
        parts: Parts,
        body: Bytes,
    ) -> ProxyResponse {
        let is_standing_stream = parts.method == Method::GET;
        let session = session_of(&parts.headers);
        let answer = self.ask(path, parts, whole(body)).await?;
        if is_standing_stream && is_stream(&answer) {
            return Ok(self.follow(number, answer, session, None));
        }
        Ok(self.pass_back(number, answer))
    }

    fn follow(
        self: &Arc<Self>,
        number: u64,
        answer: Response<reqwest::Body>,
        session: SessionId,
        held: Option<Held>,
    ) -> OwnResponse {
        let (mut head, body) = answer.into_parts();
        head.headers.remove(header::CONTENT_LENGTH);
        self.pass_back(
            number,
            Response::from_parts(head, follow(Arc::clone(self), body, session, held)),
        )
    }

    /// The whole answer, as the observer changes it, or verbatim.
    async fn answer_whole(
        &self,
        number: u64,
        answer: Response<reqwest::Body>,
        held: Held,
    ) -> Result<OwnResponse, Broken> {
        let (mut head, body) = answer.into_parts();
        let body = match Limited::new(body, DEFAULT_MAX_MESSAGE_BYTES)
            .collect()
            .await
        {
            Ok(body) => body.to_bytes(),
            Err(broken) => {
                held.unanswered("the answer ended too early");
                return Err(broken);
            }
        };
        let reply = reply_to(head.status, &body, &held);
        self.wait(&reply, held.asked()).await;
        if !reply.is_withheld() {
            held.delivered();
        }
        let Some(texts) = reply.texts else {
            return Ok(self.pass_back(number, Response::from_parts(head, Full::from(body))));
        };
        if texts.is_empty() {
            return std::future::pending().await;
        }
        let text = body_of(&texts, &mut head.headers);
        head.headers.remove(header::CONTENT_LENGTH);
        Ok(self.pass_back(number, Response::from_parts(head, Full::from(text))))
    }

    /// Waits for the delay of an answer.
    pub(super) async fn wait(&self, reply: &WatchedReply, asked: Instant) {
        reply.wait(asked).await;
        if reply.floods_stderr {
            write_flood().await;
        }
    }
}

/// The observer's reply to a body, which may be to send no answer.
fn reply_to(status: StatusCode, body: &[u8], held: &Held) -> WatchedReply {
    let text = std::str::from_utf8(body).unwrap_or_default();
    match jsonrpc::parse(text) {
        Ok(message) if message.body.answered_id().is_some_and(|id| held.is_of(id)) => {
            held.answered(&message.body, text)
        }
        _ => {
            held.unanswered(&unreadable(status, text));
            WatchedReply::default()
        }
    }
}

/// The body for these messages: one verbatim, several as a stream of events.
fn body_of(texts: &[String], headers: &mut HeaderMap) -> String {
    if let [text] = texts {
        return text.clone();
    }
    let events = HeaderValue::from_static("text/event-stream");
    headers.insert(header::CONTENT_TYPE, events);
    texts.iter().map(|text| event_of(text)).collect()
}

/// A message as an event of a stream.
fn event_of(text: &str) -> String {
    sse::encode(&sse::message(jsonrpc::one_line(text).into_owned()))
}

fn is_stream<B>(answer: &Response<B>) -> bool {
    media_type(answer.headers()).as_deref() == Some("text/event-stream")
}

/// The message that arrived instead of an answer.
fn unreadable(status: StatusCode, text: &str) -> String {
    match jsonrpc::excerpt(text.trim()) {
        text if text.is_empty() => {
            format!("the server answered only with HTTP {status}")
        }
        text => format!("the server answered with HTTP {status} and no JSON-RPC answer: {text}"),
    }
}

fn whole(body: Bytes) -> Option<reqwest::Body> {
    (!body.is_empty()).then(|| body.into())
}

fn accepted() -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}

fn instead_of_answer(instead: Instead) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(instead.text));
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    if let Some(retry_after_s) = instead.retry_after_s {
        *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, HeaderValue::from(retry_after_s));
    }
    response
}

async fn write_flood() {
    use tokio::io::AsyncWriteExt;
    let text: String = flood().collect();
    let mut errors = tokio::io::stderr();
    let _gone = errors.write_all(text.as_bytes()).await.is_ok() && errors.flush().await.is_ok();
}
