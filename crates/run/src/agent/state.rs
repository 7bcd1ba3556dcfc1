//! What is the matter with a row's recording?

use crate::cassette::{Fault, ReadError, Recording, is_tampered, staleness};
use crate::plan::{Cell, Subject};
use crate::replay::{cassette_paths, expected_header};
use crate::{Mode, Options, judge};
use mcptest_core::report::Status;

/// What a row's recording is like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    /// There is none that can be read.
    Missing,
    /// A newer mcptest made it: it is nobody's to overwrite.
    Newer,
    /// It was made before the suite changed.
    Stale,
    /// It lacks the runs with these numbers.
    Short(Vec<usize>),
    /// It can be judged, and ends so.
    Judged(Status),
}

/// What the recording of this row is like now.
pub(super) fn state_of(cell: &Cell<'_>) -> State {
    let Subject::Agent { suite, agent, model, variant } = cell.subject else { return State::Missing };
    let paths = cassette_paths(suite, agent, model, variant).unwrap_or_default();
    let Some(recording) = paths.first().and_then(|path| Recording::open(path).ok()) else {
        return State::Missing;
    };
    let cassette = match recording.cassette() {
        Ok(cassette) => cassette,
        Err(ReadError::Bad { problem, .. }) if matches!(problem.fault, Fault::NewerVersion { .. }) => {
            return State::Newer;
        }
        Err(_) => return State::Missing,
    };
    let expected = expected_header(suite, agent, model, variant);
    let is_stale = |header| !staleness(header, &expected).is_empty() || is_tampered(header);
    if cassette.is_pinned() && cassette.header.as_ref().is_some_and(is_stale) {
        return State::Stale;
    }
    let present: Vec<usize> = cassette.runs.iter().map(|run| run.number).collect();
    let missing: Vec<usize> = (1..=agent.runs).filter(|run| !present.contains(run)).collect();
    let is_broken = cassette.runs.iter().any(|run| run.trace.is_err());
    if is_broken {
        return State::Missing;
    }
    let options = Options { mode: Mode::Replay, ..Options::default() };
    let report = judge::judge(cell, options, None);
    match report.status {
        Status::Error if !missing.is_empty() => State::Short(missing),
        status => State::Judged(status),
    }
}
