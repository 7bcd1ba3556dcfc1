//! Which faults strike this request?

use super::{Action, FaultKind, FaultScope, ReplyFault, RequestFault, ScopedFault};
use mcptest_core::fault::Progress;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Faults and their progress, shared between threads.
#[derive(Debug)]
pub struct Injector {
    rules: Vec<WireFaultRule>,
    /// After a `wedged` fault struck: no call is answered any more.
    has_wedged_calls: AtomicBool,
    /// True after it affected a request whose scope is every request.
    has_wedged_all: AtomicBool,
    start: Instant,
}

impl Default for Injector {
    fn default() -> Self {
        Self {
            rules: Vec::new(),
            has_wedged_calls: AtomicBool::new(false),
            has_wedged_all: AtomicBool::new(false),
            start: Instant::now(),
        }
    }
}

#[derive(Debug)]
struct WireFaultRule {
    fault: ScopedFault,
    tool: Option<String>,
    progress: Mutex<Progress>,
}

impl Injector {
    /// These faults strike every `tools/call`.
    pub fn new(faults: Vec<FaultKind>) -> Self {
        let scope = FaultScope::Tools;
        faults.into_iter().fold(Self::default(), |injector, kind| {
            injector.with(ScopedFault { kind, scope })
        })
    }

    /// With a fault that strikes every tool, or every request.
    #[must_use]
    pub fn with(self, fault: ScopedFault) -> Self {
        self.with_rule(None, fault)
    }

    /// With a fault that strikes only calls of one tool.
    #[must_use]
    pub fn on_tool(self, tool: impl Into<String>, kind: FaultKind) -> Self {
        let scope = FaultScope::Tools;
        self.with_rule(Some(tool.into()), ScopedFault { kind, scope })
    }

    fn with_rule(mut self, tool: Option<String>, fault: ScopedFault) -> Self {
        if fault.kind != FaultKind::None {
            self.rules.push(WireFaultRule {
                fault,
                tool,
                progress: Mutex::default(),
            });
        }
        self
    }

    /// True if no fault can ever apply.
    pub fn is_idle(&self) -> bool {
        self.rules.is_empty()
    }

    /// True after a `wedged` fault whose scope is every request: no request is answered any more.
    pub fn is_wedged(&self) -> bool {
        self.has_wedged_all.load(Ordering::Relaxed)
    }

    /// The action for any request. `tool` is the name in a `tools/call`.
    pub fn on_request(&self, method: &str, tool: Option<&str>, now: Instant) -> Action {
        let mut action = Action::default();
        let is_call = method == "tools/call";
        if self.is_wedged() || (is_call && self.has_wedged_calls.load(Ordering::Relaxed)) {
            action.request = RequestFault::Wedge;
            action.faults.push(FaultKind::Wedged);
            return action;
        }
        for rule in &self.rules {
            let strikes = match &rule.tool {
                Some(wanted) => is_call && tool == Some(wanted.as_str()),
                None => is_call || rule.fault.scope == FaultScope::All,
            };
            if strikes && rule.strikes(now.saturating_duration_since(self.start)) {
                rule.change(&mut action);
                action.faults.push(rule.fault.kind);
                if action.request == RequestFault::Wedge && rule.fault.kind == FaultKind::Wedged {
                    self.has_wedged_calls.store(true, Ordering::Relaxed);
                    self.has_wedged_all
                        .fetch_or(rule.fault.scope == FaultScope::All, Ordering::Relaxed);
                }
            }
        }
        action
    }
}

impl WireFaultRule {
    fn strikes(&self, now: Duration) -> bool {
        let mut progress = self.progress.lock();
        self.fault.kind.strikes(&mut progress, now)
    }

    fn change(&self, action: &mut Action) {
        let request = match self.fault.kind {
            FaultKind::None => return,
            FaultKind::Hang | FaultKind::RecoverAfter { .. } => RequestFault::Ignore,
            FaultKind::Wedged => RequestFault::Wedge,
            FaultKind::Disconnect => RequestFault::Disconnect,
            FaultKind::Error { code } => RequestFault::Refuse { code },
            FaultKind::RateLimit { .. } => RequestFault::Limit { retry_after_s: 1 },
            FaultKind::Slow { delay_ms } => {
                let late = Duration::from_millis(delay_ms);
                action.delay = Some(
                    action
                        .delay
                        .map_or(late, |delay| delay.saturating_add(late)),
                );
                return;
            }
            FaultKind::ReplyAfterCancel { delay_ms } => {
                action.despite_cancel = Some(Duration::from_millis(delay_ms));
                return;
            }
            FaultKind::FloodStderr => {
                action.floods_stderr = true;
                return;
            }
            FaultKind::LostResponse => return action.reply_with(ReplyFault::Lost),
            FaultKind::Malformed => return action.reply_with(ReplyFault::Malformed),
            FaultKind::WrongId => return action.reply_with(ReplyFault::WrongId),
            FaultKind::DuplicateReply => return action.reply_with(ReplyFault::Twice),
        };
        if action.request == RequestFault::Serve {
            action.request = request;
        }
    }
}

impl Action {
    /// The first fault of the answer decides.
    fn reply_with(&mut self, reply: ReplyFault) {
        if self.reply == ReplyFault::Whole {
            self.reply = reply;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Injector {
        fn on_call(&self, tool: &str) -> Action {
            self.on_request("tools/call", Some(tool), Instant::now())
        }
    }

    fn injector(faults: &[&str]) -> Injector {
        Injector::new(faults.iter().map(|fault| fault.parse().unwrap()).collect())
    }

    #[test]
    fn only_calls_are_touched_unless_the_scope_is_all() {
        let calls = injector(&["hang"]);
        assert!(
            calls
                .on_request("tools/list", None, Instant::now())
                .is_healthy()
        );
        assert_eq!(calls.on_call("x").request, RequestFault::Ignore);
        let all = Injector::default().with(ScopedFault {
            kind: FaultKind::Hang,
            scope: FaultScope::All,
        });
        assert_eq!(
            all.on_request("tools/list", None, Instant::now()).request,
            RequestFault::Ignore
        );
    }

    #[test]
    fn a_tools_own_fault_leaves_the_other_tools_alone() {
        let injector = Injector::default().on_tool("search", FaultKind::Disconnect);
        assert_eq!(injector.on_call("search").request, RequestFault::Disconnect);
        assert!(injector.on_call("open_page").is_healthy());
    }

    #[test]
    fn a_server_recovers_after_the_first_calls() {
        let injector = injector(&["recover-after:2"]);
        let requests: Vec<_> = (0..4).map(|_| injector.on_call("x").request).collect();
        assert_eq!(
            requests,
            [
                RequestFault::Ignore,
                RequestFault::Ignore,
                RequestFault::Serve,
                RequestFault::Serve
            ]
        );
        assert!(injector.on_call("x").is_healthy());
    }

    #[test]
    fn a_wedged_server_stays_wedged_for_calls_or_for_all_that_its_scope_has() {
        let list = |injector: &Injector| {
            injector
                .on_request("tools/list", None, Instant::now())
                .request
        };
        let calls = injector(&["wedged"]);
        assert_eq!(
            (calls.on_call("x").request, calls.on_call("y").request),
            (RequestFault::Wedge, RequestFault::Wedge)
        );
        assert_eq!(
            (list(&calls), calls.is_wedged()),
            (RequestFault::Serve, false)
        );
        let all = Injector::default().with(ScopedFault {
            kind: FaultKind::Wedged,
            scope: FaultScope::All,
        });
        assert_eq!((list(&all), all.is_wedged()), (RequestFault::Wedge, true));
        assert_eq!(all.on_call("x").request, RequestFault::Wedge);
    }

    #[test]
    fn calls_past_the_rate_are_refused_until_the_second_is_over() {
        let injector = injector(&["rate-limit:2"]);
        let start = Instant::now();
        let at = |ms: u64| {
            injector
                .on_request("tools/call", Some("x"), start + Duration::from_millis(ms))
                .request
        };
        let limit = RequestFault::Limit { retry_after_s: 1 };
        assert_eq!(
            [at(0), at(10), at(20), at(999)],
            [RequestFault::Serve, RequestFault::Serve, limit, limit]
        );
        assert_eq!(
            [at(1000), at(1001), at(1002)],
            [RequestFault::Serve, RequestFault::Serve, limit]
        );
    }

    #[test]
    fn faults_add_up() {
        let action =
            injector(&["slow:100", "slow:50", "duplicate-reply", "flood-stderr"]).on_call("x");
        assert_eq!(action.delay, Some(Duration::from_millis(150)));
        assert_eq!(
            (action.reply, action.floods_stderr, action.request),
            (ReplyFault::Twice, true, RequestFault::Serve)
        );
        assert_eq!(action.faults.len(), 4);
    }
}
