//! What can be done about a row whose recording is missing or stale?

use crate::cassette::{ReadError, ResolveError};
use crate::walk::not_entered;
use mcptest_core::judge::is_read_only;
use mcptest_core::row::{Reason, ReasonKind, Row, RowOfAgent};

/// The reason for a missing recording.
pub fn missing(reason: Reason, RowOfAgent { row, of }: RowOfAgent<'_>) -> Reason {
    if row.transcripts.is_some() {
        return reason.help("it existed a moment ago; run again");
    }
    if is_read_only(of) {
        let key = if of.agent.is_eval() && of.agent.world().is_none() {
            "traces"
        } else {
            "cassette"
        };
        return reason.help(format!("add the file, or remove it from `{key}:`"));
    }
    let traces = match of.agent.cassette {
        Some(_) => "put its traces there",
        None => "name existing traces under `cassette:`",
    };
    reason
        .help(format!("record it, or {traces}"))
        .command(row.rerun.recording("--record"))
}

/// The suite has changed since the recording.
pub fn stale(reason: Reason, row: &Row<'_>, is_read_only: bool) -> Reason {
    // Only what fits the suite no longer is what `stale` records; all else takes a plain `--record`.
    let mode = if reason.kind == ReasonKind::RecordingStale {
        "--record=stale"
    } else {
        "--record"
    };
    let reason =
        reason.help("record it again, or set `run_options: {stale: warn}` to judge it anyway");
    if is_read_only {
        reason
    } else {
        reason.command(row.rerun.recording(mode))
    }
}

/// The recording cannot be read; the advice shows how to make a new one, if that helps.
pub fn unreadable(error: &ReadError, row: &Row<'_>, is_read_only: bool) -> Reason {
    let can_be_recorded = error.asks_to_record() && !is_read_only;
    let reason = error.reason();
    if can_be_recorded {
        reason.command(row.rerun.recording("--record"))
    } else {
        reason
    }
}

/// A list or pattern under `cassette:` that leads to no file.
pub fn unresolved(error: &ResolveError) -> Reason {
    match error {
        ResolveError::NoMatch {
            pattern,
            base,
            linked,
        } if base.as_os_str().is_empty() => {
            let message = format!("no file matches `{pattern}`");
            Reason::new(ReasonKind::RecordingMissing, message)
                .details(not_entered(linked).into_iter().collect())
                .help("check the pattern, or record to a path without `*`, `?` and `[…]`")
        }
        other => Reason::new(ReasonKind::RecordingMissing, other.to_string()),
    }
}
