//! In which order did the messages and the calls of a run happen?

use mcptest_core::trace::{CallResult, Trace, Turn};

/// A moment of a run.
pub(super) enum Step<'t, 'a> {
    /// A message.
    Turn(&'t Turn<'a>),
    /// A call, by its index.
    Call(usize),
}

/// The messages in order, each call after the assistant's message that made it.
///
/// A call without a turn follows the call before it. The first call, if it has no turn, follows the
/// assistant's first message, or precedes its only one. Calls of turns without a message are at the
/// end.
pub(super) fn steps<'t, 'a>(trace: &'t Trace<'a>) -> Vec<Step<'t, 'a>> {
    let turns = &trace.conversation.turns;
    let is_assistant = |turn: &&Turn<'_>| turn.role == "assistant";
    let assistant_turns = turns.iter().filter(is_assistant).count();
    let mut after = vec![Vec::new(); assistant_turns + 1];
    let mut slot = 0;
    for (index, call) in trace.tool_calls.iter().enumerate() {
        slot = match call.turn {
            Some(turn) => usize::try_from(turn)
                .unwrap_or(usize::MAX)
                .saturating_add(1),
            None => slot.max(assistant_turns.saturating_sub(1).min(1)),
        };
        match after.get_mut(slot) {
            Some(calls) => calls.push(index),
            None => after.push(vec![index]),
        }
    }
    place(turns, after)
}

/// The calls of slot 0 come before the assistant's first message, the calls of slot n after its n-th message.
fn place<'t, 'a>(turns: &'t [Turn<'a>], after: Vec<Vec<usize>>) -> Vec<Step<'t, 'a>> {
    let mut steps = Vec::new();
    let mut slots = after.into_iter();
    let mut first = slots.next();
    for turn in turns {
        if turn.role != "assistant" {
            steps.push(Step::Turn(turn));
            continue;
        }
        steps.extend(first.take().into_iter().flatten().map(Step::Call));
        steps.push(Step::Turn(turn));
        steps.extend(slots.next().into_iter().flatten().map(Step::Call));
    }
    steps.extend(first.into_iter().chain(slots).flatten().map(Step::Call));
    steps
}

/// The results of each call: by `call_index`, otherwise in order.
pub(super) fn results_by_call<'t, 'a>(trace: &'t Trace<'a>) -> Vec<Vec<&'t CallResult<'a>>> {
    let mut results = vec![Vec::new(); trace.tool_calls.len()];
    for (index, result) in trace.tool_results.iter().enumerate() {
        if let Some(of_call) = results.get_mut(result.call_index.unwrap_or(index)) {
            of_call.push(result);
        }
    }
    results
}
