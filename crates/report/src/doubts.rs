//! What did a passed row not measure, or only in part?

use crate::words::{SCREEN, clipped, count, escape};
use mcptest_core::report::{GateReport, RunReport, Status, TestReport};

/// The length above which a note is only counted.
const SHORT_NOTE: usize = 60;

/// The doubts about a row, in a few words each: `nothing asserted`, `golden_path not exercised`,
/// `stale`, `narrative 1 unverified claim`.
pub(crate) fn doubts(test: &TestReport) -> Vec<String> {
    let mut doubts = Vec::new();
    doubts.extend(is_without_assertion(test).then(|| "nothing asserted".to_owned()));
    let vacuous = test
        .gates
        .iter()
        .filter(|gate| gate.not_exercised.is_some());
    doubts.extend(vacuous.map(|gate| format!("{} not exercised", gate.key)));
    doubts.extend(test.stale.then(|| "stale".to_owned()));
    let remarks = test.gates.iter().flat_map(remarks);
    doubts.extend(remarks.map(|remark| clipped(&remark, SCREEN.value)));
    doubts.extend(notes(test));
    doubts
}

/// The doubts about a row, if it passed. Reports show the causes of other rows instead.
pub(crate) fn doubts_of_passed(test: &TestReport) -> Vec<String> {
    if test.status == Status::Passed {
        doubts(test)
    } else {
        Vec::new()
    }
}

/// A short note, or the number of notes. The note of a stale recording says why it is stale.
fn notes(test: &TestReport) -> Option<String> {
    match &test.notes[..] {
        [] => None,
        [_] if test.stale => None,
        [note] if note.chars().count() <= SHORT_NOTE => Some(escape(note).into_owned()),
        notes => Some(count(notes.len(), "note")),
    }
}

/// Returns true if an agent's row passed only because nothing is asserted about its runs. A mark of
/// a gate that measured nothing says enough.
pub(crate) fn is_without_assertion(test: &TestReport) -> bool {
    let is_of_agent = !test.runs.is_empty() && !test.runs.iter().any(RunReport::is_single_call);
    let is_marked = test.gates.iter().any(|gate| gate.not_exercised.is_some());
    let has_passed = test.status == Status::Passed;
    is_of_agent && has_passed && !is_marked && test.asserts_nothing()
}

/// Remarks of a gate that appear with every verdict: `golden_path walked 1 of 3 steps`.
pub(crate) fn remarks(gate: &GateReport) -> impl Iterator<Item = String> {
    let said = gate.remarks.iter();
    said.map(|remark| format!("{} {}", gate.key, remark.message))
}
