//! Which faults strike this request?

use super::{Action, Reply, Request, WireFault};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Which requests faults touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// Only `tools/call`: the handshake and the lists stay healthy.
    #[default]
    Calls,
    /// Every request.
    All,
}

/// Faults, and how far each of them is. Shared between threads as it is.
#[derive(Debug, Default)]
pub struct Injector {
    rules: Vec<Rule>,
    is_wedged: AtomicBool,
}

#[derive(Debug)]
struct Rule {
    fault: WireFault,
    tool: Option<String>,
    scope: Scope,
    seen: AtomicU64,
    window: Mutex<Option<(Instant, u64)>>,
}

impl Injector {
    /// These faults strike every `tools/call`.
    pub fn new(faults: Vec<WireFault>) -> Self {
        faults.into_iter().fold(Self::default(), |injector, fault| injector.with(fault, Scope::Calls))
    }

    /// With a fault that strikes every tool, or every request.
    #[must_use]
    pub fn with(mut self, fault: WireFault, scope: Scope) -> Self {
        self.add(None, fault, scope);
        self
    }

    /// With a fault that strikes only calls of one tool.
    #[must_use]
    pub fn on_tool(mut self, tool: impl Into<String>, fault: WireFault) -> Self {
        self.add(Some(tool.into()), fault, Scope::Calls);
        self
    }

    fn add(&mut self, tool: Option<String>, fault: WireFault, scope: Scope) {
        if fault != WireFault::None {
            self.rules.push(Rule { fault, tool, scope, seen: AtomicU64::new(0), window: Mutex::new(None) });
        }
    }

    /// True when no fault can ever strike.
    pub fn is_idle(&self) -> bool {
        self.rules.is_empty()
    }

    /// True after a `wedged` fault struck: nothing is answered any more.
    pub fn is_wedged(&self) -> bool {
        self.is_wedged.load(Ordering::Relaxed)
    }

    /// What to do with a call of this tool.
    pub fn on_call(&self, tool: &str) -> Action {
        self.on_request("tools/call", Some(tool), Instant::now())
    }

    /// What to do with any request; `tool` is the name in a `tools/call`.
    pub fn on_request(&self, method: &str, tool: Option<&str>, now: Instant) -> Action {
        let mut action = Action::default();
        if self.is_wedged() {
            action.request = Request::Wedge;
            action.faults.push(WireFault::Wedged);
            return action;
        }
        let is_call = method == "tools/call";
        for rule in &self.rules {
            let strikes = match &rule.tool {
                Some(wanted) => is_call && tool == Some(wanted.as_str()),
                None => is_call || rule.scope == Scope::All,
            };
            if strikes && rule.strike(&mut action, now) {
                action.faults.push(rule.fault);
            }
        }
        if action.request == Request::Wedge {
            self.is_wedged.store(true, Ordering::Relaxed);
        }
        action
    }
}

impl Rule {
    /// Changes the action, and says whether it did.
    fn strike(&self, action: &mut Action, now: Instant) -> bool {
        let request = |action: &mut Action, request: Request| {
            if action.request == Request::Serve {
                action.request = request;
            }
            true
        };
        match self.fault {
            WireFault::None => false,
            WireFault::Hang => request(action, Request::Ignore),
            WireFault::Wedged => request(action, Request::Wedge),
            WireFault::Disconnect => request(action, Request::Disconnect),
            WireFault::Error { code } => request(action, Request::Refuse { code }),
            WireFault::RecoverAfter { failures } => {
                self.seen.fetch_add(1, Ordering::Relaxed) < failures && request(action, Request::Ignore)
            }
            WireFault::RateLimit { per_second } => match self.wait(per_second, now) {
                Some(retry_after_s) => request(action, Request::Limit { retry_after_s }),
                None => false,
            },
            WireFault::Slow { delay_ms } => {
                let late = Duration::from_millis(delay_ms);
                action.delay = Some(action.delay.map_or(late, |delay| delay.saturating_add(late)));
                true
            }
            WireFault::ReplyAfterCancel { delay_ms } => {
                action.despite_cancel = Some(Duration::from_millis(delay_ms));
                true
            }
            WireFault::FloodStderr => {
                action.floods_stderr = true;
                true
            }
            WireFault::LostResponse => reply(action, Reply::Lost),
            WireFault::Malformed => reply(action, Reply::Malformed),
            WireFault::WrongId => reply(action, Reply::WrongId),
            WireFault::DuplicateReply => reply(action, Reply::Twice),
        }
    }

    /// The seconds until a call is allowed again; `None` when this one is.
    fn wait(&self, per_second: u64, now: Instant) -> Option<u64> {
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        let (start, count) = window.get_or_insert((now, 0));
        if now.saturating_duration_since(*start) >= Duration::from_secs(1) {
            (*start, *count) = (now, 0);
        }
        *count += 1;
        (*count > per_second).then_some(1)
    }
}

fn reply(action: &mut Action, reply: Reply) -> bool {
    if action.reply == Reply::Whole {
        action.reply = reply;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn injector(faults: &[&str]) -> Injector {
        Injector::new(faults.iter().map(|fault| fault.parse().unwrap()).collect())
    }

    #[test]
    fn only_calls_are_touched_unless_the_scope_is_all() {
        let calls = injector(&["hang"]);
        assert!(calls.on_request("tools/list", None, Instant::now()).is_healthy());
        assert_eq!(calls.on_call("x").request, Request::Ignore);
        let all = Injector::default().with(WireFault::Hang, Scope::All);
        assert_eq!(all.on_request("tools/list", None, Instant::now()).request, Request::Ignore);
    }

    #[test]
    fn a_tools_own_fault_leaves_the_other_tools_alone() {
        let injector = Injector::default().on_tool("search", WireFault::Disconnect);
        assert_eq!(injector.on_call("search").request, Request::Disconnect);
        assert!(injector.on_call("open_page").is_healthy());
    }

    #[test]
    fn a_server_recovers_after_the_first_calls() {
        let injector = injector(&["recover-after:2"]);
        let requests: Vec<_> = (0..4).map(|_| injector.on_call("x").request).collect();
        assert_eq!(requests, [Request::Ignore, Request::Ignore, Request::Serve, Request::Serve]);
        assert!(injector.on_call("x").is_healthy());
    }

    #[test]
    fn a_wedged_server_stays_wedged_for_every_method() {
        let injector = injector(&["wedged"]);
        assert!(injector.on_request("tools/list", None, Instant::now()).is_healthy());
        assert_eq!(injector.on_call("x").request, Request::Wedge);
        assert!(injector.is_wedged());
        assert_eq!(injector.on_request("tools/list", None, Instant::now()).request, Request::Wedge);
    }

    #[test]
    fn calls_past_the_rate_are_refused_until_the_second_is_over() {
        let injector = injector(&["rate-limit:2"]);
        let start = Instant::now();
        let at =
            |ms: u64| injector.on_request("tools/call", Some("x"), start + Duration::from_millis(ms)).request;
        let limit = Request::Limit { retry_after_s: 1 };
        assert_eq!([at(0), at(10), at(20), at(999)], [Request::Serve, Request::Serve, limit, limit]);
        assert_eq!([at(1000), at(1001), at(1002)], [Request::Serve, Request::Serve, limit]);
    }

    #[test]
    fn faults_add_up() {
        let action = injector(&["slow:100", "slow:50", "duplicate-reply", "flood-stderr"]).on_call("x");
        assert_eq!(action.delay, Some(Duration::from_millis(150)));
        assert_eq!(
            (action.reply, action.floods_stderr, action.request),
            (Reply::Twice, true, Request::Serve)
        );
        assert_eq!(action.faults.len(), 4);
    }
}
