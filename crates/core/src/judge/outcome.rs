//! What is the outcome of a run, for the gates that count outcomes? `report/outcome.rs` defines it
//! for reports.

use crate::engine::GateBlock;
use crate::report::GateReport;
use crate::trace::Run;

/// Sets the outcome of the runs that a gate fails by observed evidence, for the gates that count
/// outcomes.
pub(super) fn fail_runs(runs: &mut [Run<'_>], gate: &GateBlock, judged: &GateReport) {
    if !gate.decides_a_run() {
        return;
    }
    for run in runs
        .iter_mut()
        .filter(|run| judged.failed_runs.contains(&run.number))
    {
        run.passed = false;
    }
}
