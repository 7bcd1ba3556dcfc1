//! Which requests are open, and which of them does an incoming message belong to?

use super::misbehaviour::{Misbehaviour, Moment};
use super::params::own_capabilities;
use super::responses::declined;
use super::{Note, Observed, Responses, ServerSpec};
use crate::jsonrpc::{self, Body, Id, Malformed, RpcError};
use crate::tape::Direction;
use crate::wire::CommonParams;
use parking_lot::Mutex;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use tokio::sync::oneshot;

/// Observes every message on the wire, in both directions.
pub type Tap = Arc<dyn Fn(Direction, &str) + Send + Sync>;

const KEPT: usize = 1000;
const KEPT_NOTES: usize = 1000;
/// The maximum number of bytes of notifications to keep for one request.
const KEPT_NOTE_BYTES: usize = 4 << 20;
const QUOTED: usize = 200;

/// One connection's messages, independent of the transport.
pub(super) struct Conversation {
    pub(super) server: String,
    pub(super) limit: usize,
    pub(super) capabilities: Value,
    tap: Option<Tap>,
    responses: Responses,
    state: Mutex<ConversationState>,
}

#[derive(Default)]
struct ConversationState {
    last_id: i64,
    waiting: HashMap<i64, PendingRequest>,
    /// The request, if a late answer is worth reporting.
    given_up: BTreeMap<i64, Option<String>>,
    end: Option<End>,
    is_ready: bool,
    observed: Vec<Observed>,
    unkept: usize,
}

struct PendingRequest {
    asked: String,
    since: usize,
    notes: Vec<Note>,
    note_bytes: usize,
    reply: oneshot::Sender<RequestOutcome>,
}

/// Why no more messages will arrive.
#[derive(Debug, Clone)]
pub(super) enum End {
    Exited(Option<String>),
    ClosedOutput,
}

/// The result of a request.
#[derive(Debug)]
pub(super) struct RequestOutcome {
    pub(super) reply: Result<Box<RawValue>, Unanswered>,
    pub(super) notes: Vec<Note>,
    pub(super) instead: Vec<String>,
}

impl RequestOutcome {
    /// Nothing arrived at all.
    pub(super) fn bad(why: Misbehaviour) -> Self {
        Self {
            reply: Err(Unanswered::Bad(why)),
            notes: Vec::new(),
            instead: Vec::new(),
        }
    }
}

/// Why a request has no result.
#[derive(Debug)]
pub(super) enum Unanswered {
    Rpc(RpcError),
    Bad(Misbehaviour),
}

/// An opened request, with the channel for its answer.
pub(super) struct Opened {
    pub(super) id: i64,
    pub(super) reply: oneshot::Receiver<RequestOutcome>,
}

/// The meaning of a message.
#[derive(Debug)]
pub(super) enum Received {
    /// An answer that was waited for, or a notification.
    Expected,
    /// A request of the server's, with the message that answers it.
    Asked(String),
    /// An answer without a waiting request.
    Stray(String),
    /// Not a message.
    Bad(Malformed),
}

impl Conversation {
    pub(super) fn new(spec: &ServerSpec, tap: Option<Tap>) -> Arc<Self> {
        Arc::new(Self {
            server: spec.name.clone(),
            limit: spec.max_message_bytes,
            capabilities: spec.capabilities.clone().unwrap_or_else(own_capabilities),
            tap,
            responses: spec.responses.clone(),
            state: Mutex::new(ConversationState::default()),
        })
    }

    /// Opens a request for `asked`, such as `tools/call get_weather`.
    pub(super) fn open(&self, asked: &str) -> Result<Opened, Misbehaviour> {
        let mut state = self.state.lock();
        if let Some(end) = &state.end {
            let moment = if state.is_ready {
                Moment::Before
            } else {
                Moment::Handshake
            };
            return Err(end.misbehaviour(moment));
        }
        state.last_id += 1;
        let id = state.last_id;
        let since = if state.is_ready {
            state.observed.len()
        } else {
            0
        };
        let (sender, reply) = oneshot::channel();
        state.waiting.insert(
            id,
            PendingRequest {
                asked: asked.to_owned(),
                since,
                notes: Vec::new(),
                note_bytes: 0,
                reply: sender,
            },
        );
        Ok(Opened { id, reply })
    }

    /// Marks the handshake as done, which separates later observations from earlier ones.
    pub(super) fn set_ready(&self) {
        self.state.lock().is_ready = true;
    }

    /// Gives up a request, and reports what arrived for it. A later answer is an observation,
    /// except for requests of the handshake, which need not all be answered.
    pub(super) fn give_up(&self, id: i64, why: Misbehaviour) -> Option<RequestOutcome> {
        let mut state = self.state.lock();
        let waiting = state.waiting.remove(&id)?;
        let asked = state.is_ready.then(|| waiting.asked.clone());
        state.given_up.insert(id, asked);
        let instead = state.instead(waiting.since);
        Some(RequestOutcome {
            reply: Err(Unanswered::Bad(why)),
            notes: waiting.notes,
            instead,
        })
    }

    /// Fails a request for a reason other than an incoming message.
    pub(super) fn fail(&self, id: i64, why: Unanswered) {
        self.state.lock().settle(id, Err(why));
    }

    /// True while the request is open.
    pub(super) fn waits_for(&self, id: i64) -> bool {
        self.state.lock().waiting.contains_key(&id)
    }

    /// Ends the conversation: no more messages will arrive.
    pub(super) fn end(&self, end: End) {
        let mut state = self.state.lock();
        let moment = if state.is_ready {
            Moment::Pending
        } else {
            Moment::Handshake
        };
        let mut open: Vec<i64> = state.waiting.keys().copied().collect();
        open.sort_unstable();
        for id in open {
            state.settle(id, Err(Unanswered::Bad(end.misbehaviour(moment))));
        }
        state.end.get_or_insert(end);
    }

    pub(super) fn has_ended(&self) -> bool {
        self.state.lock().end.is_some()
    }

    pub(super) fn observe(&self, observed: Observed) {
        self.state.lock().observe(observed);
    }

    /// Everything observed besides the answers.
    pub(super) fn observed(&self) -> Vec<Observed> {
        let state = self.state.lock();
        let mut observed = state.observed.clone();
        if state.unkept > 0 {
            observed.push(Observed::More(state.unkept));
        }
        observed
    }

    pub(super) fn tap(&self, from: Direction, text: &str) {
        if let Some(tap) = &self.tap {
            tap(from, text);
        }
    }

    /// Handles a message. `within` is the request of its own stream, if it arrived on one.
    pub(super) fn hear(&self, text: &str, within: Option<i64>) -> Received {
        self.tap(Direction::Server, text);
        let message = match jsonrpc::parse(text) {
            Ok(message) => message,
            Err(why) => return self.hear_garbage(text, why),
        };
        match message.body {
            Body::Result { id, result } => self.settle(&id, || Ok(result.to_owned())),
            Body::Error {
                id: Some(id),
                error,
            } => self.settle(&id, || Err(Unanswered::Rpc(error))),
            Body::Error { id: None, error } => self.hear_error_without_id(error, within),
            Body::Notification { method, params } => {
                self.state.lock().note(&method, params, within);
                Received::Expected
            }
            Body::Request { id, method, params } => {
                Received::Asked(self.answer(&id, &method, params))
            }
        }
    }

    fn settle(
        &self,
        id: &Id,
        reply: impl FnOnce() -> Result<Box<RawValue>, Unanswered>,
    ) -> Received {
        let mut state = self.state.lock();
        if let Id::Number(number) = *id {
            if state.waiting.contains_key(&number) {
                state.settle(number, reply());
                return Received::Expected;
            }
            if let Some(asked) = state.given_up.remove(&number) {
                if let Some(method) = asked {
                    state.observe(Observed::LateReply {
                        id: id.to_string(),
                        method,
                    });
                }
                return Received::Expected;
            }
            if (1..=state.last_id).contains(&number) {
                state.observe(Observed::DuplicateReply { id: id.to_string() });
                return Received::Stray(id.to_string());
            }
        }
        state.observe(Observed::UnknownId { id: id.to_string() });
        Received::Stray(id.to_string())
    }

    fn hear_error_without_id(&self, error: RpcError, within: Option<i64>) -> Received {
        let only = |state: &ConversationState| {
            (state.waiting.len() == 1)
                .then(|| state.waiting.keys().next().copied())
                .flatten()
        };
        let id = within.or_else(|| only(&self.state.lock()));
        let misbehaviour = Misbehaviour::ErrorWithoutId {
            error: error.clone(),
        };
        self.spoil(id, misbehaviour, Observed::ErrorWithoutId { error });
        Received::Expected
    }

    fn hear_garbage(&self, text: &str, why: Malformed) -> Received {
        let quoted = quote(text);
        let misbehaviour = Misbehaviour::Malformed {
            why: why.clone(),
            text: quoted.clone(),
        };
        self.spoil(
            id_in(text),
            misbehaviour,
            Observed::Garbage {
                text: quoted,
                why: why.clone(),
            },
        );
        Received::Bad(why)
    }

    /// Handles a line beyond the size limit. Its beginning may name the request that it answers.
    pub(super) fn hear_too_long(&self, bytes: usize, start: String) {
        let limit = self.limit;
        let misbehaviour = Misbehaviour::TooLong {
            bytes: Some(bytes),
            limit,
        };
        self.spoil(
            id_at_start(&start),
            misbehaviour,
            Observed::TooLong {
                bytes,
                limit,
                start,
            },
        );
    }

    /// A line that is not UTF-8, with the bad bytes replaced.
    pub(super) fn hear_not_utf8(&self, text: &str) {
        let quoted = quote(text);
        let misbehaviour = Misbehaviour::NotUtf8 {
            text: quoted.clone(),
        };
        self.spoil(
            id_in(text),
            misbehaviour,
            Observed::NotUtf8 { text: quoted },
        );
    }

    /// Fails the request that an unreadable message answers; without a request, it is an
    /// observation.
    fn spoil(&self, id: Option<i64>, why: Misbehaviour, observed: Observed) {
        let mut state = self.state.lock();
        match id.filter(|id| state.waiting.contains_key(id)) {
            Some(id) => state.settle(id, Err(Unanswered::Bad(why))),
            None => state.observe(observed),
        }
    }

    fn answer(&self, id: &Id, method: &str, params: Option<&RawValue>) -> String {
        let params = params.map(|params| serde_json::from_str(params.get()).unwrap_or_default());
        match self.answer_input(method, &params.unwrap_or_default()) {
            Ok(result) => jsonrpc::result(id, &result.to_string()),
            Err(error) => jsonrpc::error(Some(id), &error),
        }
    }

    /// The answer to a server's question, which is a request or part of an `input_required` result.
    pub(super) fn answer_input(&self, method: &str, params: &Value) -> Result<Value, RpcError> {
        if method == "ping" {
            return declined(method);
        }
        let scripted = self.responses.scripted(method, params);
        let is_scripted = scripted.is_some();
        let outcome = scripted.unwrap_or_else(|| declined(method));
        let answer = match &outcome {
            Ok(result) => result.to_string(),
            Err(error) => format!("with the error {error}"),
        };
        let (method, params) = (method.to_owned(), quote(&params.to_string()));
        self.observe(Observed::ServerRequest {
            method,
            params,
            answer,
            is_scripted,
        });
        outcome
    }
}

impl ConversationState {
    fn settle(&mut self, id: i64, reply: Result<Box<RawValue>, Unanswered>) {
        if let Some(waiting) = self.waiting.remove(&id) {
            let instead = if reply.is_err() {
                self.instead(waiting.since)
            } else {
                Vec::new()
            };
            // Nobody listens when the caller has gone; the answer is then of no use.
            let _ = waiting.reply.send(RequestOutcome {
                reply,
                notes: waiting.notes,
                instead,
            });
        }
    }

    fn observe(&mut self, observed: Observed) {
        if self.observed.len() < KEPT {
            self.observed.push(observed);
        } else {
            self.unkept += 1;
        }
    }

    fn instead(&self, since: usize) -> Vec<String> {
        self.observed[since.min(self.observed.len())..]
            .iter()
            .filter(|observed| observed.is_in_place_of_an_answer())
            .map(ToString::to_string)
            .collect()
    }

    fn note(&mut self, method: &str, params: Option<&RawValue>, within: Option<i64>) {
        let note = Note {
            method: method.to_owned(),
            params: params.map(ToOwned::to_owned),
        };
        let belongs_to = match method {
            "notifications/progress" => match CommonParams::read(params).progress_of() {
                Some(Id::Number(token)) => Some(token),
                _ => None,
            },
            _ => within,
        };
        if let Some(waiting) = belongs_to.and_then(|id| self.waiting.get_mut(&id)) {
            waiting.note(&note);
        } else if method == "notifications/message" && !self.waiting.is_empty() {
            self.waiting
                .values_mut()
                .for_each(|waiting| waiting.note(&note));
        } else {
            let params = quote(params.map_or("", RawValue::get));
            self.observe(Observed::Notification {
                method: method.to_owned(),
                params,
            });
        }
    }
}

impl PendingRequest {
    /// Keeps a notification, unless there are too many.
    fn note(&mut self, note: &Note) {
        let bytes = note.params.as_ref().map_or(0, |params| params.get().len());
        if self.notes.len() < KEPT_NOTES && self.note_bytes + bytes <= KEPT_NOTE_BYTES {
            self.note_bytes += bytes;
            self.notes.push(note.clone());
        }
    }
}

impl End {
    fn misbehaviour(&self, moment: Moment) -> Misbehaviour {
        match self {
            Self::Exited(status) => Misbehaviour::Exited {
                moment,
                status: status.clone(),
            },
            Self::ClosedOutput => Misbehaviour::ClosedOutput { moment },
        }
    }
}

/// The id of a string that is a JSON object but not a message.
fn id_in(text: &str) -> Option<i64> {
    #[derive(serde::Deserialize)]
    struct Outline {
        id: i64,
    }
    serde_json::from_str::<Outline>(text)
        .ok()
        .map(|outline| outline.id)
}

/// The id among the first keys of a string that is cut off.
fn id_at_start(start: &str) -> Option<i64> {
    let rest = start.split_once(r#""id":"#)?.1.trim_start();
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

/// The beginning of a string, for a message.
pub(super) fn quote(text: &str) -> String {
    mcptest_core::words::cut(text.trim(), QUOTED)
}
