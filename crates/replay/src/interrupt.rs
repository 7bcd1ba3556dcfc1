//! How does a recording end early, and how is that reported?

use thiserror::Error;
use tokio::sync::watch;

/// Tells a recording to end, and with which exit code. The host keeps the sender. After the recording, no receiver is
/// left.
pub type Interrupt = watch::Receiver<Option<u8>>;

/// An interrupt that never occurs.
pub fn uninterrupted() -> Interrupt {
    watch::channel(None).1
}

/// Waits for the host to interrupt.
pub async fn interrupted(interrupt: &Interrupt) {
    if interrupt.clone().wait_for(Option::is_some).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// The host ended the recording; earlier recordings are on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("interrupted: {finished} of {wanted} {what} had ended{}; nothing is reported{}",
    if .rest.is_some() && *.finished > 0 { ", which are kept" } else { "" },
    .rest.map(|rest| format!("; {rest}")).unwrap_or_default())]
pub struct Interrupted {
    /// The exit code that a shell expects.
    pub exit_code: u8,
    /// `runs`, or `tool tests` if no run had begun.
    pub what: &'static str,
    /// The number of finished ones.
    pub finished: usize,
    /// The number of wanted runs.
    pub wanted: usize,
    /// The command for the rest, if the finished ones are kept.
    pub rest: Option<&'static str>,
}
