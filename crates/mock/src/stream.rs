//! One event stream: which events were sent, who reads it now, and what did a returning reader
//! miss?

use bytes::Bytes;
use mcptest_mcp::sse;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// The maximum number of events to queue for a slow reader, and to keep for a returning one.
const QUEUE: usize = 256;
/// The number of bytes to keep for a returning reader.
const KEPT_BYTES: usize = 4 << 20;
/// The time that a sender waits for a slow reader.
const PATIENCE: Duration = Duration::from_secs(30);

/// The events of one stream.
#[derive(Debug)]
pub(super) struct Stream {
    /// Its number in the session, if events have ids and are kept.
    number: Option<u64>,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    next: u64,
    /// The last event that a reader received.
    given: u64,
    kept: VecDeque<(u64, Bytes)>,
    kept_bytes: usize,
    reader: Option<mpsc::Sender<Bytes>>,
    is_done: bool,
}

impl Stream {
    /// A stream whose events have ids and are kept.
    pub(super) fn kept(number: u64) -> Arc<Self> {
        Arc::new(Self {
            number: Some(number),
            inner: Mutex::default(),
        })
    }

    /// A stream that ends with its reader.
    pub(super) fn fleeting() -> Arc<Self> {
        Arc::new(Self {
            number: None,
            inner: Mutex::default(),
        })
    }

    /// Adds a new reader, who gets the events after the given one, or otherwise unread events. An
    /// earlier reader's stream ends.
    pub(super) fn attach(&self, after: Option<u64>) -> mpsc::Receiver<Bytes> {
        let mut inner = self.inner.lock();
        let after = after.unwrap_or(inner.given);
        let (sender, receiver) = mpsc::channel(2 * QUEUE);
        for (_, bytes) in inner.kept.iter().filter(|(number, _)| *number > after) {
            let _fits = sender.try_send(bytes.clone());
        }
        inner.given = inner.next.saturating_sub(1);
        inner.reader = (!inner.is_done).then_some(sender);
        receiver
    }

    /// Sends a message, and waits for a slow reader. Returns false if it will never be read.
    pub(super) async fn send(&self, message: &str) -> bool {
        let Some((sender, bytes)) = self.record(message) else {
            return self.number.is_some();
        };
        let sent = tokio::time::timeout(PATIENCE, sender.send(bytes)).await;
        matches!(sent, Ok(Ok(()))) || self.lose_reader(&sender)
    }

    /// Sends a message at once. A reader with a full queue is dropped.
    pub(super) fn push(&self, message: &str) -> bool {
        let Some((sender, bytes)) = self.record(message) else {
            return self.number.is_some();
        };
        sender.try_send(bytes).is_ok() || self.lose_reader(&sender)
    }

    /// Sends an event without a message, which tells the client where and when to resume.
    pub(super) fn prime(&self, retry_ms: Option<u64>) {
        let inner = self.inner.lock();
        let Some(stream) = self.number else { return };
        let id = Some(format!("{stream}-{}", inner.next.saturating_sub(1)));
        let event = sse::Event {
            id,
            retry_ms,
            data: Some(String::new()),
            ..sse::Event::default()
        };
        let bytes = Bytes::from(sse::encode(&event));
        if let Some(reader) = &inner.reader {
            let _full = reader.try_send(bytes);
        }
    }

    /// Ends the reader's stream. Later events are kept for its return.
    pub(super) fn detach(&self) {
        self.inner.lock().reader = None;
    }

    /// Ends the stream for good.
    pub(super) fn finish(&self) {
        let mut inner = self.inner.lock();
        inner.is_done = true;
        inner.reader = None;
    }

    /// Returns true if an event of this number was sent. 0 precedes the first one.
    pub(super) fn has_sent(&self, event: u64) -> bool {
        event < self.inner.lock().next.max(1)
    }

    pub(super) fn is_done(&self) -> bool {
        self.inner.lock().is_done
    }

    pub(super) fn has_reader(&self) -> bool {
        self.inner
            .lock()
            .reader
            .as_ref()
            .is_some_and(|reader| !reader.is_closed())
    }

    /// Waits until the reader has gone. Never returns without a reader.
    pub(super) async fn reader_gone(&self) {
        let reader = self.inner.lock().reader.clone();
        match reader {
            Some(reader) => reader.closed().await,
            None => std::future::pending().await,
        }
    }

    fn record(&self, message: &str) -> Option<(mpsc::Sender<Bytes>, Bytes)> {
        let mut inner = self.inner.lock();
        inner.next = inner.next.max(1);
        let number = inner.next;
        let id = self.number.map(|stream| format!("{stream}-{number}"));
        let bytes = Bytes::from(sse::encode(&sse::Event {
            id,
            ..sse::message(message.to_owned())
        }));
        if self.number.is_some() {
            inner.next += 1;
            inner.kept_bytes += bytes.len();
            inner.kept.push_back((number, bytes.clone()));
            while inner.kept.len() > QUEUE
                || (inner.kept_bytes > KEPT_BYTES && inner.kept.len() > 1)
            {
                let dropped = inner.kept.pop_front().map_or(0, |(_, bytes)| bytes.len());
                inner.kept_bytes -= dropped;
            }
        }
        let reader = inner.reader.clone()?;
        inner.given = number;
        Some((reader, bytes))
    }

    fn lose_reader(&self, slow: &mpsc::Sender<Bytes>) -> bool {
        self.inner
            .lock()
            .reader
            .take_if(|reader| reader.same_channel(slow));
        self.number.is_some()
    }
}

/// The stream and the event that an event's id names.
pub(super) fn read_event_id(id: &str) -> Option<(u64, u64)> {
    let (stream, number) = id.trim().split_once('-')?;
    Some((stream.parse().ok()?, number.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut receiver: mpsc::Receiver<Bytes>) -> Vec<String> {
        let mut seen = Vec::new();
        while let Ok(bytes) = receiver.try_recv() {
            seen.push(String::from_utf8(bytes.to_vec()).unwrap());
        }
        seen
    }

    #[tokio::test]
    async fn a_reader_that_comes_back_gets_what_it_missed() {
        let stream = Stream::kept(4);
        let first = stream.attach(Some(0));
        assert!(stream.send("one").await);
        assert_eq!(all(first), ["event: message\nid: 4-1\ndata: one\n\n"]);
        assert!(stream.send("two").await);
        assert!(stream.push("three"));
        stream.finish();
        let seen = all(stream.attach(Some(1)));
        assert_eq!(seen.len(), 2, "{seen:?}");
        assert!(seen[0].contains("data: two") && seen[1].contains("id: 4-3"));
    }

    #[tokio::test]
    async fn a_priming_event_names_the_last_one_so_that_nothing_is_missed() {
        let stream = Stream::kept(2);
        let first = stream.attach(None);
        stream.prime(None);
        stream.prime(Some(300));
        assert_eq!(
            all(first),
            ["id: 2-0\ndata: \n\n", "id: 2-0\nretry: 300\ndata: \n\n"]
        );
        stream.detach();
        stream.push("late");
        assert_eq!(
            all(stream.attach(Some(0))),
            ["event: message\nid: 2-1\ndata: late\n\n"]
        );
    }

    #[tokio::test]
    async fn what_is_kept_is_bounded_and_a_slow_reader_is_dropped() {
        let stream = Stream::kept(1);
        let mut slow = stream.attach(Some(0));
        for _ in 0..3 * QUEUE {
            assert!(stream.push("x"));
        }
        let mut seen = 0;
        while slow.recv().await.is_some() {
            seen += 1;
        }
        assert_eq!(seen, 2 * QUEUE);
        assert_eq!(all(stream.attach(Some(0))).len(), QUEUE);
        let big = "y".repeat(KEPT_BYTES / 2);
        for _ in 0..5 {
            stream.push(&big);
        }
        assert!(all(stream.attach(Some(0))).len() <= 2);
    }

    #[tokio::test]
    async fn a_fleeting_stream_without_a_reader_says_so() {
        let stream = Stream::fleeting();
        drop(stream.attach(Some(0)));
        assert!(!stream.send("x").await);
        assert!(!stream.push("x"));
    }

    #[test]
    fn event_ids_are_read_back() {
        assert_eq!(read_event_id("12-7"), Some((12, 7)));
        assert_eq!(read_event_id("12"), None);
    }
}
