//! Which rows report the verdicts on one trace?
//!
//! A row is flat, so that a table, a stream or a database can hold it. `mcptest score` writes rows as
//! JSON Lines.

mod row;
#[cfg(test)]
mod tests;

pub use row::{RowKind, RowStatus, RowValue, VerdictRow};

use crate::words::{
    FILE, clipped, first_reason, first_sentence_of_gate, first_sentence_of_run, headline,
};
use mcptest_core::report::{Expectation, GateReport, Number, RunReport, TestReport};
use std::borrow::Cow;

/// The JSON Schema of a row.
pub const SCHEMA: &str = include_str!("verdicts.schema.json");

/// The name of the check of each run in the column `gate`.
const EXPECT: &str = "expect";

/// The names of the judged traces.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'n> {
    /// The suite, in the user's spelling.
    pub suite: &'n str,
    /// The group of the traces, if they are judged together.
    pub group: Option<&'n str>,
    /// The id of each trace, in the order of the runs.
    pub trace_ids: &'n [&'n str],
    /// The span of the trace, if it is judged alone and the input names one.
    pub span_id: Option<&'n str>,
}

impl<'n> Judged<'n> {
    /// The id of the trace that was judged alone. Several traces have none in common.
    fn common_id(&self) -> Option<&'n str> {
        match self.trace_ids {
            [only] => Some(only),
            _ => None,
        }
    }

    fn id_of(&self, run: &RunReport) -> Option<&'n str> {
        let at = run.index.checked_sub(1)?;
        self.trace_ids.get(at).copied()
    }

    fn row<'r>(&self, test: &'r TestReport, kind: RowKind, status: RowStatus) -> VerdictRow<'r>
    where
        'n: 'r,
    {
        VerdictRow {
            trace_id: self.common_id(),
            span_id: self.span_id,
            group: self.group,
            suite: self.suite,
            agent: Some(&test.name),
            kind,
            gate: None,
            target: None,
            value: RowValue::None,
            status,
            message: None,
        }
    }
}

/// Calls `each` with every row of an agent's verdict: the verdict as a whole, the checks of each run,
/// then the numbers of the gates.
pub fn each_row<'r, 'n: 'r>(
    test: &'r TestReport,
    judged: &Judged<'n>,
    each: &mut dyn FnMut(&VerdictRow<'r>),
) {
    let status = RowStatus::from(test.status);
    each(&VerdictRow {
        message: is_bad(status)
            .then(|| first_reason(test, FILE))
            .flatten()
            .map(Cow::Owned),
        ..judged.row(test, RowKind::Verdict, status)
    });
    for run in &test.runs {
        if judged.trace_ids.len() > 1 {
            each(&of_run(test, run, judged));
        }
        for expectation in &run.expectations {
            each(&of_expectation(test, run, expectation, judged));
        }
    }
    for gate in &test.gates {
        rows_of_gate(test, gate, judged, each);
    }
}

fn is_bad(status: RowStatus) -> bool {
    matches!(
        status,
        RowStatus::Failed | RowStatus::Error | RowStatus::Skipped
    )
}

/// The outcome of one trace of a group.
fn of_run<'r, 'n: 'r>(
    test: &'r TestReport,
    run: &'r RunReport,
    judged: &Judged<'n>,
) -> VerdictRow<'r> {
    let status = RowStatus::from(run.status);
    let own = || first_sentence_of_run(run, FILE);
    let of_gates =
        || (!run.failed_by.is_empty()).then(|| format!("failed by {}", run.failed_by.join(", ")));
    VerdictRow {
        trace_id: judged.id_of(run),
        message: is_bad(status)
            .then(|| own().or_else(of_gates))
            .flatten()
            .map(Cow::Owned),
        ..judged.row(test, RowKind::Run, status)
    }
}

fn of_expectation<'r, 'n: 'r>(
    test: &'r TestReport,
    run: &'r RunReport,
    expectation: &'r Expectation,
    judged: &Judged<'n>,
) -> VerdictRow<'r> {
    VerdictRow {
        trace_id: judged.id_of(run),
        gate: Some(EXPECT),
        target: Some(&expectation.target),
        value: RowValue::from_json(expectation.actual.as_ref()),
        message: (!expectation.passed).then(|| Cow::Owned(failure(expectation, None))),
        ..judged.row(
            test,
            RowKind::Expect,
            RowStatus::from_check(expectation.passed),
        )
    }
}

/// A row for each number of the gate. A gate that has none, or fails whatever its numbers are, has a
/// row without a target.
fn rows_of_gate<'r, 'n: 'r>(
    test: &'r TestReport,
    gate: &'r GateReport,
    judged: &Judged<'n>,
    each: &mut dyn FnMut(&VerdictRow<'r>),
) {
    let mut has_bad_number = false;
    for (target, number) in &gate.targets {
        let row = of_number(test, gate, target, *number, judged);
        has_bad_number |= row.status == RowStatus::Failed;
        each(&row);
    }
    let status = RowStatus::from(gate.status);
    if gate.targets.is_empty() || (is_bad(status) && !has_bad_number) {
        let said = || first_sentence_of_gate(gate, test, FILE).map(Cow::Owned);
        each(&VerdictRow {
            gate: Some(&gate.key),
            message: is_bad(status)
                .then(said)
                .flatten()
                .or_else(|| not_exercised(gate)),
            ..judged.row(test, RowKind::Gate, status)
        });
    }
}

fn of_number<'r, 'n: 'r>(
    test: &'r TestReport,
    gate: &'r GateReport,
    target: &'r str,
    number: Option<Number>,
    judged: &Judged<'n>,
) -> VerdictRow<'r> {
    let mut checks = gate
        .expectations
        .iter()
        .filter(|check| check.target == target)
        .peekable();
    let is_checked = checks.peek().is_some();
    let failed = checks.find(|check| !check.passed);
    let status = match failed {
        Some(_) => RowStatus::Failed,
        None if is_checked => RowStatus::Passed,
        None => RowStatus::Unchecked,
    };
    VerdictRow {
        gate: Some(&gate.key),
        target: Some(target),
        value: number.map_or(RowValue::None, RowValue::Number),
        message: match failed {
            Some(check) => Some(Cow::Owned(failure(check, Some(gate)))),
            None => not_exercised(gate),
        },
        ..judged.row(test, RowKind::Gate, status)
    }
}

fn not_exercised(gate: &GateReport) -> Option<Cow<'_, str>> {
    let why = gate.not_exercised.as_ref()?;
    Some(Cow::Owned(format!(
        "not exercised: {}",
        clipped(why, FILE.text)
    )))
}

/// Why a check failed: the suite's own message, the requirement with the value, and what the gate
/// found about it.
fn failure(check: &Expectation, gate: Option<&GateReport>) -> String {
    let own = check
        .message
        .iter()
        .map(|message| clipped(message.trim(), FILE.text));
    let finding = gate.and_then(|gate| {
        let is_about = |targets: &[String]| targets.contains(&check.target);
        let mut findings = gate.explanation.iter();
        let about = findings.find(|finding| is_about(&finding.targets));
        about.or_else(|| gate.explanation.first())
    });
    let found = finding.map(|finding| clipped(&finding.message, FILE.text));
    own.chain([headline(check, gate, FILE)])
        .chain(found)
        .collect::<Vec<_>>()
        .join("; ")
}
