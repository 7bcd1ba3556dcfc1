//! What did the calls of a run do to the world?

use super::ScenarioBlock;
use super::golden::{Follower, left_all};
use crate::hashed::HashSet;
use crate::trace::{CallResult, Tool, Trace};
use crate::world::{World, WorldStep};
use serde_json::Value;

/// A call that the world refuses.
#[derive(Debug)]
pub(super) struct InvalidCall {
    /// Its number, from 1.
    pub(super) number: usize,
    pub(super) why: String,
    /// The server's answer, if the server made the call anyway: the recording contradicts the world.
    pub(super) done: Option<String>,
}

/// A call that `forbidden:` names.
#[derive(Debug)]
pub(super) struct ForbiddenCall {
    /// Its number, from 1.
    pub(super) number: usize,
    pub(super) reason: String,
    pub(super) has_succeeded: bool,
}

/// A run in the world, replayed from its seed.
#[derive(Debug, Default)]
pub(super) struct Walk {
    /// The state that it ends in.
    pub(super) state: Value,
    /// Calls that could not be made in their state.
    pub(super) invalid: Vec<InvalidCall>,
    pub(super) forbidden: Vec<ForbiddenCall>,
    /// The first call of a tool that has transitions or is forbidden.
    pub(super) first_act: Option<usize>,
    /// Failed calls whose tool was called again.
    pub(super) recovery_attempts: usize,
    /// Calls of the tool that escalates.
    pub(super) escalation_attempts: Vec<usize>,
    /// Those among them that got a result.
    pub(super) escalations: Vec<usize>,
    /// The call that left every golden path.
    pub(super) diverged_at: Option<usize>,
}

impl Walk {
    pub(super) fn of(block: &ScenarioBlock, trace: &Trace<'_>) -> Self {
        let world = &block.world;
        let escalates = |tool: Tool<'_>| {
            block
                .escalation
                .as_ref()
                .is_some_and(|by| world.may_be(tool, &by.tool))
        };
        let mut walk = Self {
            state: world.seed.clone(),
            ..Self::default()
        };
        let mut followers: Vec<Follower<'_>> = block.golden.iter().map(Follower::of).collect();
        let has_results = !trace.tool_results.is_empty();
        let mut failed = Vec::new();
        for (at, (call, result)) in trace
            .tool_calls
            .iter()
            .zip(trace.results_by_call())
            .enumerate()
        {
            let (number, tool) = (at + 1, Tool::from(call));
            let args = call.decoded_args().unwrap_or_default();
            let has_failed = block.has_failed(result);
            let forbidden = world.forbids(&walk.state, tool, &args);
            if let Some(forbidden) = forbidden {
                walk.forbidden.push(ForbiddenCall {
                    number,
                    reason: forbidden.reason.clone(),
                    has_succeeded: !has_failed,
                });
            }
            if forbidden.is_some() || world.may_change(tool) {
                walk.first_act = walk.first_act.or(Some(number));
            }
            if escalates(tool) {
                walk.escalation_attempts.push(number);
                let is_answered = result.is_some() || !has_results;
                if is_answered && !has_failed {
                    walk.escalations.push(number);
                }
            }
            let step = walk.step(world, tool, &args, has_failed);
            if let WorldStep::Changed(places) = &step {
                let sorted = (!block.bags.is_empty()).then(|| block.bags.sorted(&walk.state));
                let state = sorted.as_ref().unwrap_or(&walk.state);
                for follower in &mut followers {
                    follower.look(number, state, places);
                }
            }
            let is_invalid = matches!(step, WorldStep::Invalid(_));
            if let WorldStep::Invalid(why) = step {
                let answer = |result: &CallResult<'_>| result.text().unwrap_or_default();
                let done = result.filter(|_| !has_failed).map(answer);
                walk.invalid.push(InvalidCall { number, why, done });
            }
            if has_failed || is_invalid {
                failed.push(at);
            }
        }
        walk.diverged_at = left_all(&followers);
        walk.recovery_attempts = called_again(trace, &failed);
        walk
    }

    /// Applies a call. A failed call does nothing, but can still be invalid.
    fn step(&mut self, world: &World, tool: Tool<'_>, args: &Value, has_failed: bool) -> WorldStep {
        if !has_failed || !world.has_transitions(tool) {
            return world.step(&mut self.state, tool, args);
        }
        match world.step(&mut self.state.clone(), tool, args) {
            WorldStep::Invalid(why) => WorldStep::Invalid(why),
            _ => WorldStep::Read,
        }
    }
}

/// Counts the failed calls that another call of their tool follows.
fn called_again(trace: &Trace<'_>, failed: &[usize]) -> usize {
    let mut later: HashSet<Tool<'_>> = HashSet::default();
    let mut failed = failed.iter().rev().peekable();
    let mut again = 0;
    for (at, call) in trace.tool_calls.iter().enumerate().rev() {
        let is_first = later.insert(Tool::from(call));
        if failed.next_if_eq(&&at).is_some() && !is_first {
            again += 1;
        }
    }
    again
}
