//! How do bytes between a client and a server on stdio pass unchanged, and how does each side
//! notice that the other ended?

use super::ProxyError;
use super::interposed::{Ended, Interposed};
use super::lines::{LineEntries, LineSeen};
use super::record::{Recorder, ready};
use crate::fault::Injector;
use crate::tape::{Direction, Event, Writer};
use bytes::{Bytes, BytesMut};
use mcptest_process::{Child, Started, start_with, status_words};
use std::future::Future;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Mutex, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};

const CHUNK: usize = 64 << 10;
/// The exit code after a fault that breaks the connection, as the mock has it.
const BROKEN_BY_FAULT: u8 = 1;

/// The time limits for waiting on the other side.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// The time that a server may be silent after its client is gone.
    pub after_client: Duration,
    /// The time that the output may continue after its server has ended.
    pub to_end: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            after_client: Duration::from_secs(5),
            to_end: Duration::from_secs(2),
        }
    }
}

/// The client's side of the proxy.
#[derive(Debug)]
pub struct ClientEnd<I, O, E> {
    /// The client's output.
    pub input: I,
    /// The client's input.
    pub output: O,
    /// The destination of the server's standard error.
    pub errors: E,
}

/// The end of the connection.
#[derive(Debug)]
pub struct StdioOutcome {
    /// The server's exit code; 128 plus the signal's number if a signal ended it; 1 if a fault
    /// broke the connection.
    pub code: u8,
    /// Why the tape is not whole, if it is not.
    pub lost: Option<String>,
}

/// The proxy's target and settings.
#[derive(Debug)]
pub struct Setup {
    /// The words of the server's command.
    pub command: Vec<String>,
    /// The faults to inject. An idle injector changes nothing.
    pub injector: Injector,
    /// The time limits for waiting on the other side.
    pub patience: Patience,
}

/// Starts the server and passes messages on until one side ends, or `stop` returns a reason to end.
/// The tape begins only once the server has started.
pub async fn run<I, O, E>(
    setup: Setup,
    client: ClientEnd<I, O, E>,
    tape: Writer,
    stop: impl Future<Output = String>,
) -> Result<StdioOutcome, ProxyError>
where
    I: AsyncRead + Unpin + Send + 'static,
    O: AsyncWrite + Unpin + Send + 'static,
    E: AsyncWrite + Unpin + Send + 'static,
{
    let (recorder, ready) = ready();
    let (heard, activity) = watch::channel(Instant::now());
    let (ended, errors) = oneshot::channel();
    let client_errors = Arc::new(Mutex::new(client.errors));
    let (child, server) = start_with(&setup.command, &[], None, |stderr, _| {
        tokio::spawn(pass_errors(
            stderr,
            Arc::clone(&client_errors),
            recorder.clone(),
            ended,
        ))
    })?;
    let recording = ready.record(tape, LineEntries::default());
    let messages = Messages {
        input: client.input,
        output: client.output,
        errors: client_errors,
        server,
    };
    let (to_server, to_client) = messages.pass_on(setup.injector, &recorder, heard);
    let flow = Flow {
        to_server,
        to_client,
        errors,
        patience: setup.patience,
    };
    let (status, ended) = flow.until_end(child, &recorder, activity, stop).await;
    recorder.see(
        0,
        LineSeen::Event(Event::Exit {
            status: words(status),
        }),
    );
    let code = match ended {
        Ended::ByFault => BROKEN_BY_FAULT,
        Ended::ByClient => status.map_or(1, exit_code),
    };
    Ok(StdioOutcome {
        code,
        lost: recording.finish().await,
    })
}

/// The message streams of both sides, and the destination of faults' output.
struct Messages<I, O, E> {
    input: I,
    output: O,
    errors: Arc<Mutex<E>>,
    server: Started,
}

impl<I, O, E> Messages<I, O, E>
where
    I: AsyncRead + Unpin + Send + 'static,
    O: AsyncWrite + Unpin + Send + 'static,
    E: AsyncWrite + Unpin + Send + 'static,
{
    /// Starts to pass on both sides' messages: to the server, and to the client.
    fn pass_on(
        self,
        injector: Injector,
        recorder: &Recorder<LineSeen>,
        heard: watch::Sender<Instant>,
    ) -> (JoinHandle<Ended>, JoinHandle<bool>) {
        let Started { stdin, stdout } = self.server;
        if injector.is_idle() {
            return (
                tokio::spawn(to_server(self.input, stdin, recorder.clone())),
                tokio::spawn(to_client(stdout, self.output, recorder.clone(), heard)),
            );
        }
        let faults = Interposed::new(
            Arc::new(injector),
            recorder.clone(),
            self.output,
            self.errors,
        );
        (
            tokio::spawn(Arc::clone(&faults).to_server(self.input, stdin)),
            tokio::spawn(faults.to_client(stdout, heard)),
        )
    }
}

/// The three streams, each passed on separately.
struct Flow {
    to_server: JoinHandle<Ended>,
    /// True if the server closed its output, false if the client left.
    to_client: JoinHandle<bool>,
    errors: oneshot::Receiver<()>,
    patience: Patience,
}

impl Flow {
    async fn until_end(
        mut self,
        server: Child,
        recorder: &Recorder<LineSeen>,
        activity: watch::Receiver<Instant>,
        stop: impl Future<Output = String>,
    ) -> (Option<ExitStatus>, Ended) {
        tokio::select! {
            _ = server.exited() => {}
            reason = stop => recorder.see(0, LineSeen::Event(Event::Stopped { reason })),
            ended = client_is_gone(&mut self.to_server, activity, self.patience) => {
                if ended == Ended::ByFault {
                    self.to_client.abort();
                    return (end_at_once(server).await, ended);
                }
            }
            closed_by_server = &mut self.to_client => {
                if closed_by_server.is_ok_and(|by_server| !by_server) {
                    recorder.see(0, LineSeen::Closed(Direction::Client));
                }
            }
        }
        self.to_server.abort();
        if server.status().is_some() {
            self.drain().await;
        }
        // The server, or what it left behind and may hold the output open.
        let mut exit = server.watch_exit();
        server.end().await;
        self.drain().await;
        self.to_client.abort();
        (
            timeout(self.patience.to_end, exit.exited())
                .await
                .ok()
                .flatten(),
            Ended::ByClient,
        )
    }

    /// Passes on the output before the end.
    async fn drain(&mut self) {
        let patience = self.patience;
        if !self.to_client.is_finished() {
            let _cut = timeout(patience.to_end, &mut self.to_client).await;
        }
        if !self.errors.is_terminated() {
            let _cut = timeout(patience.to_end, &mut self.errors).await;
        }
    }
}

/// Waits until the client has closed its end and the server was silent for a while.
async fn client_is_gone(
    to_server: &mut JoinHandle<Ended>,
    mut activity: watch::Receiver<Instant>,
    patience: Patience,
) -> Ended {
    let ended = to_server.await.unwrap_or(Ended::ByClient);
    if ended == Ended::ByFault {
        return ended;
    }
    let closed = Instant::now();
    loop {
        let last = (*activity.borrow_and_update()).max(closed);
        tokio::select! {
            () = sleep_until(last + patience.after_client) => return ended,
            changed = activity.changed() => if changed.is_err() {
                sleep_until(last + patience.after_client).await;
                return ended;
            }
        }
    }
}

/// Ends a server with which a fault broke the connection.
async fn end_at_once(server: Child) -> Option<ExitStatus> {
    let mut exit = server.watch_exit();
    server.end_soon().await;
    exit.exited().await
}

async fn to_server(
    mut input: impl AsyncRead + Unpin,
    mut server: impl AsyncWrite + Unpin,
    recorder: Recorder<LineSeen>,
) -> Ended {
    let mut buffer = BytesMut::new();
    let mut is_open = true;
    while let Some(bytes) = chunk(&mut input, &mut buffer).await {
        recorder.see(
            bytes.len(),
            LineSeen::Bytes {
                from: Direction::Client,
                bytes: bytes.clone(),
            },
        );
        // A server that has closed its input still may write: what the client sends is read, so that it is not stuck.
        is_open = is_open && server.write_all(&bytes).await.is_ok() && server.flush().await.is_ok();
        recorder.room().await;
    }
    recorder.see(0, LineSeen::Closed(Direction::Client));
    Ended::ByClient
}

async fn to_client(
    mut server: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
    recorder: Recorder<LineSeen>,
    heard: watch::Sender<Instant>,
) -> bool {
    let mut buffer = BytesMut::new();
    while let Some(bytes) = chunk(&mut server, &mut buffer).await {
        recorder.see(
            bytes.len(),
            LineSeen::Bytes {
                from: Direction::Server,
                bytes: bytes.clone(),
            },
        );
        if output.write_all(&bytes).await.is_err() || output.flush().await.is_err() {
            return false;
        }
        heard.send_replace(Instant::now());
        recorder.room().await;
    }
    recorder.see(0, LineSeen::Closed(Direction::Server));
    let _gone = output.shutdown().await;
    true
}

async fn pass_errors(
    mut server: impl AsyncRead + Unpin,
    errors: Arc<Mutex<impl AsyncWrite + Unpin>>,
    recorder: Recorder<LineSeen>,
    _ended: oneshot::Sender<()>,
) {
    let mut buffer = BytesMut::new();
    while let Some(bytes) = chunk(&mut server, &mut buffer).await {
        recorder.see(bytes.len(), LineSeen::Stderr(bytes.clone()));
        let mut errors = errors.lock().await;
        let _gone = errors.write_all(&bytes).await.is_ok() && errors.flush().await.is_ok();
        drop(errors);
        recorder.room().await;
    }
}

/// The bytes since the last call; `None` at the end.
async fn chunk(reader: &mut (impl AsyncRead + Unpin), buffer: &mut BytesMut) -> Option<Bytes> {
    buffer.reserve(CHUNK);
    matches!(reader.read_buf(buffer).await, Ok(1..)).then(|| buffer.split().freeze())
}

fn words(status: Option<ExitStatus>) -> String {
    status.map_or_else(
        || "unknown: mcptest could not end it".to_owned(),
        status_words,
    )
}

fn exit_code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return (128 + signal) as u8;
    }
    status.code().unwrap_or(1) as u8
}
