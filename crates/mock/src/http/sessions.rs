//! Which sessions are there, and which are over?

use super::Limits;
use crate::audience::{AudienceMember, Interest};
use crate::outlet::Outlet;
use crate::server::Server;
use crate::session::Session;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// The sessions of the legacy protocol, by id.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    count: AtomicU64,
    keys: [RandomState; 2],
    open: Mutex<HashMap<String, Entry>>,
}

#[derive(Debug)]
struct Entry {
    session: Arc<Session>,
    used: Instant,
    _seat: AudienceMember,
}

impl Sessions {
    /// Opens a session with an agreed version, and returns its id.
    pub(super) fn open(&self, server: &Server, session: Arc<Session>, limits: &Limits) -> String {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let id = format!(
            "{:016x}{:016x}",
            self.keys[0].hash_one(number),
            self.keys[1].hash_one(number)
        );
        let outlet = Outlet::Stream(session.standing_stream());
        let seat = server
            .0
            .audience
            .join(Interest::Session(Arc::clone(&session)), outlet);
        let mut open = self.open.lock();
        if open.len() >= limits.sessions {
            let idle = open
                .iter()
                .min_by_key(|(_, entry)| (entry.session.has_reader(), entry.used));
            if let Some(id) = idle.map(|(id, _)| id.clone())
                && let Some(entry) = open.remove(&id)
            {
                entry.session.close();
            }
        }
        open.insert(
            id.clone(),
            Entry {
                session,
                used: Instant::now(),
                _seat: seat,
            },
        );
        id
    }

    /// The session with this id, marked as used.
    pub(super) fn find(&self, id: &str) -> Option<Arc<Session>> {
        let mut open = self.open.lock();
        let entry = open.get_mut(id)?;
        entry.used = Instant::now();
        Some(Arc::clone(&entry.session))
    }

    /// Ends a session. Returns false if it is unknown.
    pub(super) fn end(&self, id: &str) -> bool {
        let entry = self.open.lock().remove(id);
        entry.map(|entry| entry.session.close()).is_some()
    }

    /// Ends the sessions that were idle for too long.
    pub(super) fn expire(&self, limits: &Limits, now: Instant) {
        self.open.lock().retain(|_, entry| {
            let is_kept = now.saturating_duration_since(entry.used) < limits.session_idle
                || entry.session.has_reader();
            if !is_kept {
                entry.session.close();
            }
            is_kept
        });
    }

    /// Ends all of them.
    pub(super) fn end_all(&self) {
        self.open.lock().retain(|_, entry| {
            entry.session.close();
            false
        });
    }
}
