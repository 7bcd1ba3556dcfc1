//! A recorded tool test, opened, parsed and compared with its suite: no process, no socket.

use super::recording::{CallOutcome, FORMAT, Header, VERSION, parse};
use crate::advice;
use crate::cassette::{self, Problem, ReadFault, Recording};
use crate::grades;
use crate::header::entry_of;
use crate::secrets::without_secret_names;
use crate::staleness::Misfit;
use mcptest_core::grade::Grades;
use mcptest_core::judge::RecordedCall;
use mcptest_core::row::{Reason, ReasonKind, Row, ToolRow};
use mcptest_core::suite::{Suite, ToolOutcome, ToolTest};
use mcptest_core::trace::RecordedServer;
use std::path::{Path, PathBuf};

/// The path of a tool test's recording.
pub fn path_of(suite: &Suite, test: &ToolTest) -> PathBuf {
    cassette::default_place(suite, &test.name, None)
}

/// The header that a recording made now would have.
pub fn header_now(suite: &Suite, test: &ToolTest) -> Header {
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

/// The recording of a tool test, or the call that was made just now.
pub struct OpenedCall<'r> {
    row: &'r Row<'r>,
    of: ToolRow<'r>,
    recording: Recording,
    grades: Grades,
    /// True if the call was made just now and is not stored.
    is_live: bool,
}

/// The call in the opened bytes, and whether it matches the suite.
pub struct ParsedCall<'o> {
    opened: &'o OpenedCall<'o>,
    header: Header,
    outcome: CallOutcome<'o>,
    /// The difference between the recording and the suite that is tolerated, or why it is not.
    tolerated: Result<Option<String>, Reason>,
}

impl<'r> OpenedCall<'r> {
    /// Opens the recording of this row.
    pub fn open(row: &'r Row<'r>, of: ToolRow<'r>) -> Result<Self, Reason> {
        Ok(Self {
            row,
            of,
            recording: open(row, &path_of(of.suite, of.test))?,
            grades: grades::read(row),
            is_live: false,
        })
    }

    /// The call that was made just now and is on no disk.
    pub fn from_memory(row: &'r Row<'r>, of: ToolRow<'r>, recording: &str) -> Self {
        Self {
            row,
            of,
            recording: Recording::from_text(path_of(of.suite, of.test), recording),
            grades: Grades::default(),
            is_live: true,
        }
    }

    /// Reads the call, and compares its header with the suite.
    pub fn parse(&self) -> Result<ParsedCall<'_>, Reason> {
        let (header, outcome) =
            parse(self.recording.bytes()).map_err(|problem| self.unreadable(problem))?;
        let tolerated = if self.is_live {
            Ok(None)
        } else {
            tolerated_staleness(self.row, self.of, self.recording.path(), &header)
        };
        Ok(ParsedCall {
            opened: self,
            header,
            outcome,
            tolerated,
        })
    }

    fn unreadable(&self, problem: Problem) -> Reason {
        if self.is_live {
            return Reason::new(ReasonKind::RecordingUnreadable, problem.to_string());
        }
        let error = ReadFault::Bad(problem).at(self.recording.path());
        advice::unreadable(&error, self.row, false)
    }
}

impl ParsedCall<'_> {
    /// The recording to judge the tool test by.
    pub fn recorded(&self) -> RecordedCall<'_> {
        let outcome = &self.outcome;
        let is_live = self.opened.is_live;
        let (stale, note) = match &self.tolerated {
            Ok(note) => (None, note.clone()),
            Err(reason) => (Some(reason.clone()), None),
        };
        RecordedCall {
            outcome: ToolOutcome {
                result: outcome.result,
                error: outcome.error,
                duration_ms: outcome.duration_ms,
                output_schema: outcome.output_schema.as_ref(),
                failure: outcome.failure.as_deref(),
                progress: outcome.progress.as_deref(),
                log: outcome.log.as_deref(),
                oddities: &outcome.oddities,
            },
            unpinned: !is_live && !self.header.is_pinned(),
            stale,
            is_stale: note.is_some(),
            notes: note.into_iter().collect(),
            server: recorded_server(&self.header, outcome),
            surface: outcome.tools.as_ref(),
            is_live,
            grades: self.opened.grades.clone(),
        }
    }
}

/// The server with the protocol used, if the recording in these bytes has it.
pub fn server_of(recording: &[u8]) -> Option<RecordedServer> {
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
            let message = format!("no recording found at {}", path.display());
            let help = "record it, or use `--live` instead of `--record` to call the tool without \
                recording it";
            let reason = Reason::new(ReasonKind::RecordingMissing, message).help(help);
            reason.command(row.rerun.recording("--record"))
        }
        _ => error.reason(),
    })
}

/// Compares the recording with the suite. A tolerated difference becomes a note.
fn tolerated_staleness(
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

/// Why the recording does not fit the suite, with the place, if it does not.
pub fn staleness(header: &Header, suite: &Suite, test: &ToolTest) -> Option<Misfit> {
    if !header.is_pinned() {
        return Some(Misfit::edited(
            "the header has no fingerprint, unlike recordings of mcptest",
        ));
    }
    let is_tampered = header.is_tampered();
    Misfit::from_changes(header.changes_to(&header_now(suite, test)), is_tampered)
}
