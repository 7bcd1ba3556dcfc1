//! Messages over streamable HTTP: one POST for each, answered with JSON or with a stream of events.

mod answer;
mod body;
mod connector;
mod exchange;
mod failure;
mod listen;
mod raw;
mod retry;
mod stream;

use super::conversation::Conversation;
use super::link::{Asking, Deadline};
use super::{Misbehaviour, Observed};
use crate::era::{Era, LATEST_MODERN};
use crate::tape::Direction;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

const GOODBYE: Duration = Duration::from_secs(2);
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const ACCEPT_BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const ACCEPT_EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A connection over HTTP.
pub(super) struct Http {
    pub(super) conversation: Arc<Conversation>,
    client: reqwest::Client,
    url: reqwest::Url,
    headers: HeaderMap,
    connect_timeout: Duration,
    pub(super) session: Mutex<HttpSession>,
    renewing: tokio::sync::Mutex<()>,
    tasks: Tasks,
}

/// Work in the background.
type Tasks = Arc<Mutex<JoinSet<()>>>;

/// Ends the background work when the connection is dropped, because the work keeps the connection
/// alive.
pub(super) struct EndTasks(Tasks);

impl Drop for EndTasks {
    fn drop(&mut self) {
        self.0.lock().abort_all();
    }
}

/// The parts that change over the life of a connection.
#[derive(Debug, Clone)]
pub(super) struct HttpSession {
    pub(super) era: Era,
    pub(super) id: Option<String>,
    pub(super) version: Option<String>,
}

/// A message to send, with all that a second try needs.
struct Outgoing {
    id: i64,
    line: String,
    method: String,
    headers: HeaderMap,
    deadline: Deadline,
}

impl Http {
    pub(super) fn open(
        url: &str,
        headers: &[(String, String)],
        connect_timeout: Duration,
        era: Era,
        conversation: Arc<Conversation>,
    ) -> Result<Arc<Self>, Misbehaviour> {
        let url = connector::address(url)?;
        let client = connector::client(&url, connect_timeout)?;
        let session = Mutex::new(HttpSession {
            era,
            id: None,
            version: None,
        });
        Ok(Arc::new(Self {
            conversation,
            client,
            url,
            headers: connector::header_map(headers)?,
            connect_timeout,
            session,
            renewing: tokio::sync::Mutex::default(),
            tasks: Tasks::default(),
        }))
    }

    pub(super) fn end_tasks(&self) -> EndTasks {
        EndTasks(Arc::clone(&self.tasks))
    }

    pub(super) fn era(&self) -> Era {
        self.session.lock().era
    }

    fn spawn(self: &Arc<Self>, work: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        let mut tasks = self.tasks.lock();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(work)
    }

    /// Sends a request. Its answer goes to the conversation.
    pub(super) fn send(
        self: &Arc<Self>,
        id: i64,
        line: String,
        asking: &Asking<'_>,
    ) -> AbortHandle {
        let outgoing = Outgoing {
            id,
            line,
            method: asking.method.to_owned(),
            headers: connector::header_map(asking.headers).unwrap_or_default(),
            deadline: asking.deadline,
        };
        let this = Arc::downgrade(self);
        let work: std::pin::Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(async move {
            if let Some(this) = this.upgrade() {
                this.exchange(outgoing).await;
            }
        });
        self.spawn(work)
    }

    /// Sends a message that has no answer.
    pub(super) fn post_and_forget(self: &Arc<Self>, line: String, method: Option<&str>) {
        let this = Arc::downgrade(self);
        let method = method.map(ToOwned::to_owned);
        self.spawn(async move {
            if let Some(this) = this.upgrade() {
                this.deliver(&line, method.as_deref()).await;
            }
        });
    }

    /// Sends a message without an answer, and waits until the server has accepted it.
    pub(super) async fn deliver(&self, line: &str, method: Option<&str>) {
        let what = method.unwrap_or("an answer");
        let sent = timeout(self.connect_timeout, self.post(line, method, |_| {})).await;
        let why = match sent {
            Ok(Ok(response)) if response.status().is_success() => return,
            Ok(Ok(response)) => {
                format!(
                    "the server answered {what} with HTTP {}",
                    response.status().as_u16()
                )
            }
            Ok(Err(why)) => why.sentence(what),
            Err(_) => format!("the server did not accept {what} in time"),
        };
        self.conversation.observe(Observed::Connection(why));
    }

    async fn post(
        &self,
        line: &str,
        method: Option<&str>,
        and_headers: impl FnOnce(&mut HeaderMap),
    ) -> Result<reqwest::Response, Misbehaviour> {
        self.conversation.tap(Direction::Client, line);
        let mut headers = self.session_headers(method);
        headers.insert(header::ACCEPT, ACCEPT_BOTH);
        headers.insert(header::CONTENT_TYPE, JSON);
        and_headers(&mut headers);
        let sent = self
            .client
            .post(self.url.clone())
            .headers(headers)
            .body(line.to_owned())
            .send()
            .await;
        sent.map_err(|error| failure::misbehaviour_of(&error, &self.url, self.connect_timeout))
    }

    /// The user's headers, and the headers of the protocol and the session.
    fn session_headers(&self, method: Option<&str>) -> HeaderMap {
        let mut headers = self.headers.clone();
        let session = self.session.lock();
        let mut set = |name: HeaderName, value: Option<&str>| {
            if let Some(value) = value.and_then(|value| HeaderValue::from_str(value).ok()) {
                headers.insert(name, value);
            }
        };
        match session.era {
            Era::Modern => {
                set(VERSION, Some(LATEST_MODERN));
                set(METHOD, method);
            }
            Era::Legacy if method != Some("initialize") => {
                set(SESSION, session.id.as_deref());
                set(
                    VERSION,
                    session
                        .version
                        .as_deref()
                        .filter(|version| *version >= "2025-06-18"),
                );
            }
            Era::Legacy => {}
        }
        headers
    }

    /// Ends the session, if any.
    pub(super) async fn close(&self) {
        let session = self.session.lock().clone();
        if session.era == Era::Legacy && session.id.is_some() {
            let goodbye = self
                .client
                .delete(self.url.clone())
                .headers(self.session_headers(None));
            let _ = timeout(GOODBYE, goodbye.send()).await;
        }
    }
}
