//! What do the side runs of a row come to, which were recorded for one gate alone?

use super::agent_row::missing_in_words;
use super::one_run::{judge_expectations, misplaced_result};
use super::recorded::{RecordedRun, RecordedSideRuns, missing};
use super::{Judging, advice};
use crate::engine::{GateBlock, SideRun, SideRuns};
use crate::report::{AssertionDiff, Expectation, GateReport, TestReport};
use crate::row::{Reason, ReasonKind, RowOfAgent};
use crate::trace::{Run, Trace};

/// The side runs of one row, and the gate that alone sees them.
pub(super) struct SideRunsOfRow<'m> {
    pub(super) row: RowOfAgent<'m>,
    pub(super) gate: &'m GateBlock,
    /// The runs it asks for.
    pub(super) wanted: Option<SideRuns>,
    pub(super) judging: Judging,
}

impl SideRunsOfRow<'_> {
    pub(super) fn judge(
        &self,
        recorded: Option<&Result<RecordedSideRuns<'_>, Reason>>,
        ordinary: &[Run<'_>],
        report: &mut TestReport,
    ) -> Result<GateReport, Reason> {
        let row_name = report.row_name();
        let ordinary: Vec<Run<'_>> = ordinary
            .iter()
            .map(|run| Run {
                passed: self.holds(run.trace).1,
                ..*run
            })
            .collect();
        let judge = |runs: &[Run<'_>]| {
            self.gate
                .judge_side(self.row.of.variant, &row_name, &ordinary, runs)
        };
        let wanted = self.wanted.as_ref().map_or(0, |wanted| wanted.runs.len());
        let all = self.wanted.as_ref().map_or("", |wanted| wanted.words.all);
        if wanted == 0 {
            return Ok(judge(&[]));
        }
        let recorded = match recorded {
            Some(recorded) => recorded.as_ref().map_err(Clone::clone)?,
            None => {
                return Err(Reason::new(
                    ReasonKind::RunsMissing,
                    format!("{all} was not run"),
                ));
            }
        };
        report.notes.extend(recorded.notes.iter().cloned());
        let recorded_runs = self.wanted_runs(&recorded.runs);
        let missing = missing(&recorded_runs, wanted);
        if let Some(missing) = missing_in_words(&missing, wanted) {
            let message = format!("of {all}, {missing}");
            return Err(advice::rest(
                Reason::new(ReasonKind::RunsMissing, message),
                self.row.row,
            ));
        }
        let mut expectations = Vec::new();
        let mut judged = Vec::new();
        if let Some(reason) = self.broken(&recorded_runs) {
            return Err(reason);
        }
        for (at, run) in recorded_runs.iter().enumerate() {
            let trace = run.trace.as_ref().map_err(Clone::clone)?;
            if let Some(why) = misplaced_result(trace) {
                let message = format!("run {} of {all} cannot be judged: {why}", at + 1);
                return Err(Reason::new(ReasonKind::TraceInconsistent, message));
            }
            let (held, passed) = self.holds(trace);
            judged.push(Run {
                number: at + 1,
                header: run.header,
                passed,
                ..Run::of(trace)
            });
            expectations.push(held);
        }
        let mut verdict = judge(&judged);
        if self.judging.evidence.is_some() {
            verdict.evidence =
                self.gate
                    .evidence(self.row.of.variant, &ordinary, &judged, &verdict);
        }
        for finding in &mut verdict.explanation {
            // The combination is named; the number is not that of an ordinary run.
            let run = finding.run.take().and_then(|run| expectations.get(run - 1));
            finding
                .diff
                .extend(run.into_iter().flatten().flat_map(evidence));
        }
        Ok(verdict)
    }

    /// The runs that are asked for: a recording may have more of them.
    fn wanted_runs<'t>(&self, recorded: &[RecordedRun<'t>]) -> Vec<RecordedRun<'t>> {
        let wanted = self.wanted.as_ref().map_or(0, |wanted| wanted.runs.len());
        let is_wanted = |run: &&RecordedRun<'t>| (1..=wanted).contains(&run.number);
        recorded.iter().filter(is_wanted).cloned().collect()
    }

    /// Why runs without a set of tools say nothing: what an agent runs on broke some of them. A crash of the agent itself
    /// is evidence, and so is any end of a run that met a fault.
    fn broken(&self, runs: &[RecordedRun<'_>]) -> Option<Reason> {
        let wanted = self.wanted.as_ref()?;
        let error_of = |run: &RecordedRun<'_>| {
            let trace = run.trace.as_ref().ok()?;
            let error = trace.fatal_error().filter(|_| trace.crash().is_none())?;
            let label = wanted.runs.get(run.number - 1);
            let label = label.filter(|run| matches!(run, SideRun::Without(..)))?;
            Some(format!("`{label}` ended in an error: {error}"))
        };
        let errors: Vec<String> = runs.iter().filter_map(error_of).collect();
        let (first, others) = errors.split_first()?;
        let message = format!(
            "{} of {} runs of {} ended in an error: {first}",
            errors.len(),
            wanted.runs.len(),
            wanted.words.all
        );
        let reason = Reason::new(ReasonKind::RunError, message).details(others.to_vec());
        let reason = reason.help("record the row again");
        Some(reason.command(self.row.row.rerun.recording("--record")))
    }

    /// What is expected of each run, and whether this one ended well and keeps it.
    fn holds(&self, trace: &Trace<'_>) -> (Vec<Expectation>, bool) {
        if trace.fatal_error().is_some() {
            return (Vec::new(), false);
        }
        let held = judge_expectations(self.row.of.agent, trace);
        let passed = held.iter().all(|expectation| expectation.passed);
        (held, passed)
    }
}

/// Where the run differs from what was expected of it.
fn evidence(expectation: &Expectation) -> Vec<AssertionDiff> {
    let at = |diff: &AssertionDiff| AssertionDiff {
        pointer: format!("{}{}", expectation.target, diff.pointer),
        ..diff.clone()
    };
    if expectation.passed {
        Vec::new()
    } else {
        expectation.diff.iter().map(at).collect()
    }
}
