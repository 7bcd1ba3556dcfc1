//! Which calls are ignored because they were not successful?

use super::recorded::RecordedCall;
use super::wording::list;
use crate::engine::success::Success;
use crate::trace::Trace;

/// Removes the unsuccessful calls, and reports them.
pub(super) fn leave_out_unsuccessful(
    success: &Success,
    trace: &Trace<'_>,
    calls: &mut Vec<RecordedCall<'_>>,
) -> Option<String> {
    let results = trace.results_by_call();
    let is_successful = |call: &RecordedCall<'_>| {
        results[call.number - 1].is_some_and(|result| success.holds(result))
    };
    let unsuccessful: Vec<String> = calls
        .iter()
        .filter(|call| !is_successful(call))
        .map(|call| format!("{} `{}`", call.number, call.tool.name))
        .collect();
    calls.retain(is_successful);
    let named = list(unsuccessful.iter().cloned());
    match unsuccessful.len() {
        0 => None,
        1 => Some(format!(
            "call {named} was not successful and does not count"
        )),
        _ => Some(format!(
            "calls {named} were not successful and do not count"
        )),
    }
}
