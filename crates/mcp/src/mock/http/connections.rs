//! Which connections are open, and which has been idle the longest?

use crate::mock::lock;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// The open connections.
#[derive(Debug, Default)]
pub(super) struct Connections {
    clock: AtomicU64,
    open: Mutex<BTreeMap<u64, Arc<Connection>>>,
}

/// One connection.
#[derive(Debug)]
pub(super) struct Connection {
    number: u64,
    /// When it became idle, in ticks of the clock; [`BUSY`] while it answers.
    idle_since: AtomicU64,
    pub(super) evicted: Notify,
}

const BUSY: u64 = u64::MAX;

impl Connection {
    pub(super) fn is_busy(&self) {
        self.idle_since.store(BUSY, Ordering::Relaxed);
    }
}

impl Connections {
    /// A new connection, until it is given to [`Self::closed`].
    pub(super) fn opened(&self) -> Arc<Connection> {
        let number = self.clock.fetch_add(1, Ordering::Relaxed);
        let connection =
            Arc::new(Connection { number, idle_since: AtomicU64::new(number), evicted: Notify::new() });
        lock(&self.open).insert(number, Arc::clone(&connection));
        connection
    }

    pub(super) fn closed(&self, connection: &Connection) {
        lock(&self.open).remove(&connection.number);
    }

    pub(super) fn count(&self) -> usize {
        lock(&self.open).len()
    }

    /// Closes the connection that has been idle the longest; false when all are busy.
    pub(super) fn evict(&self) -> bool {
        let mut open = lock(&self.open);
        let idle = open.values().min_by_key(|connection| connection.idle_since.load(Ordering::Relaxed));
        let idle = idle.filter(|connection| connection.idle_since.load(Ordering::Relaxed) != BUSY).cloned();
        let Some(idle) = idle else { return false };
        open.remove(&idle.number);
        idle.evicted.notify_one();
        true
    }

    pub(super) fn is_idle(&self, connection: &Connection) {
        let now = self.clock.fetch_add(1, Ordering::Relaxed);
        connection.idle_since.store(now, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_idle_connection_goes_first_and_a_busy_one_never() {
        let connections = Connections::default();
        let (first, second, third) = (connections.opened(), connections.opened(), connections.opened());
        second.is_busy();
        first.is_busy();
        connections.is_idle(&first);
        assert!(connections.evict());
        let left = || lock(&connections.open).keys().copied().collect::<Vec<_>>();
        assert_eq!(left(), [first.number, second.number], "{} was idle the longest", third.number);
        assert!(connections.evict());
        assert_eq!(left(), [second.number]);
        assert!(!connections.evict());
    }
}
