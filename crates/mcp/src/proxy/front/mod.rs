//! How is a server that speaks over a pipe reached by a URL?

mod session;

use super::bare::Bare;
use super::http::{Channel, PrivatePath, limits};
use crate::client::Pipe;
use crate::era::meta;
use crate::jsonrpc::{self, Body, Id, RpcError, code};
use crate::sse;
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use hyper::body::Incoming;
use mcptest_http::response::{self, OwnResponse, empty, json};
use mcptest_http::{Broken, header_text};
use parking_lot::Mutex;
use serde_json::value::RawValue;
use session::{Asking, LineSession, ServerMessage};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::mpsc;

const SESSION_ID: &str = "mcp-session-id";

/// A server on a pipe, as streamable HTTP: one connection per session, and one for all requests
/// without a session.
pub(super) struct Front {
    pub(super) private_path: PrivatePath,
    pub(super) open: Pipe,
    pub(super) bare: Bare,
    pub(super) sessions: Mutex<FrontSessions>,
}

#[derive(Default)]
pub(super) struct FrontSessions {
    count: u64,
    named: BTreeMap<String, Arc<LineSession>>,
    unnamed: Option<Arc<LineSession>>,
    /// A session whose server refused the first request of the modern protocol.
    refused: Option<Arc<LineSession>>,
}

impl FrontSessions {
    /// The session of a client that repeats a refused request in the other protocol on the same
    /// connection, or a new session.
    fn refused_or_new(&mut self, open: &Pipe) -> Arc<LineSession> {
        let refused = self.refused.take().filter(|session| !session.is_over());
        refused.unwrap_or_else(|| Arc::new(LineSession::new(open())))
    }
}

/// The session in the headers of a request.
enum NamedSession {
    Nothing,
    Open(Arc<LineSession>),
    Over,
}

/// A received request.
struct PostedRequest<'a> {
    id: Id,
    method: &'a str,
    params: Option<&'a RawValue>,
    text: &'a str,
}

impl PostedRequest<'_> {
    /// Returns true if the request names its protocol version, as each request without a session does.
    fn is_modern(&self) -> bool {
        self.params
            .is_some_and(|params| params.get().contains(meta::PROTOCOL_VERSION))
    }
}

impl Front {
    pub(super) async fn exchange(
        self: Arc<Self>,
        request: Request<Incoming>,
    ) -> Result<OwnResponse, Broken> {
        let (parts, body) = request.into_parts();
        if let Err(refused) = self.private_path.path_behind(&parts) {
            return Ok(refused);
        }
        match parts.method {
            Method::POST => {
                let body = limits().read(body).await?;
                self.post(&parts, &body).await
            }
            Method::GET => Ok(match self.session(&parts.headers) {
                NamedSession::Open(session) => events(session.stand(), (), None),
                NamedSession::Over => no_session(),
                NamedSession::Nothing => refuse(
                    StatusCode::METHOD_NOT_ALLOWED,
                    "without a session, only POST is supported",
                ),
            }),
            Method::DELETE => {
                let id = header_text(&parts.headers, SESSION_ID).unwrap_or_default();
                let ended = self.sessions.lock().named.remove(id);
                Ok(empty(if ended.is_some() {
                    StatusCode::OK
                } else {
                    StatusCode::NOT_FOUND
                }))
            }
            _ => Ok(empty(StatusCode::METHOD_NOT_ALLOWED)),
        }
    }

    async fn post(&self, parts: &Parts, body: &[u8]) -> Result<OwnResponse, Broken> {
        let text = String::from_utf8_lossy(body);
        let message = match jsonrpc::parse(&text) {
            Ok(message) => message,
            Err(malformed) => {
                let error = RpcError::new(
                    code::PARSE_ERROR,
                    format!("the body is not a message: {malformed}"),
                );
                return Ok(json(StatusCode::BAD_REQUEST, jsonrpc::error(None, &error)));
            }
        };
        if Bare::is_meant(parts, &message.body) {
            return Ok(self.bare.answer(&message.body).await);
        }
        let session = match self.session(&parts.headers) {
            NamedSession::Open(session) => Some(session),
            NamedSession::Over => return Ok(no_session()),
            NamedSession::Nothing => None,
        };
        let Body::Request { id, method, params } = message.body else {
            if let Some(session) = session {
                session.send(&text).await;
            }
            return Ok(empty(StatusCode::ACCEPTED));
        };
        let asked = PostedRequest {
            id,
            method: &method,
            params,
            text: &text,
        };
        Ok(match session {
            Some(session) => legacy(&session, &asked).await,
            None => self.ask_without_session(&asked).await,
        })
    }

    async fn ask_without_session(&self, asked: &PostedRequest<'_>) -> OwnResponse {
        if asked.method == "initialize" {
            return self.initialize(asked).await;
        }
        if !asked.is_modern() {
            let message = "this request belongs to no session: send `initialize` first";
            let error = RpcError::new(code::INVALID_REQUEST, message);
            let text = jsonrpc::error(Some(&asked.id), &error);
            return json(StatusCode::BAD_REQUEST, text);
        }
        let session = self.unnamed();
        let response = modern(&session, asked).await;
        if asked.method == "server/discover" && response.status() != StatusCode::OK {
            let mut sessions = self.sessions.lock();
            sessions.refused = sessions.unnamed.take();
        }
        response
    }

    /// The session that the headers name.
    fn session(&self, headers: &HeaderMap) -> NamedSession {
        let Some(id) = header_text(headers, SESSION_ID) else {
            return NamedSession::Nothing;
        };
        let mut sessions = self.sessions.lock();
        match sessions.named.get(id) {
            Some(session) if !session.is_over() => NamedSession::Open(Arc::clone(session)),
            _ => {
                sessions.named.remove(id);
                NamedSession::Over
            }
        }
    }

    /// The connection for requests without a session; a new one if it has ended.
    fn unnamed(&self) -> Arc<LineSession> {
        let mut sessions = self.sessions.lock();
        match &sessions.unnamed {
            Some(session) if !session.is_over() => Arc::clone(session),
            _ => {
                let session = sessions.refused_or_new(&self.open);
                sessions.unnamed = Some(Arc::clone(&session));
                session
            }
        }
    }

    async fn initialize(&self, asked: &PostedRequest<'_>) -> OwnResponse {
        let session = self.sessions.lock().refused_or_new(&self.open);
        let mut response = legacy(&session, asked).await;
        let mut sessions = self.sessions.lock();
        sessions.count += 1;
        let id = format!("s-{}", sessions.count);
        if let Ok(value) = HeaderValue::from_str(&id) {
            response.headers_mut().insert(SESSION_ID, value);
        }
        sessions.named.insert(id, session);
        response
    }
}

async fn legacy(session: &Arc<LineSession>, asked: &PostedRequest<'_>) -> OwnResponse {
    let asking = session
        .ask(&asked.id, asked.text, asked.params, false)
        .await;
    answer(
        asking,
        Arc::clone(session),
        |_| StatusCode::OK,
        StatusCode::BAD_GATEWAY,
    )
    .await
}

/// Without sessions, clients recognise the kind of refusal by the status.
async fn modern(session: &Arc<LineSession>, asked: &PostedRequest<'_>) -> OwnResponse {
    let asking = session.ask(&asked.id, asked.text, asked.params, true).await;
    // A server that dies on the first question of the modern era may speak the other one.
    let died = if asked.method == "server/discover" {
        StatusCode::BAD_REQUEST
    } else {
        StatusCode::BAD_GATEWAY
    };
    answer(asking, Arc::clone(session), status_of, died).await
}

fn status_of(answer: &str) -> StatusCode {
    match jsonrpc::parse(answer).map(|message| message.body) {
        Ok(Body::Error { error, .. }) => match error.code {
            code::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
            code::INVALID_PARAMS
            | code::INVALID_REQUEST
            | code::HEADER_MISMATCH
            | code::MISSING_CLIENT_CAPABILITY
            | code::UNSUPPORTED_VERSION => StatusCode::BAD_REQUEST,
            _ => StatusCode::OK,
        },
        _ => StatusCode::OK,
    }
}

/// JSON if the answer arrives first, otherwise a stream.
async fn answer(
    mut asking: Asking,
    session: Arc<LineSession>,
    status_of: impl Fn(&str) -> StatusCode,
    died: StatusCode,
) -> OwnResponse {
    match asking.heard.recv().await {
        Some(ServerMessage::Answer(text)) => {
            let status = status_of(&text);
            json(status, text)
        }
        Some(ServerMessage::Beside(first)) => {
            let (_, empty) = mpsc::channel(1);
            let heard = std::mem::replace(&mut asking.heard, empty);
            events(heard, (asking, session), Some(first))
        }
        None => refuse(died, "the server ended before it answered"),
    }
}

/// Messages as events, until the answer. `kept` lives until the client stops reading.
fn events(
    mut heard: mpsc::Receiver<ServerMessage>,
    kept: impl Send + 'static,
    first: Option<String>,
) -> OwnResponse {
    let (sender, receiver) = mpsc::channel(64);
    tokio::spawn(async move {
        let passing = async {
            if let Some(first) = first {
                let _gone = sender.send(Ok(event(first))).await;
            }
            while let Some(message) = heard.recv().await {
                let (ServerMessage::Answer(text) | ServerMessage::Beside(text)) = message;
                if sender.send(Ok(event(text))).await.is_err() {
                    return;
                }
            }
        };
        tokio::select! {
            () = passing => {}
            () = sender.closed() => {}
        }
        drop(kept);
    });
    response::events(Channel(receiver))
}

fn event(text: String) -> Bytes {
    sse::encode(&sse::message(text)).into()
}

fn refuse(status: StatusCode, message: &str) -> OwnResponse {
    json(
        status,
        jsonrpc::error(None, &RpcError::new(code::INVALID_REQUEST, message)),
    )
}

fn no_session() -> OwnResponse {
    refuse(
        StatusCode::NOT_FOUND,
        "the session is unknown or has ended: send `initialize` again",
    )
}
