//! What can be done about a row whose recording is missing or stale?

use crate::cassette::ResolveError;
use crate::walk::not_entered;
use mcptest_core::judge::{is_read_only, to_record};
use mcptest_core::row::{AgentRow, Reason, ReasonKind, Row};

/// There is no file where the recording should be.
pub(crate) fn missing(row: &Row<'_>, of: AgentRow<'_>) -> String {
    if row.transcripts.is_some() {
        return "it was there a moment ago; run again".to_owned();
    }
    if is_read_only(of) {
        return "put the file there, or take it out of `cassette:`".to_owned();
    }
    let traces = match of.agent.cassette {
        Some(_) => "put its traces there",
        None => "name its traces with `cassette:`",
    };
    format!("{traces}, or {}", to_record(row))
}

/// The suite has changed since the recording.
pub(crate) fn stale(row: &Row<'_>, of: AgentRow<'_>) -> String {
    let anew = if is_read_only(of) { "record it again".to_owned() } else { to_record(row) };
    format!("{anew}, or set `run_options: {{stale: warn}}`")
}

/// A list or pattern under `cassette:` that leads to no file.
pub(crate) fn unresolved(error: &ResolveError) -> Reason {
    match error {
        ResolveError::NoMatch { pattern, base, linked } if base.as_os_str().is_empty() => {
            let message = format!("no file matches `{pattern}`");
            Reason::new(ReasonKind::RecordingMissing, message)
                .details(not_entered(linked).into_iter().collect())
                .help("check the pattern, or record to a path without `*`, `?` and `[…]`")
        }
        other => Reason::new(ReasonKind::RecordingMissing, other.to_string()),
    }
}
