//! Recorded runs become a verdict: each run's `expect:`, then each gate over all of them.

mod agent_row;
mod matrix;
mod one_run;

pub(crate) use one_run::passes;

use crate::plan::{Cell, Row, Subject, refusal};
use crate::record::RecordedRow;
use crate::tool_test::{self, fail};
use crate::{Mode, Options};
use agent_row::Live;
use mcptest_core::report::{Finding, GateReport, Reason, Status, TestReport};

/// Judges one cell: from its recordings, or from what was recorded for it just now. Whatever is wrong with it stays in
/// its row.
pub(crate) fn judge(cell: &Cell<'_>, options: Options, recorded: Option<&RecordedRow>) -> TestReport {
    let mut report = cell.blank();
    if let Some(reason) = &cell.skip {
        report.status = Status::Skipped;
        report.reason = Some(Reason { message: reason.clone(), ..Reason::default() });
        return report;
    }
    match (cell.subject, recorded) {
        (Subject::Refused(loaded), _) => fail(&mut report, refusal(loaded)),
        (_, Some(RecordedRow::Failed(reason))) => fail(&mut report, reason.clone()),
        (Subject::Tool { test, .. }, Some(RecordedRow::InMemory { recording, .. })) => {
            tool_test::judge_live(test, recording.as_bytes(), &mut report);
        }
        (Subject::Tool { suite, test }, _) => tool_test::judge(cell, suite, test, &mut report),
        (Subject::Agent { suite, agent, model, variant }, _) => {
            let live = match recorded {
                Some(RecordedRow::InMemory { recording, matrix }) => {
                    Some(Live { cassette: recording, matrix: matrix.as_deref() })
                }
                _ => None,
            };
            agent_row::judge(Row { cell, suite, agent, model, variant }, live, &mut report);
        }
    }
    if options.mode == Mode::Live && !matches!(cell.subject, Subject::Refused(_)) {
        report.rerun.push_str(" --live");
    }
    if options.deny_vacuous {
        let baseline = Row::of(cell).and_then(|row| row.agent.baseline_of(row.variant));
        deny_vacuous(&mut report, baseline);
    }
    report
}

/// Fails what measured nothing: gates that say so, and a test that asserts nothing at all. To the gate with the key
/// `baseline` the row is there to be compared with.
fn deny_vacuous(report: &mut TestReport, baseline: Option<&str>) {
    report.rerun.push_str(" --deny-vacuous");
    if report.status == Status::Error || report.status == Status::Skipped {
        return;
    }
    let is_baseline = |gate: &GateReport| Some(gate.key.as_str()) == baseline;
    for gate in report.gates.iter_mut().filter(|gate| !is_baseline(gate)) {
        if let Some(why) = &gate.not_exercised {
            let message = format!("it measured nothing, which --deny-vacuous does not allow: {why}");
            gate.explanation.insert(0, Finding { run: None, message, diff: Vec::new() });
            gate.status = Status::Failed;
            report.status = Status::Failed;
        }
    }
    // A gate without targets, such as `discovery:`, asserts something without an expectation.
    let is_silent = |gate: &GateReport| gate.expectations.is_empty() && !gate.targets.is_empty();
    let asserts_nothing =
        report.gates.iter().all(is_silent) && report.runs.iter().all(|run| run.expectations.is_empty());
    if asserts_nothing {
        report.status = Status::Failed;
        let message = "nothing is asserted, which --deny-vacuous does not allow".to_owned();
        report.reason = Some(Reason { message, ..Reason::default() });
    }
}
