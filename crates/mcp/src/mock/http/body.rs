//! The body of an answer: a string, or events as they come.

use crate::mock::audience::Seat;
use crate::mock::deferred::DeferredChanges;
use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Interval, MissedTickBehavior};

/// How often a silent stream shows that it is alive.
const HEARTBEAT: Duration = Duration::from_secs(20);

/// What is sent back.
#[derive(Debug)]
pub(super) enum ReplyBody {
    /// All of it, until it is taken, and what is told after it.
    Text { bytes: Option<Bytes>, deferred: Option<DeferredChanges> },
    /// Events.
    Events(Box<Events>),
}

/// An event stream.
#[derive(Debug)]
pub(super) struct Events {
    receiver: mpsc::Receiver<Bytes>,
    heartbeat: Interval,
    /// Held while the stream is open, for one that listens to changes.
    _seat: Option<Seat>,
}

impl ReplyBody {
    pub(super) fn text(text: impl Into<Bytes>) -> Self {
        let bytes = text.into();
        Self::Text { bytes: (!bytes.is_empty()).then_some(bytes), deferred: None }
    }

    pub(super) fn events(receiver: mpsc::Receiver<Bytes>, seat: Option<Seat>) -> Self {
        let mut heartbeat = tokio::time::interval_at(tokio::time::Instant::now() + HEARTBEAT, HEARTBEAT);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self::Events(Box::new(Events { receiver, heartbeat, _seat: seat }))
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Self::Text { bytes, .. } => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Events(events) => {
                if let Poll::Ready(event) = events.receiver.poll_recv(context) {
                    return Poll::Ready(event.map(|bytes| Ok(Frame::data(bytes))));
                }
                if events.heartbeat.poll_tick(context).is_ready() {
                    return Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b": alive\n\n")))));
                }
                Poll::Pending
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Text { bytes: None, .. })
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Text { bytes, .. } => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Self::Events(_) => SizeHint::default(),
        }
    }
}
