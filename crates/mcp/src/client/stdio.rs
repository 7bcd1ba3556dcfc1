//! Messages as lines over a process's standard streams, or over a pipe inside this process.

use super::conversation::{Conversation, End, Received};
use super::spec::{BoxedReader, BoxedWriter, OpenedPipe};
use super::{Endpoint, Misbehaviour};
use crate::frame::{Frame, Lines};
use crate::tape::Direction;
use mcptest_process::{Child, Closing, ExitWatch, Stderr, UnreadInput, status_words};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};

const BATCH_BYTES: usize = 64 << 10;
/// The time to read output after the process has exited, because child processes may keep the pipe
/// open.
const AFTER_EXIT: Duration = Duration::from_millis(300);
/// The lines of a standard error to show.
const MOST_STDERR_LINES: usize = 10;
/// The maximum number of queued answers for a server that does not read them.
const MOST_REPLIES: usize = 1000;

/// A connection over lines.
pub(super) struct Stdio {
    pub(super) conversation: Arc<Conversation>,
    outgoing: mpsc::UnboundedSender<String>,
    sent: AtomicU64,
    written: Arc<AtomicU64>,
    /// The number of unwritten lines.
    waiting: Arc<AtomicUsize>,
    writer: JoinHandle<()>,
    reader: JoinHandle<()>,
    stderr: Option<Stderr>,
    child: Option<Child>,
    /// A watch on the input that the process has not read, until the session begins.
    unread: Option<UnreadInput>,
}

impl Stdio {
    /// Starts the program, or opens the pipe.
    pub(super) fn open(
        endpoint: &Endpoint,
        conversation: Arc<Conversation>,
    ) -> Result<Self, Misbehaviour> {
        let opened = endpoint.open().map_err(Misbehaviour::CannotStart)?;
        let OpenedPipe {
            reader,
            writer,
            child,
            unread,
        } = opened.ok_or_else(|| Misbehaviour::BadAddress {
            url: format!("{endpoint:?}"),
            why: "it is not a program".to_owned(),
        })?;
        let (outgoing, incoming) = mpsc::unbounded_channel();
        let written = Arc::new(AtomicU64::new(0));
        let waiting = Arc::new(AtomicUsize::new(0));
        let reading = Reading {
            lines: Lines::new(reader, conversation.limit),
            conversation: Arc::clone(&conversation),
            replies: outgoing.downgrade(),
            waiting: Arc::clone(&waiting),
            exit: child.as_ref().map(Child::watch_exit),
        };
        Ok(Self {
            conversation,
            outgoing,
            sent: AtomicU64::new(0),
            writer: tokio::spawn(write(
                writer,
                incoming,
                Arc::clone(&written),
                Arc::clone(&waiting),
            )),
            reader: tokio::spawn(reading.run()),
            written,
            waiting,
            stderr: child.as_ref().map(|child| child.stderr().clone()),
            child,
            unread,
        })
    }

    /// Sends a line; the number is for [`was_read`](Self::was_read).
    pub(super) fn send(&self, line: String) -> u64 {
        self.conversation.tap(Direction::Client, &line);
        let number = self.sent.fetch_add(1, Ordering::Relaxed) + 1;
        self.waiting.fetch_add(1, Ordering::Relaxed);
        // Without a writer the output has ended too, which says why.
        let _ = self.outgoing.send(line);
        number
    }

    /// True when the process has read the line, or as far as can be told: the line has left us, into the pipe at least.
    pub(super) fn was_read(&self, number: u64) -> bool {
        self.written.load(Ordering::Relaxed) >= number && !self.holds_unread_input()
    }

    /// True while the process is seen not to have read all that was written to it.
    pub(super) fn holds_unread_input(&self) -> bool {
        self.unread.as_ref().is_some_and(UnreadInput::holds_bytes)
    }

    /// The session has begun. From here on the process must see the end of its input.
    pub(super) fn stop_watching_input(&mut self) {
        self.unread = None;
    }

    /// The cause in its standard error, and the end of it.
    pub(super) fn last_words(&self) -> String {
        let crash = self
            .stderr
            .as_ref()
            .map(|stderr| stderr.crash(MOST_STDERR_LINES));
        crash.map_or_else(String::new, |crash| crash.excerpt.join("\n"))
    }

    pub(super) fn stderr(&self) -> String {
        self.stderr.as_ref().map_or_else(String::new, Stderr::tail)
    }

    pub(super) fn missed_variables(&self) -> Vec<String> {
        self.child
            .as_ref()
            .map(Child::missed_variables)
            .unwrap_or_default()
    }

    pub(super) fn exit(&self) -> Option<String> {
        self.child.as_ref()?.status().map(status_words)
    }

    /// Ends a server that was only probed.
    pub(super) async fn discard(mut self) {
        self.stop_watching_input();
        self.writer.abort();
        if let Some(child) = self.child.take() {
            child.end_soon().await;
        }
    }

    /// Closes the server's input and ends it.
    pub(super) async fn close(&mut self) -> Closing {
        self.stop_watching_input();
        let (outgoing, _) = mpsc::unbounded_channel();
        drop(std::mem::replace(&mut self.outgoing, outgoing));
        if timeout(AFTER_EXIT, &mut self.writer).await.is_err() {
            self.writer.abort();
        }
        let closing = match self.child.take() {
            Some(child) => child.end().await,
            None => Closing::default(),
        };
        // What it still had to say is heard, such as a second answer.
        let _ = timeout(AFTER_EXIT, &mut self.reader).await;
        closing
    }
}

impl Drop for Stdio {
    fn drop(&mut self) {
        self.writer.abort();
        self.reader.abort();
    }
}

async fn write(
    mut writer: BoxedWriter,
    mut lines: mpsc::UnboundedReceiver<String>,
    written: Arc<AtomicU64>,
    waiting: Arc<AtomicUsize>,
) {
    let mut batch = Vec::new();
    while let Some(line) = lines.recv().await {
        let mut count = 1;
        push(&mut batch, &line);
        while batch.len() < BATCH_BYTES
            && let Ok(line) = lines.try_recv()
        {
            push(&mut batch, &line);
            count += 1;
        }
        if writer.write_all(&batch).await.is_err() || writer.flush().await.is_err() {
            return;
        }
        written.fetch_add(count, Ordering::Relaxed);
        waiting.fetch_sub(count as usize, Ordering::Relaxed);
        batch.clear();
        batch.shrink_to(BATCH_BYTES * 4);
    }
    // A half of a stream in this process does not end when it is dropped.
    let _ = writer.shutdown().await;
}

fn push(batch: &mut Vec<u8>, line: &str) {
    batch.extend_from_slice(line.as_bytes());
    batch.push(b'\n');
}

struct Reading {
    lines: Lines<BoxedReader>,
    conversation: Arc<Conversation>,
    replies: mpsc::WeakUnboundedSender<String>,
    waiting: Arc<AtomicUsize>,
    exit: Option<ExitWatch>,
}

impl Reading {
    async fn run(mut self) {
        self.read_until_end().await;
        let end = match &mut self.exit {
            None => End::ClosedOutput,
            Some(exit) => match timeout(AFTER_EXIT, exit.exited()).await {
                Ok(status) => End::Exited(status.map(status_words)),
                Err(_) => End::ClosedOutput,
            },
        };
        self.conversation.end(end);
    }

    async fn read_until_end(&mut self) {
        let mut exit = self.exit.clone();
        let mut until = None;
        loop {
            let frame = tokio::select! {
                biased;
                frame = self.lines.next() => frame,
                () = exited(&mut exit), if until.is_none() => {
                    until = Some(Instant::now() + AFTER_EXIT);
                    continue;
                }
                () = sleep_until(until.unwrap_or_else(Instant::now)), if until.is_some() => return,
            };
            match frame {
                Ok(Some(frame)) => self.hear(frame),
                Ok(None) | Err(_) => return,
            }
        }
    }

    fn hear(&self, frame: Frame) {
        match frame {
            Frame::Line(line) => {
                if let Received::Asked(reply) = self.conversation.hear(&line, None)
                    && let Some(replies) = self.replies.upgrade()
                {
                    if self.waiting.load(Ordering::Relaxed) >= MOST_REPLIES {
                        let why = "it sends requests, but does not read the answers";
                        self.conversation
                            .observe(super::Observed::Connection(why.to_owned()));
                        return;
                    }
                    self.conversation.tap(Direction::Client, &reply);
                    self.waiting.fetch_add(1, Ordering::Relaxed);
                    let _ = replies.send(reply);
                }
            }
            Frame::TooLong { bytes, start } => self.conversation.hear_too_long(bytes, start),
            Frame::NotUtf8(text) => {
                self.conversation.tap(Direction::Server, &text);
                self.conversation.hear_not_utf8(&text);
            }
            Frame::Cut(text) => self.hear_cut(&text),
        }
    }

    /// Handles a last line without a line break, which is an answer if it is complete.
    fn hear_cut(&self, text: &str) {
        if crate::jsonrpc::parse(text).is_ok() {
            self.conversation.hear(text, None);
        } else {
            self.conversation.tap(Direction::Server, text);
            let text = super::conversation::quote(text);
            self.conversation
                .observe(super::Observed::CutLine { line: text });
        }
    }
}

async fn exited(exit: &mut Option<ExitWatch>) {
    match exit {
        Some(exit) => {
            exit.exited().await;
        }
        None => std::future::pending().await,
    }
}
