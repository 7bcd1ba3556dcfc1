//! What is the matter with a row's recording, and which of its runs does that ask for?

use crate::cassette::{Cassette, CassetteRun, Fault, ReadError, Recording, is_tampered, staleness};
use crate::plan::{Cell, Subject};
use crate::replay::{cassette_paths, expected_header, faults_path};
use crate::{Mode, Options, Which, judge};
use mcptest_core::eval::{MATRIX_PARAMETER, fault_combinations};
use mcptest_core::report::Status;
use mcptest_core::suite::Agent;
use mcptest_core::trace::Run;

/// What a row's recording is like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    /// There is none that can be read.
    Missing,
    /// A newer mcptest made it: it is nobody's to overwrite.
    Newer,
    /// It was made before the suite changed.
    Stale,
    /// It lacks the runs with these numbers; with none of them, runs of its fault matrix.
    Short(Vec<usize>),
    /// It can be judged, and ends so.
    Judged(Status),
}

/// Whether a newer mcptest made the recording of this row.
fn is_newer(cell: &Cell<'_>) -> bool {
    open(cell).is_some_and(|recording| recording.cassette().is_err_and(|error| is_of_newer(&error)))
}

fn is_of_newer(error: &ReadError) -> bool {
    matches!(error, ReadError::Bad { problem, .. } if matches!(problem.fault, Fault::NewerVersion { .. }))
}

fn open(cell: &Cell<'_>) -> Option<Recording> {
    let Subject::Agent { suite, agent, model, variant } = cell.subject else { return None };
    let paths = cassette_paths(suite, agent, model, variant).ok()?;
    paths.first().and_then(|path| Recording::open(path).ok())
}

/// What the recording of this row is like now.
pub(super) fn state_of(cell: &Cell<'_>) -> State {
    let Subject::Agent { suite, agent, model, variant } = cell.subject else { return State::Missing };
    let Some(recording) = open(cell) else { return State::Missing };
    let cassette = match recording.cassette() {
        Ok(cassette) => cassette,
        Err(error) => return unreadable(&error),
    };
    let expected = expected_header(suite, agent, model, variant);
    let is_stale = |header| !staleness(header, &expected).is_empty() || is_tampered(header);
    if cassette.is_pinned() && cassette.header.as_ref().is_some_and(is_stale) {
        return State::Stale;
    }
    let mut runs: Vec<&CassetteRun<'_>> = cassette.runs.iter().collect();
    runs.sort_by_key(|run| run.line);
    let is_cut_off = !recording.bytes().ends_with(b"\n")
        && cassette.stopped.is_none()
        && runs.pop_if(|last| last.trace.is_err()).is_some();
    let missing: Vec<usize> =
        (1..=agent.runs).filter(|number| runs.iter().all(|run| run.number != *number)).collect();
    if runs.iter().any(|run| run.trace.is_err()) || runs.is_empty() {
        return State::Missing;
    }
    if is_cut_off {
        return State::Short(missing);
    }
    let options = Options { mode: Mode::Replay, ..Options::default() };
    let report = judge::judge(cell, options, None);
    match report.status {
        Status::Error if !missing.is_empty() => State::Short(missing),
        status => matrix_state(cell, &cassette).unwrap_or(State::Judged(status)),
    }
}

fn unreadable(error: &ReadError) -> State {
    if is_of_newer(error) { State::Newer } else { State::Missing }
}

/// What is the matter with the runs of the fault matrix, when something is.
fn matrix_state(cell: &Cell<'_>, cassette: &Cassette<'_>) -> Option<State> {
    let Subject::Agent { suite, agent, model, variant } = cell.subject else { return None };
    let first = cassette.runs.first().and_then(|run| run.trace.as_ref().ok());
    let first: Vec<Run<'_>> =
        first.map(|trace| Run { trace, header: None, passed: true }).into_iter().collect();
    let combinations: Vec<String> =
        fault_combinations(agent, &first).iter().map(ToString::to_string).collect();
    let path = faults_path(suite, agent, model, variant).filter(|_| !combinations.is_empty())?;
    let Some(recording) = path.exists().then(|| Recording::open(&path)) else {
        return Some(State::Short(Vec::new()));
    };
    let recording = match recording {
        Ok(recording) => recording,
        Err(error) => return Some(unreadable(&error)),
    };
    let recorded = match recording.cassette() {
        Ok(recorded) => recorded,
        Err(error) => return Some(unreadable(&error)),
    };
    let wanted = combinations.len();
    let mut expected = expected_header(suite, agent, model, variant);
    expected.parameters.insert(MATRIX_PARAMETER.to_owned(), combinations.into());
    let is_stale = |header| !staleness(header, &expected).is_empty() || is_tampered(header);
    if recorded.is_pinned() && recorded.header.as_ref().is_some_and(is_stale) {
        return Some(State::Stale);
    }
    if recorded.runs.iter().any(|run| run.trace.is_err()) {
        return Some(State::Missing);
    }
    (!recorded.missing(wanted).is_empty()).then_some(State::Short(Vec::new()))
}

/// Whether runs that are there are kept, and the numbers of those to record; `None` when nothing is.
pub(super) fn wanted_runs(cell: &Cell<'_>, agent: &Agent, mode: Mode) -> Option<(bool, Vec<usize>)> {
    let all: Vec<usize> = (1..=agent.runs).collect();
    let which = match mode {
        Mode::Replay => return None,
        Mode::Live => return Some((false, all)),
        Mode::Record(Which::All) => return (!is_newer(cell)).then_some((false, all)),
        Mode::Record(which) => which,
    };
    let state = state_of(cell);
    match (which, state) {
        (Which::Missing, State::Missing) => Some((false, all)),
        (Which::Missing, State::Short(missing)) => Some((true, missing)),
        (Which::Stale, State::Stale) | (Which::Failed, State::Judged(Status::Failed | Status::Error)) => {
            Some((false, all))
        }
        _ => None,
    }
}
