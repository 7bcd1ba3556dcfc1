//! What did a process last write to its standard error?

use crate::Crash;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt};

const KEPT_BYTES: usize = 64 << 10;
const KEPT_LINES: usize = 40;

/// The end of a process's standard error; read on all the time, so that a flood never blocks the process.
#[derive(Debug, Clone, Default)]
pub struct Stderr(Arc<Mutex<VecDeque<u8>>>);

impl Stderr {
    pub(crate) async fn drain(self, mut from: impl AsyncRead + Unpin) {
        let mut chunk = vec![0; 16 << 10];
        while let Ok(count @ 1..) = from.read(&mut chunk).await {
            self.push(&chunk[..count]);
        }
    }

    fn push(&self, bytes: &[u8]) {
        let mut kept = self.0.lock();
        kept.extend(&bytes[bytes.len().saturating_sub(KEPT_BYTES)..]);
        let surplus = kept.len().saturating_sub(KEPT_BYTES);
        kept.drain(..surplus);
    }

    /// The last lines, without blank ones at either end; empty if nothing was written.
    pub fn tail(&self) -> String {
        let text = self.text();
        let lines: Vec<&str> = text.trim().lines().collect();
        lines[lines.len().saturating_sub(KEPT_LINES)..].join("\n")
    }

    /// The cause of a crash and the last lines, in at most `most_lines` lines.
    pub fn crash(&self, most_lines: usize) -> Crash {
        Crash::read(&self.text(), most_lines)
    }

    fn text(&self) -> String {
        let bytes: Vec<u8> = self.0.lock().iter().copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_leaves_its_last_lines() {
        let stderr = Stderr::default();
        for line in 0..100_000 {
            stderr.push(format!("line {line}\n").as_bytes());
        }
        let tail = stderr.tail();
        assert_eq!(tail.lines().count(), KEPT_LINES);
        assert!(tail.ends_with("line 99999"));
    }
}
