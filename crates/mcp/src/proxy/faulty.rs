//! Between a client and a stdio server when faults are asked for: whole messages, some of which go wrong on purpose.

use super::lines::Seen;
use super::record::Recorder;
use crate::fault::{Action, Injector, Reply, Request, flood, refusal};
use crate::frame::DEFAULT_MAX_MESSAGE_BYTES;
use crate::jsonrpc::{self, Body, Id};
use crate::tape::{Direction, Event};
use bytes::{Bytes, BytesMut};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, sleep, sleep_until};

/// Shared by both directions.
pub(super) struct Faults<O, E> {
    injector: Arc<Injector>,
    recorder: Recorder<Seen>,
    output: tokio::sync::Mutex<O>,
    errors: Arc<tokio::sync::Mutex<E>>,
    open: Mutex<BTreeMap<Id, Open>>,
}

/// A request whose answer goes wrong.
#[derive(Debug, Clone)]
struct Open {
    action: Action,
    asked: Instant,
    cancelled: Option<Instant>,
}

/// What becomes of something the client sent.
enum Verdict {
    Pass,
    Swallow,
    Answer(String),
    Disconnect,
}

/// Why the client's stream ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    ByClient,
    ByFault,
}

impl<O, E> Faults<O, E>
where
    O: AsyncWrite + Unpin + Send + 'static,
    E: AsyncWrite + Unpin + Send + 'static,
{
    pub(super) fn new(
        injector: Arc<Injector>,
        recorder: Recorder<Seen>,
        output: O,
        errors: Arc<tokio::sync::Mutex<E>>,
    ) -> Arc<Self> {
        let output = tokio::sync::Mutex::new(output);
        Arc::new(Self { injector, recorder, output, errors, open: Mutex::default() })
    }

    pub(super) async fn to_server(
        self: Arc<Self>,
        input: impl AsyncRead + Unpin,
        mut server: impl AsyncWrite + Unpin,
    ) -> Ended {
        let mut lines = Pieces::new(input);
        while let Some(line) = lines.next().await {
            self.recorder.see(line.len(), Seen::Bytes(Direction::Client, line.clone()));
            match self.judge(&line) {
                Verdict::Pass => {
                    let _closed = server.write_all(&line).await.is_ok() && server.flush().await.is_ok();
                }
                Verdict::Swallow => {}
                Verdict::Answer(text) => {
                    self.send(text).await;
                }
                Verdict::Disconnect => return Ended::ByFault,
            }
            self.recorder.room().await;
        }
        self.recorder.see(0, Seen::Closed(Direction::Client));
        Ended::ByClient
    }

    /// Passes on until the server closes its output (true) or the client is gone (false).
    pub(super) async fn to_client(
        self: Arc<Self>,
        server: impl AsyncRead + Unpin,
        heard: tokio::sync::watch::Sender<Instant>,
    ) -> bool {
        let mut lines = Pieces::new(server);
        let mut held_back = tokio::task::JoinSet::new();
        while let Some(line) = lines.next().await {
            heard.send_replace(Instant::now());
            match self.take_open(&line) {
                Some((id, open)) => {
                    let this = Arc::clone(&self);
                    held_back.spawn(async move { this.answer_wrongly(id, open, line).await });
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
        self.recorder.see(0, Seen::Closed(Direction::Server));
        let _gone = self.output.lock().await.shutdown().await;
        true
    }

    fn judge(&self, line: &[u8]) -> Verdict {
        let Some(message) = std::str::from_utf8(line).ok().and_then(|text| jsonrpc::parse(text).ok()) else {
            return if self.injector.is_wedged() { Verdict::Swallow } else { Verdict::Pass };
        };
        let Body::Request { id, method, params } = message.body else {
            let is_kept_from_server = self.injector.is_wedged() || self.is_ignored_cancel(&message.body);
            return if is_kept_from_server { Verdict::Swallow } else { Verdict::Pass };
        };
        let tool = params.and_then(tool_of);
        let action = self.injector.on_request(&method, tool.as_deref(), std::time::Instant::now());
        for fault in &action.faults {
            let event = Event::Fault { fault: fault.to_string() };
            self.recorder.see(0, Seen::Event(event));
        }
        match action.request {
            Request::Serve => {
                if !action.is_healthy() {
                    let open = Open { action, asked: Instant::now(), cancelled: None };
                    self.open().insert(id, open);
                }
                Verdict::Pass
            }
            Request::Ignore | Request::Wedge => Verdict::Swallow,
            Request::Disconnect => Verdict::Disconnect,
            refused => match refusal(refused) {
                Some(error) => Verdict::Answer(jsonrpc::error(Some(&id), &error)),
                None => Verdict::Pass,
            },
        }
    }

    /// A cancel that the server must not see, since the answer is to come in spite of it.
    fn is_ignored_cancel(&self, body: &Body<'_>) -> bool {
        let Body::Notification { method, params: Some(params) } = body else { return false };
        let Some(id) = (method == "notifications/cancelled").then(|| cancelled_id(params)).flatten() else {
            return false;
        };
        let mut open = self.open();
        let despite = open.get_mut(&id).filter(|open| open.action.despite_cancel.is_some());
        despite.map(|open| open.cancelled = Some(Instant::now())).is_some()
    }

    fn take_open(&self, line: &[u8]) -> Option<(Id, Open)> {
        let message = jsonrpc::parse(std::str::from_utf8(line).ok()?).ok()?;
        let (Body::Result { id, .. } | Body::Error { id: Some(id), .. }) = message.body else { return None };
        let mut open = self.open();
        let found = open.get(&id)?.clone();
        if found.action.despite_cancel.is_none() {
            open.remove(&id);
        }
        Some((id, found))
    }

    async fn answer_wrongly(&self, id: Id, open: Open, line: Bytes) {
        if let Some(delay) = open.action.despite_cancel {
            sleep_until(open.asked + delay).await;
            let cancelled = self.open().remove(&id).and_then(|open| open.cancelled);
            if let Some(cancelled) = cancelled {
                sleep_until(cancelled + delay).await;
            }
        }
        if let Some(delay) = open.action.delay {
            sleep(delay).await;
        }
        if open.action.floods_stderr {
            self.flood().await;
        }
        if open.action.reply == Reply::Whole {
            self.pass_back(line).await;
            return;
        }
        let text = String::from_utf8_lossy(&line).trim_end().to_owned();
        for text in open.action.reply.texts(text) {
            self.send(text).await;
        }
    }

    async fn flood(&self) {
        let mut errors = self.errors.lock().await;
        let text: String = flood().collect();
        self.recorder.see(text.len(), Seen::Stderr(Bytes::from(text.clone())));
        let _gone = errors.write_all(text.as_bytes()).await.is_ok() && errors.flush().await.is_ok();
    }

    async fn send(&self, mut text: String) -> bool {
        text.push('\n');
        self.pass_back(Bytes::from(text)).await
    }

    async fn pass_back(&self, line: Bytes) -> bool {
        let mut output = self.output.lock().await;
        self.recorder.see(line.len(), Seen::Bytes(Direction::Server, line.clone()));
        output.write_all(&line).await.is_ok() && output.flush().await.is_ok()
    }

    fn open(&self) -> std::sync::MutexGuard<'_, BTreeMap<Id, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The tool that a call names.
pub(super) fn tool_of(params: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        name: String,
    }
    serde_json::from_str::<Named>(params.get()).ok().map(|named| named.name)
}

fn cancelled_id(params: &RawValue) -> Option<Id> {
    #[derive(Deserialize)]
    struct Cancelled<'a> {
        #[serde(borrow, rename = "requestId")]
        id: &'a RawValue,
    }
    Id::of(serde_json::from_str::<Cancelled<'_>>(params.get()).ok()?.id)
}

/// A stream cut after each line end; what is longer than any message comes in pieces.
struct Pieces<R> {
    reader: R,
    buffer: BytesMut,
    scanned: usize,
}

impl<R: AsyncRead + Unpin> Pieces<R> {
    fn new(reader: R) -> Self {
        Self { reader, buffer: BytesMut::new(), scanned: 0 }
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
