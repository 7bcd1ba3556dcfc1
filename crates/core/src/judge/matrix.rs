//! What do the runs come to that were recorded for one gate alone, as those of a fault matrix?

use super::agent_row::missing_in_words;
use super::one_run::{judge_expectations, misplaced_result};
use super::recorded::{RecordedMatrix, missing};
use super::{Judging, advice};
use crate::eval::{GateBlock, SideRuns};
use crate::report::{AssertionDiff, Expectation, GateReport, TestReport};
use crate::row::{AgentRow, Reason, ReasonKind, Row};
use crate::trace::{Run, Trace};

/// The matrix of one row, and the gate that alone sees its runs.
pub(super) struct Matrix<'m> {
    pub(super) row: &'m Row<'m>,
    pub(super) of: AgentRow<'m>,
    pub(super) gate: &'m GateBlock,
    /// The runs it asks for.
    pub(super) wanted: Option<SideRuns>,
    pub(super) judging: Judging,
}

impl Matrix<'_> {
    pub(super) fn judge(
        &self,
        recorded: Option<&Result<RecordedMatrix<'_>, Reason>>,
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
                .judge_side(self.of.variant, &row_name, &ordinary, runs)
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
        let missing = missing(&recorded.runs, wanted);
        if let Some(missing) = missing_in_words(&missing, wanted) {
            let message = format!("of {all}, {missing}");
            return Err(advice::rest(
                Reason::new(ReasonKind::RunsMissing, message),
                self.row,
            ));
        }
        let mut expectations = Vec::new();
        let mut judged = Vec::new();
        for (at, run) in recorded.runs.iter().enumerate() {
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
            verdict.evidence = self
                .gate
                .evidence(self.of.variant, &ordinary, &judged, &verdict);
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

    /// What is expected of each run, and whether this one ended well and keeps it.
    fn holds(&self, trace: &Trace<'_>) -> (Vec<Expectation>, bool) {
        if trace.fatal_error().is_some() {
            return (Vec::new(), false);
        }
        let held = judge_expectations(self.of.agent, trace);
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
