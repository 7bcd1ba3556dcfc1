//! The server on a pipe: one message a line, many requests at once.

use super::audience::{AudienceMember, Filter, Interest};
use super::deliver::{Delivery, deliver};
use super::engine::{Asker, Handled, MockOutcome};
use super::incoming::{Incoming, Refused, Request};
use super::outlet::Outlet;
use super::render;
use super::server::Server;
use super::session::Session;
use mcptest_mcp::fault::{self, Action};
use mcptest_mcp::frame::{DEFAULT_MAX_MESSAGE_BYTES, Frame, Lines};
use mcptest_mcp::jsonrpc::{Id, RpcError, code};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, DuplexStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// The number of messages that wait for a slow client before the next request is read.
const QUEUE: usize = 256;
/// The time that running calls may continue after the client has closed its end.
const GRACE: Duration = Duration::from_secs(5);

/// Why serving ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The client closed its end.
    Closed,
    /// A fault closed the connection in the middle of a call.
    Disconnected,
}

impl Server {
    /// The server at the other end of a pipe in memory, until the pipe is dropped. Needs a runtime.
    pub fn connect(&self) -> DuplexStream {
        let (near, far) = tokio::io::duplex(64 << 10);
        let (reader, writer) = tokio::io::split(far);
        tokio::spawn(serve_pipe(self.clone(), reader, writer));
        near
    }
}

/// Serves one client until it closes its end.
pub async fn serve_pipe(
    server: Server,
    reader: impl AsyncRead + Unpin,
    writer: impl AsyncWrite + Unpin,
) -> Ended {
    let (sender, receiver) = mpsc::channel(QUEUE);
    let mut pipe = Pipe {
        session: Arc::default(),
        outlet: Outlet::Pipe(sender),
        seat: None,
        tasks: JoinSet::new(),
        subscriptions: JoinSet::new(),
        server: server.clone(),
    };
    let writing = write_lines(&server, receiver, writer);
    tokio::pin!(writing);
    let ended = tokio::select! {
        ended = pipe.read_lines(reader) => ended,
        () = &mut writing => return Ended::Closed,
    };
    if ended == Ended::Closed {
        let finishing = async {
            let _too_slow = tokio::time::timeout(GRACE, pipe.finish()).await;
        };
        tokio::select! {
            () = async { finishing.await; writing.as_mut().await } => {}
            () = tokio::time::sleep(2 * GRACE) => {}
        }
    }
    ended
}

struct Pipe {
    server: Server,
    session: Arc<Session>,
    outlet: Outlet,
    seat: Option<AudienceMember>,
    tasks: JoinSet<()>,
    subscriptions: JoinSet<()>,
}

impl Pipe {
    async fn read_lines(&mut self, reader: impl AsyncRead + Unpin) -> Ended {
        let mut lines = Lines::new(reader, DEFAULT_MAX_MESSAGE_BYTES);
        while let Ok(Some(frame)) = lines.next().await {
            while self.tasks.try_join_next().is_some() {}
            while self.subscriptions.try_join_next().is_some() {}
            if self.server.is_wedged() {
                continue;
            }
            let ended = match frame {
                Frame::Line(line) | Frame::Cut(line) => self.take(&line).await,
                Frame::TooLong { bytes, .. } => {
                    self.refuse(&format!(
                        "a line of {bytes} bytes is longer than the limit of \
                        {DEFAULT_MAX_MESSAGE_BYTES}"
                    ))
                    .await
                }
                Frame::NotUtf8(_) => self.refuse("a line is not UTF-8").await,
            };
            if let Some(ended) = ended {
                return ended;
            }
        }
        Ended::Closed
    }

    async fn refuse(&self, message: &str) -> Option<Ended> {
        let error = RpcError::new(code::PARSE_ERROR, message);
        self.outlet.send(render::error(None, &error)).await;
        None
    }

    /// Handles one line. Returns the reason if serving is over.
    async fn take(&mut self, line: &str) -> Option<Ended> {
        match Incoming::read(line, None) {
            Ok(Incoming::Request(request)) => return self.answer(&request).await,
            Ok(Incoming::News(news)) => self.session.hear(&news),
            Err(Refused { id, error }) => {
                self.outlet.send(render::error(id.as_ref(), &error)).await;
            }
        }
        None
    }

    async fn answer(&mut self, request: &Request<'_>) -> Option<Ended> {
        let asker = Asker {
            session: Some(&self.session),
            headers: None,
        };
        let Handled { outcome, action } = self.server.handle(request, asker);
        if self.seat.is_none() && self.session.agreed.get().is_some() {
            let interest = Interest::Session(Arc::clone(&self.session));
            self.seat = Some(self.server.0.audience.join(interest, self.outlet.clone()));
        }
        match (outcome, action) {
            (MockOutcome::Answer { answer, .. }, None) => {
                self.outlet.send(answer.text).await;
                drop(answer.deferred);
            }
            (MockOutcome::Unserved, action) => {
                let request = action.map(|action| action.request);
                return (request == Some(fault::RequestFault::Disconnect))
                    .then_some(Ended::Disconnected);
            }
            (MockOutcome::Listen { id, filter }, _) => self.listen(id, filter).await,
            (outcome, action) => self.deliver_later(&request.id, outcome, action),
        }
        None
    }

    /// Begins a subscription, until the client cancels it.
    async fn listen(&mut self, id: Id, filter: Filter) {
        self.outlet.send(filter.acknowledgement(&id)).await;
        let running = self.session.begin(&id);
        let interest = Interest::Subscription { id, filter };
        let seat = self.server.0.audience.join(interest, self.outlet.clone());
        self.subscriptions.spawn(async move {
            running.cancelled().await;
            drop(seat);
        });
    }

    /// Answers while other requests are read.
    fn deliver_later(&mut self, id: &Id, outcome: MockOutcome, action: Option<Box<Action>>) {
        let running = self.session.begin(id);
        let (server, outlet) = (self.server.clone(), self.outlet.clone());
        self.tasks.spawn(async move {
            let cancelled = running.cancelled();
            let delivery = deliver(&server, outcome, action.as_deref(), &outlet, cancelled).await;
            let Some(Delivery { texts, deferred }) = delivery else {
                return;
            };
            for text in texts {
                outlet.send(text).await;
            }
            drop(deferred);
        });
    }

    /// Lets running calls end. No request to the client is possible any more.
    async fn finish(mut self) {
        self.session.forget_questions();
        self.subscriptions.abort_all();
        while self.subscriptions.join_next().await.is_some() {}
        drop((self.seat.take(), self.outlet));
        while self.tasks.join_next().await.is_some() {}
    }
}

async fn write_lines(
    server: &Server,
    mut receiver: mpsc::Receiver<String>,
    mut writer: impl AsyncWrite + Unpin,
) {
    let mut buffer = Vec::new();
    while let Some(text) = receiver.recv().await {
        push_line(&mut buffer, &text);
        while let Ok(text) = receiver.try_recv() {
            push_line(&mut buffer, &text);
            if buffer.len() > 256 << 10 {
                break;
            }
        }
        if !server.is_wedged()
            && (writer.write_all(&buffer).await.is_err() || writer.flush().await.is_err())
        {
            return;
        }
        buffer.clear();
        buffer.shrink_to(64 << 10);
    }
    let _gone = writer.shutdown().await;
}

/// Adds a message as a line.
fn push_line(batch: &mut Vec<u8>, line: &str) {
    batch.extend_from_slice(line.as_bytes());
    batch.push(b'\n');
}
