//! What is a row judged by?

use crate::coverage::Surface;
use crate::grade::Grades;
use crate::row::{AgentRow, Reason};
use crate::suite::ToolOutcome;
use crate::trace::{Header, KnownTools, RecordedServer, Trace};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::Path;

/// The recording of one row.
///
/// ```
/// use mcptest_core::{Recorded, Trace};
///
/// let traces = [Trace::read(r#"{"final_response": "Rain."}"#)?, Trace::read("{}")?];
/// let Recorded::Runs(recorded) = Recorded::from_traces(&traces) else { unreachable!() };
/// assert_eq!(recorded.runs.len(), 2);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Recorded<'t> {
    /// The runs of an agent.
    Runs(RecordedRuns<'t>),
    /// The call of a tool test.
    Call(RecordedCall<'t>),
    /// No usable recording, for this reason.
    Nothing(Reason),
}

/// The runs of an agent's row.
///
/// ```
/// use mcptest_core::{Recorded, RecordedRun, RecordedRuns, Trace};
///
/// let trace = Trace::read("{}")?;
/// let run = RecordedRun { number: 3, trace: Ok(&trace), source: None, line: None, header: None };
/// let recorded = Recorded::Runs(RecordedRuns { runs: vec![run], ..RecordedRuns::default() });
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct RecordedRuns<'t> {
    /// The runs in the order of their numbers.
    pub runs: Vec<RecordedRun<'t>>,
    /// The headers of the recordings that have one.
    pub headers: Vec<&'t Header>,
    /// The number of runs after which recording stopped early, if it did.
    pub stopped_after: Option<usize>,
    /// True if one of the recordings has no fingerprint, so its match with the suite is unknown.
    pub unpinned: bool,
    /// Why the recordings are stale, if that is an error.
    pub stale: Option<Reason>,
    /// True if they are stale, but tolerated.
    pub is_stale: bool,
    /// Further notes on the runs.
    pub notes: Vec<String>,
    /// The side runs, or why they cannot be judged; `None` if none were made.
    pub side_runs: Option<Result<RecordedSideRuns<'t>, Reason>>,
    /// True if they were made just now and are not stored.
    pub is_live: bool,
    /// The judges' grades of the runs.
    pub grades: Grades,
}

/// One run.
///
/// ```
/// use mcptest_core::{Reason, ReasonKind, RecordedRun};
///
/// let reason = Reason::new(ReasonKind::RecordingUnreadable, "the line is cut");
/// let run = RecordedRun { number: 1, trace: Err(reason), source: None, line: Some(2), header: None };
/// ```
#[derive(Debug, Clone)]
pub struct RecordedRun<'t> {
    /// Its number in the recording, from 1.
    pub number: usize,
    /// The trace, or the reason that it cannot be read.
    pub trace: Result<&'t Trace<'t>, Reason>,
    /// Its file, if it has one.
    pub source: Option<&'t Path>,
    /// Its line, from 1, if it is a line of its file.
    pub line: Option<usize>,
    /// Its header, if the recording has one.
    pub header: Option<&'t Header>,
}

/// Runs that were recorded for only one gate, such as the runs of a fault matrix.
///
/// ```
/// use mcptest_core::{RecordedRuns, RecordedSideRuns};
///
/// let side_runs = RecordedSideRuns { runs: Vec::new(), notes: vec!["recorded before".into()] };
/// let recorded = RecordedRuns { side_runs: Some(Ok(side_runs)), ..RecordedRuns::default() };
/// ```
#[derive(Debug, Clone, Default)]
pub struct RecordedSideRuns<'t> {
    /// One for each combination, in order.
    pub runs: Vec<RecordedRun<'t>>,
    /// Further notes on the runs.
    pub notes: Vec<String>,
}

/// The call of a tool test.
///
/// ```
/// use mcptest_core::{Recorded, ToolOutcome};
///
/// let outcome = ToolOutcome { failure: Some("the server ended"), ..ToolOutcome::default() };
/// let recorded = Recorded::from_call(outcome);
/// assert!(matches!(recorded, Recorded::Call(call) if call.unpinned));
/// ```
#[derive(Debug, Clone, Default)]
pub struct RecordedCall<'t> {
    /// The outcome.
    pub outcome: ToolOutcome<'t>,
    /// True if the recording has no fingerprint.
    pub unpinned: bool,
    /// Why the recording is stale, if that is an error.
    pub stale: Option<Reason>,
    /// True if it is stale, but tolerated.
    pub is_stale: bool,
    /// Further notes on it.
    pub notes: Vec<String>,
    /// The server with the protocol used, if the recording has it.
    pub server: Option<RecordedServer>,
    /// The listed tools, if the recording has them.
    pub surface: Option<&'t Surface>,
    /// True if it was made just now and is not stored.
    pub is_live: bool,
    /// The judges' grades of it.
    pub grades: Grades,
}

impl<'t> Recorded<'t> {
    /// Traces that are in memory, as the runs of an agent in this order.
    pub fn from_traces(traces: &'t [Trace<'t>]) -> Self {
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

    /// The outcome of a tool test's call.
    pub fn from_call(outcome: ToolOutcome<'t>) -> Self {
        Self::Call(RecordedCall {
            outcome,
            unpinned: true,
            ..RecordedCall::default()
        })
    }
}

/// For each run, its trace with resolved tools, if they differ.
pub(crate) fn with_known_tools<'t>(
    of: AgentRow<'_>,
    runs: &[RecordedRun<'t>],
) -> Vec<Option<Trace<'t>>> {
    let catalogue = OnceCell::new();
    let catalogue = || catalogue.get_or_init(|| of.suite.known_catalogue(of.agent));
    let settle = |run: &RecordedRun<'t>| {
        let trace = run.trace.as_ref().ok()?;
        let has_doubt = trace.tool_calls.iter().any(|call| call.server.is_none());
        if !has_doubt {
            return None;
        }
        let listed = run.header.and_then(|header| header.catalogue.as_deref());
        let listed = listed
            .or_else(|| catalogue().as_deref())
            .unwrap_or_default();
        trace.with_known_tools(&KnownTools::new(&of.suite.server_names, listed))
    };
    runs.iter().map(settle).collect()
}

/// The numbers up to `of` without a run.
pub(super) fn missing(runs: &[RecordedRun<'_>], of: usize) -> Vec<usize> {
    let recorded: BTreeSet<usize> = runs.iter().map(|run| run.number).collect();
    (1..=of)
        .filter(|number| !recorded.contains(number))
        .collect()
}

impl RecordedRuns<'_> {
    /// The number of runs to judge if recording stopped early and more are wanted now: all existing runs.
    pub(super) fn early_stop(&self, missing: &[usize], wanted: usize) -> Option<usize> {
        let after = self
            .stopped_after
            .filter(|after| *after > 0 && !missing.is_empty())?;
        let there = self.runs.iter().filter(|run| run.number <= wanted).count();
        (there >= after).then_some(there)
    }
}
