//! How is a body passed on unchanged and recorded at the same time?

use super::entries::{BodyEnd, HttpSeen, Seen};
use crate::proxy::record::Recorder;
use crate::tape::Direction;
use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use parking_lot::Mutex;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// A body that is recorded in passing.
pub(super) struct Tee<B> {
    body: B,
    note: Note,
}

/// Reports how a body ended, even if it is dropped early.
struct Note {
    recorder: Recorder<Seen>,
    exchange: u64,
    side: Direction,
    is_told: bool,
}

impl<B: Body> Tee<B> {
    pub(super) fn new(body: B, recorder: Recorder<Seen>, exchange: u64, side: Direction) -> Self {
        let mut note = Note {
            recorder,
            exchange,
            side,
            is_told: false,
        };
        if body.is_end_stream() {
            note.tell(BodyEnd::Whole);
        }
        Self { body, note }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Tee<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        match &frame {
            Some(Ok(frame)) => {
                if let Some(bytes) = frame.data_ref() {
                    self.note.bytes(bytes.clone());
                }
                if self.body.is_end_stream() {
                    self.note.tell(BodyEnd::Whole);
                }
            }
            Some(Err(_)) => self.note.tell(BodyEnd::CutBySender),
            None => self.note.tell(BodyEnd::Whole),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A body lent to a request; it can still be read if the request fails.
pub(super) struct Lent<B>(Arc<Mutex<B>>);

impl<B> Lent<B> {
    pub(super) fn new(body: B) -> Self {
        Self(Arc::new(Mutex::new(body)))
    }

    pub(super) fn again(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Lent<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        Pin::new(&mut *self.0.lock()).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.0.lock().is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.lock().size_hint()
    }
}

impl Note {
    fn bytes(&self, bytes: Bytes) {
        self.recorder.see(
            bytes.len(),
            (
                self.exchange,
                HttpSeen::Bytes {
                    from: self.side,
                    bytes,
                },
            ),
        );
    }

    fn tell(&mut self, end: BodyEnd) {
        if !std::mem::replace(&mut self.is_told, true) {
            self.recorder.see(
                0,
                (
                    self.exchange,
                    HttpSeen::End {
                        from: self.side,
                        end,
                    },
                ),
            );
        }
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        self.tell(BodyEnd::CutByReader);
    }
}
