//! Who looks at the requests that cross, and may answer in the server's place?

use crate::fault::{self, Action, Injector, refusal};
use crate::jsonrpc::{self, Body, Id};
use crate::wire::CallParams;
use serde_json::value::RawValue;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::{sleep, sleep_until};

/// A request of the client.
#[derive(Debug, Clone, Copy)]
pub struct ClientRequest<'a> {
    /// Ties the answer to it.
    pub id: &'a Id,
    /// The method.
    pub method: &'a str,
    /// Its parameters.
    pub params: Option<&'a RawValue>,
}

/// Observes the traffic between a client and a server, and decides about every request.
pub trait Interposer: Send + Sync + 'static {
    /// The decision about a request.
    fn asked(&self, request: ClientRequest<'_>) -> Taken;

    /// Returns true if any message still reaches the server.
    fn lets_pass(&self) -> bool {
        true
    }

    /// The server violated the protocol; the sentence omits its name.
    fn misbehaved(&self, _what: String) {}
}

/// The decision about a request, and its note on a tape.
#[derive(Default)]
pub struct Taken {
    /// The decision.
    pub onward: RequestFate,
    /// The faults that applied, in their written form.
    pub faults: Vec<String>,
}

impl From<RequestFate> for Taken {
    fn from(onward: RequestFate) -> Self {
        Self {
            onward,
            faults: Vec::new(),
        }
    }
}

/// The decision about a request.
#[derive(Default)]
pub enum RequestFate {
    /// It reaches the server, and its answer returns unchanged.
    #[default]
    Pass,
    /// It reaches the server, and this observer sees its answer first.
    Watch(Arc<dyn Watch>),
    /// It never reaches the server; the client gets this answer.
    Answer(Instead),
    /// It never reaches the server, and no answer is sent.
    Swallow(Option<Arc<dyn Watch>>),
    /// The connection closes instead of an answer.
    Disconnect,
}

/// An answer in the server's place.
#[derive(Debug, Clone, Default)]
pub struct Instead {
    /// The message.
    pub text: String,
    /// The delay.
    pub hold: Duration,
    /// On HTTP: 429 with this many seconds to wait.
    pub retry_after_s: Option<u64>,
}

/// Waits for the end of one request.
pub trait Watch: Send + Sync {
    /// The answer arrived. Returns the client's answer.
    fn answered(&self, answer: &Body<'_>, text: &str) -> WatchedReply;
    /// No answer will arrive; the sentence gives the reason.
    fn unanswered(&self, _why: &str) {}
    /// Called after the client's answer was sent.
    fn delivered(&self) {}
    /// The client stopped waiting.
    fn cancelled(&self) {}
    /// Returns true if the server must not learn of the client's cancellation.
    fn ignores_cancel(&self) -> bool {
        false
    }
}

/// The client's version of an answer.
#[derive(Debug, Clone, Default)]
pub struct WatchedReply {
    /// The replacement. `None` for the unchanged answer.
    pub texts: Option<Vec<String>>,
    /// The delay.
    pub hold: Duration,
    /// The delay after the request, which applies even if the request is cancelled.
    pub despite_cancel: Option<Duration>,
    /// True if standard error is flooded before it.
    pub floods_stderr: bool,
}

impl WatchedReply {
    /// Waits for its delay after a request at this time.
    pub(crate) async fn wait(&self, asked: Instant) {
        if let Some(delay) = self.despite_cancel {
            sleep_until((asked + delay).into()).await;
        }
        if !self.hold.is_zero() {
            sleep(self.hold).await;
        }
    }

    /// Returns true if the client gets no answer.
    pub(crate) fn is_withheld(&self) -> bool {
        self.texts.as_ref().is_some_and(Vec::is_empty)
    }
}

/// Faults of the wire on every call, as in the proxy and the mock.
impl Interposer for Injector {
    fn asked(&self, request: ClientRequest<'_>) -> Taken {
        let call = request.params.and_then(CallParams::read);
        let tool = call.as_ref().map(|call| &*call.name);
        let action = self.on_request(request.method, tool, Instant::now());
        let faults = action.faults.iter().map(ToString::to_string).collect();
        let onward = match action.request {
            fault::RequestFault::Serve if action.is_healthy() => RequestFate::Pass,
            fault::RequestFault::Serve => RequestFate::Watch(Arc::new(action)),
            fault::RequestFault::Ignore | fault::RequestFault::Wedge => RequestFate::Swallow(None),
            fault::RequestFault::Disconnect => RequestFate::Disconnect,
            refused => match refusal(refused) {
                Some(error) => RequestFate::Answer(Instead {
                    text: jsonrpc::error(Some(request.id), &error),
                    hold: Duration::ZERO,
                    retry_after_s: match refused {
                        fault::RequestFault::Limit { retry_after_s } => Some(retry_after_s),
                        _ => None,
                    },
                }),
                None => RequestFate::Pass,
            },
        };
        Taken { onward, faults }
    }

    fn lets_pass(&self) -> bool {
        !self.is_wedged()
    }
}

impl Watch for Action {
    fn answered(&self, _answer: &Body<'_>, text: &str) -> WatchedReply {
        WatchedReply {
            texts: (self.reply != fault::ReplyFault::Whole)
                .then(|| self.reply.texts(text.trim_ascii_end().to_owned())),
            hold: self.delay.unwrap_or_default(),
            despite_cancel: self.despite_cancel,
            floods_stderr: self.floods_stderr,
        }
    }

    fn ignores_cancel(&self) -> bool {
        self.despite_cancel.is_some()
    }
}
