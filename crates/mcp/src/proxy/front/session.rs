//! One connection to a server over lines, shared by the HTTP exchanges of one client.

use crate::client::{BoxedReader, BoxedWriter};
use crate::frame::{DEFAULT_MAX_MESSAGE_BYTES, Frame, Lines};
use crate::jsonrpc::{self, Body, Id};
use crate::wire::CommonParams;
use parking_lot::Mutex;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// The number of messages without a request that wait for a reader.
const UNREAD: usize = 256;
/// The number of messages that wait on a stream with a slow client.
const WAITING: usize = 256;
/// The time that the server waits for a client that does not read before messages besides its answer are
/// dropped.
const PATIENCE: Duration = Duration::from_secs(5);

/// A message of the server.
#[derive(Debug)]
pub(super) enum ServerMessage {
    /// The answer.
    Answer(String),
    Beside(String),
}

/// A connection, and the waiting requests.
pub(super) struct LineSession {
    outgoing: Sender<String>,
    state: Arc<Mutex<SessionState>>,
    _work: JoinSet<()>,
}

#[derive(Default)]
struct SessionState {
    waiting: BTreeMap<Id, WaitingRequest>,
    /// In the order of sending.
    order: Vec<Id>,
    standing: Option<Stream>,
    unread: VecDeque<String>,
    is_over: bool,
    replaced: i64,
}

struct WaitingRequest {
    /// The id that the client knows it by.
    id: Id,
    progress: Option<Id>,
    heard: Stream,
}

/// The messages for one client.
#[derive(Clone)]
struct Stream {
    sender: Sender<ServerMessage>,
    /// True if the client does not read: messages besides the answer are dropped until it reads
    /// again.
    is_stalled: Arc<AtomicBool>,
}

impl Stream {
    fn new(sender: Sender<ServerMessage>) -> Self {
        Self {
            sender,
            is_stalled: Arc::default(),
        }
    }
}

/// A message of the server with the stream that it is for.
struct Delivery {
    to: Stream,
    message: ServerMessage,
}

/// A request in progress. Dropping it before its answer cancels it, if its client wants that.
pub(super) struct Asking {
    pub(super) heard: Receiver<ServerMessage>,
    id: Id,
    state: Arc<Mutex<SessionState>>,
    cancel: Option<Sender<String>>,
}

impl LineSession {
    pub(super) fn new(ends: (BoxedReader, BoxedWriter)) -> Self {
        Self::with_patience(ends, PATIENCE)
    }

    fn with_patience((reader, writer): (BoxedReader, BoxedWriter), patience: Duration) -> Self {
        let (outgoing, lines) = channel(WAITING);
        let state = Arc::<Mutex<SessionState>>::default();
        let mut work = JoinSet::new();
        work.spawn(write(writer, lines));
        work.spawn(read(reader, Arc::clone(&state), patience));
        Self {
            outgoing,
            state,
            _work: work,
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.state.lock().is_over
    }

    /// Sends a message that needs no answer, on one line. Waits for a server that does not read.
    pub(super) async fn send(&self, text: &str) {
        let line = jsonrpc::one_line(text.trim_ascii()).into_owned();
        let _gone = self.outgoing.send(line).await;
    }

    /// Sends a request. If clients do not know of each other, a duplicate id is replaced, and a
    /// client that leaves cancels its request.
    pub(super) async fn ask(
        &self,
        id: &Id,
        text: &str,
        params: Option<&RawValue>,
        is_shared: bool,
    ) -> Asking {
        let (sender, heard) = channel(WAITING);
        let waiting = WaitingRequest {
            id: id.clone(),
            progress: CommonParams::read(params).wants_progress().and_then(Id::of),
            heard: Stream::new(sender),
        };
        let sent_as = self.state.lock().open(waiting, is_shared);
        let asking = Asking {
            heard,
            id: sent_as.clone(),
            state: Arc::clone(&self.state),
            cancel: is_shared.then(|| self.outgoing.clone()),
        };
        self.send(&if sent_as == *id {
            text.to_owned()
        } else {
            jsonrpc::with_id(text, |_| jsonrpc::id_text(&sent_as))
        })
        .await;
        asking
    }

    /// The messages that belong to no request, from now on.
    pub(super) fn stand(&self) -> Receiver<ServerMessage> {
        let (sender, heard) = channel(WAITING.max(UNREAD));
        let mut state = self.state.lock();
        for text in state.unread.drain(..) {
            let _fits = sender.try_send(ServerMessage::Beside(text));
        }
        state.standing = (!state.is_over).then(|| Stream::new(sender));
        heard
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        let was_waiting = self.state.lock().take(&self.id).is_some();
        if let Some(cancel) = self.cancel.take().filter(|_| was_waiting) {
            let id = jsonrpc::id_text(&self.id);
            let params = format!(r#"{{"requestId":{id},"reason":"the connection was closed"}}"#);
            let _gone = cancel.try_send(jsonrpc::notification(
                "notifications/cancelled",
                Some(&params),
            ));
        }
    }
}

impl SessionState {
    /// Opens a request, and returns the id to send.
    fn open(&mut self, waiting: WaitingRequest, is_shared: bool) -> Id {
        let mut sent_as = waiting.id.clone();
        if is_shared {
            while self.waiting.contains_key(&sent_as) {
                self.replaced += 1;
                sent_as = Id::Text(format!("mcptest-{}", self.replaced));
            }
        }
        if !self.is_over {
            self.waiting.insert(sent_as.clone(), waiting);
            self.order.push(sent_as.clone());
        }
        sent_as
    }

    fn take(&mut self, id: &Id) -> Option<WaitingRequest> {
        self.order.retain(|asked| asked != id);
        self.waiting.remove(id)
    }

    /// Assigns a message to its receiver. Keeps a message without one.
    fn hear(&mut self, line: String) -> Option<Delivery> {
        let Ok(message) = jsonrpc::parse(&line) else {
            return None;
        };
        if let Some(id) = message.body.answered_id() {
            let waiting = self.take(id)?;
            let text = if waiting.id == *id {
                line
            } else {
                jsonrpc::with_id(&line, |_| jsonrpc::id_text(&waiting.id))
            };
            return Some(Delivery {
                to: waiting.heard,
                message: ServerMessage::Answer(text),
            });
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
        let reader = reader.or(self.standing.as_ref());
        if let Some(reader) = reader.filter(|reader| !reader.sender.is_closed()) {
            return Some(Delivery {
                to: reader.clone(),
                message: ServerMessage::Beside(line),
            });
        }
        self.keep(line);
        None
    }

    /// Keeps a message without a current reader.
    fn keep(&mut self, line: String) {
        if self.unread.len() < UNREAD {
            self.unread.push_back(line);
        }
    }

    /// The request whose progress is reported, or whose subscription a message belongs to.
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

/// Passes a message on. A client that reads slowly slows the server down. A client that does not
/// read loses messages besides the answer, so that a flood uses no memory. There is one answer per
/// request, which waits separately.
async fn deliver(delivery: Delivery, state: &Mutex<SessionState>, patience: Duration) {
    let Delivery { to, message } = delivery;
    match to.sender.try_send(message) {
        Ok(()) => to.is_stalled.store(false, Ordering::Relaxed),
        Err(TrySendError::Closed(ServerMessage::Beside(line))) => state.lock().keep(line),
        Err(TrySendError::Closed(ServerMessage::Answer(_))) => {}
        Err(TrySendError::Full(message @ ServerMessage::Answer(_))) => {
            tokio::spawn(async move {
                let _gone = to.sender.send(message).await;
            });
        }
        Err(TrySendError::Full(message @ ServerMessage::Beside(_))) => {
            if !to.is_stalled.load(Ordering::Relaxed) {
                let is_late = timeout(patience, to.sender.send(message)).await.is_err();
                to.is_stalled.store(is_late, Ordering::Relaxed);
            }
        }
    }
}

async fn write(mut writer: BoxedWriter, mut lines: Receiver<String>) {
    while let Some(mut line) = lines.recv().await {
        line.push('\n');
        if writer.write_all(line.as_bytes()).await.is_err() || writer.flush().await.is_err() {
            return;
        }
    }
}

async fn read(reader: BoxedReader, state: Arc<Mutex<SessionState>>, patience: Duration) {
    let mut lines = Lines::new(reader, DEFAULT_MAX_MESSAGE_BYTES);
    while let Ok(Some(frame)) = lines.next().await {
        if let Frame::Line(line) | Frame::Cut(line) = frame {
            let delivery = state.lock().hear(line);
            if let Some(delivery) = delivery {
                deliver(delivery, &state, patience).await;
            }
        }
    }
    let mut state = state.lock();
    state.is_over = true;
    state.waiting.clear();
    state.standing = None;
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use tokio::io::{AsyncBufReadExt, BufReader, duplex, split};

    const NOTE: &[u8] =
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"data\":\"x\"}}\n";
    const FLOOD: usize = 20_000;

    /// A session whose server answers each request after a flood of notifications.
    fn flooded() -> LineSession {
        let (near, far) = duplex(1 << 14);
        tokio::spawn(async move {
            let (reader, mut writer) = split(far);
            let mut lines = BufReader::new(reader).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                for _ in 0..FLOOD {
                    writer.write_all(NOTE).await.unwrap();
                }
                let message: serde_json::Value = serde_json::from_str(&line).unwrap();
                let answer = jsonrpc::result(&Id::Number(message["id"].as_i64().unwrap()), "{}");
                writer
                    .write_all(format!("{answer}\n").as_bytes())
                    .await
                    .unwrap();
            }
        });
        let (reader, writer) = split(near);
        let ends: (BoxedReader, BoxedWriter) = (Box::new(reader), Box::new(writer));
        LineSession::with_patience(ends, Duration::from_millis(20))
    }

    #[tokio::test]
    async fn a_flood_for_a_client_that_does_not_read_is_dropped_and_the_answer_is_not() {
        let session = flooded();
        let unread = session
            .ask(
                &Id::Number(1),
                r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#,
                None,
                false,
            )
            .await;
        let state = Arc::clone(&session.state);
        while !state.lock().waiting.is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert!(unread.heard.len() <= WAITING, "{}", unread.heard.len());
        let mut asking = unread;
        let mut last = None;
        while let Some(message) = asking.heard.recv().await {
            last = Some(message);
        }
        assert!(matches!(last, Some(ServerMessage::Answer(_))), "{last:?}");
    }

    #[tokio::test]
    async fn a_client_that_reads_gets_every_message_of_a_flood() {
        let session = flooded();
        let mut asking = session
            .ask(
                &Id::Number(1),
                r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#,
                None,
                false,
            )
            .await;
        let mut beside = 0;
        while let Some(ServerMessage::Beside(_)) = asking.heard.recv().await {
            beside += 1;
        }
        assert_eq!(beside, FLOOD);
    }
}
