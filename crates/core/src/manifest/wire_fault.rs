//! What can go wrong on the wire on purpose, and how is it written?

use crate::problem::nearest;
use std::fmt;
use std::str::FromStr;

/// One way in which a mock server or the proxy misbehaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireFault {
    /// Nothing goes wrong.
    None,
    /// The call is taken and never answered.
    Hang,
    /// After the first call nothing is read or answered any more.
    Wedged,
    /// The answer comes late.
    Slow {
        /// How late.
        delay_ms: u64,
    },
    /// The first calls are never answered, later ones are.
    RecoverAfter {
        /// How many are not.
        failures: u64,
    },
    /// The call is answered late, and even after it was cancelled.
    ReplyAfterCancel {
        /// How long after the call, or after its cancel.
        delay_ms: u64,
    },
    /// The call gets a JSON-RPC error.
    Error {
        /// Its code.
        code: i64,
    },
    /// More calls than this in a second are refused.
    RateLimit {
        /// Calls a second.
        per_second: u64,
    },
    /// The answer is not JSON.
    Malformed,
    /// The connection is closed in place of an answer.
    Disconnect,
    /// The tool does its work, and its answer is lost.
    LostResponse,
    /// Standard error is flooded while the call is answered.
    FloodStderr,
    /// The answer has the id of no request.
    WrongId,
    /// The answer comes twice.
    DuplicateReply,
}

/// One kind, for lists and help.
#[derive(Debug, Clone, Copy)]
pub struct WireFaultKind {
    /// Its name.
    pub name: &'static str,
    /// How it is written, as `slow:<ms>`.
    pub usage: &'static str,
    /// What it does, in a sentence.
    pub doc: &'static str,
    number: Number,
}

/// The number after the colon.
#[derive(Debug, Clone, Copy)]
enum Number {
    Without(WireFault),
    /// At least this, an example, and the fault made of it.
    Whole(u64, u64, fn(u64) -> WireFault),
    /// Any whole number, an example, and the fault made of it.
    Signed(i64, fn(i64) -> WireFault),
}

const fn kind(name: &'static str, usage: &'static str, number: Number, doc: &'static str) -> WireFaultKind {
    WireFaultKind { name, usage, doc, number }
}

const fn plain(name: &'static str, fault: WireFault, doc: &'static str) -> WireFaultKind {
    kind(name, name, Number::Without(fault), doc)
}

impl WireFault {
    /// Every kind, in the order in which they are documented.
    pub const KINDS: &'static [WireFaultKind] = &[
        plain("none", Self::None, "nothing goes wrong"),
        plain("hang", Self::Hang, "the call is taken and never answered; other calls are"),
        plain("wedged", Self::Wedged, "from the first call on nothing is read or answered any more"),
        kind(
            "slow",
            "slow:<ms>",
            Number::Whole(0, 500, |delay_ms| Self::Slow { delay_ms }),
            "the answer comes this many milliseconds late",
        ),
        kind(
            "recover-after",
            "recover-after:<n>",
            Number::Whole(1, 2, |failures| Self::RecoverAfter { failures }),
            "the first n calls are never answered, later ones are",
        ),
        kind(
            "reply-after-cancel",
            "reply-after-cancel:<ms>",
            Number::Whole(0, 100, |delay_ms| Self::ReplyAfterCancel { delay_ms }),
            "the answer comes this many milliseconds late, and even after the call was cancelled",
        ),
        kind(
            "error",
            "error:<code>",
            Number::Signed(-32603, |code| Self::Error { code }),
            "the call gets a JSON-RPC error with this code",
        ),
        kind(
            "rate-limit",
            "rate-limit:<n per s>",
            Number::Whole(0, 5, |per_second| Self::RateLimit { per_second }),
            "calls past n in a second are refused: HTTP 429 with `Retry-After`, a JSON-RPC error on stdio",
        ),
        plain("malformed", Self::Malformed, "the answer is not JSON"),
        plain("disconnect", Self::Disconnect, "the connection is closed in place of an answer"),
        plain("lost-response", Self::LostResponse, "the tool does its work, and its answer never comes"),
        plain("flood-stderr", Self::FloodStderr, "standard error is flooded before the answer comes"),
        plain("wrong-id", Self::WrongId, "the answer has the id of no request"),
        plain("duplicate-reply", Self::DuplicateReply, "the answer comes twice"),
    ];

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
            Self::FloodStderr => "flood-stderr",
            Self::WrongId => "wrong-id",
            Self::DuplicateReply => "duplicate-reply",
        }
    }
}

/// Why a text is not a fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}: {help}")]
pub struct WireFaultError {
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: String,
}

impl WireFaultError {
    fn new(message: String, help: String) -> Self {
        Self { message, help }
    }
}

fn usages() -> String {
    WireFault::KINDS.iter().map(|kind| kind.usage).collect::<Vec<_>>().join(", ")
}

impl FromStr for WireFault {
    type Err = WireFaultError;

    fn from_str(written: &str) -> Result<Self, WireFaultError> {
        let (name, number) = match written.trim().split_once(':') {
            Some((name, number)) => (name, Some(number.trim())),
            None => (written.trim(), None),
        };
        let dashed = name.replace('_', "-");
        let Some(kind) = Self::KINDS.iter().find(|kind| kind.name == dashed) else {
            let near = nearest(name, Self::KINDS.iter().map(|kind| kind.name));
            let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
            let help = format!("{near}the kinds are {}", usages());
            return Err(WireFaultError::new(format!("`{name}` is not a kind of fault"), help));
        };
        kind.with(number)
    }
}

impl WireFaultKind {
    fn with(&self, number: Option<&str>) -> Result<WireFault, WireFaultError> {
        let Some(number) = number else {
            return match self.number {
                Number::Without(fault) => Ok(fault),
                Number::Whole(_, example, _) => Err(self.without_number(&example.to_string())),
                Number::Signed(example, _) => Err(self.without_number(&example.to_string())),
            };
        };
        let odd = |wanted: String| {
            let message = format!("`{}:{number}` is not a fault", self.name);
            Err(WireFaultError::new(message, wanted))
        };
        match self.number {
            Number::Without(_) => odd(format!("`{}` takes no number", self.name)),
            Number::Whole(least, _, make) => match number.parse::<u64>() {
                Ok(number) if number >= least => Ok(make(number)),
                _ => odd(format!("write `{}` with a whole number of at least {least}", self.usage)),
            },
            Number::Signed(_, make) => match number.parse::<i64>() {
                Ok(number) => Ok(make(number)),
                Err(_) => odd(format!("write `{}` with a whole number", self.usage)),
            },
        }
    }

    fn without_number(&self, example: &str) -> WireFaultError {
        let message = format!("`{}` is missing its number", self.name);
        WireFaultError::new(message, format!("it is written `{}`, as `{}:{example}`", self.usage, self.name))
    }
}

/// As it is written: `slow:250`.
impl fmt::Display for WireFault {
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
        for kind in WireFault::KINDS {
            let fault =
                kind.name.parse().or_else(|_| format!("{}:7", kind.name).parse::<WireFault>()).unwrap();
            assert_eq!(fault.name(), kind.name);
            let shown = fault.to_string();
            assert_eq!(shown.parse(), Ok(fault), "{shown}");
            assert_eq!(shown.replace("r-a", "r_a").parse(), Ok(fault), "{shown}");
        }
        assert_eq!("error:-32603".parse(), Ok(WireFault::Error { code: -32603 }));
    }

    #[test]
    fn a_fault_that_is_none_lists_the_kinds_and_what_to_write() {
        let said = |written: &str| written.parse::<WireFault>().unwrap_err().to_string();
        assert!(
            said("hnag")
                .starts_with("`hnag` is not a kind of fault: did you mean `hang`? the kinds are none, hang")
        );
        assert!(said("weather").contains("slow:<ms>, recover-after:<n>"));
        assert_eq!(said("slow"), "`slow` is missing its number: it is written `slow:<ms>`, as `slow:500`");
        assert_eq!(said("hang:3"), "`hang:3` is not a fault: `hang` takes no number");
        assert!(said("recover-after:0").ends_with("a whole number of at least 1"));
        assert!(said("error:soon").ends_with("with a whole number"));
    }
}
