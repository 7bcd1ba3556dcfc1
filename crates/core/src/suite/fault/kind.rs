//! Which kinds of fault are there, how are they written, and what do they do to a call?

use crate::problem::nearest;
use std::fmt;
use std::str::FromStr;

/// What goes wrong in a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// Nothing.
    None,
    /// The call never returns.
    Hang,
    /// The call never returns, for another reason.
    Wedged,
    /// The call returns late.
    Slow {
        /// How late.
        delay_ms: u64,
    },
    /// The first calls never return, later ones do.
    RecoverAfter {
        /// How many fail first.
        failures: u64,
    },
    /// The call answers even after it was cancelled.
    ReplyAfterCancel {
        /// How late.
        delay_ms: u64,
    },
    /// The call gets a JSON-RPC error.
    Error {
        /// Its code.
        code: i64,
    },
    /// More than this many calls a second are refused.
    RateLimit {
        /// Calls a second.
        per_second: u64,
    },
    /// The answer is not JSON-RPC.
    Malformed,
    /// The connection is closed.
    Disconnect,
    /// The tool runs, its answer is lost.
    LostResponse,
}

/// What a fault does to the virtual clock and to the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing goes wrong.
    Nothing,
    /// No answer comes: the call fails when the time budget is used up.
    Silence,
    /// The answer comes after a delay: a failure only when that is longer than the budget.
    Delay,
    /// The failure shows at once.
    Refusal,
}

/// One kind: its name, what it does, and how it is made of its number.
struct Kind {
    name: &'static str,
    effect: Effect,
    number: Number,
}

/// The number of a kind, after the colon.
enum Number {
    /// It has none.
    Without(FaultKind),
    /// A whole number of at least this much, what it counts, and the kind made of it.
    Whole(u64, &'static str, fn(u64) -> FaultKind),
    /// Any whole number, what it is, and the kind made of it.
    Signed(&'static str, fn(i64) -> FaultKind),
}

const fn without(name: &'static str, effect: Effect, kind: FaultKind) -> Kind {
    Kind { name, effect, number: Number::Without(kind) }
}

const HOW_LATE: &str = "how many milliseconds late? write";
const fn with(name: &'static str, effect: Effect, number: Number) -> Kind {
    Kind { name, effect, number }
}

const KINDS: &[Kind] = &[
    without("none", Effect::Nothing, FaultKind::None),
    without("hang", Effect::Silence, FaultKind::Hang),
    without("wedged", Effect::Silence, FaultKind::Wedged),
    with("slow", Effect::Delay, Number::Whole(0, HOW_LATE, |delay_ms| FaultKind::Slow { delay_ms })),
    with(
        "recover-after",
        Effect::Silence,
        Number::Whole(1, "after how many failures? write", |failures| FaultKind::RecoverAfter { failures }),
    ),
    with(
        "reply-after-cancel",
        Effect::Delay,
        Number::Whole(0, HOW_LATE, |delay_ms| FaultKind::ReplyAfterCancel { delay_ms }),
    ),
    with("error", Effect::Refusal, Number::Signed("which code? write", |code| FaultKind::Error { code })),
    with(
        "rate-limit",
        Effect::Refusal,
        Number::Whole(0, "how many calls a second? write", |per_second| FaultKind::RateLimit { per_second }),
    ),
    without("malformed", Effect::Refusal, FaultKind::Malformed),
    without("disconnect", Effect::Refusal, FaultKind::Disconnect),
    without("lost-response", Effect::Silence, FaultKind::LostResponse),
];

/// Why a text is not a kind of fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}{}", help.as_ref().map(|help| format!(": {help}")).unwrap_or_default())]
pub struct FaultKindError {
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
}

impl FaultKindError {
    fn new(message: String, help: impl Into<Option<String>>) -> Self {
        Self { message, help: help.into() }
    }
}

impl FaultKind {
    /// The names of all kinds.
    pub fn names() -> impl Iterator<Item = &'static str> {
        KINDS.iter().map(|kind| kind.name)
    }

    /// The kind of this name, written in either spelling, with its number.
    pub(super) fn of(written: &str, number: Option<i64>) -> Result<Self, FaultKindError> {
        let Some(kind) = find(written) else { return Err(unknown(written)) };
        let name = kind.name;
        let needed = |question: &str, example: i64| {
            let help = format!("{question} `{name}:{example}`");
            FaultKindError::new(format!("`{name}` is missing its number"), help)
        };
        match (&kind.number, number) {
            (Number::Without(fault), None) => Ok(*fault),
            (Number::Without(_), Some(_)) => {
                Err(FaultKindError::new(format!("`{name}` takes no number"), None))
            }
            (Number::Whole(least, _, make), Some(number)) => match u64::try_from(number) {
                Ok(number) if number >= *least => Ok(make(number)),
                _ => {
                    let message = format!("`{name}` takes a number of at least {least}, not {number}");
                    Err(FaultKindError::new(message, None))
                }
            },
            (Number::Signed(_, make), Some(number)) => Ok(make(number)),
            (Number::Whole(_, question, _), None) => {
                let example = if question == &HOW_LATE { 250 } else { 2 };
                Err(needed(question, example))
            }
            (Number::Signed(question, _), None) => Err(needed(question, -32603)),
        }
    }

    /// What the fault does to a call.
    pub(crate) fn effect(self) -> Effect {
        effect_of(self.name()).unwrap_or(Effect::Nothing)
    }

    /// How late the answer comes, where it comes late.
    pub(crate) fn delay_ms(self) -> Option<u64> {
        match self {
            Self::Slow { delay_ms } | Self::ReplyAfterCancel { delay_ms } => Some(delay_ms),
            _ => None,
        }
    }

    /// The kind's name, without its number.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Hang => "hang",
            Self::Wedged => "wedged",
            Self::Slow { .. } => "slow",
            Self::RecoverAfter { .. } => "recover-after",
            Self::ReplyAfterCancel { .. } => "reply-after-cancel",
            Self::Error { .. } => "error",
            Self::RateLimit { .. } => "rate-limit",
            Self::Malformed => "malformed",
            Self::Disconnect => "disconnect",
            Self::LostResponse => "lost-response",
        }
    }
}

/// What a recorded kind does, with or without its number; nothing is known of kinds that are not ours.
pub(crate) fn effect_of(written: &str) -> Option<Effect> {
    let name = written.split_once(':').map_or(written, |(name, _)| name);
    find(name).map(|kind| kind.effect)
}

fn find(written: &str) -> Option<&'static Kind> {
    let name = written.replace('_', "-");
    KINDS.iter().find(|kind| kind.name == name)
}

fn unknown(written: &str) -> FaultKindError {
    let help = match nearest(written, FaultKind::names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the kinds are {}", FaultKind::names().collect::<Vec<_>>().join(", ")),
    };
    FaultKindError::new(format!("`{written}` is not a kind of fault"), help)
}

/// `name` or `name:number`, with `-` or `_` in the name.
pub(super) fn split(written: &str) -> Result<(&str, Option<i64>), FaultKindError> {
    let Some((name, number)) = written.split_once(':') else { return Ok((written, None)) };
    let number = number.trim().parse().map_err(|_| {
        FaultKindError::new(format!("`{written}`: expected a whole number after the colon"), None)
    })?;
    Ok((name, Some(number)))
}

impl FromStr for FaultKind {
    type Err = FaultKindError;

    fn from_str(written: &str) -> Result<Self, FaultKindError> {
        let (name, number) = split(written)?;
        Self::of(name, number)
    }
}

/// As it is written on the command line: `slow:250`.
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
    fn every_kind_is_read_back_as_it_is_shown_in_both_spellings() {
        for name in FaultKind::names() {
            let kind = name.parse().or_else(|_| format!("{name}:7").parse::<FaultKind>()).unwrap();
            assert_eq!(kind.name(), name);
            let shown = kind.to_string();
            assert_eq!(shown.parse::<FaultKind>().unwrap(), kind, "{shown}");
            assert_eq!(shown.replace('-', "_").parse::<FaultKind>().unwrap(), kind, "{shown}");
        }
        assert_eq!("error:-32603".parse(), Ok(FaultKind::Error { code: -32603 }));
    }

    #[test]
    fn a_kind_that_is_not_one_says_what_to_write() {
        let said = |written: &str| written.parse::<FaultKind>().unwrap_err().to_string();
        assert_eq!(said("hnag"), "`hnag` is not a kind of fault: did you mean `hang`?");
        assert_eq!(
            said("slow"),
            "`slow` is missing its number: how many milliseconds late? write `slow:250`"
        );
        assert_eq!(said("hang:3"), "`hang` takes no number");
        assert_eq!(said("recover_after:0"), "`recover-after` takes a number of at least 1, not 0");
        assert_eq!(said("slow:-1"), "`slow` takes a number of at least 0, not -1");
        assert_eq!(said("slow:soon"), "`slow:soon`: expected a whole number after the colon");
        assert!(said("weather").contains("the kinds are none, hang"));
    }

    #[test]
    fn a_recorded_kind_has_its_effect_with_or_without_a_number() {
        assert_eq!(effect_of("recover_after"), Some(Effect::Silence));
        assert_eq!(effect_of("slow:9000"), Some(Effect::Delay));
        assert_eq!(effect_of("http-500"), None);
    }
}
