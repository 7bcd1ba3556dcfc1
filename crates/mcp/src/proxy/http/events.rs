//! An event stream to the client: every event is verbatim, except answers that an observer waits
//! for.

use super::exchange::HttpProxy;
use super::waiting::{Held, SessionId};
use crate::frame::DEFAULT_MAX_MESSAGE_BYTES;
use crate::jsonrpc;
use crate::proxy::interpose::WatchedReply;
use crate::sse;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Frame};
use mcptest_http::Broken;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::mpsc;

/// The number of pieces that wait for a slow client before the server's stream is read further.
const QUEUE: usize = 64;

/// A body whose pieces arrive over a channel.
pub(crate) struct Channel(pub(crate) mpsc::Receiver<Result<Bytes, Broken>>);

impl Body for Channel {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        self.0
            .poll_recv(context)
            .map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }
}

/// The stream for the client, read as long as the client reads.
pub(super) fn follow(
    shared: Arc<HttpProxy>,
    body: reqwest::Body,
    session: SessionId,
    held: Option<Held>,
) -> Channel {
    let (sender, receiver) = mpsc::channel(QUEUE);
    tokio::spawn(async move {
        let following = Following {
            shared,
            session,
            held,
            sender: sender.clone(),
            is_lost: false,
        };
        tokio::select! {
            () = following.run(body) => {}
            () = sender.closed() => {}
        }
    });
    Channel(receiver)
}

struct Following {
    shared: Arc<HttpProxy>,
    session: SessionId,
    held: Option<Held>,
    sender: mpsc::Sender<Result<Bytes, Broken>>,
    /// The answer is withheld, so the stream must not end.
    is_lost: bool,
}

impl Following {
    async fn run(mut self, mut body: reqwest::Body) {
        let mut cutter = Cutter::default();
        while let Some(frame) = body.frame().await {
            let pieces = match frame {
                Ok(frame) => cutter.feed(&frame.into_data().unwrap_or_default()),
                Err(broken) => {
                    let _gone = self.sender.send(Err(broken.into())).await;
                    return;
                }
            };
            for piece in pieces {
                self.pass(piece).await;
            }
        }
        self.send(cutter.rest()).await;
        if self.is_lost {
            return std::future::pending().await;
        }
        self.leave();
    }

    async fn pass(&mut self, piece: EventBytes) {
        let answer = piece
            .event
            .as_ref()
            .and_then(|event| self.answer_of(event.data.as_deref()?));
        let Some((reply, held)) = answer else {
            self.send(piece.raw).await;
            return;
        };
        self.shared.wait(&reply, held.asked()).await;
        if reply.is_withheld() {
            self.is_lost = true;
            self.held = Some(held);
            return;
        }
        match reply.texts {
            None => self.send(piece.raw).await,
            Some(texts) => {
                for data in texts {
                    let event = sse::Event {
                        data: Some(data),
                        ..piece.event.clone().unwrap_or_default()
                    };
                    self.send(sse::encode(&event).into()).await;
                }
            }
        }
        held.delivered();
    }

    fn answer_of(&mut self, data: &str) -> Option<(WatchedReply, Held)> {
        let message = jsonrpc::parse(data).ok()?;
        let id = message.body.answered_id()?;
        if let Some(held) = self.held.take_if(|held| held.is_of(id)) {
            return Some((held.answered(&message.body, data), held));
        }
        self.shared
            .waiting
            .answered(&self.session, id, &message.body, data)
    }

    fn leave(&mut self) {
        if let Some(held) = self.held.take() {
            held.leave();
        }
    }

    async fn send(&self, bytes: Bytes) {
        if !bytes.is_empty() {
            let _gone = self.sender.send(Ok(bytes)).await;
        }
    }
}

/// A client that leaves may return for the answer.
impl Drop for Following {
    fn drop(&mut self) {
        if self.session.is_some() && !self.is_lost {
            self.leave();
        }
    }
}

/// Bytes up to the end of an event, or of the part between events.
struct EventBytes {
    raw: Bytes,
    event: Option<sse::Event>,
}

/// Splits a stream at the ends of its events, without losing a byte.
struct Cutter {
    parser: Option<sse::Parser>,
    raw: BytesMut,
    is_line_empty: bool,
}

impl Default for Cutter {
    fn default() -> Self {
        let parser = Some(sse::Parser::new(DEFAULT_MAX_MESSAGE_BYTES));
        Self {
            parser,
            raw: BytesMut::new(),
            is_line_empty: true,
        }
    }
}

impl Cutter {
    fn feed(&mut self, mut bytes: &[u8]) -> Vec<EventBytes> {
        let mut pieces = Vec::new();
        while let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) {
            let (line, rest) = bytes.split_at(end + 1);
            bytes = rest;
            let is_blank = self.is_line_empty && line.len() == 1;
            self.is_line_empty = true;
            let event = self.take(line).pop();
            if is_blank || event.is_some() {
                pieces.push(EventBytes {
                    raw: self.rest(),
                    event,
                });
            }
        }
        self.is_line_empty &= bytes.is_empty();
        self.take(bytes);
        if self.parser.is_none() {
            pieces.push(EventBytes {
                raw: self.rest(),
                event: None,
            });
        }
        pieces
    }

    /// Passes on an unreadable stream unchanged.
    fn take(&mut self, bytes: &[u8]) -> Vec<sse::Event> {
        self.raw.extend_from_slice(bytes);
        let events = self
            .parser
            .as_mut()
            .and_then(|parser| parser.feed(bytes).ok());
        if events.is_none() {
            self.parser = None;
        }
        events.unwrap_or_default()
    }

    fn rest(&mut self) -> Bytes {
        self.raw.split().freeze()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_byte_is_lost_and_every_event_is_seen(
            lines in proptest::collection::vec("(data: [a-z]{0,3}|: note|id: 7|)(\n|\r\n|\r)", 0..12),
            size in 1usize..9,
        ) {
            let text = lines.concat();
            let mut cutter = Cutter::default();
            let mut pieces: Vec<EventBytes> =
                text.as_bytes().chunks(size).flat_map(|chunk| cutter.feed(chunk)).collect();
            pieces.push(EventBytes { raw: cutter.rest(), event: None });
            let bytes: Vec<u8> = pieces.iter().flat_map(|piece| piece.raw.to_vec()).collect();
            prop_assert_eq!(bytes, text.as_bytes());
            let events: Vec<sse::Event> = pieces.into_iter().filter_map(|piece| piece.event).collect();
            prop_assert_eq!(events, sse::Parser::new(1000).feed(text.as_bytes()).unwrap());
        }
    }

    #[test]
    fn what_stands_between_events_is_not_held_back() {
        let mut cutter = Cutter::default();
        let raws: Vec<Bytes> = cutter
            .feed(b": alive\n\ndata: x\n\nda")
            .into_iter()
            .map(|piece| piece.raw)
            .collect();
        assert_eq!(raws, [&b": alive\n\n"[..], &b"data: x\n\n"[..]]);
    }
}
