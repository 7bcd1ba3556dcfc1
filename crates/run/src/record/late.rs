//! How do those who watch learn that a server is late?

use mcptest_mcp::client::{OnLate, ServerSpec};
use mcptest_replay::{Event, Watch};
use std::sync::Arc;

/// Notifies the observer of a late server.
pub(super) fn on_late(watch: &Watch, of: Option<(usize, usize)>) -> OnLate {
    let watch = Arc::clone(watch);
    OnLate(Some(Arc::new(move |spec: &ServerSpec| {
        watch(Event::ServerLate {
            of,
            server: spec.name.clone(),
        });
    })))
}
