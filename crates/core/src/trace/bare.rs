//! Is this JSON text a recorded run, and which?

use super::Trace;
use crate::json::document::{Placed, Source, TextFault};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// A problem with the text of one trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BareFault {
    /// A problem of the text.
    Text(TextFault),
    /// A field has a wrong type.
    Field {
        /// The problem.
        reason: String,
    },
    /// JSON that records no run.
    NotATrace,
}

impl From<TextFault> for BareFault {
    fn from(fault: TextFault) -> Self {
        Self::Text(fault)
    }
}

/// The keys of which a trace without calls and turns must have one.
#[derive(Deserialize)]
struct OwnMembers {
    #[serde(default, alias = "toolCalls")]
    tool_calls: Option<IgnoredAny>,
    #[serde(default)]
    conversation: Option<IgnoredAny>,
}

/// Reads the trace in a part of a source. Every reader of traces calls this, so that all accept the
/// same.
pub fn read_bare<'a>(source: Source<'a>, part: &'a str) -> Result<Trace<'a>, Placed<BareFault>> {
    let trace: Trace<'a> = source.object(part, |reason| BareFault::Field { reason })?;
    let trace = trace.with_text(part);
    let is_empty = trace.tool_calls.is_empty() && trace.conversation.turns.is_empty();
    if is_empty && !has_own_members(part) {
        return Err(source.fault(part, BareFault::NotATrace));
    }
    source.check(part)?;
    Ok(trace)
}

fn has_own_members(text: &str) -> bool {
    serde_json::from_str(text).is_ok_and(|members: OwnMembers| {
        members.tool_calls.is_some() || members.conversation.is_some()
    })
}
