//! Does a server use a different protocol than in its previous recording?

use mcptest_core::trace::{RecordedServer, Trace};
use mcptest_replay::cassette::Recording;
use mcptest_replay::tool_test;
use std::path::Path;

/// The servers of the existing recording. Empty without a recording, or if it lacks them.
pub(super) fn recorded(path: &Path) -> Vec<RecordedServer> {
    let Ok(recording) = Recording::open(path) else {
        return Vec::new();
    };
    if tool_test::is_tool_test(&recording) {
        return of_call(recording.bytes());
    }
    let runs = recording
        .cassette()
        .map(|cassette| cassette.runs)
        .unwrap_or_default();
    let first = runs.iter().find_map(|run| run.trace.as_ref().ok());
    first.map(|trace| trace.servers.clone()).unwrap_or_default()
}

/// The servers of a run.
pub(super) fn of_run(trace: &str) -> Vec<RecordedServer> {
    Trace::read(trace)
        .map(|trace| trace.servers)
        .unwrap_or_default()
}

/// The server of a tool test.
pub(super) fn of_call(recording: &[u8]) -> Vec<RecordedServer> {
    tool_test::server_of(recording).into_iter().collect()
}

/// The changes, a sentence for each server.
pub(super) fn changes(before: &[RecordedServer], now: &[RecordedServer]) -> Vec<String> {
    let changed = |now: &RecordedServer| {
        let before = before
            .iter()
            .find(|before| before.name == now.name && before.era != now.era)?;
        Some(format!(
            "server {:?} now uses the {} protocol; the previous recording used the {} protocol",
            now.name, now.era, before.era
        ))
    };
    now.iter().filter_map(changed).collect()
}
