//! What did the calls of a run do to the world?

use super::ScenarioBlock;
use super::golden::{Follower, left_all};
use crate::hashed::HashSet;
use crate::trace::{CallResult, Tool, Trace};
use crate::world::{Place, World, WorldStep};
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
    /// The first call that is forbidden or whose tool has transitions.
    pub(super) first_act: Option<usize>,
    /// True if a call was to a tool that `forbidden:` names, whatever its arguments.
    pub(super) has_met_rule: bool,
    /// Failed calls whose tool was called again.
    pub(super) recovery_attempts: usize,
    /// Calls of the tool that escalates.
    pub(super) escalation_attempts: Vec<usize>,
    /// Escalation calls with a result.
    pub(super) escalations: Vec<usize>,
    /// The call that left every golden path.
    pub(super) diverged_at: Option<usize>,
}

/// A recorded call, and its effect according to the block.
struct WalkedCall<'t, 'a> {
    /// Its number, from 1.
    number: usize,
    tool: Tool<'t>,
    args: Value,
    /// True if the recorded arguments are not JSON.
    has_unreadable_args: bool,
    result: Option<&'t CallResult<'a>>,
    has_failed: bool,
}

impl Walk {
    /// Replays the calls of a trace in the block's world.
    pub(super) fn new(block: &ScenarioBlock, trace: &Trace<'_>) -> Self {
        let mut walk = Self {
            state: block.world.seed.clone(),
            ..Self::default()
        };
        let mut followers: Vec<Follower<'_>> = block.golden.iter().map(Follower::new).collect();
        let has_results = !trace.tool_results.is_empty();
        let mut failed = Vec::new();
        for (at, (call, result)) in trace
            .tool_calls
            .iter()
            .zip(trace.results_by_call())
            .enumerate()
        {
            let call = WalkedCall {
                number: at + 1,
                tool: Tool::from(call),
                args: call.decoded_args().unwrap_or_default(),
                has_unreadable_args: call.args.is_none() && call.args_text.is_some(),
                result,
                has_failed: block.has_failed(result),
            };
            walk.note_forbidden(&block.world, &call);
            walk.note_escalation(block, &call, has_results);
            let step = walk.step(&block.world, call.tool, &call.args, call.has_failed);
            if let WorldStep::Changed(places) = &step {
                walk.lead(&mut followers, block, call.number, places);
            }
            let is_invalid = matches!(step, WorldStep::Invalid(_));
            if let WorldStep::Invalid(why) = step {
                walk.note_invalid(&call, why);
            }
            if call.has_failed || is_invalid {
                failed.push(at);
            }
        }
        walk.diverged_at = left_all(&followers);
        walk.recovery_attempts = called_again(trace, &failed);
        walk
    }

    fn note_forbidden(&mut self, world: &World, call: &WalkedCall<'_, '_>) {
        let args = (!call.has_unreadable_args).then_some(&call.args);
        let mut rules = world.rules_about(call.tool).peekable();
        self.has_met_rule |= rules.peek().is_some();
        let forbidden = rules.find(|rule| rule.forbids(&self.state, args));
        if let Some(forbidden) = forbidden {
            self.forbidden.push(ForbiddenCall {
                number: call.number,
                reason: forbidden.reason.clone(),
                has_succeeded: !call.has_failed,
            });
        }
        if forbidden.is_some() || world.may_change(call.tool) {
            self.first_act = self.first_act.or(Some(call.number));
        }
    }

    /// In a trace without any result, a call counts as answered.
    fn note_escalation(
        &mut self,
        block: &ScenarioBlock,
        call: &WalkedCall<'_, '_>,
        has_results: bool,
    ) {
        let escalates = block
            .escalation
            .as_ref()
            .is_some_and(|by| block.world.may_be(call.tool, &by.tool));
        if !escalates {
            return;
        }
        self.escalation_attempts.push(call.number);
        let is_answered = call.result.is_some() || !has_results;
        if is_answered && !call.has_failed {
            self.escalations.push(call.number);
        }
    }

    /// Shows the changed state to the followers of golden paths.
    fn lead(
        &self,
        followers: &mut [Follower<'_>],
        block: &ScenarioBlock,
        number: usize,
        places: &[Place],
    ) {
        let sorted = (!block.bags.is_empty()).then(|| block.bags.sorted(&self.state));
        let state = sorted.as_ref().unwrap_or(&self.state);
        for follower in followers {
            follower.look(number, state, places);
        }
    }

    fn note_invalid(&mut self, call: &WalkedCall<'_, '_>, why: String) {
        let done = call
            .result
            .filter(|_| !call.has_failed)
            .map(|result| result.text().unwrap_or_default());
        self.invalid.push(InvalidCall {
            number: call.number,
            why,
            done,
        });
    }

    /// Applies a call. A failed call has no effect, but can still be invalid.
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
