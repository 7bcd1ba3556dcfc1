//! Which requests are open, and whose answer may still come on another stream?

use crate::jsonrpc::{Body, Id};
use crate::proxy::interpose::{Watch, WatchedReply};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The value of `Mcp-Session-Id`.
pub(super) type SessionId = Option<String>;

/// The open requests of sessions: a cancellation names them, and an answer may arrive on another
/// stream.
#[derive(Default, Clone)]
pub(super) struct OpenRequests(Arc<Mutex<BTreeMap<(SessionId, Id), OpenRequest>>>);

#[derive(Clone)]
struct OpenRequest {
    watch: Arc<dyn Watch>,
    asked: Instant,
}

/// A request that waits until this is dropped or left to another stream.
pub(super) struct Held {
    waiting: OpenRequests,
    session: SessionId,
    id: Id,
    open: OpenRequest,
    is_over: AtomicBool,
}

impl OpenRequests {
    pub(super) fn hold(&self, session: SessionId, id: Id, watch: Arc<dyn Watch>) -> Held {
        let open = OpenRequest {
            watch,
            asked: Instant::now(),
        };
        // Without a session two clients may use one id at the same time.
        if session.is_some() {
            self.0
                .lock()
                .insert((session.clone(), id.clone()), open.clone());
        }
        Held {
            waiting: self.clone(),
            session,
            id,
            open,
            is_over: false.into(),
        }
    }

    /// Handles a client's cancellation. Returns whether the server may receive it.
    pub(super) fn cancelled(&self, session: &SessionId, id: &Id) -> bool {
        let open = self.0.lock().get(&(session.clone(), id.clone())).cloned();
        open.is_none_or(|open| {
            open.watch.cancelled();
            !open.watch.ignores_cancel()
        })
    }

    /// Removes and returns the request that a message on a stream of its session answers.
    pub(super) fn answered(
        &self,
        session: &SessionId,
        id: &Id,
        body: &Body<'_>,
        text: &str,
    ) -> Option<(WatchedReply, Held)> {
        let open = self.0.lock().get(&(session.clone(), id.clone())).cloned()?;
        let held = Held {
            waiting: self.clone(),
            session: session.clone(),
            id: id.clone(),
            open,
            is_over: false.into(),
        };
        Some((held.open.watch.answered(body, text), held))
    }
}

impl Held {
    pub(super) fn is_of(&self, id: &Id) -> bool {
        self.id == *id
    }

    pub(super) fn asked(&self) -> Instant {
        self.open.asked
    }

    /// The client's answer. Until then it waits.
    pub(super) fn answered(&self, body: &Body<'_>, text: &str) -> WatchedReply {
        self.open.watch.answered(body, text)
    }

    pub(super) fn delivered(&self) {
        self.end();
        self.open.watch.delivered();
    }

    pub(super) fn unanswered(&self, why: &str) {
        self.end();
        self.open.watch.unanswered(why);
    }

    /// Records that the stream ended without the answer, which may arrive on another stream of the
    /// session.
    pub(super) fn leave(&self) {
        if !self.is_over.swap(true, Ordering::Relaxed) && self.session.is_none() {
            self.unanswered("the stream ended before the answer");
        }
    }

    fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.waiting
            .0
            .lock()
            .remove(&(self.session.clone(), self.id.clone()));
    }
}

/// The client left.
impl Drop for Held {
    fn drop(&mut self) {
        if !self.is_over.load(Ordering::Relaxed) {
            self.end();
            self.open.watch.cancelled();
        }
    }
}
