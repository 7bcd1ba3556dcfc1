//! Which calls were made, in which order and turn, and what was the result of each?

use super::setup::{CallEvent, OnCall};
use crate::fault::{FaultPlan, Strike};
use crate::result::refused;
use mcptest_core::trace::{
    ConversationTrace, RecordedCall, RecordedError, RecordedFault, RecordedResult, RecordedServer,
};
use mcptest_mcp::era::Era;
use parking_lot::Mutex;
use std::time::{Duration, Instant};

/// The number of server errors to keep.
const KEPT_ERRORS: usize = 20;

/// The traffic of all proxies of one run.
pub(super) struct CallLog {
    faults: FaultPlan,
    on_call: OnCall,
    state: Mutex<LogState>,
}

#[derive(Default)]
struct LogState {
    calls: Vec<LoggedCall>,
    faults: Vec<RecordedFault>,
    errors: Vec<RecordedError>,
    servers: Vec<RecordedServer>,
    turn: u64,
    is_over: bool,
}

struct LoggedCall {
    call: RecordedCall,
    begun: Instant,
    /// The result that the agent received. `None` while it waits.
    result: Option<RecordedResult>,
    /// The result that is on its way to the agent.
    late: Option<RecordedResult>,
    /// The time at which the agent gets its answer, if known.
    until: Option<Instant>,
    /// The state that the continuing request must carry. Empty if it has none.
    awaits_input: Option<String>,
}

/// A call that has begun.
pub(super) struct BegunCall {
    /// Its number.
    pub(super) index: usize,
    /// The fault to inject into it.
    pub(super) strike: Option<Strike>,
}

impl LogState {
    /// The turn of the next call: calls that are in flight at once share one.
    fn next_turn(&mut self) -> u64 {
        let (turn, now) = (self.turn, Instant::now());
        let is_in_flight = |call: &LoggedCall| call.until.is_none_or(|until| until > now);
        let shares_turn = self
            .calls
            .iter()
            .rev()
            .take_while(|call| call.call.turn == Some(turn))
            .any(is_in_flight);
        if !self.calls.is_empty() && !shares_turn {
            self.turn += 1;
        }
        self.turn
    }
}

/// The outcome of a call, without its number and time.
#[derive(Debug, Default)]
pub(super) struct CallEnd {
    pub(super) result: RecordedResult,
    /// The delay of the answer.
    pub(super) hold: Duration,
}

impl CallEnd {
    pub(super) fn failed(code: Option<i64>, message: impl Into<String>, hold: Duration) -> Self {
        Self {
            result: refused(code, message.into()),
            hold,
        }
    }
}

impl CallLog {
    pub(super) fn new(faults: FaultPlan, on_call: OnCall) -> Self {
        Self {
            faults,
            on_call,
            state: Mutex::default(),
        }
    }

    /// Records a new call with its time limit.
    pub(super) fn begin(&self, mut call: RecordedCall, timeout_ms: u64) -> BegunCall {
        let event = CallEvent {
            server: call.server.clone().unwrap_or_default(),
            tool: call.name.clone(),
        };
        let mut state = self.state.lock();
        let index = state.calls.len();
        call.turn = Some(state.next_turn());
        let strike = if call.distractor {
            None
        } else {
            self.faults
                .strike(index, call.server.as_deref(), &call.name, timeout_ms)
        };
        state
            .faults
            .extend(strike.as_ref().map(|strike| RecordedFault {
                // Of one that is held for its true length it shows only when the agent gives up.
                detected: strike.event.detected && !is_silent(strike),
                ..strike.event.clone()
            }));
        state.calls.push(LoggedCall {
            call,
            begun: Instant::now(),
            result: None,
            late: None,
            until: None,
            awaits_input: None,
        });
        drop(state);
        (self.on_call)(event);
        BegunCall { index, strike }
    }

    /// Continues an earlier call with the input that it asked for.
    pub(super) fn carry_on(&self, server: &str, tool: &str, with: &str) -> Option<usize> {
        let mut state = self.state.lock();
        let index = state.calls.iter().rposition(|call| {
            call.awaits_input.as_deref() == Some(with)
                && call.call.server.as_deref() == Some(server)
                && call.call.name == tool
        })?;
        state.calls[index].awaits_input = None;
        Some(index)
    }

    /// Records that a call needs further input, with this state.
    pub(super) fn await_input(&self, index: usize, with: String) {
        if let Some(call) = self.state.lock().calls.get_mut(index) {
            call.awaits_input = Some(with);
        }
    }

    /// Sets the result of a call. Only the first result counts.
    pub(super) fn finish(&self, index: usize, end: CallEnd) {
        let mut state = self.state.lock();
        let is_over = state.is_over;
        let Some(call) = state
            .calls
            .get_mut(index)
            .filter(|call| call.result.is_none() && !is_over)
        else {
            return;
        };
        let duration_ms = Some(call.begun.elapsed().as_millis() as u64);
        call.result = Some(RecordedResult {
            call_index: index,
            duration_ms,
            ..end.result
        });
        call.until = Some(Instant::now() + end.hold);
    }

    /// Sets a result that the call gets later, unless the agent gives up first.
    pub(super) fn finish_late(&self, index: usize, end: CallEnd) {
        if let Some(call) = self.state.lock().calls.get_mut(index) {
            call.late = Some(end.result);
        }
    }

    /// Delivers the pending result of a call.
    pub(super) fn deliver(&self, index: usize) {
        let late = self
            .state
            .lock()
            .calls
            .get_mut(index)
            .and_then(|call| call.late.take());
        if let Some(result) = late {
            self.finish(
                index,
                CallEnd {
                    result,
                    hold: Duration::ZERO,
                },
            );
        }
    }

    /// Records that the agent gave up on a call. This is how it notices a fault that takes real
    /// time.
    pub(super) fn give_up(&self, index: usize) {
        let mut state = self.state.lock();
        let waits = state.calls.get(index).filter(|call| call.result.is_none());
        let Some(elapsed_ms) = waits.map(|call| call.begun.elapsed().as_millis() as u64) else {
            return;
        };
        if state.is_over {
            return;
        }
        if let Some(fault) = state
            .faults
            .iter_mut()
            .find(|fault| fault.call_index == index)
        {
            (fault.detected, fault.virtual_ms) = (true, Some(elapsed_ms));
        }
        drop(state);
        let message = format!("the agent gave up after {elapsed_ms} ms without an answer");
        self.finish(index, CallEnd::failed(None, message, Duration::ZERO));
    }

    /// Records a protocol violation of a server.
    pub(super) fn misbehaved(&self, server: &str, what: &str) {
        let mut state = self.state.lock();
        let error = RecordedError::new("server", format!("server {server:?}: {what}"));
        if !state.is_over && state.errors.len() < KEPT_ERRORS && !state.errors.contains(&error) {
            state.errors.push(error);
        }
    }

    /// The agent speaks to a server so; the last time counts.
    pub(super) fn speaks(&self, server: &str, era: Era, protocol_version: String) {
        let (name, era) = (server.to_owned(), era.as_str().to_owned());
        let mut state = self.state.lock();
        state.servers.retain(|known| known.name != name);
        state.servers.push(RecordedServer {
            name,
            era,
            protocol_version,
        });
    }

    /// The protocol that the agent used with this server, if any.
    pub(super) fn spoken_to(&self, name: &str) -> Option<RecordedServer> {
        self.state
            .lock()
            .servers
            .iter()
            .find(|server| server.name == name)
            .cloned()
    }

    /// Ends the log with the agent: later events do not belong to its run.
    pub(super) fn close(&self) {
        self.state.lock().is_over = true;
    }

    /// Returns true if the agent has ended.
    pub(super) fn is_over(&self) -> bool {
        self.state.lock().is_over
    }

    /// Everything that was recorded, into a trace.
    pub(super) fn record(&self, trace: &mut ConversationTrace) {
        let mut state = self.state.lock();
        for (index, recorded) in std::mem::take(&mut state.calls).into_iter().enumerate() {
            let unanswered = || {
                let message = "no answer came before the agent ended";
                let failed = CallEnd::failed(None, message, Duration::ZERO).result;
                RecordedResult {
                    call_index: index,
                    ..failed
                }
            };
            trace.tool_calls.push(recorded.call);
            trace
                .tool_results
                .push(recorded.result.unwrap_or_else(unanswered));
        }
        trace.errors.append(&mut state.errors);
        if !self.faults.is_empty() {
            trace.faults = Some(std::mem::take(&mut state.faults));
        }
    }
}

/// Returns true if the agent gets no message and must notice the fault itself.
fn is_silent(strike: &Strike) -> bool {
    use crate::fault::FaultEffect::{AfterCancel, Lost, Silence};
    strike.real && matches!(strike.struck, Silence | Lost | AfterCancel { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log() -> CallLog {
        CallLog::new(FaultPlan::default(), std::sync::Arc::new(|_| {}))
    }

    fn call(log: &CallLog, tool: &str) -> usize {
        let server = Some("s".to_owned());
        log.begin(
            RecordedCall {
                name: tool.to_owned(),
                server,
                ..RecordedCall::default()
            },
            1000,
        )
        .index
    }

    fn trace(log: &CallLog) -> ConversationTrace {
        let mut trace = ConversationTrace::default();
        log.record(&mut trace);
        trace
    }

    #[test]
    fn calls_in_flight_at_once_share_a_turn_and_results_stand_in_call_order() {
        let log = log();
        let (a, b) = (call(&log, "a"), call(&log, "b"));
        log.finish(b, CallEnd::default());
        let c = call(&log, "c");
        log.finish(a, CallEnd::default());
        log.finish(c, CallEnd::default());
        let d = call(&log, "d");
        log.finish(
            d,
            CallEnd {
                hold: Duration::from_secs(3600),
                ..CallEnd::default()
            },
        );
        call(&log, "e");
        let trace = trace(&log);
        let turns: Vec<_> = trace
            .tool_calls
            .iter()
            .map(|call| call.turn.unwrap())
            .collect();
        assert_eq!(turns, [0, 0, 0, 1, 1]);
        let results: Vec<_> = trace
            .tool_results
            .iter()
            .map(|result| result.call_index)
            .collect();
        assert_eq!(results, [0, 1, 2, 3, 4]);
        assert!(
            trace.tool_results[4]
                .error
                .as_ref()
                .unwrap()
                .message
                .starts_with("no answer came")
        );
    }

    #[test]
    fn only_the_first_outcome_of_a_call_counts_and_nothing_after_the_end() {
        let log = log();
        let (a, b) = (call(&log, "a"), call(&log, "b"));
        log.finish(a, CallEnd::failed(Some(-1), "first", Duration::ZERO));
        log.finish(a, CallEnd::default());
        log.close();
        log.give_up(b);
        log.misbehaved("s", "died");
        let trace = trace(&log);
        assert_eq!(
            trace.tool_results[0].error.as_ref().unwrap().message,
            "first"
        );
        assert!(
            trace.tool_results[1]
                .error
                .as_ref()
                .unwrap()
                .message
                .starts_with("no answer came")
        );
        assert!(trace.errors.is_empty());
    }

    #[test]
    fn a_call_is_carried_on_by_the_one_that_brings_its_state() {
        let log = log();
        let (a, b) = (call(&log, "ask"), call(&log, "ask"));
        log.await_input(a, "\"1\"".to_owned());
        log.await_input(b, "\"2\"".to_owned());
        assert_eq!(log.carry_on("s", "ask", "\"3\""), None);
        assert_eq!(log.carry_on("s", "ask", "\"1\""), Some(a));
        assert_eq!(log.carry_on("s", "ask", "\"1\""), None);
    }
}
