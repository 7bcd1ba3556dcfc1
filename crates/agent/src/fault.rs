//! What goes wrong on purpose with this call, in virtual time?

use mcptest_core::fault::{FaultKind, FaultTarget, Progress};
use mcptest_core::suite::Fault;
use mcptest_core::trace::RecordedFault;
use mcptest_mcp::client::{Failure, Misbehaviour, Moment};
use mcptest_mcp::fault::{RequestFault, refusal};
use mcptest_mcp::jsonrpc::{Malformed, parse};
use parking_lot::Mutex;
use std::time::Duration;

/// The faults of one run and their progress, shared between the calls.
#[derive(Debug, Default)]
pub struct FaultPlan {
    rules: Vec<CallFaultRule>,
    /// The time limit of a call, if it differs from the server's.
    budget_ms: Option<u64>,
}

#[derive(Debug)]
struct CallFaultRule {
    name: String,
    kind: FaultKind,
    real: bool,
    strikes: Strikes,
    progress: Mutex<Progress>,
}

#[derive(Debug)]
enum Strikes {
    /// The calls that the suite's fault matches.
    Hit(FaultTarget),
    /// One call to any tool, counted from 0, or the first of several if the kind gives a number.
    Call(usize),
}

/// The outcome of a call that a fault strikes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strike {
    /// The recorded fault.
    pub event: RecordedFault,
    /// The effect.
    pub struck: FaultEffect,
    /// True if the call takes real time.
    pub real: bool,
    /// The time limit of the call, for the agent and for the virtual clock.
    pub limit_ms: u64,
    /// The called server and tool.
    server: String,
    tool: String,
}

/// The failure that an agent sees instead of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToldFailure {
    /// The code of a JSON-RPC error; `None` if the server gave none.
    pub code: Option<i64>,
    /// The message.
    pub message: String,
}

impl Strike {
    /// The message for the agent instead of a result, worded like a real failure of the server. `None` if it gets a
    /// result.
    pub fn failure(&self) -> Option<ToldFailure> {
        let limit = Duration::from_millis(self.limit_ms);
        let misbehaviour = match &self.struck {
            FaultEffect::Late { .. } => return None,
            FaultEffect::Refused { code, message } => {
                return Some(ToldFailure {
                    code: Some(*code),
                    message: message.clone(),
                });
            }
            FaultEffect::Silence | FaultEffect::Lost | FaultEffect::AfterCancel { .. } => {
                Misbehaviour::NoAnswer {
                    after: limit,
                    unread: false,
                }
            }
            FaultEffect::Malformed => half_of_an_answer(self.event.call_index),
            FaultEffect::Disconnected => Misbehaviour::Exited {
                moment: Moment::Pending,
                status: None,
            },
        };
        let method = format!("tools/call {}", self.tool);
        Some(ToldFailure {
            code: None,
            message: Failure::new(&self.server, &method, misbehaviour).to_string(),
        })
    }
}

/// An answer that is cut off in the middle.
fn half_of_an_answer(call_index: usize) -> Misbehaviour {
    let text = format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[{{"type":"te"#,
        call_index + 2
    );
    let why = parse(&text).err().unwrap_or(Malformed::Neither);
    Misbehaviour::Malformed { why, text }
}

/// The effect on a struck call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultEffect {
    /// The call never reaches the server, and no answer arrives: a timeout.
    Silence,
    /// The call reaches the server, but no answer arrives: a timeout.
    Lost,
    /// The server gets the call and answers late.
    Late {
        /// In milliseconds.
        delay_ms: u64,
    },
    /// The server gets the call and then a cancellation. Its answer arrives after the agent stopped
    /// waiting.
    AfterCancel {
        /// In milliseconds.
        delay_ms: u64,
    },
    /// A JSON-RPC error instead of an answer. The server never sees the call.
    Refused {
        /// Its code.
        code: i64,
        /// Its message.
        message: String,
    },
    /// The server gets the call, but its answer is malformed.
    Malformed,
    /// The connection breaks before an answer; the server never sees the call.
    Disconnected,
}

impl FaultPlan {
    /// These faults strike every call that they hit.
    pub fn new<'f>(faults: impl IntoIterator<Item = &'f Fault>) -> Self {
        let rule = |fault: &Fault| CallFaultRule {
            name: fault.name.clone(),
            kind: fault.kind,
            real: fault.real,
            strikes: Strikes::Hit(fault.target.clone()),
            progress: Mutex::default(),
        };
        Self {
            rules: faults.into_iter().map(rule).collect(),
            budget_ms: None,
        }
    }

    /// Turns a delay beyond this budget of one call into a timeout.
    #[must_use]
    pub fn within(self, budget_ms: Option<u64>) -> Self {
        Self { budget_ms, ..self }
    }

    /// A fault of this kind strikes only one call, counted from 0; `recover-after` strikes the number of calls that
    /// it names.
    pub fn at_call(name: String, kind: FaultKind, call_index: usize) -> Self {
        let strikes = Strikes::Call(call_index);
        let rules = vec![CallFaultRule {
            name,
            kind,
            real: false,
            strikes,
            progress: Mutex::default(),
        }];
        Self {
            rules,
            budget_ms: None,
        }
    }

    /// Returns true if no fault can ever strike.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The outcome of this call, to a server with this time limit. The first fault that strikes decides.
    pub fn strike(
        &self,
        call_index: usize,
        server: Option<&str>,
        tool: &str,
        timeout_ms: u64,
    ) -> Option<Strike> {
        let limit_ms = self.budget_ms.unwrap_or(timeout_ms);
        self.rules
            .iter()
            .find_map(|rule| rule.strike(call_index, server, tool, limit_ms))
    }
}

impl CallFaultRule {
    fn strike(
        &self,
        call_index: usize,
        server: Option<&str>,
        tool: &str,
        limit_ms: u64,
    ) -> Option<Strike> {
        if !self.is_meant_for(call_index, server, tool) {
            return None;
        }
        let struck = self.outcome()?;
        let virtual_ms = match struck {
            FaultEffect::Late { delay_ms } | FaultEffect::AfterCancel { delay_ms } => {
                Some(delay_ms)
            }
            _ => None,
        };
        let struck = if self.real {
            struck
        } else {
            struck.within(limit_ms)
        };
        let event = RecordedFault {
            name: self.name.clone(),
            kind: self.kind.to_string(),
            call_index,
            virtual_ms,
            detected: !matches!(struck, FaultEffect::Late { .. }),
        };
        Some(Strike {
            event,
            struck,
            real: self.real,
            limit_ms,
            server: server.unwrap_or_default().to_owned(),
            tool: tool.to_owned(),
        })
    }

    fn is_meant_for(&self, call_index: usize, server: Option<&str>, tool: &str) -> bool {
        match &self.strikes {
            Strikes::Hit(target) => target.hits(tool, server),
            Strikes::Call(first) if matches!(self.kind, FaultKind::RecoverAfter { .. }) => {
                *first <= call_index
            }
            Strikes::Call(only) => *only == call_index,
        }
    }

    fn outcome(&self) -> Option<FaultEffect> {
        let mut progress = self.progress.lock();
        if !self.kind.strikes_in_virtual_time(&mut progress) {
            return None;
        }
        Some(match self.kind {
            FaultKind::Hang | FaultKind::Wedged | FaultKind::RecoverAfter { .. } => {
                FaultEffect::Silence
            }
            FaultKind::Slow { delay_ms } => FaultEffect::Late { delay_ms },
            FaultKind::ReplyAfterCancel { delay_ms } => FaultEffect::AfterCancel { delay_ms },
            FaultKind::Error { code } => FaultEffect::Refused {
                code,
                message: refusal(RequestFault::Refuse { code })?.message,
            },
            FaultKind::RateLimit { .. } => {
                let error = refusal(RequestFault::Limit { retry_after_s: 1 })?;
                FaultEffect::Refused {
                    code: error.code,
                    message: error.message,
                }
            }
            FaultKind::Malformed => FaultEffect::Malformed,
            FaultKind::Disconnect => FaultEffect::Disconnected,
            FaultKind::LostResponse => FaultEffect::Lost,
            // Only the wire has these: a suite that injects one is refused.
            FaultKind::None
            | FaultKind::FloodStderr
            | FaultKind::WrongId
            | FaultKind::DuplicateReply => {
                return None;
            }
        })
    }
}

impl FaultEffect {
    /// The effect in virtual time: an answer after the time limit is lost, and before it nothing is
    /// cancelled.
    fn within(self, limit_ms: u64) -> Self {
        match self {
            Self::Late { delay_ms } if delay_ms > limit_ms => Self::Lost,
            Self::AfterCancel { delay_ms } if delay_ms <= limit_ms => Self::Late { delay_ms },
            struck => struck,
        }
    }

    /// Returns true if the tool runs anyway.
    pub fn reaches_server(&self) -> bool {
        matches!(
            self,
            Self::Lost | Self::Late { .. } | Self::AfterCancel { .. } | Self::Malformed
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(strike: &Strike) -> Option<String> {
        strike.failure().map(|failure| failure.message)
    }

    fn at_first(kind: &str) -> FaultPlan {
        FaultPlan::at_call(kind.to_owned(), kind.parse().unwrap(), 0)
    }

    #[test]
    fn the_agent_is_told_of_the_budget_that_the_clock_counts() {
        let strike = at_first("hang")
            .within(Some(3000))
            .strike(0, Some("docs"), "x", 30_000)
            .unwrap();
        assert_eq!(
            told(&strike).unwrap(),
            r#"server "docs": no answer to tools/call x within 3 s"#
        );
        let strike = at_first("hang")
            .strike(0, Some("docs"), "x", 30_000)
            .unwrap();
        assert_eq!(
            told(&strike).unwrap(),
            r#"server "docs": no answer to tools/call x within 30 s"#
        );
    }

    #[test]
    fn nothing_that_the_agent_is_told_says_that_it_was_done_on_purpose() {
        for (kind, said) in [
            ("error:-32603", "Internal error"),
            ("error:-32602", "Invalid params"),
            ("error:503", "Service Unavailable"),
            ("error:-32050", "Server error"),
            ("rate-limit:0", "too many requests: try again in 1 s"),
            (
                "disconnect",
                r#"server "docs": it exited while tools/call x was open"#,
            ),
        ] {
            assert_eq!(
                told(&at_first(kind).strike(0, Some("docs"), "x", 1000).unwrap()).unwrap(),
                said,
                "{kind}"
            );
        }
        let broken = told(
            &at_first("malformed")
                .strike(0, Some("docs"), "x", 1000)
                .unwrap(),
        )
        .unwrap();
        let said = r#"server "docs": the answer to tools/call x is not a JSON-RPC message: it is not JSON: EOF while"#;
        assert!(broken.starts_with(said), "{broken}");
    }

    #[test]
    fn one_call_is_struck_and_no_other() {
        let plan = FaultPlan::at_call("hang@2".to_owned(), FaultKind::Hang, 1);
        assert_eq!(plan.strike(0, Some("docs"), "search", 1000), None);
        let strike = plan.strike(1, Some("docs"), "open", 1000).unwrap();
        assert_eq!(
            (
                strike.struck,
                strike.event.call_index,
                strike.event.detected
            ),
            (FaultEffect::Silence, 1, true)
        );
        assert_eq!(plan.strike(2, Some("docs"), "open", 1000), None);
    }

    #[test]
    fn only_a_late_answer_says_how_late_and_is_still_an_answer() {
        for kind in [
            "hang",
            "error:-32603",
            "malformed",
            "disconnect",
            "lost-response",
            "rate-limit:0",
        ] {
            let strike = at_first(kind).strike(0, Some("docs"), "x", 1000).unwrap();
            assert_eq!(strike.event.virtual_ms, None, "{kind}");
            assert!(told(&strike).is_some() && strike.event.detected, "{kind}");
        }
        let late = at_first("slow:250")
            .strike(0, Some("docs"), "x", 1000)
            .unwrap();
        assert_eq!(
            (late.event.virtual_ms, late.event.detected),
            (Some(250), false)
        );
        assert_eq!(told(&late), None);
    }

    #[test]
    fn a_delay_beyond_the_time_of_the_call_is_told_and_one_within_it_is_an_answer() {
        for (kind, budget_ms, is_told) in [
            ("slow:250", None, false),
            ("slow:1250", None, true),
            ("slow:250", Some(200), true),
            ("slow:1250", Some(2000), false),
            ("reply-after-cancel:250", None, false),
            ("reply-after-cancel:250", Some(200), true),
        ] {
            let strike = at_first(kind)
                .within(budget_ms)
                .strike(0, Some("docs"), "x", 1000)
                .unwrap();
            assert_eq!(strike.event.detected, is_told, "{kind}");
            assert_eq!(told(&strike).is_some(), is_told, "{kind}");
            assert!(
                strike.struck.reaches_server() && strike.event.virtual_ms.is_some(),
                "{kind}"
            );
        }
    }

    #[test]
    fn what_recovers_strikes_as_many_calls_as_it_says_and_a_wedged_one_only_those_it_is_meant_for()
    {
        let strikes = |kind: &str| {
            let plan = FaultPlan::at_call(kind.to_owned(), kind.parse().unwrap(), 1);
            (0..5)
                .filter(|call| plan.strike(*call, Some("docs"), "a", 1000).is_some())
                .collect::<Vec<_>>()
        };
        assert_eq!(strikes("recover-after:2"), [1, 2]);
        assert_eq!(strikes("wedged"), [1]);
    }
}
