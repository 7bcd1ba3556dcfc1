//! What is known of one client while it is connected?

use super::incoming::Capabilities;
use super::stream::{Outlet, Stream};
use crate::manifest::{LogLevel, ServerChange};
use mcptest_mcp::jsonrpc::{self, Body, Id, RpcResult};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Not;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use tokio::sync::{Notify, oneshot};

/// How many streams of a session are kept for a client that comes back.
const KEPT_STREAMS: usize = 32;

/// One client.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// What `initialize` agreed on, in the legacy era.
    pub(super) agreed: OnceLock<Agreed>,
    pub(super) level: Mutex<LogLevel>,
    next_request: AtomicU64,
    pub(super) subscriptions: Mutex<BTreeSet<String>>,
    asked: Mutex<HashMap<String, oneshot::Sender<RpcResult<Value>>>>,
    running: Mutex<HashMap<Id, Arc<Notify>>>,
    streams: Mutex<BTreeMap<u64, Arc<Stream>>>,
}

/// What `initialize` agreed on.
#[derive(Debug)]
pub(super) struct Agreed {
    pub(super) version: &'static str,
    pub(super) capabilities: Capabilities,
}

impl Session {
    /// The id of a request to the client, and where its answer will arrive.
    pub(super) fn ask(&self) -> (String, oneshot::Receiver<RpcResult<Value>>) {
        let id = format!(
            "mock-{}",
            self.next_request.fetch_add(1, Ordering::Relaxed) + 1
        );
        let (sender, receiver) = oneshot::channel();
        self.asked.lock().insert(id.clone(), sender);
        (id, receiver)
    }

    /// Takes up a message that is no request: an answer to a question, a cancel, or nothing that concerns us.
    pub(super) fn hear(&self, news: &Body<'_>) {
        if let Some(running) = news
            .cancelled_id()
            .and_then(|id| self.running.lock().get(&id).cloned())
        {
            running.notify_one();
        }
        let answer = match news {
            Body::Result { result, .. } => {
                Ok(serde_json::from_str(result.get()).unwrap_or_default())
            }
            Body::Error { error, .. } => Err(error.clone()),
            _ => return,
        };
        let Some(Id::Text(id)) = news.answered_id() else {
            return;
        };
        if let Some(waiting) = self.asked.lock().remove(id) {
            let _gone = waiting.send(answer);
        }
    }

    /// No answer can come any more.
    pub(super) fn forget_questions(&self) {
        self.asked.lock().clear();
    }

    /// Notes that a request is being worked on.
    pub(super) fn begin(self: &Arc<Self>, id: &Id) -> Running {
        let cancel = Arc::new(Notify::new());
        self.running.lock().insert(id.clone(), Arc::clone(&cancel));
        Running {
            session: Arc::clone(self),
            id: id.clone(),
            cancel,
        }
    }

    /// A new stream with a number of its own; old ones that are done are let go.
    pub(super) fn open_stream(&self) -> Arc<Stream> {
        let mut streams = self.streams.lock();
        while streams.len() >= KEPT_STREAMS {
            let done = streams
                .iter()
                .find(|(number, stream)| **number > 0 && stream.is_done());
            let Some(number) = done.map(|(number, _)| *number) else {
                break;
            };
            streams.remove(&number);
        }
        let number = self.next_request.fetch_add(1, Ordering::Relaxed) + 1;
        let stream = Stream::kept(number);
        streams.insert(number, Arc::clone(&stream));
        stream
    }

    /// The stream for messages that belong to no request.
    pub(super) fn standing_stream(&self) -> Arc<Stream> {
        Arc::clone(
            self.streams
                .lock()
                .entry(0)
                .or_insert_with(|| Stream::kept(0)),
        )
    }

    /// True while a client reads one of its streams.
    pub(super) fn has_reader(&self) -> bool {
        self.streams
            .lock()
            .values()
            .any(|stream| stream.has_reader())
    }

    pub(super) fn stream(&self, number: u64) -> Option<Arc<Stream>> {
        self.streams.lock().get(&number).cloned()
    }

    /// Ends every stream: the session is over.
    pub(super) fn close(&self) {
        self.forget_questions();
        for stream in std::mem::take(&mut *self.streams.lock()).into_values() {
            stream.finish();
        }
        #[expect(
            clippy::iter_over_hash_type,
            reason = "all are cancelled, in whatever order"
        )]
        for running in self.running.lock().values() {
            running.notify_one();
        }
    }
}

/// A request that is being worked on, until this is dropped.
#[derive(Debug)]
pub(super) struct Running {
    session: Arc<Session>,
    id: Id,
    cancel: Arc<Notify>,
}

impl Running {
    /// Waits until the client cancels the request.
    pub(super) async fn cancelled(&self) {
        self.cancel.notified().await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut running = self.session.running.lock();
        if running
            .get(&self.id)
            .is_some_and(|cancel| Arc::ptr_eq(cancel, &self.cancel))
        {
            running.remove(&self.id);
        }
    }
}

impl ServerChange {
    const fn method(&self) -> &'static str {
        match self {
            Self::Tools => "notifications/tools/list_changed",
            Self::Prompts => "notifications/prompts/list_changed",
            Self::Resources => "notifications/resources/list_changed",
            Self::Updated(_) => "notifications/resources/updated",
        }
    }
}

/// Everyone who listens.
#[derive(Debug, Default)]
pub(super) struct Audience(Mutex<(u64, BTreeMap<u64, Listener>)>);

#[derive(Debug)]
struct Listener {
    interest: Interest,
    outlet: Outlet,
}

/// What a listener wants to hear of.
#[derive(Debug)]
pub(super) enum Interest {
    /// A legacy session: every list, and the resources that it subscribed to.
    Session(Arc<Session>),
    /// A modern `subscriptions/listen`.
    Subscription(Id, Filter),
}

/// The `notifications` of a `subscriptions/listen`.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Filter {
    #[serde(skip_serializing_if = "Not::not")]
    pub(super) prompts_list_changed: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) resource_subscriptions: Vec<String>,
    #[serde(skip_serializing_if = "Not::not")]
    pub(super) resources_list_changed: bool,
    #[serde(skip_serializing_if = "Not::not")]
    pub(super) tools_list_changed: bool,
}

impl Filter {
    /// The message that says what is honoured.
    pub(super) fn acknowledgement(&self, id: &Id) -> String {
        let honoured = serde_json::to_string(self).unwrap_or_default();
        let params = format!(
            r#"{{"notifications":{honoured},{}}}"#,
            subscription_meta(id)
        );
        jsonrpc::notification("notifications/subscriptions/acknowledged", Some(&params))
    }
}

impl Interest {
    fn wants(&self, change: &ServerChange) -> bool {
        match (self, change) {
            (Self::Session(session), ServerChange::Updated(uri)) => {
                session.subscriptions.lock().contains(uri)
            }
            (Self::Session(_), _) => true,
            (Self::Subscription(_, filter), ServerChange::Tools) => filter.tools_list_changed,
            (Self::Subscription(_, filter), ServerChange::Prompts) => filter.prompts_list_changed,
            (Self::Subscription(_, filter), ServerChange::Resources) => {
                filter.resources_list_changed
            }
            (Self::Subscription(_, filter), ServerChange::Updated(uri)) => {
                filter.resource_subscriptions.contains(uri)
            }
        }
    }

    fn message(&self, change: &ServerChange) -> String {
        let uri = match change {
            ServerChange::Updated(uri) => format!(r#""uri":{}"#, jsonrpc::write_text(uri)),
            _ => String::new(),
        };
        let params = match self {
            Self::Session(_) if uri.is_empty() => None,
            Self::Session(_) => Some(format!("{{{uri}}}")),
            Self::Subscription(id, _) => {
                let comma = if uri.is_empty() { "" } else { "," };
                Some(format!("{{{uri}{comma}{}}}", subscription_meta(id)))
            }
        };
        jsonrpc::notification(change.method(), params.as_deref())
    }
}

/// The `_meta` that ties a notification to its subscription.
fn subscription_meta(id: &Id) -> String {
    format!(
        r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{}}}"#,
        jsonrpc::id_text(id)
    )
}

impl Audience {
    /// Adds a listener, until the returned seat is dropped.
    pub(super) fn join(self: &Arc<Self>, interest: Interest, outlet: Outlet) -> Seat {
        let mut listeners = self.0.lock();
        listeners.0 += 1;
        let number = listeners.0;
        listeners.1.insert(number, Listener { interest, outlet });
        Seat {
            audience: Arc::clone(self),
            number,
        }
    }

    /// Tells everyone who wants to know; a listener that does not keep up is dropped.
    pub(super) fn tell(&self, change: &ServerChange) {
        self.0.lock().1.retain(|_, listener| {
            !listener.interest.wants(change)
                || listener.outlet.push(listener.interest.message(change))
        });
    }
}

/// A place in the audience.
#[derive(Debug)]
pub(super) struct Seat {
    audience: Arc<Audience>,
    number: u64,
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.audience.0.lock().1.remove(&self.number);
    }
}
