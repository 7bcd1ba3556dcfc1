//! What is known of one client while it is connected?

use super::params::Capabilities;
use super::stream::Stream;
use crate::manifest::LogLevel;
use mcptest_mcp::jsonrpc::{Body, Id, RpcResult};
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use tokio::sync::{Notify, oneshot};

/// The number of a session's streams to keep for a client that returns.
const KEPT_STREAMS: usize = 32;

/// One client.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// The result of `initialize`, in the legacy protocol.
    pub(super) agreed: OnceLock<Agreed>,
    pub(super) level: Mutex<LogLevel>,
    next_request: AtomicU64,
    pub(super) subscriptions: Mutex<BTreeSet<String>>,
    asked: Mutex<HashMap<String, oneshot::Sender<RpcResult<Value>>>>,
    running: Mutex<HashMap<Id, Arc<Notify>>>,
    streams: Mutex<BTreeMap<u64, Arc<Stream>>>,
}

/// The result of `initialize`.
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

    /// Handles a message that is not a request: an answer, a cancellation, or an irrelevant notification.
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

    /// Cancels the questions to the client, which can no longer be answered.
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

    /// A new stream with a unique number. Finished old streams are dropped.
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
