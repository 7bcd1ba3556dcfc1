//! When is a changed manifest read again while the mock runs, and when does it take effect?

use super::server::Server;
use crate::manifest::{self, Loaded};
use notify::{RecursiveMode, Watcher};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::mpsc;

/// The time that a file must be unchanged before it is read: editors write in several steps.
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
    /// Serves the new contents each time that the file changes; a file with errors changes nothing.
    /// `report` receives every attempt. Needs a runtime.
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
