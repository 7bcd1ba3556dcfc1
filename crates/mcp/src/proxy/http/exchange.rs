//! How are one request and its whole answer passed on?

use super::entries::{AnswerHead, HttpSeen, Seen};
use super::headers::{end_to_end, for_target};
use super::tee::{Lent, Tee};
use super::waiting::{OpenRequests, SessionId};
use super::{Target, TargetError};
use crate::frame::DEFAULT_MAX_MESSAGE_BYTES;
use crate::jsonrpc;
use crate::proxy::bare::Bare;
use crate::proxy::interpose::Interposer;
use crate::proxy::record::Recorder;
use crate::tape::Direction;
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, Request, Response, StatusCode, header};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use mcptest_http::response::{self, OwnResponse};
use mcptest_http::{Broken, Guard, Limits, header_text, root_cause};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The time to read the rest of a request that cannot be passed on.
const LAST_WORDS: Duration = Duration::from_secs(1);
const SESSION_ID: &str = "mcp-session-id";

/// The state shared by all exchanges.
pub(super) struct HttpProxy {
    pub(super) client: reqwest::Client,
    pub(super) target: Target,
    pub(super) guard: Guard,
    /// The additional headers of every request.
    pub(super) headers: HeaderMap,
    pub(super) interposer: Option<Arc<dyn Interposer>>,
    pub(super) waiting: OpenRequests,
    pub(super) recorder: Recorder<Seen>,
    pub(super) exchanges: AtomicU64,
}

impl HttpProxy {
    /// A proxy that neither inspects traffic nor refuses clients.
    pub(super) fn new(client: reqwest::Client, target: Target, recorder: Recorder<Seen>) -> Self {
        Self {
            client,
            target,
            guard: Guard::default(),
            headers: HeaderMap::new(),
            interposer: None,
            waiting: OpenRequests::default(),
            recorder,
            exchanges: AtomicU64::new(0),
        }
    }

    /// Passes on a request from a private address, and its answer.
    pub(super) async fn exchange_behind(
        self: &Arc<Self>,
        bare: &Bare,
        path: String,
        parts: Parts,
        body: Incoming,
    ) -> Result<OwnResponse, Broken> {
        let Some(interposer) = &self.interposer else {
            return Err("no server is behind this address".into());
        };
        let body = limits().read(body).await?;
        let message = std::str::from_utf8(&body)
            .ok()
            .and_then(|text| jsonrpc::parse(text).ok());
        if let Some(message) = message.filter(|message| Bare::is_meant(&parts, &message.body)) {
            return Ok(bare.answer(&message.body).await);
        }
        let path = self.target.with_own_query(path);
        let answer = self
            .ask_interposed(0, &path, (parts, body), interposer.as_ref())
            .await?;
        Ok(answer.unwrap_or_else(|error| self.bad_gateway(0, &error)))
    }

    /// Passes on a request and its answer.
    pub(super) async fn exchange(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<OwnResponse, Broken> {
        let number = self.exchanges.fetch_add(1, Ordering::Relaxed) + 1;
        let path = request
            .uri()
            .path_and_query()
            .map_or("/", |path| path.as_str())
            .to_owned();
        let begin = HttpSeen::Begin {
            method: request.method().to_string(),
            path: path.clone(),
            session: text_of(request.headers(), SESSION_ID),
        };
        self.recorder.see(0, (number, begin));
        if let Some((status, sentence)) = self.guard.refusal(request.uri(), request.headers()) {
            return Ok(self.refuse(number, status, sentence));
        }
        let mut waiting = WaitingClient {
            recorder: self.recorder.clone(),
            exchange: number,
            is_over: false,
        };
        let (parts, body) = request.into_parts();
        let answer = if let Some(interposer) = &self.interposer {
            let body = limits().read(body).await?;
            self.ask_interposed(number, &path, (parts, body), interposer.as_ref())
                .await?
        } else {
            self.ask_unchanged(number, &path, parts, body).await
        };
        waiting.is_over = true;
        Ok(answer.unwrap_or_else(|error| self.bad_gateway(number, &error)))
    }

    /// Passes a request on, and its answer back, byte by byte.
    async fn ask_unchanged(
        &self,
        number: u64,
        path: &str,
        parts: Parts,
        body: Incoming,
    ) -> Result<OwnResponse, TargetError> {
        let has_body = !body.is_end_stream();
        let body = Lent::new(Tee::new(
            body,
            self.recorder.clone(),
            number,
            Direction::Client,
        ));
        let lent = has_body.then(|| reqwest::Body::wrap(body.again()));
        let answer = self.ask(path, parts, lent).await;
        if answer.is_err() {
            let _slow = tokio::time::timeout(LAST_WORDS, read_out(body)).await;
        }
        answer.map(|answer| self.pass_back(number, answer))
    }

    /// Sends the request to the target.
    pub(super) async fn ask(
        &self,
        path: &str,
        parts: Parts,
        body: Option<reqwest::Body>,
    ) -> Result<Response<reqwest::Body>, TargetError> {
        let url = self.target.with_path(path)?;
        let mut headers = for_target(&parts.headers);
        for name in self.headers.keys() {
            headers.remove(name);
        }
        headers.extend(self.headers.clone());
        let mut asked = self.client.request(parts.method, url).headers(headers);
        if let Some(body) = body {
            asked = asked.body(body);
        }
        let unreachable = |error| TargetError::Unreachable {
            authority: self.target.authority(),
            reason: root_cause(&error),
        };
        let answer = asked.send().await.map_err(unreachable)?;
        Ok(answer.into())
    }

    /// The answer for the client, recorded in passing.
    pub(super) fn pass_back<B>(&self, number: u64, answer: Response<B>) -> OwnResponse
    where
        B: Body<Data = Bytes> + Send + Sync + Unpin + 'static,
        B::Error: Into<Broken>,
    {
        let (mut parts, body) = answer.into_parts();
        let head = AnswerHead {
            status: parts.status.as_u16(),
            content_type: text_of(&parts.headers, header::CONTENT_TYPE.as_str()),
            encoding: text_of(&parts.headers, header::CONTENT_ENCODING.as_str()),
            session: text_of(&parts.headers, SESSION_ID),
        };
        self.recorder.see(0, (number, HttpSeen::Head(head)));
        parts.headers = end_to_end(&parts.headers);
        let body = Tee::new(body, self.recorder.clone(), number, Direction::Server);
        let mut response = Response::new(body.map_err(Into::into).boxed());
        *response.status_mut() = parts.status;
        *response.headers_mut() = parts.headers;
        response
    }

    fn bad_gateway(&self, number: u64, error: &TargetError) -> OwnResponse {
        self.refuse(number, StatusCode::BAD_GATEWAY, error.to_string())
    }

    /// An answer of the proxy's own.
    fn refuse(&self, number: u64, status: StatusCode, sentence: String) -> OwnResponse {
        let body = format!("mcptest proxy: {sentence}\n");
        let refused = HttpSeen::Refused {
            status: status.as_u16(),
            sentence,
        };
        self.recorder.see(body.len(), (number, refused));
        response::plain(status, body)
    }
}

/// The limits for messages, as on a pipe. Open connections are closed when the proxy ends.
pub(crate) fn limits() -> Limits {
    Limits {
        body_bytes: DEFAULT_MAX_MESSAGE_BYTES,
        grace: Duration::ZERO,
        ..Limits::default()
    }
}

/// Reads the rest of a body, so that the tape contains it.
async fn read_out(mut body: Lent<Tee<Incoming>>) {
    while let Some(Ok(_)) = body.frame().await {}
}

/// Detects a client that leaves while it waits: the exchange is then dropped.
struct WaitingClient {
    recorder: Recorder<Seen>,
    exchange: u64,
    is_over: bool,
}

impl Drop for WaitingClient {
    fn drop(&mut self) {
        if !self.is_over {
            self.recorder.see(0, (self.exchange, HttpSeen::Abandoned));
        }
    }
}

fn text_of(headers: &HeaderMap, name: &str) -> Option<String> {
    header_text(headers, name).map(str::to_owned)
}

/// The session that a request belongs to.
pub(super) fn session_of(headers: &HeaderMap) -> SessionId {
    text_of(headers, SESSION_ID)
}
