//! A server's process: how is it started, watched, and ended with all that it started?

mod child;
mod crash;
mod environment;
mod groups;
mod guard;
mod hint;
mod interrupt;
mod orphans;
mod start;
mod stderr;
mod stray;
mod unread;

pub use child::{Child, Closing, ExitWatch, Started};
pub use crash::Crash;
pub use groups::end_all;
pub use interrupt::{StopSignal, interrupted, stop_signal};
pub use orphans::adopt_orphans;
pub use start::{StartError, start, start_server, start_with};
pub use stderr::Stderr;
pub use unread::UnreadInput;

use std::process::ExitStatus;

/// An exit status in words: `code 1`, `signal 9 (SIGKILL)`.
pub fn status_words(status: ExitStatus) -> String {
    if let Some(code) = status.code() {
        return format!("code {code}");
    }
    signal_words(status)
}

#[cfg(unix)]
fn signal_words(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match status.signal() {
        Some(number) => match nix::sys::signal::Signal::try_from(number) {
            Ok(signal) => format!("signal {number} ({signal})"),
            Err(_) => format!("signal {number}"),
        },
        None => status.to_string(),
    }
}

#[cfg(not(unix))]
fn signal_words(status: ExitStatus) -> String {
    status.to_string()
}
