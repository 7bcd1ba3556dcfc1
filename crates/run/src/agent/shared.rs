//! Servers with `shared: true`: one connection for all the runs of a suite.

use super::one_run::connect;
use mcptest_agent::Connected;
use mcptest_core::suite::Suite;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OnceCell;

type Slot = Arc<OnceCell<Connected>>;

/// The connections that runs share, each made when it is first needed.
#[derive(Default)]
pub(super) struct Shared {
    slots: Mutex<BTreeMap<(PathBuf, String), Slot>>,
}

impl Shared {
    /// The connection to this server of the suite.
    pub(super) async fn get(&self, suite: &Suite, name: &str) -> Result<Connected, String> {
        let slot = {
            let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(slots.entry((suite.path.clone(), name.to_owned())).or_default())
        };
        slot.get_or_try_init(|| connect(suite, name)).await.cloned()
    }

    /// Ends every one of them.
    pub(super) async fn close(self) {
        let slots = self.slots.into_inner().unwrap_or_else(PoisonError::into_inner);
        for slot in slots.into_values() {
            let connected = Arc::try_unwrap(slot).ok().and_then(OnceCell::into_inner);
            if let Some(client) = connected.and_then(|connected| Arc::try_unwrap(connected.client).ok()) {
                client.close().await;
            }
        }
    }
}
