//! Which calls are left out because they came to nothing?

use super::recorded::RecordedCall;
use super::wording::list;
use crate::eval::success::Success;
use crate::trace::Trace;
use crate::words::plural;

pub(super) const DOC: &str = "`true` leaves out calls that failed or got no result; a matcher also those whose result, \
as text, does not hold it, as `not: { starts-with: Error }`. Left out, every call counts";

/// Takes out the calls that were not successful, and says which they are.
pub(super) fn take_others(
    success: &Success,
    trace: &Trace<'_>,
    calls: &mut Vec<RecordedCall<'_>>,
) -> Option<String> {
    let results = trace.results_by_call();
    let mut others = Vec::new();
    calls.retain(|call| {
        let is_successful = results[call.number - 1].is_some_and(|result| success.holds(result));
        if !is_successful {
            others.push(format!("{} `{}`", call.number, call.tool.name));
        }
        is_successful
    });
    let (were, do_not) = if others.len() == 1 { ("was", "does not") } else { ("were", "do not") };
    let named = format!("call{} {}", plural(others.len()), list(others.iter().cloned()));
    (!others.is_empty()).then(|| format!("{named} {were} not successful and {do_not} count"))
}
