//! A running process and its group: is it alive, what was its last output, and how does it end?

use crate::groups::{self, Ending};
use crate::stray::{self, Mark};
use crate::{Stderr, environment, orphans, status_words};
use std::process::ExitStatus;
use std::time::Duration;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

const AFTER_END_OF_INPUT: Duration = Duration::from_millis(1500);
const SOON: Duration = Duration::from_millis(300);
const AFTER_TERMINATE: Duration = Duration::from_secs(1);
const AFTER_KILL: Duration = Duration::from_secs(1);
const LAST_WORDS: Duration = Duration::from_millis(100);
const STEP: Duration = Duration::from_millis(5);

/// A process in a separate group. Dropping it kills the whole group and everything else that it started.
#[derive(Debug)]
pub struct Child {
    group: u32,
    mark: Mark,
    has_ended: bool,
    status: watch::Receiver<Option<ExitStatus>>,
    stderr: Stderr,
    /// The names of mcptest's variables that it did not get.
    pub(crate) withheld: Vec<String>,
}

/// Reports that a process has exited, independent of its owner.
#[derive(Debug, Clone)]
pub struct ExitWatch(watch::Receiver<Option<ExitStatus>>);

impl ExitWatch {
    /// Waits until it has exited. `None` if that cannot be determined.
    pub async fn exited(&mut self) -> Option<ExitStatus> {
        self.0
            .wait_for(Option::is_some)
            .await
            .ok()
            .and_then(|status| *status)
    }
}

/// The two ends of a started process that carry messages.
#[derive(Debug)]
pub struct Started {
    /// Its standard input.
    pub stdin: ChildStdin,
    /// Its standard output.
    pub stdout: ChildStdout,
}

/// The end of a server's process, or of the connection to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Closing {
    /// The exit status in words. `None` without a process, or if the status is unknown.
    pub status: Option<String>,
    /// It did not end when its input ended, so it got SIGTERM.
    pub terminated: bool,
    /// It did not end on SIGTERM, so it was killed.
    pub killed: bool,
    /// It left processes behind, which mcptest ended.
    pub left_processes: bool,
}

impl Child {
    pub(crate) fn watch(
        mut child: tokio::process::Child,
        mark: Mark,
        read_errors: impl FnOnce(ChildStderr, Stderr) -> JoinHandle<()>,
    ) -> Option<(Self, Started)> {
        let group = child.id()?;
        groups::add(group);
        mark.watch();
        let (sender, status) = watch::channel(None);
        let stderr = Stderr::default();
        let this = Self {
            group,
            mark,
            has_ended: false,
            status,
            stderr: stderr.clone(),
            withheld: Vec::new(),
        };
        let started = Started {
            stdin: child.stdin.take()?,
            stdout: child.stdout.take()?,
        };
        let draining = read_errors(child.stderr.take()?, stderr);
        tokio::spawn(async move {
            if let Ok(status) = child.wait().await {
                orphans::ended(group);
                // The last words matter most; what the process started may hold the pipe open.
                let _ = timeout(LAST_WORDS, draining).await;
                if !groups::is_alive(group) {
                    groups::remove(group);
                }
                sender.send_replace(Some(status));
            }
        });
        Some((this, started))
    }

    /// The id of the process and of its group.
    pub fn id(&self) -> u32 {
        self.group
    }

    /// The end of its standard error.
    pub fn stderr(&self) -> &Stderr {
        &self.stderr
    }

    /// The variables of mcptest's environment that its standard error names, but that it did not
    /// get.
    pub fn missed_variables(&self) -> Vec<String> {
        environment::named_in(&self.stderr.tail(), &self.withheld)
    }

    /// The exit status, if it has exited.
    pub fn status(&self) -> Option<ExitStatus> {
        *self.status.borrow()
    }

    /// Waits until it has exited. `None` if that cannot be determined.
    pub async fn exited(&self) -> Option<ExitStatus> {
        self.watch_exit().exited().await
    }

    /// Returns a watch that reports the exit to another task.
    pub fn watch_exit(&self) -> ExitWatch {
        ExitWatch(self.status.clone())
    }

    /// Ends it after its input was closed: waits a moment, SIGTERM, waits, SIGKILL; then the
    /// processes that it left.
    pub async fn end(self) -> Closing {
        self.end_after(AFTER_END_OF_INPUT).await
    }

    /// Ends it with less time to end by itself, for a process that has done nothing yet.
    pub async fn end_soon(self) -> Closing {
        self.end_after(SOON).await
    }

    async fn end_after(mut self, patience: Duration) -> Closing {
        let mut closing = self.end_leader(patience).await;
        let has_left_group =
            closing.status.is_some() && groups::holds(self.group) && groups::is_alive(self.group);
        if has_left_group && !closing.killed {
            self.terminate_group().await;
        }
        let had_strays = self.end_strays().await;
        closing.left_processes = has_left_group || had_strays;
        self.has_ended = true;
        closing
    }

    /// Ends the process itself: waits, SIGTERM, waits, SIGKILL.
    async fn end_leader(&self, patience: Duration) -> Closing {
        let mut closing = Closing::default();
        let mut status = timeout(patience, self.exited()).await.ok();
        if status.is_none() {
            closing.terminated = true;
            groups::signal(self.group, Ending::Terminate);
            status = timeout(AFTER_TERMINATE, self.exited()).await.ok();
        }
        if status.is_none() {
            closing.killed = true;
            groups::signal(self.group, Ending::Kill);
            status = timeout(AFTER_KILL, self.exited()).await.ok();
        }
        closing.status = status.flatten().map(status_words);
        closing
    }

    /// Asks the remaining processes of its group to end, and waits a moment.
    async fn terminate_group(&self) {
        groups::signal(self.group, Ending::Terminate);
        let until = Instant::now() + AFTER_TERMINATE;
        while groups::is_alive(self.group) && Instant::now() < until {
            sleep(STEP).await;
        }
    }

    /// Ends processes that left the group. Returns true if there were any.
    async fn end_strays(&self) -> bool {
        groups::signal_if_held(self.group, Ending::Kill);
        let mut strays = self.strays().await;
        if strays.is_empty() {
            return false;
        }
        stray::signal(&strays, Ending::Terminate);
        let until = Instant::now() + AFTER_TERMINATE;
        while !strays.is_empty() && Instant::now() < until {
            sleep(STEP).await;
            strays = self.strays().await;
        }
        if !strays.is_empty() {
            self.mark.kill();
        }
        true
    }

    /// Blocks for a moment, because it looks through all processes.
    async fn strays(&self) -> Vec<u32> {
        let mark = self.mark.clone();
        tokio::task::spawn_blocking(move || mark.strays())
            .await
            .unwrap_or_default()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        groups::signal_if_held(self.group, Ending::Kill);
        groups::remove(self.group);
        if !self.has_ended {
            self.mark.kill();
        }
        self.mark.forget();
    }
}
