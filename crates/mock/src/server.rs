//! The mock server: what it offers now, who listens, and how it is changed while it runs.

use super::catalog::Catalog;
use super::request_state::Signer;
use super::session::Audience;
use super::tape::TapeSource;
use crate::manifest::{self, Loaded, Manifest, ServerChange};
use crate::running_world::Running;
use mcptest_mcp::fault::ScopedFault;
use mcptest_mcp::tape::Tape;
use notify::{RecursiveMode, Watcher};
use parking_lot::{Mutex, RwLock};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

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
    /// A server of a manifest, with these faults beside the manifest's own.
    pub fn new(manifest: Manifest, faults: Vec<ScopedFault>) -> Self {
        Self::of(Catalog::of_manifest(manifest, &faults, None, None), faults)
    }

    /// A server that acts in a world, under this name.
    pub fn in_world(manifest: Manifest, name: &str, world: &Arc<Running>) -> Self {
        let world = Some((name.to_owned(), Arc::clone(world)));
        Self::of(Catalog::of_manifest(manifest, &[], world, None), Vec::new())
    }

    /// A server that offers the tools of a manifest, whose calls, once their arguments fit, this function answers.
    pub fn answered_by(manifest: Manifest, answer: fn(&str, &Value) -> Value) -> Self {
        Self::of(
            Catalog::of_manifest(manifest, &[], None, Some(answer)),
            Vec::new(),
        )
    }

    /// A server that gives the answers of a tape.
    pub fn of_tape(tape: &Tape, faults: Vec<ScopedFault>) -> Self {
        Self::of(Catalog::of_tape(TapeSource::new(tape), &faults), faults)
    }

    fn of(catalog: Catalog, faults: Vec<ScopedFault>) -> Self {
        Self(Arc::new(Inner {
            catalog: RwLock::new(Arc::new(catalog)),
            faults,
            audience: Arc::default(),
            signer: Signer::default(),
            stderr: Mutex::new(Box::new(std::io::sink())),
        }))
    }

    /// Where `flood-stderr` writes; nowhere, until this is called.
    pub fn set_stderr(&self, stderr: impl std::io::Write + Send + 'static) {
        *self.0.stderr.lock() = Box::new(stderr);
    }

    /// Offers another manifest from now on, with a fresh memory, and tells every client.
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

    /// Tells every client that wants to know.
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

    /// Writes far more to standard error than a pipe holds; blocks when nobody reads it.
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

/// How long a file must be left alone before it is read: editors write in several steps.
const QUIET: Duration = Duration::from_millis(60);

/// Reads the bytes of a file; the error is a sentence.
pub type ReadFile = fn(&Path) -> Result<Vec<u8>, String>;

/// Watches a manifest's file, until this is dropped.
pub struct Reload {
    _watcher: Box<dyn Watcher + Send>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Reload {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// Serves what the file says from now on, each time that it changes; a file with errors changes nothing.
    /// `report` is given every attempt. Needs a runtime.
    pub fn reload_from(
        &self,
        path: &Path,
        read: ReadFile,
        report: impl Fn(&Loaded) + Send + 'static,
    ) -> notify::Result<Reload> {
        let (sender, receiver) = mpsc::channel(1);
        let name = path.file_name().map(ToOwned::to_owned);
        let mut watcher =
            notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
                let concerns = |path: &PathBuf| path.file_name() == name.as_deref();
                let is_change = |event: &notify::Event| {
                    !event.kind.is_access() && event.paths.iter().any(concerns)
                };
                if event.is_ok_and(|event| is_change(&event)) {
                    let _one_is_enough = sender.try_send(());
                }
            })?;
        // The folder, since editors replace the file by another.
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        watcher.watch(folder, RecursiveMode::NonRecursive)?;
        let (server, path) = (self.clone(), path.to_owned());
        let task = tokio::spawn(follow(receiver, server, path, read, report));
        Ok(Reload {
            _watcher: Box::new(watcher),
            task,
        })
    }
}

async fn follow(
    mut changes: mpsc::Receiver<()>,
    server: Server,
    path: PathBuf,
    read: ReadFile,
    report: impl Fn(&Loaded),
) {
    let mut last = read(&path).ok();
    let mut is_gone = false;
    while changes.recv().await.is_some() {
        loop {
            tokio::time::sleep(QUIET).await;
            if changes.try_recv().is_err() {
                break;
            }
        }
        let bytes = read(&path);
        let was_gone = std::mem::replace(&mut is_gone, bytes.is_err());
        match bytes {
            // A file that was only touched changes nothing.
            Ok(bytes) if last.as_ref() == Some(&bytes) => continue,
            Ok(bytes) => last = Some(bytes),
            Err(_) if was_gone => continue,
            Err(_) => {}
        }
        let mut loaded = manifest::load(&path, &read);
        let manifest = loaded.manifest.take();
        report(&loaded);
        if let Some(manifest) = manifest {
            server.replace(manifest);
        }
    }
}
