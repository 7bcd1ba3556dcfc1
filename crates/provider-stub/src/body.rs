//! The body of an answer: whole, or cut off in the middle.

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Sleep;

/// So long that what there is has left before the end comes.
const PAUSE: Duration = Duration::from_millis(20);

/// What is sent back.
#[derive(Debug)]
pub(crate) struct AnswerBody {
    bytes: Option<Bytes>,
    /// What is promised and never sent.
    missing: u64,
    pause: Option<Pin<Box<Sleep>>>,
}

impl AnswerBody {
    pub(crate) fn whole(text: impl Into<Bytes>) -> Self {
        Self { bytes: Some(text.into()), missing: 0, pause: None }
    }

    pub(crate) fn cut(text: &str) -> Self {
        let kept = text.len() / 2;
        let bytes = Bytes::copy_from_slice(&text.as_bytes()[..kept]);
        let pause = Some(Box::pin(tokio::time::sleep(PAUSE)));
        Self { bytes: Some(bytes), missing: (text.len() - kept) as u64, pause }
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
        let Some(pause) = &mut self.pause else { return Poll::Ready(None) };
        pause.as_mut().poll(context).map(|()| Some(Err(io::Error::other("cut off on purpose"))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none() && self.missing == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64) + self.missing)
    }
}
