//! The stream on which a legacy server sends what belongs to no request.

use super::Http;
use super::stream::Progress;
use crate::era::Era;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

const MAX_FAILURES: usize = 5;
const DEFAULT_RETRY: Duration = Duration::from_secs(1);

impl Http {
    /// Listens in the background, as long as the server has such a stream. Many have none.
    pub(in crate::client) fn listen(self: &Arc<Self>) {
        if self.era() == Era::Modern {
            return;
        }
        let this = Arc::downgrade(self);
        self.spawn(async move {
            let mut progress = Progress::default();
            let mut failures = 0;
            while failures < MAX_FAILURES {
                let Some(this) = this.upgrade() else { return };
                let Ok(response) = this.get_events(progress.last_id.as_deref()).await else { return };
                let before = progress.events;
                this.read_stream(response, None, &mut progress).await;
                failures = if progress.events > before { 0 } else { failures + 1 };
                drop(this);
                sleep(progress.retry.unwrap_or(DEFAULT_RETRY).max(Duration::from_millis(50))).await;
            }
        });
    }
}
