//! Which connections are open, and which has been idle the longest?

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Notify;

/// The open connections.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    clock: AtomicU64,
    open: Mutex<BTreeMap<u64, Arc<Connection>>>,
}

#[derive(Debug)]
pub(crate) struct Connection {
    number: u64,
    /// The time at which it became idle, in ticks of the clock; [`BUSY`] while it answers.
    idle_since: AtomicU64,
    pub(crate) evicted: Notify,
}

const BUSY: u64 = u64::MAX;

/// A connection is busy for as long as this lives.
pub(crate) struct Busy {
    connections: Arc<Connections>,
    connection: Arc<Connection>,
}

impl Busy {
    pub(crate) fn new(connections: &Arc<Connections>, connection: &Arc<Connection>) -> Self {
        connection.idle_since.store(BUSY, Ordering::Relaxed);
        Self {
            connections: Arc::clone(connections),
            connection: Arc::clone(connection),
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let now = self.connections.clock.fetch_add(1, Ordering::Relaxed);
        self.connection.idle_since.store(now, Ordering::Relaxed);
    }
}

impl Connections {
    /// A new connection, until it is passed to [`Self::closed`].
    pub(crate) fn opened(&self) -> Arc<Connection> {
        let number = self.clock.fetch_add(1, Ordering::Relaxed);
        let connection = Arc::new(Connection {
            number,
            idle_since: AtomicU64::new(number),
            evicted: Notify::new(),
        });
        self.open.lock().insert(number, Arc::clone(&connection));
        connection
    }

    pub(crate) fn closed(&self, connection: &Connection) {
        self.open.lock().remove(&connection.number);
    }

    pub(crate) fn count(&self) -> usize {
        self.open.lock().len()
    }

    /// Closes the connection that has been idle longest. Returns false if all are busy.
    pub(crate) fn evict(&self) -> bool {
        let mut open = self.open.lock();
        let idle = open
            .values()
            .min_by_key(|connection| connection.idle_since.load(Ordering::Relaxed));
        let idle = idle
            .filter(|connection| connection.idle_since.load(Ordering::Relaxed) != BUSY)
            .cloned();
        let Some(idle) = idle else { return false };
        open.remove(&idle.number);
        idle.evicted.notify_one();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_idle_connection_goes_first_and_a_busy_one_never() {
        let connections = Arc::new(Connections::default());
        let (first, second, third) = (
            connections.opened(),
            connections.opened(),
            connections.opened(),
        );
        let answering = Busy::new(&connections, &second);
        drop(Busy::new(&connections, &first));
        assert!(connections.evict());
        let left = || connections.open.lock().keys().copied().collect::<Vec<_>>();
        assert_eq!(
            left(),
            [first.number, second.number],
            "{} was idle the longest",
            third.number
        );
        assert!(connections.evict());
        assert_eq!(left(), [second.number]);
        assert!(!connections.evict());
        drop(answering);
        assert!(connections.evict(), "its answer has ended");
    }
}
