//! Can a recorded fault event be believed, and does it say enough?

use crate::suite::{Effect, effect_of};
use crate::trace::{FaultEvent, Trace};

/// Whether a fault cannot have hit a call that came out like this.
///
/// A call that succeeded was not reported as failed, and only some kinds let a call that they hit succeed at all.
pub fn is_contradicted(event: &FaultEvent<'_>, succeeded: bool) -> bool {
    succeeded && (event.detected || !may_succeed(&event.kind))
}

/// The late answer is an answer, a server may have come back, and the limit of a rate may not be reached.
fn may_succeed(kind: &str) -> bool {
    let name = kind.split_once(':').map_or(kind, |(name, _)| name).replace('_', "-");
    match effect_of(kind) {
        Some(Effect::Silence | Effect::Refusal) => matches!(name.as_str(), "recover-after" | "rate-limit"),
        Some(Effect::Delay | Effect::Nothing) | None => true,
    }
}

/// How late the answer was, where that is recorded.
pub(super) fn delay_of(event: &FaultEvent<'_>) -> Option<u64> {
    let number = || event.kind.split_once(':').and_then(|(_, number)| number.trim().parse().ok());
    event.virtual_ms.or_else(number)
}

/// Why nothing can be measured over a trace, when an event in it says too little or what cannot be.
pub(super) fn flaw(trace: &Trace<'_>) -> Option<String> {
    let events = trace.faults.as_ref().filter(|events| !events.is_empty())?;
    let results = trace.results_by_call();
    events.iter().find_map(|event| {
        let (name, kind, call) = (&event.name, &event.kind, event.call_index.saturating_add(1));
        let succeeded = results
            .get(event.call_index)
            .is_some_and(|result| result.is_some_and(|result| !result.is_failure()));
        if is_contradicted(event, succeeded) {
            let told = if event.detected { ", noticed by the agent" } else { "" };
            return Some(format!(
                "`{name}` ({kind}) is recorded at call {call}{told}, but the call succeeded"
            ));
        }
        let is_late = effect_of(kind) == Some(Effect::Delay);
        (is_late && delay_of(event).is_none()).then(|| {
            format!("`{name}` ({kind}) reached call {call}, but how late its answer was is not recorded")
        })
    })
}
