//! Which kinds of fault are there, and what does each of them do?

use std::fmt;
use std::mem::discriminant;

/// A kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// No fault.
    None,
    /// The server accepts the call and never answers.
    Hang,
    /// After the first call, nothing is read or answered.
    Wedged,
    /// The answer is late.
    Slow {
        /// The delay.
        delay_ms: u64,
    },
    /// The first calls are never answered, later ones are.
    RecoverAfter {
        /// The number of failing calls.
        failures: u64,
    },
    /// The answer is late, and is sent even after a cancellation.
    ReplyAfterCancel {
        /// The delay after the call, or after its cancellation.
        delay_ms: u64,
    },
    /// The server answers with a JSON-RPC error.
    Error {
        /// Its code.
        code: i64,
    },
    /// The server refuses calls beyond this number per second.
    RateLimit {
        /// Calls per second.
        per_second: u64,
    },
    /// The answer is not JSON.
    Malformed,
    /// The connection is closed instead of an answer.
    Disconnect,
    /// The tool does its work, but its answer is lost.
    LostResponse,
    /// Standard error is flooded while the call is answered.
    FloodStderr,
    /// The id of the answer belongs to no request.
    WrongId,
    /// The answer arrives twice.
    DuplicateReply,
}

/// The effect of an injected fault on the virtual clock and on the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The call is not affected.
    Nothing,
    /// No answer arrives: the call fails when the time budget is used up.
    Silence,
    /// The answer is late: a failure only if the delay exceeds the budget.
    Delay,
    /// The failure shows at once.
    Refusal,
}

/// One kind of fault, for the parser, lists and help.
#[derive(Debug, Clone, Copy)]
pub struct FaultEntry {
    /// Its name.
    pub name: &'static str,
    /// A fault of the kind.
    pub example: FaultKind,
    /// The effect, in a sentence.
    pub doc: &'static str,
    /// The effect on an agent's call. `None` for faults that exist only on the wire.
    pub(crate) effect: Option<Effect>,
    pub(super) number: Option<Number>,
}

/// The number after the colon.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number {
    /// The unit of its number.
    unit: &'static str,
    pub(super) least: i128,
    /// The key of a suite's fault that can give the number instead.
    pub(super) key: &'static str,
    pub(super) make: fn(i128) -> FaultKind,
}

/// The minimum of a kind that accepts any number.
pub(super) const ANY: i128 = i64::MIN as i128;

use Effect::{Delay, Nothing, Refusal, Silence};

const fn entry(
    name: &'static str,
    example: FaultKind,
    effect: Effect,
    doc: &'static str,
) -> FaultEntry {
    FaultEntry {
        name,
        example,
        doc,
        effect: Some(effect),
        number: None,
    }
}

const fn wire(name: &'static str, example: FaultKind, doc: &'static str) -> FaultEntry {
    FaultEntry {
        name,
        example,
        doc,
        effect: None,
        number: None,
    }
}

impl FaultEntry {
    const fn with(
        self,
        unit: &'static str,
        least: i128,
        key: &'static str,
        make: fn(i128) -> FaultKind,
    ) -> Self {
        Self {
            number: Some(Number {
                unit,
                least,
                key,
                make,
            }),
            ..self
        }
    }

    /// The written form, such as `slow:<ms>`.
    pub fn usage(&self) -> String {
        self.number.map_or_else(
            || self.name.to_owned(),
            |number| format!("{}:<{}>", self.name, number.unit),
        )
    }

    /// Returns true if it can be injected into an agent's calls. Other kinds exist only in the mock and the proxy.
    pub fn is_injectable(&self) -> bool {
        self.effect.is_some()
    }
}

#[rustfmt::skip]
const KINDS: &[FaultEntry] = &[
    entry("none", FaultKind::None, Nothing, "nothing goes wrong"),
    entry("hang", FaultKind::Hang, Silence, "the server accepts the call and never answers it; \
    other calls are answered"),
    entry("wedged", FaultKind::Wedged, Silence, "from the first call on, no call is answered"),
    entry("slow", FaultKind::Slow { delay_ms: 500 }, Delay, "the answer comes this many milliseconds late")
        .with("ms", 0, "delay_ms", |number| FaultKind::Slow { delay_ms: number as u64 }),
    entry("recover-after", FaultKind::RecoverAfter { failures: 2 }, Silence, "the first n calls \
    are never answered; later calls are")
        .with("n", 1, "failures", |number| FaultKind::RecoverAfter { failures: number as u64 }),
    entry("reply-after-cancel", FaultKind::ReplyAfterCancel { delay_ms: 100 }, Delay, "the answer comes this many milliseconds after the call, even when the call was cancelled")
        .with("ms", 0, "delay_ms", |number| FaultKind::ReplyAfterCancel { delay_ms: number as u64 }),
    entry("error", FaultKind::Error { code: -32603 }, Refusal, "the call gets a JSON-RPC error with this code")
        .with("code", ANY, "", |number| FaultKind::Error { code: number as i64 }),
    entry("rate-limit", FaultKind::RateLimit { per_second: 5 }, Refusal, "calls past n in a second are refused: HTTP 429 with `Retry-After`, a JSON-RPC error on stdio")
        .with("n per s", 0, "", |number| FaultKind::RateLimit { per_second: number as u64 }),
    entry("malformed", FaultKind::Malformed, Refusal, "the answer is not JSON"),
    entry("disconnect", FaultKind::Disconnect, Refusal, "the connection is closed instead of an answer"),
    entry("lost-response", FaultKind::LostResponse, Silence, "the tool does its work, but its \
    answer never comes"),
    wire("flood-stderr", FaultKind::FloodStderr, "standard error is flooded before the answer comes"),
    wire("wrong-id", FaultKind::WrongId, "the answer has an id that no request has"),
    wire("duplicate-reply", FaultKind::DuplicateReply, "the answer comes twice"),
];

impl FaultKind {
    /// Every kind, in the order of the documentation.
    pub const ALL: &'static [FaultEntry] = KINDS;

    /// The entry of the kind in the table.
    pub fn entry(self) -> &'static FaultEntry {
        let is_it = |entry: &&FaultEntry| discriminant(&entry.example) == discriminant(&self);
        KINDS.iter().find(is_it).unwrap_or(&KINDS[0])
    }

    /// The kind's name, without its number.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// The effect on an agent's call.
    pub(crate) fn effect(self) -> Effect {
        self.entry().effect.unwrap_or(Nothing)
    }

    /// The delay of the answer, if any.
    pub(crate) fn delay_ms(self) -> Option<u64> {
        match self {
            Self::Slow { delay_ms } | Self::ReplyAfterCancel { delay_ms } => Some(delay_ms),
            _ => None,
        }
    }
}

/// Its spelling in suites: `slow:250`.
impl fmt::Display for FaultKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())?;
        match self {
            Self::Slow { delay_ms: number }
            | Self::ReplyAfterCancel { delay_ms: number }
            | Self::RecoverAfter { failures: number }
            | Self::RateLimit { per_second: number } => write!(out, ":{number}"),
            Self::Error { code } => write!(out, ":{code}"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_an_entry_of_its_own() {
        for entry in FaultKind::ALL {
            assert_eq!(entry.example.name(), entry.name);
        }
    }
}
