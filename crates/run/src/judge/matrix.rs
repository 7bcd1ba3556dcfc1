//! What do the recorded runs of a fault matrix come to?

use super::agent_row::Live;
use super::one_run::{judge_expectations, misplaced_result};
use crate::advice;
use crate::cassette::{ReadError, Recording};
use crate::plan::Row;
use crate::replay::{self, expected_header, faults_path};
use mcptest_core::eval::{GateBlock, MATRIX_PARAMETER, fault_combinations};
use mcptest_core::report::{AssertionDiff, Expectation, GateReport, Reason, TestReport};
use mcptest_core::trace::Run;
use serde_json::Value;
use std::path::PathBuf;

/// Judges the runs of the matrix, which this gate alone sees.
pub(super) fn judge(
    row: Row<'_>,
    gate: &GateBlock,
    runs: &[Run<'_>],
    live: Option<Live<'_>>,
    report: &mut TestReport,
) -> Result<GateReport, Reason> {
    let combinations: Vec<String> =
        fault_combinations(row.agent, runs).iter().map(ToString::to_string).collect();
    if combinations.is_empty() {
        return Ok(gate.judge_variant(row.variant, &report.row_name(), &[]));
    }
    let recording = open(row, live)?;
    let unreadable = |error: &ReadError| replay::unreadable(error, row);
    let cassette = recording.cassette().map_err(|error| unreadable(&error))?;
    let mut expected = expected_header(row.suite, row.agent, row.model, row.variant);
    let wanted = combinations.len();
    expected.parameters.insert(MATRIX_PARAMETER.to_owned(), Value::from(combinations));
    report.notes.extend(replay::freshness(row, &expected, &[(recording.path(), &cassette)])?);
    if let Some(missing) = replay::missing(&cassette.missing(wanted), wanted) {
        return Err(short(row, format!("of the fault matrix, {missing}")));
    }
    let mut expectations = Vec::new();
    let mut judged = Vec::new();
    for (at, run) in cassette.runs.iter().enumerate() {
        let trace = run.trace.as_ref().map_err(|problem| {
            unreadable(&ReadError::Bad { path: recording.path().to_owned(), problem: problem.clone() })
        })?;
        if let Some(why) = misplaced_result(trace) {
            let message = format!("run {} of the fault matrix cannot be judged: {why}", at + 1);
            return Err(Reason { message, ..Reason::default() });
        }
        let held = judge_expectations(row.agent, trace);
        let has_ended = trace.fatal_error().is_none();
        let passed = has_ended && held.iter().all(|expectation| expectation.passed);
        judged.push(Run { trace, header: cassette.header.as_ref(), passed });
        expectations.push(if has_ended { held } else { Vec::new() });
    }
    let mut verdict = gate.judge_variant(row.variant, &report.row_name(), &judged);
    for finding in &mut verdict.explanation {
        // The combination is named; the number is not that of an ordinary run.
        let run = finding.run.take().and_then(|run| expectations.get(run - 1));
        finding.diff.extend(run.into_iter().flatten().flat_map(evidence));
    }
    Ok(verdict)
}

fn open(row: Row<'_>, live: Option<Live<'_>>) -> Result<Recording, Reason> {
    if let Some(text) = live.and_then(|live| live.matrix) {
        return Ok(Recording::of_text(PathBuf::from("the matrix made just now"), text));
    }
    let Row { suite, agent, model, variant, .. } = row;
    let path = faults_path(suite, agent, model, variant).filter(|_| live.is_none());
    match path {
        Some(path) if path.exists() => {
            Recording::open(&path).map_err(|error| replay::unreadable(&error, row))
        }
        Some(path) => {
            Err(short(row, format!("the fault matrix has no recording: there is no {}", path.display())))
        }
        None => Err(Reason { message: "the fault matrix was not run".to_owned(), ..Reason::default() }),
    }
}

fn short(row: Row<'_>, message: String) -> Reason {
    let command = advice::record_command(row.cell, row.suite, "--record=missing");
    Reason { message, help: Some(format!("record the rest with {command}")), ..Reason::default() }
}

/// Where the run differs from what was expected of it.
fn evidence(expectation: &Expectation) -> Vec<AssertionDiff> {
    let at = |diff: &AssertionDiff| AssertionDiff {
        pointer: format!("{}{}", expectation.target, diff.pointer),
        ..diff.clone()
    };
    if expectation.passed { Vec::new() } else { expectation.diff.iter().map(at).collect() }
}
