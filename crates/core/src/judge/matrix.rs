//! What do the recorded runs of a fault matrix come to?

use super::advice;
use super::agent_row::missing_in_words;
use super::one_run::{judge_expectations, misplaced_result};
use super::recorded::{RecordedMatrix, missing};
use crate::eval::GateBlock;
use crate::report::{AssertionDiff, Expectation, GateReport, TestReport};
use crate::row::{AgentRow, Reason, ReasonKind, Row};
use crate::trace::Run;

/// The matrix of one row, and the gate that alone sees its runs.
pub(super) struct Matrix<'m> {
    pub(super) row: &'m Row<'m>,
    pub(super) of: AgentRow<'m>,
    pub(super) gate: &'m GateBlock,
    /// How many runs it asks for.
    pub(super) combinations: usize,
}

impl Matrix<'_> {
    pub(super) fn judge(
        &self,
        recorded: Option<&Result<RecordedMatrix<'_>, Reason>>,
        report: &mut TestReport,
    ) -> Result<GateReport, Reason> {
        let row_name = report.row_name();
        let judge = |runs: &[Run<'_>]| self.gate.judge_variant(self.of.variant, &row_name, runs);
        if self.combinations == 0 {
            return Ok(judge(&[]));
        }
        let recorded = match recorded {
            Some(recorded) => recorded.as_ref().map_err(Clone::clone)?,
            None => return Err(Reason::new(ReasonKind::RunsMissing, "the fault matrix was not run")),
        };
        report.notes.extend(recorded.notes.iter().cloned());
        let missing = missing(&recorded.runs, self.combinations);
        if let Some(missing) = missing_in_words(&missing, self.combinations) {
            let message = format!("of the fault matrix, {missing}");
            return Err(advice::rest(Reason::new(ReasonKind::RunsMissing, message), self.row));
        }
        let mut expectations = Vec::new();
        let mut judged = Vec::new();
        for (at, run) in recorded.runs.iter().enumerate() {
            let trace = run.trace.as_ref().map_err(Clone::clone)?;
            if let Some(why) = misplaced_result(trace) {
                let message = format!("run {} of the fault matrix cannot be judged: {why}", at + 1);
                return Err(Reason::new(ReasonKind::TraceInconsistent, message));
            }
            let held = judge_expectations(self.of.agent, trace);
            let has_ended = trace.fatal_error().is_none();
            let passed = has_ended && held.iter().all(|expectation| expectation.passed);
            judged.push(Run { number: at + 1, header: run.header, passed, ..Run::of(trace) });
            expectations.push(if has_ended { held } else { Vec::new() });
        }
        let mut verdict = judge(&judged);
        for finding in &mut verdict.explanation {
            // The combination is named; the number is not that of an ordinary run.
            let run = finding.run.take().and_then(|run| expectations.get(run - 1));
            finding.diff.extend(run.into_iter().flatten().flat_map(evidence));
        }
        Ok(verdict)
    }
}

/// Where the run differs from what was expected of it.
fn evidence(expectation: &Expectation) -> Vec<AssertionDiff> {
    let at = |diff: &AssertionDiff| AssertionDiff {
        pointer: format!("{}{}", expectation.target, diff.pointer),
        ..diff.clone()
    };
    if expectation.passed { Vec::new() } else { expectation.diff.iter().map(at).collect() }
}
