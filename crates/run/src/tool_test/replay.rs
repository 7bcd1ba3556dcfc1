//! A recorded tool test, read and judged: no process, no socket.

use super::recording::{CallOutcome, FORMAT, Header, VERSION, parse};
use crate::advice;
use crate::cassette::{self, ReadFault, Recording};
use crate::grade;
use crate::replay::Misfit;
use crate::replay::entry_of;
use crate::secrets::without_secret_names;
use mcptest_core::judge::{Recorded, RecordedCall};
use mcptest_core::row::{Reason, ReasonKind, Row, ToolRow};
use mcptest_core::suite::{Suite, ToolOutcome, ToolTest};
use mcptest_core::trace::RecordedServer;
use std::path::{Path, PathBuf};

/// Where the recording of a tool test is.
pub(crate) fn path_of(suite: &Suite, test: &ToolTest) -> PathBuf {
    cassette::default_place(suite, &test.name, None)
}

/// The header that a recording made now would have.
pub(crate) fn header_now(suite: &Suite, test: &ToolTest) -> Header {
    let header = Header {
        format: FORMAT.to_owned(),
        version: VERSION,
        test: test.name.clone(),
        server: test.server.clone(),
        server_entry: entry_of(suite, &test.server),
        tool: test.tool.clone(),
        args: test.args_template.clone(),
        ..Header::default()
    };
    without_secret_names(&header)
        .map(|clean| clean.in_place_of(&header))
        .unwrap_or(header)
}

/// Reads the recording of a tool test, or the call made just now, and gives it to `judge`.
pub(crate) fn with_call<T>(
    row: &Row<'_>,
    of: ToolRow<'_>,
    live: Option<&str>,
    judge: impl FnOnce(&Recorded<'_>) -> T,
) -> T {
    let path = path_of(of.suite, of.test);
    let opened = match live {
        Some(text) => Ok(Recording::of_text(path, text)),
        None => open(row, &path),
    };
    let recording = match opened {
        Ok(recording) => recording,
        Err(reason) => return judge(&Recorded::Nothing(reason)),
    };
    let (header, outcome) = match parse(recording.bytes()) {
        Ok(parsed) => parsed,
        Err(problem) if live.is_some() => {
            let reason = Reason::new(ReasonKind::RecordingUnreadable, problem.to_string());
            return judge(&Recorded::Nothing(reason));
        }
        Err(problem) => {
            let error = ReadFault::Bad(problem).at(recording.path());
            return judge(&Recorded::Nothing(advice::unreadable(&error, row, false)));
        }
    };
    let server = recorded_server(&header, &outcome);
    let surface = outcome.tools.as_ref();
    let mut call = RecordedCall {
        is_live: live.is_some(),
        server,
        surface,
        ..RecordedCall::default()
    };
    call.outcome = ToolOutcome {
        result: outcome.result,
        error: outcome.error,
        duration_ms: outcome.duration_ms,
        output_schema: outcome.output_schema.as_ref(),
        failure: outcome.failure.as_deref(),
        progress: outcome.progress.as_deref(),
        log: outcome.log.as_deref(),
        oddities: &outcome.oddities,
    };
    if live.is_none() {
        call.grades = grade::read(row);
        call.unpinned = !header.is_pinned();
        match freshness(row, of, recording.path(), &header) {
            Ok(note) => {
                call.is_stale = note.is_some();
                call.notes.extend(note);
            }
            Err(reason) => call.stale = Some(reason),
        }
    }
    judge(&Recorded::Call(call))
}

/// The server as it was spoken to, of a recording in these bytes that says so.
pub(crate) fn server_of(recording: &[u8]) -> Option<RecordedServer> {
    let (header, outcome) = parse(recording).ok()?;
    recorded_server(&header, &outcome)
}

fn recorded_server(header: &Header, outcome: &CallOutcome<'_>) -> Option<RecordedServer> {
    let spoken = outcome.server.as_ref()?;
    Some(RecordedServer {
        name: header.server.clone(),
        era: spoken.era.clone(),
        protocol_version: spoken.protocol_version.clone(),
    })
}

fn open(row: &Row<'_>, path: &Path) -> Result<Recording, Reason> {
    Recording::open(path).map_err(|error| match error.fault {
        ReadFault::Missing => {
            let message = format!("there is no recording at {}", path.display());
            let help =
                "record it; with `--live` in place of `--record` the tool is called and nothing is written";
            let reason = Reason::new(ReasonKind::RecordingMissing, message).help(help);
            reason.command(row.rerun.recording("--record"))
        }
        _ => error.reason(),
    })
}

/// Compares what was recorded with what the suite would record now; a difference that is tolerated is a note.
fn freshness(
    row: &Row<'_>,
    of: ToolRow<'_>,
    path: &Path,
    header: &Header,
) -> Result<Option<String>, Reason> {
    let misfit = staleness(header, of.suite, of.test);
    misfit
        .map(|misfit| misfit.tolerated(of.suite, path, row, false))
        .transpose()
}

/// Why the recording does not fit the suite, and where, when it does not.
pub(crate) fn staleness(header: &Header, suite: &Suite, test: &ToolTest) -> Option<Misfit> {
    if !header.is_pinned() {
        return Some(Misfit::edited(
            "the header has no fingerprint, as every recording has",
        ));
    }
    let is_tampered = header.is_tampered();
    Misfit::of(header.changes_to(&header_now(suite, test)), is_tampered)
}
