//! What is a row judged by?

use crate::coverage::Surface;
use crate::grade::Grades;
use crate::row::{AgentRow, Reason};
use crate::suite::ToolOutcome;
use crate::trace::{Header, KnownTools, RecordedServer, Trace};
use std::collections::BTreeSet;
use std::path::Path;

/// What was recorded of one row, as it was read.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Recorded<'t> {
    /// The runs of an agent.
    Runs(RecordedRuns<'t>),
    /// The call of a tool test.
    Call(RecordedCall<'t>),
    /// Nothing that can be judged, for this reason.
    Nothing(Reason),
}

/// The runs of an agent's row.
#[derive(Debug, Clone, Default)]
pub struct RecordedRuns<'t> {
    /// The runs in the order of their numbers.
    pub runs: Vec<RecordedRun<'t>>,
    /// What they were recorded with: one header for each recording that has one.
    pub headers: Vec<&'t Header>,
    /// After how many runs recording stopped early, where it did.
    pub stopped_after: Option<usize>,
    /// Whether one of the recordings has no fingerprint, so that nobody knows whether it fits the suite.
    pub unpinned: bool,
    /// Why the recordings do not fit the suite, where that is an error.
    pub stale: Option<Reason>,
    /// Whether they do not fit the suite, and that is tolerated.
    pub is_stale: bool,
    /// What else is worth knowing of them.
    pub notes: Vec<String>,
    /// The side runs, or why they cannot be judged; `None` when they were not made.
    pub side_runs: Option<Result<RecordedSideRuns<'t>, Reason>>,
    /// Whether they were made just now and are kept nowhere.
    pub is_live: bool,
    /// What judges said of them.
    pub grades: Grades,
}

/// One run.
#[derive(Debug, Clone)]
pub struct RecordedRun<'t> {
    /// Its number in the recording, from 1.
    pub number: usize,
    /// What happened, or why that cannot be read.
    pub trace: Result<&'t Trace<'t>, Reason>,
    /// The file it is in, where it is in one.
    pub source: Option<&'t Path>,
    /// The line it is on, from 1, where it is a line of its file.
    pub line: Option<usize>,
    /// What it was recorded with, where the recording says so.
    pub header: Option<&'t Header>,
}

/// Runs that were recorded for one gate alone, as those of a fault matrix.
#[derive(Debug, Clone, Default)]
pub struct RecordedSideRuns<'t> {
    /// One for each combination, in order.
    pub runs: Vec<RecordedRun<'t>>,
    /// What else is worth knowing of them.
    pub notes: Vec<String>,
}

/// The call of a tool test.
#[derive(Debug, Clone, Default)]
pub struct RecordedCall<'t> {
    /// What came of it.
    pub outcome: ToolOutcome<'t>,
    /// Whether the recording has no fingerprint.
    pub unpinned: bool,
    /// Why the recording does not fit the suite, where that is an error.
    pub stale: Option<Reason>,
    /// Whether it does not fit the suite, and that is tolerated.
    pub is_stale: bool,
    /// What else is worth knowing of it.
    pub notes: Vec<String>,
    /// The server as it was spoken to, where the recording says so.
    pub server: Option<RecordedServer>,
    /// The tools that it listed, where the recording says so.
    pub surface: Option<&'t Surface>,
    /// Whether it was made just now and is kept nowhere.
    pub is_live: bool,
    /// What judges said of it.
    pub grades: Grades,
}

impl<'t> Recorded<'t> {
    /// Traces that are in memory, as the runs of an agent in this order.
    pub fn of_traces(traces: &'t [Trace<'t>]) -> Self {
        let run = |(at, trace): (usize, &'t Trace<'t>)| RecordedRun {
            number: at + 1,
            trace: Ok(trace),
            source: None,
            line: None,
            header: None,
        };
        let runs = traces.iter().enumerate().map(run).collect();
        Self::Runs(RecordedRuns {
            runs,
            unpinned: true,
            ..RecordedRuns::default()
        })
    }

    /// Calls this with every text that was recorded.
    pub(crate) fn each_text(&self, visit: &mut dyn FnMut(&str)) {
        match self {
            Self::Runs(recorded) => {
                let side = recorded.side_runs.iter().flatten();
                let runs = recorded.runs.iter().chain(side.flat_map(|side| &side.runs));
                for trace in runs.filter_map(|run| run.trace.as_ref().ok()) {
                    visit(trace.text);
                }
            }
            Self::Call(call) => {
                let answers = [call.outcome.result, call.outcome.error];
                answers
                    .into_iter()
                    .flatten()
                    .for_each(|text| visit(text.get()));
            }
            Self::Nothing(_) => {}
        }
    }

    /// What a tool test's call gave.
    pub fn of_call(outcome: ToolOutcome<'t>) -> Self {
        Self::Call(RecordedCall {
            outcome,
            unpinned: true,
            ..RecordedCall::default()
        })
    }
}

/// For each run the same trace with its tools as the suite and the recording know them, where that says more.
pub(crate) fn with_known_tools<'t>(
    of: AgentRow<'_>,
    runs: &[RecordedRun<'t>],
) -> Vec<Option<Trace<'t>>> {
    let catalogue = of.suite.known_catalogue(of.agent);
    let settle = |run: &RecordedRun<'t>| {
        let trace = run.trace.as_ref().ok()?;
        let has_doubt = trace.tool_calls.iter().any(|call| call.server.is_none());
        let listed = run.header.and_then(|header| header.catalogue.as_deref());
        let listed = listed.or(catalogue.as_deref()).unwrap_or_default();
        let known = || KnownTools::new(of.suite.servers.keys().map(String::as_str), listed);
        has_doubt
            .then(|| trace.with_known_tools(&known()))
            .flatten()
    };
    runs.iter().map(settle).collect()
}

/// The numbers up to `of` under which there is no run.
pub(super) fn missing(runs: &[RecordedRun<'_>], of: usize) -> Vec<usize> {
    let recorded: BTreeSet<usize> = runs.iter().map(|run| run.number).collect();
    (1..=of)
        .filter(|number| !recorded.contains(number))
        .collect()
}

impl RecordedRuns<'_> {
    /// How many runs are judged where recording stopped early, and more are wanted now than there are: all that are
    /// there.
    pub(super) fn early_stop(&self, missing: &[usize], wanted: usize) -> Option<usize> {
        let after = self
            .stopped_after
            .filter(|after| *after > 0 && !missing.is_empty())?;
        let there = self.runs.iter().filter(|run| run.number <= wanted).count();
        (there >= after).then_some(there)
    }
}
