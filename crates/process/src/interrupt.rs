//! When does the user, or the system, ask us to stop?

/// A signal that asks us to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StopSignal {
    /// Its name, as `SIGTERM`.
    pub name: &'static str,
    /// The exit code that a shell expects after it.
    pub exit_code: u8,
}

/// Waits for Ctrl-C, SIGTERM or SIGHUP.
#[cfg(unix)]
pub async fn stop_signal() -> StopSignal {
    use tokio::signal::unix::{SignalKind, signal};
    let wait = |kind: SignalKind| async move {
        match signal(kind) {
            Ok(mut signals) => {
                signals.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        () = wait(SignalKind::interrupt()) => StopSignal { name: "SIGINT", exit_code: 130 },
        () = wait(SignalKind::terminate()) => StopSignal { name: "SIGTERM", exit_code: 143 },
        () = wait(SignalKind::hangup()) => StopSignal { name: "SIGHUP", exit_code: 129 },
    }
}

/// Waits for Ctrl-C.
#[cfg(not(unix))]
pub async fn stop_signal() -> StopSignal {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
    StopSignal { name: "interrupted", exit_code: 130 }
}

/// Waits for a signal to stop, and gives the exit code that a shell expects (130, 143, 129).
///
/// Call [`end_all`](crate::end_all) before exiting.
pub async fn interrupted() -> u8 {
    stop_signal().await.exit_code
}
