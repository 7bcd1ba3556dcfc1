//! `successful:` which calls came to something?

use super::recorded::RecordedCall;
use super::wording::list;
use crate::eval::assertion::plural;
use crate::matcher::Matcher;
use crate::suite::read::Field;
use crate::trace::{CallResult, Trace};
use serde_json::Value;

pub(super) const DOC: &str = "`true` leaves out calls that failed or got no result; a matcher also those whose result, \
as text, does not hold it, as `not: { starts-with: Error }`. Left out, every call counts";

/// What a call must have come to in order to count.
#[derive(Debug)]
pub(super) struct Success {
    /// What the result must say besides being no error.
    result: Option<Matcher>,
}

impl Success {
    /// `true`, `false` for none, or a matcher.
    pub(super) fn read(field: &mut Field<'_>) -> Option<Self> {
        let wanted = "`true`, `false` or a matcher for the text of a result";
        field.shapes(wanted, |shapes| {
            shapes.scalar(|field| field.flag_among(wanted)?.then_some(Self { result: None }));
            shapes.map(|field| Some(Self { result: Some(Matcher::read(field)?) }));
        })
    }

    /// Takes out the calls that were not successful, and says which they are.
    pub(super) fn take_others(&self, trace: &Trace<'_>, calls: &mut Vec<RecordedCall<'_>>) -> Option<String> {
        let results = trace.results_by_call();
        let mut others = Vec::new();
        calls.retain(|call| {
            let is_successful = results[call.number - 1].is_some_and(|result| self.holds(result));
            if !is_successful {
                others.push(format!("{} `{}`", call.number, call.tool.name));
            }
            is_successful
        });
        let (were, do_not) = if others.len() == 1 { ("was", "does not") } else { ("were", "do not") };
        let named = format!("call{} {}", plural(others.len()), list(others.iter().cloned()));
        (!others.is_empty()).then(|| format!("{named} {were} not successful and {do_not} count"))
    }

    fn holds(&self, result: &CallResult<'_>) -> bool {
        if result.is_failure() {
            return false;
        }
        self.result.as_ref().is_none_or(|matcher| match result.text() {
            Some(text) => matcher.diff(&Value::String(text)).is_empty(),
            None => matcher.accepts_absence(),
        })
    }
}
