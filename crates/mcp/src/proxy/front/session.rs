//! One connection to a server over lines, shared by the HTTP exchanges of one client.

use crate::client::{BoxedReader, BoxedWriter};
use crate::frame::{DEFAULT_MAX_MESSAGE_BYTES, Frame, Lines};
use crate::jsonrpc::{self, Body, Id};
use crate::wire::CommonParams;
use parking_lot::Mutex;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

/// How many messages that belong to no request wait for someone to read them.
const UNREAD: usize = 256;

/// A message of the server.
#[derive(Debug)]
pub(super) enum ServerMessage {
    /// The answer.
    Answer(String),
    /// What comes beside it.
    Beside(String),
}

/// A connection, and who waits for what on it.
pub(super) struct LineSession {
    outgoing: UnboundedSender<String>,
    state: Arc<Mutex<SessionState>>,
    _work: JoinSet<()>,
}

#[derive(Default)]
struct SessionState {
    waiting: BTreeMap<Id, WaitingRequest>,
    /// In the order in which they were asked.
    order: Vec<Id>,
    standing: Option<UnboundedSender<ServerMessage>>,
    unread: VecDeque<String>,
    is_over: bool,
    replaced: i64,
}

struct WaitingRequest {
    /// The id that the client knows it by.
    id: Id,
    progress: Option<Id>,
    heard: UnboundedSender<ServerMessage>,
}

/// A request under way; it is taken back when this is dropped before its answer, if its client wants it so.
pub(super) struct Asking {
    pub(super) heard: UnboundedReceiver<ServerMessage>,
    id: Id,
    state: Arc<Mutex<SessionState>>,
    cancel: Option<UnboundedSender<String>>,
}

impl LineSession {
    pub(super) fn new((reader, writer): (BoxedReader, BoxedWriter)) -> Self {
        let (outgoing, lines) = unbounded_channel();
        let state = Arc::<Mutex<SessionState>>::default();
        let mut work = JoinSet::new();
        work.spawn(write(writer, lines));
        work.spawn(read(reader, Arc::clone(&state)));
        Self {
            outgoing,
            state,
            _work: work,
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.state.lock().is_over
    }

    /// Sends a message that needs no answer. It may be written over several lines in a body, but not on a pipe.
    pub(super) fn send(&self, text: &str) {
        let _gone = self
            .outgoing
            .send(jsonrpc::one_line(text.trim_ascii()).into_owned());
    }

    /// Sends a request. Where clients do not know of one another, an id that is taken is replaced, and one who goes
    /// takes the request back.
    pub(super) fn ask(
        &self,
        id: &Id,
        text: &str,
        params: Option<&RawValue>,
        is_shared: bool,
    ) -> Asking {
        let (sender, heard) = unbounded_channel();
        let mut state = self.state.lock();
        let mut sent_as = id.clone();
        if is_shared {
            while state.waiting.contains_key(&sent_as) {
                state.replaced += 1;
                sent_as = Id::Text(format!("mcptest-{}", state.replaced));
            }
        }
        let waiting = WaitingRequest {
            id: id.clone(),
            progress: CommonParams::read(params).wants_progress().and_then(Id::of),
            heard: sender,
        };
        if !state.is_over {
            state.waiting.insert(sent_as.clone(), waiting);
            state.order.push(sent_as.clone());
        }
        drop(state);
        self.send(&if sent_as == *id {
            text.to_owned()
        } else {
            jsonrpc::with_id(text, |_| jsonrpc::id_text(&sent_as))
        });
        let cancel = is_shared.then(|| self.outgoing.clone());
        Asking {
            heard,
            id: sent_as,
            state: Arc::clone(&self.state),
            cancel,
        }
    }

    /// The messages that belong to no request, from now on.
    pub(super) fn stand(&self) -> UnboundedReceiver<ServerMessage> {
        let (sender, heard) = unbounded_channel();
        let mut state = self.state.lock();
        for text in state.unread.drain(..) {
            let _fits = sender.send(ServerMessage::Beside(text));
        }
        state.standing = (!state.is_over).then_some(sender);
        heard
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        let was_waiting = self.state.lock().take(&self.id).is_some();
        if let Some(cancel) = self.cancel.take().filter(|_| was_waiting) {
            let id = jsonrpc::id_text(&self.id);
            let params = format!(r#"{{"requestId":{id},"reason":"the connection was closed"}}"#);
            let _gone = cancel.send(jsonrpc::notification(
                "notifications/cancelled",
                Some(&params),
            ));
        }
    }
}

impl SessionState {
    fn take(&mut self, id: &Id) -> Option<WaitingRequest> {
        self.order.retain(|asked| asked != id);
        self.waiting.remove(id)
    }

    fn hear(&mut self, line: String) {
        let Ok(message) = jsonrpc::parse(&line) else {
            return;
        };
        if let Some(id) = message.body.answered_id() {
            let Some(waiting) = self.take(id) else { return };
            let text = if waiting.id == *id {
                line
            } else {
                jsonrpc::with_id(&line, |_| jsonrpc::id_text(&waiting.id))
            };
            let _gone = waiting.heard.send(ServerMessage::Answer(text));
            return;
        }
        let owner = match &message.body {
            Body::Notification {
                params: Some(params),
                ..
            } => self.owner(params),
            _ => None,
        };
        // Clients take messages from any of their streams, but not all of them open the standing one.
        let latest = owner.or_else(|| self.order.last().cloned());
        let reader = latest
            .and_then(|id| self.waiting.get(&id))
            .map(|waiting| &waiting.heard);
        let unsent = match reader.or(self.standing.as_ref()) {
            Some(reader) => match reader.send(ServerMessage::Beside(line)) {
                Ok(()) => return,
                Err(error) => error.0,
            },
            None => ServerMessage::Beside(line),
        };
        if let (ServerMessage::Beside(line), true) = (unsent, self.unread.len() < UNREAD) {
            self.unread.push_back(line);
        }
    }

    /// The request whose progress is told, or to whose subscription a message belongs.
    fn owner(&self, params: &RawValue) -> Option<Id> {
        let params = CommonParams::read(Some(params));
        if let Some(token) = params.progress_of() {
            let found = self
                .waiting
                .iter()
                .find(|(_, waiting)| waiting.progress.as_ref() == Some(&token));
            return found.map(|(id, _)| id.clone());
        }
        params
            .subscription()
            .filter(|id| self.waiting.contains_key(id))
    }
}

async fn write(mut writer: BoxedWriter, mut lines: UnboundedReceiver<String>) {
    while let Some(mut line) = lines.recv().await {
        line.push('\n');
        if writer.write_all(line.as_bytes()).await.is_err() || writer.flush().await.is_err() {
            return;
        }
    }
}

async fn read(reader: BoxedReader, state: Arc<Mutex<SessionState>>) {
    let mut lines = Lines::new(reader, DEFAULT_MAX_MESSAGE_BYTES);
    while let Ok(Some(frame)) = lines.next().await {
        if let Frame::Line(line) | Frame::Cut(line) = frame {
            state.lock().hear(line);
        }
    }
    let mut state = state.lock();
    state.is_over = true;
    state.waiting.clear();
    state.standing = None;
}
