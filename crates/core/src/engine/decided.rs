//! Is the verdict of a test certain before all of its runs are there?

use super::block::GateBlock;
use super::gate::GateTrait;
use crate::report::Status;
use crate::suite::Agent;
use crate::trace::Run;

/// The verdict of a test over its first runs, if no outcome of the remaining `of - runs.len()` runs can change it.
/// Every gate and the runs' own `expect:` must be certain. Runs that end in an error are not outcomes.
///
/// The gates must already give that verdict for the existing runs, so that judging only these runs gives the verdict.
/// The fault matrix has separate runs and takes no part.
pub fn decided(agent: &Agent, runs: &[Run<'_>], of: usize) -> Option<bool> {
    let gates = agent.gates.iter().filter(|gate| !gate.judges_side_runs());
    gates.fold(decided_by_runs(agent, runs, of), |verdict, gate| {
        let decided = gate.decided(runs, of)?;
        Some(verdict? && decided)
    })
}

/// The verdict of the runs' own `expect:`.
fn decided_by_runs(agent: &Agent, runs: &[Run<'_>], of: usize) -> Option<bool> {
    if agent.expect.is_empty()
        || agent
            .gates
            .iter()
            .any(|gate| gate.is(GateTrait::DecidesRuns))
    {
        return Some(true);
    }
    let has_failed = runs.iter().any(|run| !run.as_expected);
    if has_failed {
        Some(false)
    } else {
        (runs.len() >= of).then_some(true)
    }
}

impl GateBlock {
    /// The gate's verdict, if the remaining runs cannot change it.
    fn decided(&self, runs: &[Run<'_>], of: usize) -> Option<bool> {
        if !self.can_fail() {
            return Some(true);
        }
        let judged = || self.judge("", runs).status == Status::Passed;
        if runs.len() >= of {
            return Some(judged());
        }
        if runs.is_empty() {
            return None;
        }
        let decided = self.outlook(runs, of)?;
        (judged() == decided).then_some(decided)
    }
}

#[cfg(test)]
mod tests;
