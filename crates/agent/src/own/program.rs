//! How does a program of the user's start, what does it say, and how does it end?

use mcptest_core::trace::RecordedError;
use mcptest_process::{Child, Crash, StartError, Started, start, status_words};
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, timeout};

/// The bytes of its output to keep.
const LONGEST_ANSWER: usize = 16 << 20;
/// The time to read remaining output after the program exits, because child processes may keep the
/// pipe open.
const AFTER_EXIT: Duration = Duration::from_millis(300);
/// The lines of the standard error of a program that failed to show.
const MOST_STDERR_LINES: usize = 16;

/// A program of the user's, ready to start.
#[derive(Debug)]
pub struct Program<'a> {
    /// Its name in errors.
    pub who: &'a str,
    /// The program and its arguments.
    pub command: &'a [String],
    /// Environment variables besides mcptest's own.
    pub env: &'a [(String, String)],
    /// The folder it starts in.
    pub cwd: Option<&'a Path>,
    /// Its input.
    pub input: &'a str,
    /// Its time limit.
    pub time_budget: Duration,
}

/// The end of the program.
#[derive(Debug, Default)]
pub struct Ended {
    /// Its output, without trailing white space. `None` if it is empty.
    pub answer: Option<String>,
    /// `end_turn`, `time_budget` or `error`.
    pub stop_reason: &'static str,
    /// Its failures.
    pub errors: Vec<RecordedError>,
    /// The end of its standard error.
    pub stderr: String,
    /// Its duration.
    pub duration: Duration,
}

impl Program<'_> {
    /// Runs the program until it exits or its time is up, then calls `over`. No process that it
    /// started survives.
    pub async fn run(&self, over: impl FnOnce()) -> Result<Ended, StartError> {
        let begun = Instant::now();
        let (child, started) = start(self.command, self.env, self.cwd)?;
        let mut said = ProgramOutput::default();
        let has_exited = self.wait(started, &child, &mut said).await;
        let duration = begun.elapsed();
        over();
        let stderr = child.stderr().clone();
        let status = child.status();
        let closing = if has_exited {
            child.end().await
        } else {
            child.end_soon().await
        };
        let crash = stderr.crash(MOST_STDERR_LINES);
        let stderr = stderr.tail();
        let mut errors = Vec::new();
        let stop_reason = match status {
            _ if !has_exited => "time_budget",
            Some(status) if status.success() => "end_turn",
            status => {
                let status = status
                    .map(status_words)
                    .or(closing.status)
                    .unwrap_or_else(|| "unknown".to_owned());
                errors.push(of_agent(failed(self.who, &status, &crash)));
                "error"
            }
        };
        errors.extend(said.surplus(self.who));
        Ok(Ended {
            answer: said.answer(),
            stop_reason,
            errors,
            stderr,
            duration,
        })
    }

    /// Writes the program's input and reads its output until it exits or its time is up. Returns
    /// whether it exited.
    async fn wait(&self, started: Started, child: &Child, said: &mut ProgramOutput) -> bool {
        let mut stdin = started.stdin;
        // A program that does not read its input must not hold up the run.
        let giving = async {
            let _closed = stdin.write_all(self.input.as_bytes()).await;
            drop(stdin);
            std::future::pending::<()>().await;
        };
        let collecting = said.collect(started.stdout, child);
        tokio::select! {
            () = giving => false,
            collected = timeout(self.time_budget, collecting) => collected.is_ok(),
        }
    }
}

fn failed(who: &str, status: &str, crash: &Crash) -> String {
    format!("{who} ended with {status}{}", crash.said())
}

fn of_agent(message: String) -> RecordedError {
    RecordedError::new("agent", message)
}

/// The kept output of a program.
#[derive(Debug, Default)]
struct ProgramOutput {
    kept: Vec<u8>,
    length: usize,
}

impl ProgramOutput {
    /// Reads until the program has exited and its output has ended.
    async fn collect(&mut self, mut output: impl AsyncRead + Unpin, child: &Child) {
        tokio::select! {
            () = self.read(&mut output) => {
                child.exited().await;
                return;
            }
            _ = child.exited() => {}
        }
        let _held_open = timeout(AFTER_EXIT, self.read(&mut output)).await;
    }

    async fn read(&mut self, output: &mut (impl AsyncRead + Unpin)) {
        let mut chunk = vec![0; 64 << 10];
        while let Ok(count @ 1..) = output.read(&mut chunk).await {
            self.length += count;
            let room = LONGEST_ANSWER.saturating_sub(self.kept.len()).min(count);
            self.kept.extend_from_slice(&chunk[..room]);
        }
    }

    fn surplus(&self, who: &str) -> Option<RecordedError> {
        (self.length > self.kept.len()).then(|| {
            of_agent(format!(
                "{who} printed {} bytes; mcptest keeps the first {LONGEST_ANSWER} as its answer",
                self.length
            ))
        })
    }

    fn answer(&self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.kept);
        let answer = text.trim_end();
        (!answer.is_empty()).then(|| answer.to_owned())
    }
}
