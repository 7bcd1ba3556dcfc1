//! How is one HTTP request answered?

use super::headers::Accepts;
use super::sessions::Sessions;
use super::{Limits, PATH, reply};
use crate::audience::Interest;
use crate::deliver::{Delivery, deliver};
use crate::engine::{Asker, Handled, MockOutcome};
use crate::incoming::{Incoming, Refused, Request as Asked};
use crate::modern::unknown_version;
use crate::outlet::Outlet;
use crate::pending_request::MockAnswer;
use crate::server::Server;
use crate::session::Session;
use crate::stream::{Stream, read_event_id};
use http::request::Parts;
use http::{HeaderMap, Method, Request, StatusCode};
use hyper::body::Incoming as HyperBody;
use mcptest_http::response::{self, OwnResponse};
use mcptest_http::{Broken, Guard, header_text, media_type};
use mcptest_mcp::era::Era;
use mcptest_mcp::fault;
use mcptest_mcp::jsonrpc::{Body, RpcError, code};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// The state shared by all connections.
#[derive(Debug)]
pub(super) struct MockService {
    pub(super) server: Server,
    pub(super) limits: Limits,
    pub(super) guard: Guard,
    pub(super) sessions: Sessions,
    pub(super) running: Arc<Semaphore>,
}

/// The session of a request, if any.
type OfSession<'s> = Option<&'s Arc<Session>>;

/// The response; an error closes the connection.
type Exchanged = Result<OwnResponse, Broken>;

impl MockService {
    /// Answers one request.
    pub(super) async fn exchange(self: Arc<Self>, request: Request<HyperBody>) -> Exchanged {
        let (parts, body) = request.into_parts();
        if self.server.is_wedged() {
            return std::future::pending().await;
        }
        if let Some((status, reason)) = self.guard.refusal(&parts.uri, &parts.headers) {
            return Ok(reply::refused(status, reason));
        }
        if parts.uri.path() != PATH {
            let message = format!(
                "`{}` does not exist; MCP is served at `{PATH}`",
                parts.uri.path()
            );
            return Ok(reply::refused(StatusCode::NOT_FOUND, message));
        }
        if parts.method != Method::POST
            && session_id(&parts.headers).is_some()
            && let Some(error) = unknown_version(&parts.headers)
        {
            return Ok(reply::refusal(StatusCode::BAD_REQUEST, None, &error));
        }
        match parts.method {
            Method::POST => self.post(&parts, body).await,
            Method::GET => Ok(self.get(&parts.headers)),
            Method::DELETE => Ok(self.delete(&parts.headers)),
            _ => Ok(not_allowed()),
        }
    }

    fn get(&self, headers: &HeaderMap) -> OwnResponse {
        let Some(id) = session_id(headers) else {
            return not_allowed();
        };
        let Some(session) = self.sessions.find(id) else {
            return no_session();
        };
        if !Accepts::read(headers).events {
            return reply::refused(
                StatusCode::NOT_ACCEPTABLE,
                "the stream needs `Accept: text/event-stream`",
            );
        }
        let Some(last) = header_text(headers, "last-event-id").filter(|last| !last.is_empty())
        else {
            return reply::events(session.standing_stream().attach(None), None);
        };
        let resumed = read_event_id(last).and_then(|(stream, event)| {
            let stream = session
                .stream(stream)
                .filter(|stream| stream.has_sent(event))?;
            Some(stream.attach(Some(event)))
        });
        match resumed {
            Some(events) => reply::events(events, None),
            // Not 404, which says that the session is over.
            None => reply::refused(
                StatusCode::BAD_REQUEST,
                format!(
                    "no stream of this session has the event `{last}`, or the event has expired: \
                    omit `Last-Event-ID` to get the stream of messages without a request"
                ),
            ),
        }
    }

    fn delete(&self, headers: &HeaderMap) -> OwnResponse {
        match session_id(headers) {
            None => not_allowed(),
            Some(id) if self.sessions.end(id) => response::empty(StatusCode::OK),
            Some(_) => no_session(),
        }
    }

    async fn post(&self, parts: &Parts, body: HyperBody) -> Exchanged {
        let Accepts { json, events } = Accepts::read(&parts.headers);
        if !(json && events) {
            let message = "`Accept` must name both application/json and text/event-stream";
            return Ok(reply::refused(StatusCode::NOT_ACCEPTABLE, message));
        }
        if media_type(&parts.headers).as_deref() != Some("application/json") {
            let message = "`Content-Type` must be application/json";
            return Ok(reply::refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
        }
        let body = match self.limits.http.read(body).await {
            Ok(body) => body,
            Err(error) => {
                let refusal = reply::refused(error.status(), error.to_string());
                return Ok(reply::with(refusal, "connection", "close"));
            }
        };
        let Ok(text) = std::str::from_utf8(&body) else {
            let error = RpcError::new(code::PARSE_ERROR, "the body is not UTF-8");
            return Ok(reply::refusal(StatusCode::BAD_REQUEST, None, &error));
        };
        match Incoming::read(text, header_text(&parts.headers, "mcp-protocol-version")) {
            Ok(Incoming::Request(request)) => self.request(&request, &parts.headers).await,
            Ok(Incoming::News(news)) => Ok(self.take(&parts.headers, &news)),
            Err(Refused { id, error }) => {
                // A legacy client reads errors only from a 200, unless there is no request to tie it to.
                let status = if id.is_some() && session_id(&parts.headers).is_some() {
                    200
                } else {
                    400
                };
                let status = StatusCode::from_u16(status).unwrap_or_default();
                Ok(reply::refusal(status, id.as_ref(), &error))
            }
        }
    }

    /// Accepts a message that needs no answer.
    fn take(&self, headers: &HeaderMap, news: &Body<'_>) -> OwnResponse {
        if let Some(id) = session_id(headers) {
            if let Some(error) = unknown_version(headers) {
                return reply::refusal(StatusCode::BAD_REQUEST, None, &error);
            }
            let Some(session) = self.sessions.find(id) else {
                return no_session();
            };
            session.hear(news);
        }
        response::empty(StatusCode::ACCEPTED)
    }

    async fn request(&self, request: &Asked<'_>, headers: &HeaderMap) -> Exchanged {
        if request.era == Era::Modern {
            let asker = Asker {
                session: None,
                headers: Some(headers),
            };
            let handled = self.server.handle(request, asker);
            return self.respond(request, handled, None).await;
        }
        if &*request.method == "initialize" {
            return self.initialize(request).await;
        }
        let Some(id) = session_id(headers) else {
            let message = "this request has neither `Mcp-Session-Id` nor the `_meta` of a \
            stateless request: send `initialize` first";
            let error = RpcError::new(code::INVALID_REQUEST, message);
            return Ok(reply::refusal(
                StatusCode::BAD_REQUEST,
                Some(&request.id),
                &error,
            ));
        };
        let Some(session) = self.sessions.find(id) else {
            return Ok(no_session());
        };
        let handled = self.server.handle(
            request,
            Asker {
                session: Some(&session),
                headers: None,
            },
        );
        self.respond(request, handled, Some(&session)).await
    }

    async fn initialize(&self, request: &Asked<'_>) -> Exchanged {
        let session: Arc<Session> = Arc::default();
        let handled = self.server.handle(
            request,
            Asker {
                session: Some(&session),
                headers: None,
            },
        );
        let id = session.agreed.get().is_some().then(|| {
            self.sessions
                .open(&self.server, Arc::clone(&session), &self.limits)
        });
        let answer = self.respond(request, handled, Some(&session)).await?;
        Ok(match id {
            Some(id) => reply::with(answer, "mcp-session-id", &id),
            None => answer,
        })
    }

    async fn respond(
        &self,
        request: &Asked<'_>,
        handled: Handled,
        session: OfSession<'_>,
    ) -> Exchanged {
        let Handled { outcome, action } = handled;
        match (outcome, action) {
            (MockOutcome::Answer { answer, status }, None) => Ok(reply::answer(status, answer)),
            (MockOutcome::Unserved, action) => match action.map(|action| action.request) {
                Some(fault::RequestFault::Disconnect) => Err("closed by a fault".into()),
                _ => std::future::pending().await,
            },
            (MockOutcome::Answer { answer, status }, Some(action)) => {
                if let fault::RequestFault::Limit { retry_after_s } = action.request {
                    return Ok(reply::with(
                        reply::answer(429, answer),
                        "retry-after",
                        &retry_after_s.to_string(),
                    ));
                }
                self.late(request, (answer, status), &action, session).await
            }
            (MockOutcome::Listen { id, filter }, _) => {
                let stream = Stream::fleeting();
                let receiver = stream.attach(None);
                stream.push(&filter.acknowledgement(&id));
                let interest = Interest::Subscription { id, filter };
                let seat = self
                    .server
                    .0
                    .audience
                    .join(interest, Outlet::Stream(stream));
                Ok(reply::events(receiver, Some(seat)))
            }
            (outcome, action) => Ok(self.play(request, outcome, action, session)),
        }
    }

    /// An answer with a fault.
    async fn late(
        &self,
        request: &Asked<'_>,
        (answer, status): (MockAnswer, u16),
        action: &fault::Action,
        session: OfSession<'_>,
    ) -> Exchanged {
        let running = session.map(|session| session.begin(&request.id));
        let cancelled = async {
            match &running {
                Some(running) => running.cancelled().await,
                None => std::future::pending().await,
            }
        };
        let outlet = Outlet::Stream(Stream::fleeting());
        let answer = MockOutcome::Answer { answer, status };
        let delivery = deliver(&self.server, answer, Some(action), &outlet, cancelled).await;
        match delivery {
            None => Ok(response::empty(StatusCode::ACCEPTED)),
            Some(Delivery {
                mut texts,
                deferred,
            }) => match (texts.len(), texts.pop()) {
                (1, Some(text)) => Ok(reply::answer(status, MockAnswer { text, deferred })),
                (_, None) => {
                    drop(deferred);
                    std::future::pending().await
                }
                (_, Some(last)) => {
                    let stream = Stream::fleeting();
                    let receiver = stream.attach(None);
                    for text in texts.iter().chain([&last]) {
                        stream.push(text);
                    }
                    stream.finish();
                    Ok(reply::events(receiver, None))
                }
            },
        }
    }

    /// Runs work that takes time, on an event stream.
    fn play(
        &self,
        request: &Asked<'_>,
        outcome: MockOutcome,
        action: Option<Box<fault::Action>>,
        session: OfSession<'_>,
    ) -> OwnResponse {
        let Ok(permit) = Arc::clone(&self.running).try_acquire_owned() else {
            let message = "too many calls are running at once";
            let refusal = reply::refused(StatusCode::SERVICE_UNAVAILABLE, message);
            return reply::with(refusal, "retry-after", "1");
        };
        let stream = session.map_or_else(Stream::fleeting, |session| session.open_stream());
        let receiver = stream.attach(None);
        if is_to_prime(&outcome, session) {
            stream.prime(None);
        }
        let running = session.map(|session| session.begin(&request.id));
        let server = self.server.clone();
        tokio::spawn(async move {
            let outlet = Outlet::Stream(Arc::clone(&stream));
            let cancelled = async {
                match &running {
                    Some(running) => running.cancelled().await,
                    None => stream.reader_gone().await,
                }
            };
            let delivery = deliver(&server, outcome, action.as_deref(), &outlet, cancelled).await;
            if let Some(delivery) = delivery {
                send(delivery, &outlet, &stream).await;
            }
            stream.finish();
            drop(permit);
        });
        reply::events(receiver, None)
    }
}

/// Returns true if the stream begins with an event for resuming, unless the work sends one itself.
fn is_to_prime(outcome: &MockOutcome, session: OfSession<'_>) -> bool {
    let primes_itself = matches!(outcome, MockOutcome::PendingRequest(pending) if pending.job.reconnect_ms().is_some());
    let agreed = session.and_then(|session| session.agreed.get());
    !primes_itself && agreed.is_some_and(|agreed| agreed.version >= "2025-11-25")
}

/// Sends the answer; if it is lost, waits until the client gives up.
async fn send(delivery: Delivery, outlet: &Outlet, stream: &Stream) {
    let is_lost = delivery.texts.is_empty();
    for text in delivery.texts {
        outlet.send(text).await;
    }
    drop(delivery.deferred);
    if is_lost {
        stream.reader_gone().await;
    }
}

fn session_id(headers: &HeaderMap) -> Option<&str> {
    header_text(headers, "mcp-session-id")
}

fn no_session() -> OwnResponse {
    let error = RpcError::new(
        code::INVALID_REQUEST,
        "the session is unknown or has ended: send `initialize` again",
    );
    reply::refusal(StatusCode::NOT_FOUND, None, &error)
}

fn not_allowed() -> OwnResponse {
    let message = "without a session, only POST is supported";
    reply::with(
        reply::refused(StatusCode::METHOD_NOT_ALLOWED, message),
        "allow",
        "POST",
    )
}
