//! Can a recorded fault event be believed, and does it say enough?

use crate::fault::Effect;
use crate::trace::{FaultEvent, Trace};

/// Returns true if a fault cannot have affected a call with this outcome.
///
/// A call that succeeded was not reported as failed, and only some kinds let an affected call
/// succeed.
pub fn is_contradicted(event: &FaultEvent<'_>, succeeded: bool) -> bool {
    succeeded && (event.detected || !event.kind.may_succeed())
}

/// The delay of the answer, if it is recorded.
pub(super) fn delay_of(event: &FaultEvent<'_>) -> Option<u64> {
    event.virtual_ms.or_else(|| event.kind.number())
}

/// Why a trace cannot be measured, if an event in it is incomplete or impossible.
pub(super) fn flaw(trace: &Trace<'_>) -> Option<String> {
    let events = trace.faults.as_ref().filter(|events| !events.is_empty())?;
    let results = trace.results_by_call();
    events.iter().find_map(|event| {
        let (name, kind, call) = (&event.name, &event.kind, event.call_index.saturating_add(1));
        let succeeded = results
            .get(event.call_index)
            .is_some_and(|result| result.is_some_and(|result| !result.is_failure()));
        if is_contradicted(event, succeeded) {
            let told = if event.detected {
                ", noticed by the agent"
            } else {
                ""
            };
            return Some(format!(
                "`{name}` ({kind}) is recorded at call {call}{told}, but the call succeeded"
            ));
        }
        let is_late = kind.effect() == Some(Effect::Delay);
        (is_late && delay_of(event).is_none()).then(|| {
            format!(
                "`{name}` ({kind}) reached call {call}, but how late its answer was is not recorded"
            )
        })
    })
}
