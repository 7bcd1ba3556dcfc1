//! What does the server send that belongs to no request?

use super::Http;
use super::stream::{DEFAULT_RETRY, Progress};
use crate::era::Era;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

const MAX_FAILURES: usize = 5;
/// The minimum pause, even if a server asks to retry at once.
const LEAST_PAUSE: Duration = Duration::from_millis(50);
/// The time to wait for the head of this stream, which a server may send only with its first event.
const PATIENCE: Duration = Duration::from_millis(500);

impl Http {
    /// Listens in the background, if the server has such a stream. Many have none.
    ///
    /// Returns when the stream is open, because some servers lose messages that they send before.
    pub(in crate::client) async fn listen(self: &Arc<Self>) {
        if self.era() == Era::Modern {
            return;
        }
        let this = Arc::downgrade(self);
        let (opened, is_open) = oneshot::channel::<()>();
        let mut opened = Some(opened);
        self.spawn(async move {
            let mut progress = Progress::default();
            let mut failures = 0;
            while failures < MAX_FAILURES {
                let Some(this) = this.upgrade() else { return };
                let Ok(response) = this.get_events(progress.last_id.as_deref()).await else {
                    return;
                };
                drop(opened.take());
                let before = progress.events;
                this.read_stream(response, None, &mut progress).await;
                failures = if progress.events > before {
                    0
                } else {
                    failures + 1
                };
                drop(this);
                let pause = progress.retry.unwrap_or(DEFAULT_RETRY);
                sleep(pause.max(LEAST_PAUSE)).await;
            }
        });
        // The sender is dropped, whether or not there is such a stream.
        let _ = timeout(PATIENCE, is_open).await;
    }
}
