//! When does the user, or the system, ask us to stop?

/// Waits for Ctrl-C, SIGTERM or SIGHUP, and gives the exit code that a shell expects (130, 143, 129).
///
/// Call [`end_all`](crate::end_all) before exiting.
#[cfg(unix)]
pub async fn interrupted() -> u8 {
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
        () = wait(SignalKind::interrupt()) => 130,
        () = wait(SignalKind::terminate()) => 143,
        () = wait(SignalKind::hangup()) => 129,
    }
}

/// Waits for Ctrl-C, and gives the exit code.
#[cfg(not(unix))]
pub async fn interrupted() -> u8 {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
    130
}
