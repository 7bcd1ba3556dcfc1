//! Has a process read what was written to its standard input?

use tokio::process::ChildStdin;

/// Watches the pipe to a process. The process does not see the end of its input while this exists.
#[derive(Debug)]
pub struct UnreadInput {
    #[cfg(unix)]
    pipe: std::os::fd::OwnedFd,
}

impl UnreadInput {
    /// Watches this pipe, if the system reports its fill level.
    #[cfg(unix)]
    pub fn watch(stdin: &ChildStdin) -> Option<Self> {
        use std::os::fd::AsFd;
        let pipe = stdin.as_fd().try_clone_to_owned().ok()?;
        Some(Self { pipe })
    }

    /// Watches this pipe, if the system reports its fill level.
    #[cfg(not(unix))]
    pub fn watch(_stdin: &ChildStdin) -> Option<Self> {
        None
    }

    /// Returns true while the pipe holds bytes that the process has not read. False proves nothing: some systems
    /// report this to the reader alone, and a launcher such as `docker run -i` reads before the server does.
    #[cfg(unix)]
    pub fn holds_bytes(&self) -> bool {
        rustix::io::ioctl_fionread(&self.pipe).is_ok_and(|bytes| bytes > 0)
    }

    /// Returns true while the pipe holds bytes that the process has not read.
    #[cfg(not(unix))]
    pub fn holds_bytes(&self) -> bool {
        false
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::start;
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

    #[tokio::test]
    async fn a_line_is_unread_until_the_process_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let gate = folder.path().join("gate");
        let wait = format!("while [ ! -e {} ]; do sleep 0.01; done", gate.display());
        let script = format!("{wait}; read -r line; echo \"$line\"; read -r rest");
        let words = ["sh", "-c", &script].map(str::to_owned);
        let (_child, mut started) = start(&words, &[], None).unwrap();
        let unread = UnreadInput::watch(&started.stdin).unwrap();
        assert!(!unread.holds_bytes(), "nothing was written");
        started.stdin.write_all(b"first\n").await.unwrap();
        assert!(unread.holds_bytes(), "the process does not read yet");
        std::fs::write(&gate, "").unwrap();
        let mut lines = BufReader::new(started.stdout).lines();
        assert_eq!(lines.next_line().await.unwrap().unwrap(), "first");
        assert!(!unread.holds_bytes(), "it was read");
    }
}
