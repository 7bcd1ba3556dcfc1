//! The body of an answer: whole, or cut off in the middle.

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The body of an answer.
#[derive(Debug)]
pub(crate) struct AnswerBody {
    bytes: Option<Bytes>,
    /// The bytes that are announced and never sent.
    missing: u64,
    /// True after one pause without data. The connection sends its buffer before the next poll.
    has_paused: bool,
}

impl AnswerBody {
    pub(crate) fn whole(text: impl Into<Bytes>) -> Self {
        Self {
            bytes: Some(text.into()),
            missing: 0,
            has_paused: false,
        }
    }

    pub(crate) fn cut(text: &str) -> Self {
        let kept = text.len() / 2;
        let bytes = Bytes::copy_from_slice(&text.as_bytes()[..kept]);
        Self {
            bytes: Some(bytes),
            missing: (text.len() - kept) as u64,
            has_paused: false,
        }
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if let Some(bytes) = self.bytes.take() {
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        if self.missing == 0 {
            return Poll::Ready(None);
        }
        if self.has_paused {
            return Poll::Ready(Some(Err(io::Error::other("cut off on purpose"))));
        }
        self.has_paused = true;
        context.waker().wake_by_ref();
        Poll::Pending
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none() && self.missing == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(
            self.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64) + self.missing,
        )
    }
}
