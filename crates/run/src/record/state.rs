//! What is the state of a row's recording, and which of its runs must be recorded?

use crate::{Mode, Which};
use mcptest_core::eval::SideRuns;
use mcptest_core::report::Status;
use mcptest_core::row::{AgentRow, Row, Subject, ToolRow};
use mcptest_core::trace::Run;
use mcptest_replay::cassette::{Cassette, CassetteRun, ReadError, ReadFault, Recording};
use mcptest_replay::{
    JudgeOptions, cassette_paths, expected_header, judge, misfit, side_path, tool_test,
};

/// The state of a row's recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RecordingState {
    /// No readable recording exists.
    Missing,
    /// A newer mcptest made it: this version must not overwrite it.
    Newer,
    /// The suite changed after it was recorded.
    Stale,
    /// It lacks the runs with these numbers or, if empty, runs for one of its gates.
    Short(Vec<usize>),
    /// It can be judged, with this outcome.
    Judged(Status),
}

/// Returns true if a newer mcptest made the recording of this row.
fn is_newer(row: &Row<'_>) -> bool {
    match row.subject {
        Subject::Agent(of) => open(of)
            .is_some_and(|recording| recording.cassette().is_err_and(|error| is_of_newer(&error))),
        Subject::Tool(of) => state_of_tool(row, of) == RecordingState::Newer,
        Subject::Refused(_) => false,
    }
}

fn is_of_newer(error: &ReadError) -> bool {
    matches!(&error.fault, ReadFault::Bad(problem) if problem.fault.is_newer())
}

fn open(of: AgentRow<'_>) -> Option<Recording> {
    let paths = cassette_paths(of).ok()?;
    paths.first().and_then(|path| Recording::open(path).ok())
}

/// The current state of this row's recording.
pub(super) fn state_of(row: &Row<'_>) -> RecordingState {
    let of = match row.subject {
        Subject::Agent(of) => of,
        Subject::Tool(of) => return state_of_tool(row, of),
        Subject::Refused(_) => return RecordingState::Missing,
    };
    let Some(recording) = open(of) else {
        return RecordingState::Missing;
    };
    let cassette = match recording.cassette() {
        Ok(cassette) => cassette,
        Err(error) => return unreadable(&error),
    };
    let expected = expected_header(of);
    if misfit(of, &cassette, &expected).is_some() {
        return RecordingState::Stale;
    }
    let mut runs: Vec<&CassetteRun<'_>> = cassette.runs.iter().collect();
    runs.sort_by_key(|run| run.line);
    let is_cut_off = !recording.bytes().ends_with(b"\n")
        && cassette.stopped.is_none()
        && runs.pop_if(|last| last.trace.is_err()).is_some();
    let missing: Vec<usize> = (1..=of.agent.runs)
        .filter(|number| runs.iter().all(|run| run.number != *number))
        .collect();
    if runs.iter().any(|run| run.trace.is_err()) || runs.is_empty() {
        return RecordingState::Missing;
    }
    if is_cut_off {
        return RecordingState::Short(missing);
    }
    match judge::status(row, JudgeOptions::default(), None) {
        Status::Error if !missing.is_empty() => RecordingState::Short(missing),
        status => side_state(of, &cassette).unwrap_or(RecordingState::Judged(status)),
    }
}

fn state_of_tool(row: &Row<'_>, of: ToolRow<'_>) -> RecordingState {
    let Ok(recording) = Recording::open(&tool_test::path_of(of.suite, of.test)) else {
        return RecordingState::Missing;
    };
    match tool_test::parse_recording(recording.bytes()) {
        Err(problem) if problem.fault.is_newer() => RecordingState::Newer,
        Err(_) => RecordingState::Missing,
        Ok((header, _)) if tool_test::staleness(&header, of.suite, of.test).is_some() => {
            RecordingState::Stale
        }
        Ok(_) => RecordingState::Judged(judge::status(row, JudgeOptions::default(), None)),
    }
}

fn unreadable(error: &ReadError) -> RecordingState {
    if is_of_newer(error) {
        RecordingState::Newer
    } else {
        RecordingState::Missing
    }
}

/// The state of the runs for one of its gates, if they need recording.
fn side_state(of: AgentRow<'_>, cassette: &Cassette<'_>) -> Option<RecordingState> {
    let first = cassette
        .runs
        .first()
        .and_then(|run| run.trace.as_ref().ok());
    let header = cassette.header.as_ref();
    let first = first.map(|trace| Run {
        header,
        ..Run::new(trace)
    });
    let side = SideRuns::wanted(of.agent, first.as_slice()).filter(|side| !side.runs.is_empty())?;
    let path = side_path(of)?;
    if !path.exists() {
        return Some(RecordingState::Short(Vec::new()));
    }
    let opened = Recording::open(&path);
    let recorded = opened.as_ref().map_err(unreadable);
    let recorded =
        match recorded.and_then(|opened| opened.cassette().map_err(|error| unreadable(&error))) {
            Ok(recorded) => recorded,
            Err(state) => return Some(state),
        };
    let mut expected = expected_header(of);
    side.name_in(&mut expected);
    if misfit(of, &recorded, &expected).is_some() {
        return Some(RecordingState::Stale);
    }
    if recorded.runs.iter().any(|run| run.trace.is_err()) {
        return Some(RecordingState::Missing);
    }
    (!recorded.missing(side.runs.len()).is_empty()).then_some(RecordingState::Short(Vec::new()))
}

/// The runs that are to be recorded.
pub(super) struct WantedRuns {
    /// True if existing runs are kept.
    pub(super) goes_on: bool,
    /// Their numbers; if empty, the missing runs of one of its gates.
    pub(super) runs: Vec<usize>,
}

/// The runs that the mode selects in this row; `None` if it selects none.
pub(super) fn wanted_runs(row: &Row<'_>, mode: Mode) -> Option<WantedRuns> {
    let count = row.agent_row().map_or(1, |of| of.agent.runs);
    let all = || {
        Some(WantedRuns {
            goes_on: false,
            runs: (1..=count).collect(),
        })
    };
    let which = match mode {
        Mode::Replay => return None,
        Mode::Live => return all(),
        Mode::Record(Which::All) => return if is_newer(row) { None } else { all() },
        Mode::Record(which) => which,
    };
    match (which, state_of(row)) {
        (Which::Missing, RecordingState::Short(runs)) => Some(WantedRuns {
            goes_on: true,
            runs,
        }),
        (Which::Missing, RecordingState::Missing)
        | (Which::Stale, RecordingState::Stale)
        | (Which::Failed, RecordingState::Judged(Status::Failed | Status::Error)) => all(),
        _ => None,
    }
}
