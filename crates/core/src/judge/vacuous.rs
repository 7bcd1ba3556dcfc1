//! Did a row measure anything at all?

use crate::report::{Finding, GateReport, Status, TestReport};
use crate::row::{Reason, ReasonKind};

/// Fails rows that measured nothing: gates that report it, gates that measured only a part, and tests without any
/// assertion. The gate with the key `baseline` needs the row for its comparison.
pub(super) fn deny(report: &mut TestReport, baseline: Option<&str>) {
    if report.status == Status::Error || report.status == Status::Skipped {
        return;
    }
    let is_baseline = |gate: &GateReport| Some(gate.key.as_str()) == baseline;
    for gate in report.gates.iter_mut().filter(|gate| !is_baseline(gate)) {
        if let Some(message) = why_vacuous(gate) {
            fail(gate, message);
            report.status = Status::Failed;
        }
    }
    if report.asserts_nothing() {
        report.status = Status::Failed;
        let message = "nothing is asserted, which `--deny-vacuous` forbids";
        report.reason = Some(Reason::new(ReasonKind::NothingAsserted, message));
    }
}

fn why_vacuous(gate: &GateReport) -> Option<String> {
    if let Some(why) = &gate.not_exercised {
        return Some(format!(
            "it measured nothing, which `--deny-vacuous` forbids: {why}"
        ));
    }
    let part = gate.remarks.iter().find(|remark| remark.is_partial)?;
    Some(format!(
        "it measured only a part, which `--deny-vacuous` forbids: {}",
        part.message
    ))
}

fn fail(gate: &mut GateReport, message: String) {
    gate.explanation.insert(0, Finding::new(None, message));
    gate.status = Status::Failed;
}
