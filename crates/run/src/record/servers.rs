//! How are the servers of a run started, shared with other runs, and ended?

use mcptest_agent::{Connected, Oddity, at_once};
use mcptest_core::suite::Suite;
use mcptest_mcp::client::{Client, OnLate, ServerSpec, WireError};
use mcptest_mock::{RunningWorld, UnusableServer, spec_in};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use thiserror::Error;
use tokio::sync::OnceCell;

/// Why a server of a run is not connected.
#[derive(Debug, Clone, PartialEq, Error)]
pub(super) enum ConnectError {
    #[error(transparent)]
    Unusable(#[from] UnusableServer),
    #[error(transparent)]
    Wire(#[from] WireError),
}

/// A server that cannot be connected to is not tried again.
type Slot = Arc<OnceCell<Result<Connected, ConnectError>>>;

/// The connections to servers with `shared: true`: one for all runs and tool tests of a suite, made
/// when first needed.
#[derive(Default)]
pub(super) struct SharedServers {
    slots: Mutex<BTreeMap<(PathBuf, String), Slot>>,
}

impl SharedServers {
    /// The connection, made now if it is needed for the first time.
    pub(super) async fn get(
        &self,
        suite: &Suite,
        name: &str,
        on_late: &OnLate,
    ) -> Result<Connected, ConnectError> {
        let slot = {
            let mut slots = self.slots.lock();
            Arc::clone(
                slots
                    .entry((suite.path.clone(), name.to_owned()))
                    .or_default(),
            )
        };
        slot.get_or_init(|| async {
            connect(
                spec_in(suite, name, None, &mcptest_replay::host())?,
                on_late,
            )
            .await
        })
        .await
        .clone()
    }

    /// Ends all of them.
    pub(super) async fn close(self) {
        let slots = self.slots.into_inner();
        for slot in slots.into_values() {
            let connected = Arc::try_unwrap(slot).ok().and_then(OnceCell::into_inner);
            let connected = connected.and_then(Result::ok);
            if let Some(client) =
                connected.and_then(|connected| Arc::try_unwrap(connected.client).ok())
            {
                client.close().await;
            }
        }
    }
}

async fn connect(spec: ServerSpec, on_late: &OnLate) -> Result<Connected, ConnectError> {
    let spec = ServerSpec {
        on_late: on_late.clone(),
        ..spec
    };
    let client = Client::connect(&spec, None).await?;
    Ok(Connected {
        name: spec.name,
        client: Arc::new(client),
        timeout: spec.timeout,
    })
}

/// Returns true if all runs and tool tests of the suite share this server.
pub(super) fn is_shared(suite: &Suite, name: &str) -> bool {
    suite.servers.get(name).is_some_and(|server| server.shared)
}

/// Connects to these servers of a suite, in this order; they start at once, and mocks act in this world.
pub(super) async fn connect_all(
    suite: &Suite,
    names: &[String],
    world: Option<&Arc<RunningWorld>>,
    shared: &SharedServers,
    on_late: &OnLate,
) -> Result<Vec<Connected>, ConnectError> {
    let starting = names.iter().map(|name| async move {
        if is_shared(suite, name) {
            return shared.get(suite, name, on_late).await;
        }
        connect(
            spec_in(suite, name, world, &mcptest_replay::host())?,
            on_late,
        )
        .await
    });
    let (mut connected, mut failed) = (Vec::new(), None);
    for started in at_once(starting).await {
        match started {
            Ok(server) => connected.push(server),
            Err(why) => failed = failed.or(Some(why)),
        }
    }
    let Some(why) = failed else {
        return Ok(connected);
    };
    close_all(suite, connected).await;
    Err(why)
}

/// Ends the run's own servers concurrently, and returns the observations.
pub(super) async fn close_all(suite: &Suite, servers: Vec<Connected>) -> Vec<Oddity> {
    let own = servers
        .into_iter()
        .filter(|server| !is_shared(suite, &server.name));
    let own = own.filter_map(|server| Some((server.name, Arc::try_unwrap(server.client).ok()?)));
    let observed = at_once(own.map(|(name, client)| async move {
        let observed = client.close().await.observed;
        observed
            .into_iter()
            .map(|observed| Oddity {
                server: name.clone(),
                observed,
            })
            .collect::<Vec<_>>()
    }));
    observed.await.into_iter().flatten().collect()
}
