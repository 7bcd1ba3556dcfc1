//! When does the user or the system ask mcptest to stop?
//!
//! A separate thread receives signals. If no code takes a signal, because none waits or the
//! receiver is busy, the thread ends the program with everything that it started.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// The time that a signal waits for a receiver.
const PATIENCE: Duration = Duration::from_secs(1);
const STEP: Duration = Duration::from_millis(10);

/// A signal that asks mcptest to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StopSignal {
    /// Its name, as `SIGTERM`.
    pub name: &'static str,
    /// The exit code that a shell expects after it.
    pub exit_code: u8,
}

/// The signals so far.
#[derive(Debug, Clone, Copy, Default)]
struct ReceivedSignals {
    count: usize,
    last: Option<StopSignal>,
}

static SIGNALS: LazyLock<watch::Sender<ReceivedSignals>> = LazyLock::new(|| {
    let signals = watch::Sender::new(ReceivedSignals::default());
    let (theirs, (asked, has_asked)) = (signals.clone(), mpsc::channel());
    // It lasts as long as the program: there is nobody to join it.
    let _detached = std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || listen(&theirs, asked));
    // Until the thread has asked for signals, one ends the program at once.
    let _dropped = has_asked.recv();
    signals
});
/// The number of signals that were taken.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// Waits for the next Ctrl-C, SIGTERM or SIGHUP.
pub async fn stop_signal() -> StopSignal {
    let mut signals = SIGNALS.subscribe();
    // One that came while nobody waited is still to be taken up.
    let before = TAKEN.load(Ordering::SeqCst);
    let received = signals
        .wait_for(|received| received.count > before)
        .await
        .map(|received| *received);
    match received {
        Ok(ReceivedSignals {
            count,
            last: Some(signal),
        }) => {
            TAKEN.fetch_max(count, Ordering::SeqCst);
            signal
        }
        _ => std::future::pending().await,
    }
}

/// Receives signals for ever. `asked` is dropped once no signal can be missed.
fn listen(signals: &watch::Sender<ReceivedSignals>, asked: mpsc::Sender<()>) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    else {
        return;
    };
    runtime.block_on(async {
        let mut arriving = Arriving::new();
        drop(asked);
        for count in 1_usize.. {
            let signal = arriving.next().await;
            let is_awaited = signals.receiver_count() > 0;
            signals.send_replace(ReceivedSignals {
                count,
                last: Some(signal),
            });
            let until = Instant::now() + PATIENCE;
            while is_awaited && TAKEN.load(Ordering::SeqCst) < count && Instant::now() < until {
                std::thread::sleep(STEP);
            }
            if TAKEN.load(Ordering::SeqCst) < count {
                crate::end_all();
                std::process::exit(signal.exit_code.into());
            }
        }
    });
}

/// The arriving signals. They are registered once, so that none is lost while another is handled.
#[cfg(unix)]
struct Arriving([Option<tokio::signal::unix::Signal>; 3]);

#[cfg(unix)]
impl Arriving {
    fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ];
        Self(kinds.map(|kind| signal(kind).ok()))
    }

    async fn next(&mut self) -> StopSignal {
        async fn wait(signals: &mut Option<tokio::signal::unix::Signal>) {
            match signals {
                Some(signals) => {
                    signals.recv().await;
                }
                None => std::future::pending().await,
            }
        }
        let Self([interrupt, terminate, hangup]) = self;
        tokio::select! {
            () = wait(interrupt) => StopSignal { name: "SIGINT", exit_code: 130 },
            () = wait(terminate) => StopSignal { name: "SIGTERM", exit_code: 143 },
            () = wait(hangup) => StopSignal { name: "SIGHUP", exit_code: 129 },
        }
    }
}

/// Arriving Ctrl-C events.
#[cfg(not(unix))]
struct Arriving;

#[cfg(not(unix))]
impl Arriving {
    fn new() -> Self {
        Self
    }

    async fn next(&mut self) -> StopSignal {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        StopSignal {
            name: "interrupted",
            exit_code: 130,
        }
    }
}

/// Waits for a stop signal, and returns the exit code that a shell expects (130, 143, 129).
///
/// Call [`end_all`](crate::end_all) before exiting.
pub async fn interrupted() -> u8 {
    stop_signal().await.exit_code
}
