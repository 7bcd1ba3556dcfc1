//! An observed client and server on stdio: whole messages, some of which are changed.

use super::interpose::{ClientRequest, Instead, Interposer, RequestFate, Watch, WatchedReply};
use super::lines::LineSeen;
use super::record::Recorder;
use crate::fault::flood;
use crate::frame::DEFAULT_MAX_MESSAGE_BYTES;
use crate::jsonrpc::{self, Body, Id};
use crate::tape::{Direction, Event};
use bytes::{Bytes, BytesMut};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

/// Shared by both directions.
pub(super) struct Interposed<O, E> {
    interposer: Arc<dyn Interposer>,
    recorder: Recorder<LineSeen>,
    output: tokio::sync::Mutex<O>,
    errors: Arc<tokio::sync::Mutex<E>>,
    open: Mutex<BTreeMap<Id, WatchedRequest>>,
}

/// A request whose answer an observer awaits.
#[derive(Clone)]
struct WatchedRequest {
    watch: Arc<dyn Watch>,
    asked: Instant,
    is_cancelled: bool,
    /// The server never received it.
    is_kept_back: bool,
}

/// A watched request, and the observer's reply to its answer.
struct AnsweredRequest {
    id: Id,
    request: WatchedRequest,
    reply: WatchedReply,
}

/// Why the client's stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    ByClient,
    ByFault,
}

impl<O, E> Interposed<O, E>
where
    O: AsyncWrite + Unpin + Send + 'static,
    E: AsyncWrite + Unpin + Send + 'static,
{
    pub(super) fn new(
        interposer: Arc<dyn Interposer>,
        recorder: Recorder<LineSeen>,
        output: O,
        errors: Arc<tokio::sync::Mutex<E>>,
    ) -> Arc<Self> {
        let output = tokio::sync::Mutex::new(output);
        Arc::new(Self {
            interposer,
            recorder,
            output,
            errors,
            open: Mutex::default(),
        })
    }

    pub(super) async fn to_server(
        self: Arc<Self>,
        input: impl AsyncRead + Unpin,
        mut server: impl AsyncWrite + Unpin,
    ) -> Ended {
        let mut lines = Pieces::new(input);
        let mut held_back = JoinSet::new();
        while let Some(line) = lines.next().await {
            self.recorder.see(
                line.len(),
                LineSeen::Bytes {
                    from: Direction::Client,
                    bytes: line.clone(),
                },
            );
            match self.judge(&line) {
                RequestFate::Pass | RequestFate::Watch(_) => {
                    let _closed =
                        server.write_all(&line).await.is_ok() && server.flush().await.is_ok();
                }
                RequestFate::Swallow(_) => {}
                RequestFate::Answer(Instead { text, hold, .. }) if hold.is_zero() => {
                    self.send(text).await;
                }
                RequestFate::Answer(Instead { text, hold, .. }) => {
                    let this = Arc::clone(&self);
                    held_back.spawn(async move {
                        sleep(hold).await;
                        this.send(text).await;
                    });
                }
                RequestFate::Disconnect => return Ended::ByFault,
            }
            self.recorder.room().await;
        }
        held_back.join_all().await;
        // Half of a pipe that is dropped does not close it.
        let _closed = server.shutdown().await;
        self.recorder.see(0, LineSeen::Closed(Direction::Client));
        Ended::ByClient
    }

    /// Passes messages on until the server closes its output (true) or the client is gone (false).
    pub(super) async fn to_client(
        self: Arc<Self>,
        server: impl AsyncRead + Unpin,
        heard: tokio::sync::watch::Sender<Instant>,
    ) -> bool {
        let mut lines = Pieces::new(server);
        let mut held_back = JoinSet::new();
        while let Some(line) = lines.next().await {
            heard.send_replace(Instant::now());
            match self.answer_of(&line) {
                Some(answered) => {
                    let this = Arc::clone(&self);
                    held_back.spawn(async move { this.answer(answered, line).await });
                }
                None => {
                    if !self.pass_back(line).await {
                        return false;
                    }
                }
            }
            self.recorder.room().await;
        }
        held_back.join_all().await;
        self.recorder.see(0, LineSeen::Closed(Direction::Server));
        let _gone = self.output.lock().await.shutdown().await;
        true
    }

    /// Reports to all waiting observers why the server is gone. Returns true if any waited.
    pub(super) fn give_up(&self, why: &str) -> bool {
        let open = std::mem::take(&mut *self.open.lock());
        for open in open.values() {
            open.watch.unanswered(why);
        }
        open.values().any(|open| !open.is_cancelled)
    }

    /// Records that the client is gone, so it no longer waits for answers.
    pub(super) fn client_gone(&self) {
        let open = std::mem::take(&mut *self.open.lock());
        for open in open.values() {
            open.watch.cancelled();
        }
    }

    fn judge(&self, line: &[u8]) -> RequestFate {
        let Some(message) = std::str::from_utf8(line)
            .ok()
            .and_then(|text| jsonrpc::parse(text).ok())
        else {
            return if self.interposer.lets_pass() {
                RequestFate::Pass
            } else {
                RequestFate::Swallow(None)
            };
        };
        let Body::Request { id, method, params } = message.body else {
            let is_kept_from_server =
                !self.interposer.lets_pass() || self.is_ignored_cancel(&message.body);
            return if is_kept_from_server {
                RequestFate::Swallow(None)
            } else {
                RequestFate::Pass
            };
        };
        let taken = self.interposer.asked(ClientRequest {
            id: &id,
            method: &method,
            params,
        });
        for fault in taken.faults {
            self.recorder
                .see(0, LineSeen::Event(Event::Fault { fault }));
        }
        match &taken.onward {
            RequestFate::Watch(watch) => self.await_answer(id, Arc::clone(watch), false),
            RequestFate::Swallow(Some(watch)) => self.await_answer(id, Arc::clone(watch), true),
            _ => {}
        }
        taken.onward
    }

    fn await_answer(&self, id: Id, watch: Arc<dyn Watch>, is_kept_back: bool) {
        let open = WatchedRequest {
            watch,
            asked: Instant::now(),
            is_cancelled: false,
            is_kept_back,
        };
        self.open.lock().insert(id, open);
    }

    /// Returns true for a cancellation that the server must not see, because the answer must arrive
    /// anyway.
    fn is_ignored_cancel(&self, body: &Body<'_>) -> bool {
        let Some(id) = body.cancelled_id() else {
            return false;
        };
        let mut open = self.open.lock();
        let Some(open) = open.get_mut(&id) else {
            return false;
        };
        open.is_cancelled = true;
        let (watch, is_kept_back) = (Arc::clone(&open.watch), open.is_kept_back);
        watch.cancelled();
        is_kept_back || watch.ignores_cancel()
    }

    /// The watched request that a line answers.
    fn answer_of(&self, line: &[u8]) -> Option<AnsweredRequest> {
        if line.trim_ascii().is_empty() {
            return None;
        }
        let text = std::str::from_utf8(line)
            .inspect_err(|_| {
                self.interposer
                    .misbehaved("wrote a line that is not UTF-8".to_owned());
            })
            .ok()?;
        let message = jsonrpc::parse(text)
            .inspect_err(|malformed| {
                let excerpt = jsonrpc::excerpt(text.trim_ascii());
                self.interposer.misbehaved(format!(
                    "wrote a line that is not a message: {malformed}: {excerpt}"
                ));
            })
            .ok()?;
        let id = message.body.answered_id()?;
        let request = self.open.lock().remove(id)?;
        let reply = request.watch.answered(&message.body, text);
        if request.watch.ignores_cancel() || reply.is_withheld() || !reply.hold.is_zero() {
            // The client still waits, and may give up; the server is done with it.
            self.open.lock().insert(
                id.clone(),
                WatchedRequest {
                    is_kept_back: true,
                    ..request.clone()
                },
            );
        }
        Some(AnsweredRequest {
            id: id.clone(),
            request,
            reply,
        })
    }

    async fn answer(&self, answered: AnsweredRequest, line: Bytes) {
        let AnsweredRequest { id, request, reply } = answered;
        if reply.is_withheld() {
            return;
        }
        reply.wait(request.asked.into()).await;
        if reply.floods_stderr {
            self.flood().await;
        }
        let is_cancelled = self
            .open
            .lock()
            .remove(&id)
            .is_some_and(|open| open.is_cancelled);
        if is_cancelled && !request.watch.ignores_cancel() {
            return;
        }
        match reply.texts {
            None => {
                self.pass_back(line).await;
            }
            Some(texts) => {
                for text in texts {
                    self.send(text).await;
                }
            }
        }
        request.watch.delivered();
    }

    async fn flood(&self) {
        let mut errors = self.errors.lock().await;
        let text: String = flood().collect();
        self.recorder
            .see(text.len(), LineSeen::Stderr(Bytes::from(text.clone())));
        let _gone = errors.write_all(text.as_bytes()).await.is_ok() && errors.flush().await.is_ok();
    }

    async fn send(&self, mut text: String) -> bool {
        text.push('\n');
        self.pass_back(Bytes::from(text)).await
    }

    async fn pass_back(&self, line: Bytes) -> bool {
        let mut output = self.output.lock().await;
        self.recorder.see(
            line.len(),
            LineSeen::Bytes {
                from: Direction::Server,
                bytes: line.clone(),
            },
        );
        output.write_all(&line).await.is_ok() && output.flush().await.is_ok()
    }
}

/// A stream split after each line end. A line longer than any message is split further.
struct Pieces<R> {
    reader: R,
    buffer: BytesMut,
    scanned: usize,
}

impl<R: AsyncRead + Unpin> Pieces<R> {
    fn new(reader: R) -> Self {
        Self {
            reader,
            buffer: BytesMut::new(),
            scanned: 0,
        }
    }

    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(end) = memchr::memchr(b'\n', &self.buffer[self.scanned..]) {
                let line = self.buffer.split_to(self.scanned + end + 1).freeze();
                self.scanned = 0;
                return Some(line);
            }
            self.scanned = self.buffer.len();
            if self.scanned > DEFAULT_MAX_MESSAGE_BYTES {
                return self.rest();
            }
            self.buffer.reserve(64 << 10);
            match self.reader.read_buf(&mut self.buffer).await {
                Ok(0) | Err(_) => return self.rest(),
                Ok(_) => {}
            }
        }
    }

    fn rest(&mut self) -> Option<Bytes> {
        self.scanned = 0;
        let rest = self.buffer.split().freeze();
        (!rest.is_empty()).then_some(rest)
    }
}
