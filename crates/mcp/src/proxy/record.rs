//! How does what crosses reach the tape without holding up the traffic?

use crate::tape::{Entry, Event, Writer};
use mcptest_core::escape::escape;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The maximum number of bytes that wait for writing.
const WAITING: usize = 128 << 20;
/// The time that the traffic waits for a slow disk before the recording is abandoned.
const PATIENCE: Duration = Duration::from_secs(5);

/// Turns observations into entries. Runs beside the traffic, so it may be slow.
pub(crate) trait ToEntries: Send + 'static {
    /// An observation.
    type Seen: Send + 'static;
    /// Adds the entries that are complete now.
    fn note(&mut self, at_us: u64, seen: Self::Seen, entries: &mut Vec<Entry>);
}

/// Records traffic; cheap to clone.
#[derive(Debug)]
pub(crate) struct Recorder<S> {
    sender: UnboundedSender<Note<S>>,
    shared: Arc<Shared>,
}

/// An observation, its time, and its size in bytes; `None` ends the recording.
type Note<S> = Option<(u64, usize, S)>;

#[derive(Debug)]
struct Shared {
    began: Instant,
    waiting: AtomicUsize,
    is_given_up: AtomicBool,
    room: Notify,
}

/// The thread that writes.
#[derive(Debug)]
pub(crate) struct Recording<S> {
    sender: UnboundedSender<Note<S>>,
    thread: JoinHandle<Option<String>>,
}

/// The observations before recording begins.
#[derive(Debug)]
pub(crate) struct Ready<S> {
    recorder: Recorder<S>,
    receiver: UnboundedReceiver<Note<S>>,
}

/// Prepares a recording. Observations wait until it begins.
pub(crate) fn ready<S>() -> (Recorder<S>, Ready<S>) {
    let (sender, receiver) = unbounded_channel();
    let shared = Arc::new(Shared {
        began: Instant::now(),
        waiting: AtomicUsize::new(0),
        is_given_up: AtomicBool::new(false),
        room: Notify::new(),
    });
    let recorder = Recorder { sender, shared };
    (recorder.clone(), Ready { recorder, receiver })
}

impl<S: Send + 'static> Ready<S> {
    /// Begins the tape.
    pub(crate) fn record<T: ToEntries<Seen = S>>(
        self,
        writer: Writer,
        to_entries: T,
    ) -> Recording<S> {
        let Self {
            recorder: Recorder { sender, shared },
            receiver,
        } = self;
        let thread = std::thread::spawn(move || write_all(writer, to_entries, receiver, &shared));
        Recording { sender, thread }
    }
}

impl<S> Clone for Recorder<S> {
    fn clone(&self) -> Self {
        Self {
            sender: self.sender.clone(),
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<S> Recorder<S> {
    /// A recorder without a tape.
    pub(crate) fn off() -> Self {
        let (recorder, _) = ready();
        recorder.shared.is_given_up.store(true, Ordering::Relaxed);
        recorder
    }

    /// Records an observation of `size` bytes. Never waits.
    pub(crate) fn see(&self, size: usize, seen: S) {
        if self.shared.is_given_up.load(Ordering::Relaxed) {
            return;
        }
        if self.shared.waiting.fetch_add(size, Ordering::Relaxed) > 4 * WAITING {
            self.shared.is_given_up.store(true, Ordering::Relaxed);
        }
        let at_us = self.shared.began.elapsed().as_micros() as u64;
        let _writer_ended = self.sender.send(Some((at_us, size, seen)));
    }

    /// Waits while too much is waiting to be written, but never for long.
    pub(crate) async fn room(&self) {
        while self.shared.waiting.load(Ordering::Relaxed) > WAITING
            && !self.shared.is_given_up.load(Ordering::Relaxed)
        {
            let freed = self.shared.room.notified();
            if self.shared.waiting.load(Ordering::Relaxed) > WAITING
                && tokio::time::timeout(PATIENCE, freed).await.is_err()
            {
                self.shared.is_given_up.store(true, Ordering::Relaxed);
            }
        }
    }
}

impl<S> Recording<S> {
    /// Waits until all observations are written. Returns the reason that the tape is incomplete, if
    /// any.
    pub(crate) async fn finish(self) -> Option<String> {
        let _writer_ended = self.sender.send(None);
        let thread = self.thread;
        let joined = tokio::task::spawn_blocking(move || thread.join()).await;
        match joined {
            Ok(Ok(failure)) => failure,
            _ => Some("the thread that records failed".to_owned()),
        }
    }
}

fn write_all<T: ToEntries>(
    mut writer: Writer,
    mut to_entries: T,
    mut receiver: UnboundedReceiver<Note<T::Seen>>,
    shared: &Shared,
) -> Option<String> {
    let mut entries = Vec::new();
    let mut last_us = 0;
    if let Some(reason) = writer.flush() {
        say_ended(&writer, &reason);
    }
    while let Some(Some((at_us, size, seen))) = receiver.blocking_recv() {
        last_us = at_us;
        if writer.failure().is_none() {
            to_entries.note(at_us, seen, &mut entries);
            entries.drain(..).for_each(|entry| writer.add(entry));
        }
        if (receiver.is_empty() || writer.is_full())
            && let Some(reason) = writer.flush()
        {
            say_ended(&writer, &reason);
        }
        shared.waiting.fetch_sub(size, Ordering::Relaxed);
        shared.room.notify_waiters();
    }
    if shared.is_given_up.load(Ordering::Relaxed) {
        let reason = "the disk could not keep up with the traffic".to_owned();
        writer.add(Entry {
            event: Some(Event::Stopped {
                reason: reason.clone(),
            }),
            ..Entry::at(last_us)
        });
        let _failed = writer.flush();
        return Some(reason);
    }
    let _failed = writer.flush();
    writer.failure().map(str::to_owned)
}

fn say_ended(writer: &Writer, reason: &str) {
    say(&format!(
        "the recording {} ends here: {reason}; the traffic continues",
        writer.path().display()
    ));
}

/// Prints one sentence for the user of the proxy.
pub(crate) fn say(sentence: &str) {
    let _gone = writeln!(std::io::stderr(), "mcptest proxy: {}", escape(sentence));
}
