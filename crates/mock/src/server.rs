//! The mock server: what does it offer now, and who listens?

use super::audience::Audience;
use super::catalog::Catalog;
use super::request_state::Signer;
use super::tape::TapeSource;
use crate::manifest::{InWorld, Manifest, ServerChange};
use crate::running_world::RunningWorld;
use mcptest_mcp::fault::ScopedFault;
use mcptest_mcp::tape::Tape;
use parking_lot::{Mutex, RwLock};
use serde_json::Value;
use std::sync::Arc;

/// A mock server. Cheap to clone: all clones are one server.
#[derive(Debug, Clone)]
pub struct Server(pub(super) Arc<Inner>);

pub(super) struct Inner {
    catalog: RwLock<Arc<Catalog>>,
    faults: Vec<ScopedFault>,
    pub(super) audience: Arc<Audience>,
    pub(super) signer: Signer,
    stderr: Mutex<Box<dyn std::io::Write + Send>>,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("faults", &self.faults)
            .finish_non_exhaustive()
    }
}

impl Server {
    /// A server of a manifest, with these faults besides the manifest's own.
    pub fn new(manifest: Manifest, faults: Vec<ScopedFault>) -> Self {
        Self::from_catalog(Catalog::of_manifest(manifest, &faults, None, None), faults)
    }

    /// A server that acts in a world, under this name.
    pub fn in_world(manifest: Manifest, name: &str, world: &Arc<RunningWorld>) -> Self {
        let in_world = InWorld {
            server: name.to_owned(),
            world: Arc::clone(world),
        };
        Self::from_catalog(
            Catalog::of_manifest(manifest, &[], Some(in_world), None),
            Vec::new(),
        )
    }

    /// A server with the tools of a manifest. This function answers calls with valid arguments.
    pub fn answered_by(manifest: Manifest, answer: fn(&str, &Value) -> Value) -> Self {
        Self::from_catalog(
            Catalog::of_manifest(manifest, &[], None, Some(answer)),
            Vec::new(),
        )
    }

    /// A server that repeats the answers of a tape.
    pub fn of_tape(tape: &Tape, faults: Vec<ScopedFault>) -> Self {
        Self::from_catalog(Catalog::of_tape(TapeSource::new(tape), &faults), faults)
    }

    fn from_catalog(catalog: Catalog, faults: Vec<ScopedFault>) -> Self {
        Self(Arc::new(Inner {
            catalog: RwLock::new(Arc::new(catalog)),
            faults,
            audience: Arc::default(),
            signer: Signer::default(),
            stderr: Mutex::new(Box::new(std::io::sink())),
        }))
    }

    /// Sets the destination of `flood-stderr`; without it, nothing is written.
    pub fn set_stderr(&self, stderr: impl std::io::Write + Send + 'static) {
        *self.0.stderr.lock() = Box::new(stderr);
    }

    /// Replaces the manifest, with a fresh state, and notifies every client.
    pub fn replace(&self, manifest: Manifest) {
        let catalog = Arc::new(Catalog::of_manifest(manifest, &self.0.faults, None, None));
        let before = {
            let mut current = self.0.catalog.write();
            std::mem::replace(&mut *current, Arc::clone(&catalog))
        };
        self.tell(&ServerChange::Tools);
        for (method, change) in [
            ("prompts/list", ServerChange::Prompts),
            ("resources/list", ServerChange::Resources),
        ] {
            if before.lists.contains_key(method) || catalog.lists.contains_key(method) {
                self.tell(&change);
            }
        }
    }

    /// Notifies every subscribed client.
    pub fn tell(&self, change: &ServerChange) {
        self.0.audience.tell(change);
    }

    pub(super) fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.0.catalog.read())
    }

    pub(super) fn is_wedged(&self) -> bool {
        let catalog = self.catalog();
        !catalog.injector.is_idle() && catalog.injector.is_wedged()
    }

    /// Writes far more to standard error than a pipe holds. Blocks without a reader.
    pub(super) fn flood_stderr(&self) {
        let mut stderr = self.0.stderr.lock();
        for line in mcptest_mcp::fault::flood() {
            if stderr.write_all(line.as_bytes()).is_err() {
                return;
            }
        }
        let _gone = stderr.flush();
    }
}
