//! Which changes do clients learn of once the answer has left?

use super::server::Server;
use crate::manifest::ServerChange;

/// Changes that are announced on drop, after the answer is sent or lost.
#[derive(Debug)]
pub(super) struct DeferredChanges {
    server: Server,
    changes: Vec<ServerChange>,
}

impl DeferredChanges {
    /// `None` when nothing changes.
    pub(super) fn new(server: &Server, changes: Vec<ServerChange>) -> Option<Self> {
        (!changes.is_empty()).then(|| Self {
            server: server.clone(),
            changes,
        })
    }
}

impl Drop for DeferredChanges {
    fn drop(&mut self) {
        for change in &self.changes {
            self.server.tell(change);
        }
    }
}
