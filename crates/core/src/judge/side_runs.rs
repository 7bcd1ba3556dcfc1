//! Which verdict do the side runs of a row lead to? Only one gate sees them.

use super::one_run::{judge_expectations, misplaced_result};
use super::recorded::{RecordedRun, RecordedSideRuns, missing};
use super::selected_runs::missing_in_words;
use super::{Judging, advice};
use crate::engine::{GateBlock, SideRun, SideRuns};
use crate::report::{AssertionDiff, Expectation, GateReport, TestReport};
use crate::row::{Reason, ReasonKind, RowOfAgent};
use crate::trace::{Run, Trace};

/// The side runs of one row, and their gate.
pub(super) struct SideRunsOfRow<'m> {
    pub(super) row: RowOfAgent<'m>,
    pub(super) gate: &'m GateBlock,
    /// The runs that the gate needs.
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
                passed: self.check(run.trace).passed,
                ..*run
            })
            .collect();
        let judge = |runs: &[Run<'_>]| {
            self.gate
                .judge_side(self.row.of.variant, &row_name, &ordinary, runs)
        };
        let Some(wanted) = self
            .wanted
            .as_ref()
            .filter(|wanted| !wanted.runs.is_empty())
        else {
            return Ok(judge(&[]));
        };
        let recorded = self.recorded_runs(wanted, recorded, report)?;
        let CheckedSideRuns { runs, expectations } = self.check_runs(wanted, &recorded)?;
        let mut verdict = judge(&runs);
        if self.judging.evidence.is_some() {
            verdict.evidence = self
                .gate
                .evidence(self.row.of.variant, &ordinary, &runs, &verdict);
        }
        explain_by_expectations(&mut verdict, &expectations);
        Ok(verdict)
    }

    /// Checks each run against the agent's `expect:`.
    fn check_runs<'t>(
        &self,
        wanted: &SideRuns,
        recorded: &[RecordedRun<'t>],
    ) -> Result<CheckedSideRuns<'t>, Reason> {
        let mut runs = Vec::new();
        let mut expectations = Vec::new();
        for (number, recorded) in (1..).zip(recorded) {
            let trace = *recorded.trace.as_ref().map_err(Clone::clone)?;
            if let Some(why) = misplaced_result(trace) {
                let all = wanted.words.all;
                let message = format!("run {number} of {all} cannot be judged: {why}");
                return Err(Reason::new(ReasonKind::TraceInconsistent, message));
            }
            let checked = self.check(trace);
            runs.push(Run {
                number,
                header: recorded.header,
                passed: checked.passed,
                ..Run::new(trace)
            });
            expectations.push(checked.expectations);
        }
        Ok(CheckedSideRuns { runs, expectations })
    }

    /// The needed runs, if all of them are recorded and are evidence.
    fn recorded_runs<'t>(
        &self,
        wanted: &SideRuns,
        recorded: Option<&Result<RecordedSideRuns<'t>, Reason>>,
        report: &mut TestReport,
    ) -> Result<Vec<RecordedRun<'t>>, Reason> {
        let all = wanted.words.all;
        let Some(recorded) = recorded else {
            let message = format!("{all} was not run");
            return Err(Reason::new(ReasonKind::RunsMissing, message));
        };
        let recorded = recorded.as_ref().map_err(Clone::clone)?;
        report.notes.extend(recorded.notes.iter().cloned());
        // A recording may have more of them.
        let is_wanted = |run: &&RecordedRun<'t>| (1..=wanted.runs.len()).contains(&run.number);
        let runs: Vec<RecordedRun<'t>> = recorded.runs.iter().filter(is_wanted).cloned().collect();
        let missing = missing(&runs, wanted.runs.len());
        if let Some(missing) = missing_in_words(&missing, wanted.runs.len()) {
            let message = format!("of {all}, {missing}");
            let reason = Reason::new(ReasonKind::RunsMissing, message);
            return Err(advice::rest(reason, self.row.row));
        }
        match self.broken(wanted, &runs) {
            Some(reason) => Err(reason),
            None => Ok(runs),
        }
    }

    /// Why runs without a set of tools prove nothing: a provider or server failure broke some of
    /// them. A crash of the agent itself is evidence, and so is any end of a run that met a fault.
    fn broken(&self, wanted: &SideRuns, runs: &[RecordedRun<'_>]) -> Option<Reason> {
        let error_of = |run: &RecordedRun<'_>| {
            let trace = run.trace.as_ref().ok()?;
            let error = trace.fatal_error().filter(|_| trace.crash().is_none())?;
            let label = wanted.runs.get(run.number - 1);
            let label = label.filter(|run| matches!(run, SideRun::Without { .. }))?;
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

    /// Checks a run against the agent's `expect:`.
    fn check(&self, trace: &Trace<'_>) -> CheckedRun {
        if trace.fatal_error().is_some() {
            return CheckedRun {
                expectations: Vec::new(),
                passed: false,
            };
        }
        let expectations = judge_expectations(self.row.of.agent, trace);
        CheckedRun {
            passed: expectations.iter().all(|expectation| expectation.passed),
            expectations,
        }
    }
}

/// Side runs with their outcomes, and the check of each against the agent's `expect:`.
struct CheckedSideRuns<'t> {
    runs: Vec<Run<'t>>,
    expectations: Vec<Vec<Expectation>>,
}

/// Adds to each finding about a run the failed expectations of that run.
fn explain_by_expectations(verdict: &mut GateReport, expectations: &[Vec<Expectation>]) {
    for finding in &mut verdict.explanation {
        // The combination is named; the number is not that of an ordinary run.
        let run = finding.run.take().and_then(|run| expectations.get(run - 1));
        finding
            .diff
            .extend(run.into_iter().flatten().flat_map(differences));
    }
}

/// The check of a run against the agent's `expect:`.
struct CheckedRun {
    expectations: Vec<Expectation>,
    /// True if it succeeded and meets all of them.
    passed: bool,
}

/// The differences between the run and an expectation.
fn differences(expectation: &Expectation) -> Vec<AssertionDiff> {
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
