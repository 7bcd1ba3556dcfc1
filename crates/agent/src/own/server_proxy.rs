//! Between the agent and one server: which calls pass, which fail on purpose, and which tools are
//! distractors?

use super::call_log::{BegunCall, CallEnd, CallLog};
use super::catalogue::{Offered, changed};
use crate::fault::{FaultEffect, Strike, ToldFailure};
use mcptest_core::trace::{CatalogueTool, RecordedCall, is_tool, unkeepable};
use mcptest_mcp::era::Era;
use mcptest_mcp::fault::ReplyFault;
use mcptest_mcp::jsonrpc::{self, Body, Id, RpcError, code};
use mcptest_mcp::proxy::interpose::{
    ClientRequest, Instead, Interposer, RequestFate, Taken, Watch, WatchedReply,
};
use mcptest_mcp::proxy::{CONNECTION_CLOSED, REQUEST_TIMEOUT};
use mcptest_mcp::wire::{CallParams, CallResult, CommonParams};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The minimum time from a call to its answer. Simultaneous calls arrive one by one, and all must
/// arrive before the first answer.
pub(super) const SETTLE: Duration = Duration::from_millis(25);

/// A proxy that records the calls of one server.
#[derive(Clone)]
pub(super) struct ServerProxy {
    pub(super) server: String,
    pub(super) timeout_ms: u64,
    /// The distractors of its list.
    pub(super) distractors: Arc<Vec<CatalogueTool>>,
    /// The tools to remove from it.
    pub(super) hidden: Arc<Vec<String>>,
    pub(super) log: Arc<CallLog>,
    pub(super) offered: Arc<Offered>,
}

impl Interposer for ServerProxy {
    fn asked(&self, request: ClientRequest<'_>) -> Taken {
        let version = CommonParams::read(request.params).modern_version();
        let greeting = matches!(request.method, "initialize" | "server/discover");
        if let Some(version) = version.clone().filter(|_| !greeting) {
            self.log.speaks(&self.server, Era::Modern, version);
        }
        match request.method {
            // What an agent does while it is being ended is no part of its run.
            _ if self.log.is_over() => RequestFate::Pass.into(),
            "tools/call" => self.called(request).into(),
            "tools/list" => RequestFate::Watch(Arc::new(List(self.clone()))).into(),
            _ if greeting => RequestFate::Watch(Arc::new(Greeting {
                proxy: self.clone(),
                version,
            }))
            .into(),
            _ => RequestFate::Pass.into(),
        }
    }

    fn misbehaved(&self, what: String) {
        self.log.misbehaved(&self.server, &what);
    }
}

impl ServerProxy {
    fn called(&self, request: ClientRequest<'_>) -> RequestFate {
        let call = request.params.and_then(CallParams::read);
        // One that names no tool is for the server to refuse.
        let Some(call) = call else {
            return RequestFate::Pass;
        };
        if call.is_continued() {
            let state = call.state.map_or("", RawValue::get);
            if let Some(index) = self.log.carry_on(&self.server, &call.name, state) {
                return RequestFate::Watch(self.watch(index, None));
            }
        }
        let distractor = self.distractors.iter().find(|tool| tool.name == call.name);
        let recorded = self.recorded(&call, distractor);
        let BegunCall { index, strike } = self.log.begin(recorded, self.timeout_ms);
        let is_hidden = |tool: &String| is_tool(tool, &call.name, Some(&self.server));
        if distractor.is_some() || self.hidden.iter().any(is_hidden) {
            let message = format!("unknown tool: {}", call.name);
            let error = RpcError::new(code::INVALID_PARAMS, message);
            return self.refuse(index, request.id, Some(error.code), error);
        }
        match strike {
            Some(strike) => self.struck(index, request.id, strike),
            None => RequestFate::Watch(self.watch(index, None)),
        }
    }

    fn recorded(&self, call: &CallParams<'_>, distractor: Option<&CatalogueTool>) -> RecordedCall {
        let server = distractor
            .and_then(|tool| tool.server.as_ref())
            .unwrap_or(&self.server);
        let is_kept = call
            .arguments
            .is_none_or(|arguments| unkeepable(arguments.get()).is_none());
        RecordedCall {
            name: call.name.clone().into_owned(),
            server: Some(server.clone()),
            args: call.arguments.filter(|_| is_kept).map(RawValue::to_owned),
            args_text: call
                .arguments
                .filter(|_| !is_kept)
                .map(|arguments| arguments.get().to_owned()),
            distractor: distractor.is_some(),
            ..RecordedCall::default()
        }
    }

    fn struck(&self, index: usize, id: &Id, strike: Strike) -> RequestFate {
        if strike.real {
            match strike.struck {
                FaultEffect::Silence => {
                    return RequestFate::Swallow(Some(self.watch(index, Some(strike))));
                }
                FaultEffect::Disconnected => {
                    if let Some(ToldFailure { code, message }) = strike.failure() {
                        self.log
                            .finish(index, CallEnd::failed(code, message, Duration::ZERO));
                    }
                    return RequestFate::Disconnect;
                }
                _ => {}
            }
        }
        if strike.struck.reaches_server() {
            return RequestFate::Watch(self.watch(index, Some(strike)));
        }
        match strike.failure() {
            Some(ToldFailure { code, message }) => {
                let on_the_wire = code.unwrap_or_else(|| wire_code(&strike.struck));
                self.refuse(index, id, code, RpcError::new(on_the_wire, message))
            }
            None => RequestFate::Watch(self.watch(index, Some(strike))),
        }
    }

    /// Answers instead of the server. The recording has no code if the server gave none.
    fn refuse(&self, index: usize, id: &Id, recorded: Option<i64>, error: RpcError) -> RequestFate {
        let text = jsonrpc::error(Some(id), &error);
        self.log
            .finish(index, CallEnd::failed(recorded, error.message, SETTLE));
        RequestFate::Answer(Instead {
            text,
            hold: SETTLE,
            retry_after_s: None,
        })
    }

    fn watch(&self, index: usize, strike: Option<Strike>) -> Arc<CallWatch> {
        let (log, begun) = (Arc::clone(&self.log), Instant::now());
        Arc::new(CallWatch {
            log,
            index,
            begun,
            strike,
        })
    }
}

/// The code that client libraries use for a failure that the server does not report.
fn wire_code(struck: &FaultEffect) -> i64 {
    match struck {
        FaultEffect::Malformed => code::PARSE_ERROR,
        FaultEffect::Disconnected => CONNECTION_CLOSED,
        _ => REQUEST_TIMEOUT,
    }
}

/// Waits for the end of one call.
struct CallWatch {
    log: Arc<CallLog>,
    index: usize,
    begun: Instant,
    strike: Option<Strike>,
}

impl CallWatch {
    fn pass(&self, answer: &Body<'_>, hold: Duration) -> WatchedReply {
        match outcome_of(answer, hold) {
            CallOutcome::Ended(end) => self.log.finish(self.index, end),
            CallOutcome::NeedsInput(state) => self.log.await_input(self.index, state),
        }
        WatchedReply {
            hold,
            ..WatchedReply::default()
        }
    }

    /// Passes an answer that counts only if the agent has waited for it.
    fn pass_late(&self, answer: &Body<'_>) {
        match outcome_of(answer, Duration::ZERO) {
            CallOutcome::Ended(end) => self.log.finish_late(self.index, end),
            CallOutcome::NeedsInput(state) => self.log.await_input(self.index, state),
        }
    }

    fn strike(
        &self,
        strike: &Strike,
        answer: &Body<'_>,
        text: &str,
        settle: Duration,
    ) -> WatchedReply {
        match (&strike.struck, strike.real) {
            (FaultEffect::Late { delay_ms }, true) => {
                self.pass_late(answer);
                WatchedReply {
                    hold: Duration::from_millis(*delay_ms),
                    ..WatchedReply::default()
                }
            }
            (FaultEffect::Late { .. }, false) => self.pass(answer, settle),
            (FaultEffect::Lost | FaultEffect::Silence, true) => WatchedReply {
                texts: Some(Vec::new()),
                ..WatchedReply::default()
            },
            (FaultEffect::AfterCancel { delay_ms }, true) => {
                self.pass_late(answer);
                let despite_cancel = Some(Duration::from_millis(*delay_ms));
                WatchedReply {
                    despite_cancel,
                    ..WatchedReply::default()
                }
            }
            _ => match strike.failure() {
                Some(failure) => {
                    let texts = instead_of(strike, &failure, answer, text);
                    let end = CallEnd::failed(failure.code, failure.message, settle);
                    self.log.finish(self.index, end);
                    WatchedReply {
                        texts: Some(texts),
                        hold: settle,
                        ..WatchedReply::default()
                    }
                }
                None => self.pass(answer, settle),
            },
        }
    }
}

/// The messages that the agent gets instead of an answer.
fn instead_of(
    strike: &Strike,
    failure: &ToldFailure,
    answer: &Body<'_>,
    text: &str,
) -> Vec<String> {
    if strike.real && strike.struck == FaultEffect::Malformed {
        return ReplyFault::Malformed.texts(text.trim_ascii_end().to_owned());
    }
    let (Body::Result { id, .. } | Body::Error { id: Some(id), .. }) = answer else {
        return Vec::new();
    };
    let on_the_wire = failure.code.unwrap_or_else(|| wire_code(&strike.struck));
    let error = RpcError::new(on_the_wire, failure.message.clone());
    vec![jsonrpc::error(Some(id), &error)]
}

impl Watch for CallWatch {
    fn answered(&self, answer: &Body<'_>, text: &str) -> WatchedReply {
        let settle = SETTLE.saturating_sub(self.begun.elapsed());
        match &self.strike {
            Some(strike) => self.strike(strike, answer, text, settle),
            None => self.pass(answer, settle),
        }
    }

    fn unanswered(&self, why: &str) {
        self.log
            .finish(self.index, CallEnd::failed(None, why, Duration::ZERO));
    }

    fn delivered(&self) {
        self.log.deliver(self.index);
    }

    fn cancelled(&self) {
        self.log.give_up(self.index);
    }

    fn ignores_cancel(&self) -> bool {
        self.strike.as_ref().is_some_and(|strike| {
            strike.real && matches!(strike.struck, FaultEffect::AfterCancel { .. })
        })
    }
}

enum CallOutcome {
    Ended(CallEnd),
    NeedsInput(String),
}

/// The server's answer to a call.
fn outcome_of(answer: &Body<'_>, hold: Duration) -> CallOutcome {
    let failed =
        |code: Option<i64>, why: String| CallOutcome::Ended(CallEnd::failed(code, why, hold));
    let result = match answer {
        Body::Result { result, .. } => result,
        Body::Error { error, .. } => return failed(Some(error.code), error.message.clone()),
        _ => {
            return failed(
                None,
                "the server sent a message that is not a response".to_owned(),
            );
        }
    };
    if let Some(why) = unkeepable(result.get()) {
        return failed(None, format!("the server's answer cannot be read: {why}"));
    }
    match CallResult::read(result) {
        Ok(said) if said.needs_input() => CallOutcome::NeedsInput(
            said.state
                .map_or_else(String::new, |state| state.get().to_owned()),
        ),
        Ok(said) => CallOutcome::Ended(CallEnd {
            result: said.to_recorded(),
            hold,
        }),
        Err(error) => failed(
            None,
            format!("the server's answer is not a tool result: {error}"),
        ),
    }
}

/// Waits for the message that decides the protocol: a server's answer to `initialize`, or the first request of the
/// modern protocol.
struct Greeting {
    proxy: ServerProxy,
    version: Option<String>,
}

impl Watch for Greeting {
    fn answered(&self, answer: &Body<'_>, _text: &str) -> WatchedReply {
        #[derive(Deserialize)]
        struct Initialized {
            #[serde(rename = "protocolVersion")]
            version: String,
        }
        if let Body::Result { result, .. } = answer {
            let agreed = || {
                Some(
                    serde_json::from_str::<Initialized>(result.get())
                        .ok()?
                        .version,
                )
            };
            let modern = self.version.clone().map(|version| (Era::Modern, version));
            if let Some((era, version)) = modern.or_else(|| Some((Era::Legacy, agreed()?))) {
                self.proxy.log.speaks(&self.proxy.server, era, version);
            }
        }
        WatchedReply::default()
    }
}

/// Waits for a list of tools.
struct List(ServerProxy);

impl Watch for List {
    fn answered(&self, answer: &Body<'_>, text: &str) -> WatchedReply {
        let Body::Result { result, .. } = answer else {
            return WatchedReply::default();
        };
        let ServerProxy {
            server,
            hidden,
            offered,
            distractors,
            ..
        } = &self.0;
        offered.saw(server, result);
        let is_hidden = |tool: &str| hidden.iter().any(|name| is_tool(name, tool, Some(server)));
        let text = changed(text, result, is_hidden, distractors);
        let texts = text.map(|text| vec![text]);
        WatchedReply {
            texts,
            ..WatchedReply::default()
        }
    }
}
