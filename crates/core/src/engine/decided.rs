//! Is the verdict of a test certain before all of its runs are there?

use crate::engine::block::GateBlock;
use crate::engine::gate::GateTrait;
use crate::report::Status;
use crate::suite::Agent;
use crate::trace::Run;

/// The verdict of a test over its first runs, when no outcome of the remaining `of - runs.len()` can change it:
/// neither that of any gate nor that of the runs' own `expect:`. Runs that end in an error are no outcome.
///
/// The gates must say the same of the runs there are, so that judging these alone gives the verdict. The fault matrix
/// has runs of its own, and takes no part.
pub fn decided(agent: &Agent, runs: &[Run<'_>], of: usize) -> Option<bool> {
    let gates = agent.gates.iter().filter(|gate| !gate.judges_side_runs());
    gates.fold(decided_by_runs(agent, runs, of), |verdict, gate| {
        let decided = gate.decided(runs, of)?;
        Some(verdict? && decided)
    })
}

/// What the runs' own `expect:` comes to.
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
    /// The gate's verdict, when no outcome of the remaining runs can change it.
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
